public import StrictJSON

/// Something in a candidate that an honest change does not need.
public struct AuditFinding: Sendable, Equatable {
    /// What it is.
    public let kind: Kind
    /// The file that the line is of; absent where the candidate has a single one.
    public let file: String?
    /// The line, from 1; nothing where it is the candidate as a whole.
    public let line: Int?
    /// Counts, sizes and words of our own lists; never text of a task or of the candidate.
    public let detail: String

    /// Makes a finding.
    init(_ kind: Kind, file: String? = nil, line: Int?, _ detail: String) {
        self.kind = kind
        self.file = file
        self.line = line
        self.detail = detail
    }

    /// What was found.
    public enum Kind: String, Sendable, CaseIterable {
        /// The id of a train task, or a token that only tasks hold.
        case taskName = "task-name"
        /// Phrases that are word for word those of train tasks, their gold answers among them.
        case taskText = "task-text"
        /// Numbers that stand in train tasks and their gold answers.
        case taskNumber = "task-number"
        /// Phrases that are word for word what examiners said in train traces.
        case traceText = "trace-text"
        /// The id of a sealed task, or a token that only sealed tasks hold.
        case sealedName = "sealed-name"
        /// Phrases that only sealed tasks hold.
        case sealedText = "sealed-text"
        /// A long run of base 64 or hexadecimal digits.
        case encodedBlob = "encoded-blob"
        /// A long string with more bits a character than prose or code has.
        case denseLiteral = "dense-literal"
        /// A table of many long numbers.
        case numberTable = "number-table"
        /// A line that nobody reads to its end.
        case longLine = "long-line"
        /// Characters or spellings that show a text other than it is.
        case hiddenText = "hidden-text"
        /// A candidate that grew by more bytes than a change explains.
        case sizeGrowth = "size-growth"
        /// A candidate that grew by more lines than a change explains.
        case lineGrowth = "line-growth"
        /// A way to the frames, the objects or the memory of the program around it.
        case frameWalking = "frame-walking"
        /// Code that is made or loaded while it runs.
        case dynamicCode = "dynamic-code"
        /// A way to the network.
        case network
        /// Another process.
        case process
        /// A decoder of what nobody can read.
        case decoding
        /// A path of the system's own, or of the exam's.
        case foreignPath = "foreign-path"
        /// A text that the audit cannot follow.
        case unreadable

        /// Whether it compares with sealed tasks: then neither the coding agent nor a refusal may tell
        /// of it, or a candidate could ask what sealed tasks hold.
        public var isOfSealedTasks: Bool { self == .sealedName || self == .sealedText }
    }

    /// The finding as a member of an audit row.
    public var body: JSONValue {
        var members: [String: JSONValue] = [
            "kind": .string(kind.rawValue),
            "line": line.map { JSONValue($0) } ?? .null,
            "detail": .string(detail),
        ]
        if let file { members["file"] = .string(file) }
        return .object(members)
    }

    /// The finding in one line, for a refusal.
    public var words: String {
        let place = line.map { " in line \($0)" } ?? ""
        return kind.rawValue + place + (file.map { " of \($0)" } ?? "") + ": " + detail
    }

    /// The same finding, of a file.
    func of(_ file: String) -> AuditFinding { AuditFinding(kind, file: file, line: line, detail) }
}
