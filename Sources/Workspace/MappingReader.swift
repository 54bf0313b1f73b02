internal import Yams

/// Reads one mapping of a document key by key; what nobody asked for is a problem.
struct MappingReader {
    /// The line on which the mapping begins.
    let line: Int
    private let path: String
    private let list: ProblemList
    private var entries: [String: (line: Int, node: Node)] = [:]
    private var askedFor: [String] = []

    /// The longest list that any document may hold.
    static let maximumListCount = 256

    init(_ mapping: Node.Mapping, path: String, list: ProblemList) {
        self.path = path
        self.list = list
        line = mapping.mark?.line ?? 1
        for (key, value) in mapping {
            let keyLine = key.mark?.line ?? line
            guard case .scalar(let scalar) = key else {
                list.add(keyLine, path, "a key is no text", remedy: "write «key: value»")
                continue
            }
            entries[scalar.string] = (keyLine, value)
        }
    }

    /// The key with the keys above it.
    func full(_ key: String) -> String {
        path.isEmpty ? key : key.isEmpty ? path : "\(path).\(key)"
    }

    /// Whether the document has this key and nobody asked for it yet.
    func has(_ key: String) -> Bool { entries[key] != nil }

    /// Whether the value of a key that nobody asked for yet is a mapping.
    func isMapping(_ key: String) -> Bool {
        if case .mapping? = entries[key]?.node { true } else { false }
    }

    /// Whether anything is wrong with the document so far.
    var hasProblems: Bool { !list.problems.isEmpty }

    /// Adds a problem with a key of this mapping; an empty one stands for the mapping itself.
    func refuse(_ key: String, line: Int, _ reason: String, remedy: String) {
        list.add(line, full(key), reason, remedy: remedy)
    }

    private mutating func take(_ key: String) -> (line: Int, node: Node)? {
        askedFor.append(key)
        return entries.removeValue(forKey: key)
    }

    /// The line of a key that nobody asked for yet; the mapping's own where there is none.
    func line(of key: String) -> Int { entries[key]?.line ?? line }

    mutating func scalar(
        _ key: String,
        _ expected: String,
        _ remedy: String
    ) -> Located<Node.Scalar>? {
        guard let entry = take(key) else { return nil }
        guard case .scalar(let scalar) = entry.node, !scalar.isPlainNull else {
            refuse(key, line: entry.line, "the value is not \(expected)", remedy: remedy)
            return nil
        }
        return Located(value: scalar, line: entry.line)
    }

    /// Refuses what nobody asked for.
    func finish() {
        for (key, entry) in entries {
            let near = askedFor.filter { $0.isNear(key) }.min()
            let known = askedFor.sorted().joined(separator: ", ")
            list.add(
                entry.line,
                full(key.printablePrefix(60)),
                "the key is unknown",
                remedy: near.map { "write «\($0)»" } ?? "remove it; known here: \(known)"
            )
        }
    }
}

extension MappingReader {
    /// A text on one line, without control characters, of at most 4,096 bytes.
    mutating func string(_ key: String) -> Located<String>? {
        let remedy = "write a text on one line, in quotes if it looks like a number"
        guard let found = scalar(key, "a text", remedy) else { return nil }
        guard found.value.isText else {
            refuse(key, line: found.line, "the value is not a text", remedy: remedy)
            return nil
        }
        guard found.value.string.isOneLine else {
            refuse(key, line: found.line, "the text is empty, long or not one line", remedy: remedy)
            return nil
        }
        return Located(value: found.value.string, line: found.line)
    }

    /// A whole number of a range.
    mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Located<Int>? {
        let remedy = "write a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let found = scalar(key, "a whole number", remedy) else { return nil }
        guard found.value.style == .plain, let value = Int(found.value.string) else {
            refuse(key, line: found.line, "the value is not a whole number", remedy: remedy)
            return nil
        }
        guard range.contains(value) else {
            refuse(key, line: found.line, "\(value) is out of range", remedy: remedy)
            return nil
        }
        return Located(value: value, line: found.line)
    }

    /// A finite number of a range.
    mutating func number(_ key: String, in range: ClosedRange<Double>) -> Located<Double>? {
        let remedy = "write a number from \(range.lowerBound) to \(range.upperBound)"
        guard let found = scalar(key, "a number", remedy) else { return nil }
        guard found.value.style == .plain, let value = Double(found.value.string), value.isFinite
        else {
            refuse(key, line: found.line, "the value is not a number", remedy: remedy)
            return nil
        }
        guard range.contains(value) else {
            refuse(key, line: found.line, "\(value) is out of range", remedy: remedy)
            return nil
        }
        return Located(value: value, line: found.line)
    }

    /// A truth value, spelled `true` or `false`.
    mutating func bool(_ key: String) -> Located<Bool>? {
        let remedy = "write true or false"
        guard let found = scalar(key, "true or false", remedy) else { return nil }
        guard found.value.style == .plain, let value = Bool(found.value.string) else {
            refuse(key, line: found.line, "the value is not true or false", remedy: remedy)
            return nil
        }
        return Located(value: value, line: found.line)
    }

    /// A length of time with its unit, of a range.
    mutating func duration(
        _ key: String,
        in range: ClosedRange<Duration>
    ) -> Located<Duration>? {
        let remedy = "write a number with a unit (ms, s, m, h), such as 90s"
        guard let found = scalar(key, "a length of time", remedy) else { return nil }
        guard let value = Duration(unitText: found.value.string) else {
            refuse(key, line: found.line, "the value is not a length of time", remedy: remedy)
            return nil
        }
        guard range.contains(value) else {
            refuse(
                key,
                line: found.line,
                "\(found.value.string) is out of range",
                remedy: "write from \(range.lowerBound) to \(range.upperBound)"
            )
            return nil
        }
        return Located(value: value, line: found.line)
    }

    /// One of the words of an enum.
    mutating func word<Word: RawRepresentable & CaseIterable>(
        _ key: String,
        of type: Word.Type
    ) -> Located<Word>? where Word.RawValue == String {
        guard let found = string(key) else { return nil }
        guard let value = Word(rawValue: found.value) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            refuse(key, line: found.line, "the value is unknown", remedy: "write one of: \(words)")
            return nil
        }
        return Located(value: value, line: found.line)
    }

    /// One of the words of an enum, or a whole number of a range in its place.
    mutating func wordOrNumber<Word: RawRepresentable & CaseIterable>(
        _ key: String,
        of type: Word.Type,
        in range: ClosedRange<Int>
    ) -> Located<String>? where Word.RawValue == String {
        guard case .scalar(let scalar)? = entries[key]?.node, scalar.style == .plain,
            Int(scalar.string) != nil
        else {
            return word(key, of: type).map { Located(value: $0.value.rawValue, line: $0.line) }
        }
        return integer(key, in: range).map { Located(value: "\($0.value)", line: $0.line) }
    }

    /// A list of texts.
    mutating func strings(_ key: String) -> Located<[Located<String>]>? {
        guard let entry = take(key) else { return nil }
        let remedy = "write a list of texts, such as [a.py, lib/b.py]"
        guard case .sequence(let sequence) = entry.node,
            sequence.count <= Self.maximumListCount
        else {
            refuse(key, line: entry.line, "the value is not a list of texts", remedy: remedy)
            return nil
        }
        var texts: [Located<String>] = []
        for node in sequence {
            let line = node.mark?.line ?? entry.line
            guard case .scalar(let scalar) = node, scalar.isText, scalar.string.isOneLine else {
                refuse(key, line: line, "an element is not a text on one line", remedy: remedy)
                continue
            }
            texts.append(Located(value: scalar.string, line: line))
        }
        return Located(value: texts, line: entry.line)
    }

    /// A mapping below this one, to be read and finished by its own reader.
    mutating func mapping(
        _ key: String,
        remedy: String = "indent «key: value» lines below it"
    ) -> MappingReader? {
        guard let entry = take(key) else { return nil }
        guard case .mapping(let mapping) = entry.node else {
            refuse(key, line: entry.line, "the value is no mapping", remedy: remedy)
            return nil
        }
        return MappingReader(mapping, path: full(key), list: list)
    }

    /// The names of the keys that nobody asked for yet, sorted: for mappings with free names.
    var remainingKeys: [String] { entries.keys.sorted() }
}

extension Node.Scalar {
    /// Whether YAML reads this as nothing.
    fileprivate var isPlainNull: Bool {
        style == .plain && ["", "~", "null", "Null", "NULL"].contains(string)
    }

    /// Whether YAML reads this as a text: quoted, or plain and like nothing else.
    fileprivate var isText: Bool {
        guard style == .plain else { return true }
        guard !isPlainNull, Double(string) == nil else { return false }
        return !["true", "false", "yes", "no", "on", "off", "y", "n"]
            .contains(string.lowercased())
    }
}

extension String {
    /// Whether this is 1 to 4,096 bytes without a control character.
    fileprivate var isOneLine: Bool {
        (1...4096).contains(utf8.count) && !unicodeScalars.contains { $0.isControl }
    }

    /// Whether two keys differ by spelling only: one edit, or `-` against `_`.
    fileprivate func isNear(_ other: String) -> Bool {
        let left = Array(lowercased().utf8.map { $0 == 0x2D ? 0x5F : $0 })
        let right = Array(other.lowercased().utf8.map { $0 == 0x2D ? 0x5F : $0 })
        guard left != right else { return true }
        let common = zip(left, right).prefix { $0 == $1 }.count
        let leftRest = left[common...]
        let rightRest = right[common...]
        return leftRest.dropFirst() == rightRest.dropFirst()
            || leftRest.dropFirst() == rightRest || leftRest == rightRest.dropFirst()
            || isSwapped(leftRest, rightRest)
    }

    private func isSwapped(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        guard left.count == right.count, left.count >= 2 else { return false }
        return left.first == right.dropFirst().first && left.dropFirst().first == right.first
            && left.dropFirst(2) == right.dropFirst(2)
    }
}

extension Unicode.Scalar {
    /// Whether this is one of the C0 or C1 control characters.
    var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}

extension Duration {
    /// Reads a whole number with one of the units `ms`, `s`, `m`, `h`.
    init?(unitText text: String) {
        let digits = text.utf8.prefix { (0x30...0x39).contains($0) }
        guard digits.count <= 9, let count = Int64(String(digits) ?? "") else { return nil }
        switch String(text.utf8.dropFirst(digits.count)) {
        case "ms": self = .milliseconds(count)
        case "s": self = .seconds(count)
        case "m": self = .seconds(count * 60)
        case "h": self = .seconds(count * 3600)
        default: return nil
        }
    }

    /// The whole milliseconds of this length of time.
    package var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
