internal import StrictYAML

/// One call that a program made and that failed, as strace(1) tells it.
///
/// What is told comes from the program that is observed: names and paths are cleaned, and nothing is
/// decided on them.
public struct ObservedFailure: Sendable, Equatable, Hashable {
    /// The program's name for itself, at most 15 bytes.
    public let program: String
    /// The call's name.
    public let call: String
    /// The arguments that are numbers, the low 32 bits of each; 0 for others.
    public let arguments: [UInt32]
    /// The first argument that is a path, where there is one.
    public let path: String?
    /// The name of the error, such as `EPERM`.
    public let error: String

    /// The words with which strace(1) is started, its output and the program left out: failures alone, of
    /// every descendant, with programs' names, and numbers but for the paths of files.
    public static let words = [
        "-f", "-qq", "--decode-pids=comm", "-e", "status=failed", "-e", "signal=none", "-e",
        "raw=!%file", "-s", "4096",
    ]

    /// Reads one line; nil for what is no failure.
    ///
    /// - Parameter line: without its line feed.
    public init?(_ line: String) {
        guard let start = line.firstIndex(of: "<"), let named = line.firstRange(of: "> "),
            start < named.lowerBound, let open = line[named.upperBound...].firstIndex(of: "("),
            let end = line.ranges(of: ") ").last(where: { $0.lowerBound > open }),
            let failed = line[end.upperBound...].firstRange(of: "= -1 E")
        else { return nil }
        let called = line[named.upperBound..<open]
        guard
            called.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 95 }
            )
        else { return nil }
        program = String(line[line.index(after: start)..<named.lowerBound]).printablePrefix(15)
        call = String(called.prefix(40))
        error = "E" + line[failed.upperBound...].prefix { $0.isASCII && $0.isUppercase }
        let words = Self.split(line[line.index(after: open)..<end.lowerBound])
        arguments = words.prefix(6).map(Self.number)
        path = words.first { $0.hasPrefix("\"/") && $0.hasSuffix("\"") }
            .map { String($0.dropFirst().dropLast()).printablePrefix(4096) }
    }

    // Commas within quotes belong to a path.
    private static func split(_ text: Substring) -> [String] {
        var words: [String] = []
        var word = ""
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if character == ",", !isQuoted {
                words.append(word)
                word = ""
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = character == "\\" && !isEscaped
            if word.isEmpty, character == " " { continue }
            word.append(character)
        }
        return words + [word]
    }

    private static func number(_ word: String) -> UInt32 {
        let isHexadecimal = word.hasPrefix("0x")
        let value = UInt64(word.dropFirst(isHexadecimal ? 2 : 0), radix: isHexadecimal ? 16 : 10)
        return value.map(UInt32.init(truncatingIfNeeded:)) ?? 0
    }
}

/// Failures, counted; a flood of them takes no more room than the first ones.
public struct FailureCount: Sendable {
    /// The most different failures that are told apart.
    public static let most = 2000

    /// How often each was seen.
    public private(set) var counts: [ObservedFailure: Int] = [:]
    /// How many were seen after the most different ones were reached.
    public private(set) var others = 0

    /// Counts nothing yet.
    public init() {}

    /// Counts a line; what our own programs do, before another takes their place, is left out.
    public mutating func add(_ line: String) {
        guard let failure = ObservedFailure(line), !failure.program.hasPrefix("invigilator"),
            ["EPERM", "ENOENT", "EACCES", "EROFS"].contains(failure.error)
        else { return }
        if counts[failure] == nil, counts.count >= Self.most {
            others += 1
        } else {
            counts[failure, default: 0] += 1
        }
    }
}
