public import StrictYAML

/// Everything that is wrong with a set of policy documents; never empty.
public struct PolicyRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// The problems, by file and line.
    public let problems: [DocumentProblem]

    /// Creates a refusal from a list with at least one problem.
    init(_ list: ProblemList) {
        problems = list.sorted
    }

    /// Creates the refusal of a whole file.
    init(_ file: String, _ reason: String, _ remedy: String) {
        let list = ProblemList(file: file, operation: "read policies")
        list.add(DocumentPlace(line: 1, key: ""), reason, remedy: remedy)
        self.init(list)
    }

    /// One line a problem.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
