/// Collects the problems of one document, so that its author is told everything at once.
final class ProblemList {
    private(set) var problems: [PolicyError] = []
    let file: String
    let operation: String

    init(file: String, operation: String) {
        self.file = file
        self.operation = operation
    }

    func add(_ place: PolicyPlace, _ reason: String, remedy: String) {
        problems.append(
            PolicyError(
                file: file,
                line: place.line,
                key: place.key,
                operation: operation,
                reason: reason,
                remedy: remedy
            )
        )
    }

    /// Throws what was collected, if anything was.
    func check() throws(PolicyRefusal) {
        guard problems.isEmpty else { throw PolicyRefusal(problems) }
    }
}

/// Where in a document something was said.
public struct PolicyPlace: Sendable, Equatable {
    /// The line, counted from 1.
    public let line: Int
    /// The dotted key.
    public let key: String

    /// Creates a place.
    public init(line: Int, key: String) {
        self.line = line
        self.key = key
    }
}

/// A value together with where it was said.
public struct Placed<Value: Sendable & Equatable>: Sendable, Equatable {
    /// The value.
    public let value: Value
    /// Where it was said.
    public let place: PolicyPlace

    /// Creates a placed value.
    public init(_ value: Value, at place: PolicyPlace) {
        self.value = value
        self.place = place
    }
}
