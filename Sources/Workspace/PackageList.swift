internal import StrictYAML

/// A list of Python packages in which every version is exact and every file has its SHA-256, as
/// `uv pip compile --generate-hashes` writes it.
///
/// Of the format of requirements (https://pip.pypa.io/en/stable/reference/requirements-file-format/)
/// this is the part that names nothing but packages of an index: a list that passes cannot fetch from
/// an address, read another file, or run a program of its own.
public struct PackageList: Sendable, Equatable {
    /// One line of the list.
    public struct Entry: Sendable, Equatable {
        /// The package's name, lower case, with `-` for every run of `-`, `_` and `.` (PEP 503).
        public let name: String
        /// Its version.
        public let version: String
        /// The line on which it begins, from 1.
        public let line: Int
    }

    /// The packages, in the list's order; one may stand twice, for different hosts.
    public let entries: [Entry]

    /// The largest list, in bytes: one with all that litellm needs has 160 KiB.
    public static let largestSize = 1 << 20
    private static let mostEntries = 500
    private static let remedy = "write the list with `uv pip compile --generate-hashes`"

    /// Reads a list.
    ///
    /// - Parameters:
    ///   - bytes: the file's bytes.
    ///   - file: its name, for error texts.
    ///   - refused: names of packages that may not be in it, and why.
    /// - Throws: ``WorkspaceError/document(_:)`` with every problem at once.
    public init(
        parsing bytes: [UInt8],
        file: String,
        refusing refused: (names: [String], reason: String) = ([], "")
    ) throws(WorkspaceError) {
        let problems = ProblemList(file: file, operation: "read the list of packages")
        var entries: [Entry] = []
        let names = Set(refused.names.map(Self.normalized))
        for (line, text) in Self.logicalLines(bytes, problems) {
            guard let entry = Self.entry(text, line, problems) else { continue }
            if names.contains(entry.name) {
                problems.add(.line(line), "\(entry.name): \(refused.reason)", remedy: "remove it")
            }
            entries.append(entry)
        }
        if entries.isEmpty, problems.isEmpty {
            problems.add(.line(1), "it names no package", remedy: Self.remedy)
        }
        if entries.count > Self.mostEntries {
            problems.add(.line(1), "more than \(Self.mostEntries) packages", remedy: "name fewer")
        }
        try problems.check()
        self.entries = entries
    }

    /// Spells a package's name as an index compares it.
    ///
    /// - Parameter name: the name.
    /// - Returns: lower case, with one `-` for every run of `-`, `_` and `.`.
    public static func normalized(_ name: String) -> String {
        name.lowercased().split { "-_.".contains($0) }.joined(separator: "-")
    }

    // MARK: - lines

    private typealias Line = (number: Int, text: String)

    // Lines that end with a backslash are one with the next; comments and empty lines are none.
    private static func logicalLines(_ bytes: [UInt8], _ problems: ProblemList) -> [Line] {
        guard bytes.count <= largestSize else {
            let reason = "it has \(bytes.count) bytes, more than \(largestSize)"
            problems.add(.line(1), reason, remedy: "name fewer packages")
            return []
        }
        var lines: [Line] = []
        var open: Line?
        for (index, raw) in bytes.split(separator: 10, omittingEmptySubsequences: false)
            .enumerated()
        {
            let number = index + 1
            guard raw.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == 9 }) else {
                problems.add(.line(number), "it holds something other than ASCII", remedy: remedy)
                open = nil
                continue
            }
            var text = withoutComment(String(decoding: raw, as: UTF8.self))
            let goesOn = text.hasSuffix("\\")
            if goesOn { text.removeLast() }
            let whole = Line(open?.number ?? number, (open?.text ?? "") + text + " ")
            open = goesOn ? whole : nil
            if !goesOn, whole.text.contains(where: { !$0.isWhitespace }) { lines.append(whole) }
        }
        if let open { problems.add(.line(open.number), "the list ends within it", remedy: remedy) }
        return lines
    }

    private static func withoutComment(_ line: String) -> String {
        if line.drop(while: \.isWhitespace).first == "#" { return "" }
        guard let mark = line.firstRange(of: " #") else { return line }
        return String(line[..<mark.lowerBound])
    }

    // MARK: - one package

    private static func entry(_ text: String, _ line: Int, _ problems: ProblemList) -> Entry? {
        func refuse(_ reason: String, _ remedy: String = Self.remedy) -> Entry? {
            problems.add(.line(line), reason, remedy: remedy)
            return nil
        }
        var words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        let hashes = words.filter { $0.hasPrefix("--hash=") }
        words.removeAll { $0.hasPrefix("--hash=") }
        if let option = words.first(where: { $0.hasPrefix("-") }) {
            return refuse(
                "«\(option.printablePrefix(40))» is an option",
                "remove it: the list names packages alone; UV_INDEX_URL says where they come from"
            )
        }
        let whole = words.joined(separator: " ")
        let parts = whole.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        let requirement = parts[0]
        guard !requirement.contains("@"), !requirement.contains("/"), !requirement.contains(":")
        else {
            return refuse(
                "«\(whole.printablePrefix(60))» is an address or a path, and no package of an index",
                "name a released version of the package, such as openai==2.54.0"
            )
        }
        guard let pinned = pinned(requirement) else {
            return refuse(
                "«\(whole.printablePrefix(60))» is no exact version",
                "write NAME==VERSION; " + remedy
            )
        }
        guard parts.count == 1 || isMarker(parts[1]) else {
            return refuse("what stands behind «;» is malformed")
        }
        guard !hashes.isEmpty else { return refuse("\(pinned.name) has no hash") }
        guard hashes.allSatisfy(isHash) else {
            return refuse("a hash of \(pinned.name) is no SHA-256 of 64 hexadecimal digits")
        }
        return Entry(name: normalized(pinned.name), version: pinned.version, line: line)
    }

    private static func pinned(_ requirement: Substring) -> (name: String, version: String)? {
        guard let mark = requirement.firstRange(of: "==") else { return nil }
        var name = word(requirement[..<mark.lowerBound])
        let version = word(requirement[mark.upperBound...])
        if name.hasSuffix("]") {
            guard let bracket = name.firstIndex(of: "[") else { return nil }
            let extras = name[name.index(after: bracket)...].dropLast()
            guard extras.split(separator: ",", omittingEmptySubsequences: false).allSatisfy(isName)
            else { return nil }
            name = name[..<bracket]
        }
        guard isName(name), isVersion(version) else { return nil }
        return (String(name), String(version))
    }

    private static func isName(_ text: Substring) -> Bool {
        guard (1...100).contains(text.utf8.count), let first = text.first, let last = text.last
        else { return false }
        return isWord(first) && isWord(last)
            && text.allSatisfy { isWord($0) || "-_.".contains($0) }
    }

    private static func isVersion(_ text: Substring) -> Bool {
        guard (1...100).contains(text.utf8.count), let first = text.first, isWord(first) else {
            return false
        }
        return text.allSatisfy { isWord($0) || ".+!_-".contains($0) }
    }

    // Of environment markers (PEP 508) the alphabet is checked; uv reads them.
    private static func isMarker(_ text: Substring) -> Bool {
        text.contains { !$0.isWhitespace }
            && text.allSatisfy { isWord($0) || " \t'\"._-+*()<>=!~,".contains($0) }
    }

    private static func isHash(_ word: String) -> Bool {
        guard word.hasPrefix("--hash=sha256:") else { return false }
        let digits = word.dropFirst(14)
        return digits.utf8.count == 64
            && digits.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    // A word without the white space around it; two words are none.
    private static func word(_ text: Substring) -> Substring {
        let words = text.split(whereSeparator: \.isWhitespace)
        return words.count == 1 ? words[0] : ""
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber)
    }
}

extension DocumentPlace {
    /// A line of a document without keys.
    fileprivate static func line(_ line: Int) -> DocumentPlace {
        DocumentPlace(line: line, key: "")
    }
}
