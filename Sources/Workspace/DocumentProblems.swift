/// One thing that is wrong with a YAML document.
public struct DocumentProblem: Sendable, Equatable, CustomStringConvertible {
    /// The line, from 1.
    public let line: Int
    /// The key with the keys above it (`release.bucket`); empty for the document itself.
    public let key: String
    /// What is wrong.
    public let reason: String
    /// What to write instead.
    public let remedy: String

    /// Makes a problem.
    ///
    /// - Parameters:
    ///   - line: the line, from 1.
    ///   - key: the key with the keys above it.
    ///   - reason: what is wrong.
    ///   - remedy: what to write instead.
    public init(line: Int, key: String, reason: String, remedy: String) {
        self.line = line
        self.key = key
        self.reason = reason
        self.remedy = remedy
    }

    /// Line, key, reason and remedy on one line.
    public var description: String {
        let place = key.isEmpty ? "line \(line)" : "line \(line), \(key)"
        return "\(place): \(reason); remedy: \(remedy)"
    }
}

/// Everything that is wrong with one YAML document, in the order of its lines.
public struct DocumentProblems: Sendable, Equatable, CustomStringConvertible {
    /// What was being done (`read the experiment's configuration`).
    public let operation: String
    /// The file, as its reader named it.
    public let file: String
    /// The problems; never empty.
    public let problems: [DocumentProblem]

    /// One line a problem, each with operation, file, line, reason and remedy.
    public var description: String {
        problems.map { "\(operation): \(file), \($0)" }.joined(separator: "\n")
    }
}
