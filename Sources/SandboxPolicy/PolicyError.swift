/// One thing that is wrong with a policy, for whoever wrote it.
public struct PolicyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The document, as it was named to the reader.
    public let file: String
    /// The line, counted from 1.
    public let line: Int
    /// The key, with a dot between levels and indices in brackets; empty for the whole document.
    public let key: String
    /// What was being done.
    public let operation: String
    /// Why it failed.
    public let reason: String
    /// What to do about it.
    public let remedy: String

    /// Creates an error with all of its answers.
    public init(
        file: String,
        line: Int,
        key: String,
        operation: String,
        reason: String,
        remedy: String
    ) {
        self.file = file
        self.line = line
        self.key = key
        self.operation = operation
        self.reason = reason
        self.remedy = remedy
    }

    /// File and line first, as compilers print them, then the four answers.
    public var description: String {
        let place = key.isEmpty ? "\(file):\(line)" : "\(file):\(line): \(key)"
        return "\(place): \(operation): \(reason); \(remedy)"
    }
}

/// Everything that is wrong with a set of policy documents; never empty.
public struct PolicyRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// The problems, by file and line.
    public let problems: [PolicyError]

    /// Creates a refusal from at least one problem.
    init(_ problems: [PolicyError]) {
        self.problems = problems.enumerated()
            .sorted {
                let left = $0.element
                let right = $1.element
                return (left.file, left.line, $0.offset) < (right.file, right.line, $1.offset)
            }
            .map(\.element)
    }

    /// Creates the refusal of a whole file.
    init(_ file: String, _ reason: String, _ remedy: String) {
        problems = [
            PolicyError(
                file: file,
                line: 1,
                key: "",
                operation: "read policies",
                reason: reason,
                remedy: remedy
            )
        ]
    }

    /// One line a problem.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
