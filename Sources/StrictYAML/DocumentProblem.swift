// StrictYAML: YAML documents as nodes with places, and readers that refuse what nobody asked for.

/// One thing that is wrong with a document, for whoever wrote it.
public struct DocumentProblem: Error, Sendable, Equatable, CustomStringConvertible {
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

    /// Creates a problem with all of its answers.
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

    /// File and line first, as compilers print them, then key, operation, reason and remedy.
    public var description: String {
        let place = key.isEmpty ? "\(file):\(line)" : "\(file):\(line): \(key)"
        return "\(place): \(operation): \(reason); remedy: \(remedy)"
    }
}

/// Collects the problems of one document, so that its author is told everything at once.
public final class ProblemList {
    /// What was found so far, in the order of finding.
    public private(set) var problems: [DocumentProblem] = []
    private let file: String
    private let operation: String
    /// The document that describes every key; named beside the remedy for an absent or unknown one.
    let guide: String?

    /// Creates an empty list.
    ///
    /// - Parameters:
    ///   - file: the document, as its user named it.
    ///   - operation: what is being done with it (`read a policy`).
    ///   - guide: the document that describes its keys, where there is one.
    public init(file: String, operation: String, guide: String? = nil) {
        self.file = file
        self.operation = operation
        self.guide = guide
    }

    /// Whether nothing was found.
    public var isEmpty: Bool { problems.isEmpty }

    /// What was found, by file and line; on one line in the order of finding.
    public var sorted: [DocumentProblem] {
        problems.enumerated()
            .sorted {
                let left = $0.element
                let right = $1.element
                return (left.file, left.line, $0.offset) < (right.file, right.line, $1.offset)
            }
            .map(\.element)
    }

    /// Adds a problem.
    ///
    /// - Parameters:
    ///   - place: where it is.
    ///   - other: the file, where it is not the one that this list is about.
    ///   - reason: what is wrong.
    ///   - remedy: what to write in its place.
    public func add(
        _ place: DocumentPlace,
        of other: String? = nil,
        _ reason: String,
        remedy: String
    ) {
        problems.append(
            DocumentProblem(
                file: other ?? file,
                line: place.line,
                key: place.key,
                operation: operation,
                reason: reason,
                remedy: remedy
            )
        )
    }
}
