public import ExamResults
public import StrictJSON
public import Workspace

/// The body of a `refusal` row: something that was tried, and what stopped it.
public struct RefusalRecord: Sendable, Equatable, RowBody {
    static let kind = "refusal"

    /// What it says of whoever met it.
    public var kind: RefusalKind
    /// What stopped it, by the name of the layer.
    public var layer: String
    /// What was tried, in a few words.
    public var attempt: String
    /// Why it was refused.
    public var detail: String
    /// The iteration in which it was tried.
    public var iteration: Int
    /// Who tried: `coding-agent`, `candidate`, `operator`, or `supervisor` for what did not fit.
    public var by: String
    /// How often, where one row stands for several attempts.
    public var count: Int?

    /// Makes a record.
    ///
    /// - Parameters:
    ///   - kind: what it says of whoever met it.
    ///   - layer: what stopped it.
    ///   - attempt: what was tried, in a few words.
    ///   - detail: why it was refused.
    ///   - iteration: the iteration in which it was tried.
    ///   - by: who tried.
    public init(
        _ kind: RefusalKind,
        layer: String,
        attempt: String,
        detail: String,
        iteration: Int,
        by: String
    ) {
        self.kind = kind
        self.layer = layer
        self.attempt = attempt
        self.detail = detail
        self.iteration = iteration
        self.by = by
    }

    /// Who did what, in words.
    public var sentence: RefusalSentence {
        RefusalSentence(kind, layer: layer, attempt: attempt, author: by)
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        kind = try reader.optionalWord("class", RefusalKind.self) ?? RefusalKind(recorded: nil)
        layer = try reader.string("layer")
        attempt = try reader.string("attempt")
        detail = try reader.string("detail")
        iteration = try reader.integer("iteration")
        by = try reader.string("by")
        count = try reader.optionalInteger("count")
    }

    func write(to writer: inout BodyWriter) {
        writer.add("class", kind.rawValue)
        writer.add("layer", layer)
        writer.add("attempt", attempt)
        writer.add("detail", detail)
        writer.add("iteration", iteration)
        writer.add("by", by)
        if let count { writer.add("count", count) }
    }
}

/// The body of a `learning` row: a note of the coding agent.
public struct LearningRecord: Sendable, Equatable, RowBody {
    static let kind = "learning"

    /// The iteration in which it was written.
    public var iteration: Int
    /// What was noted.
    public var note: LearningNote
    /// The bytes that it takes of the room for notes.
    public var byteCount: Int { note.byteCount }

    init(iteration: Int, note: LearningNote) {
        self.iteration = iteration
        self.note = note
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        iteration = try reader.integer("iteration")
        let text = try reader.optionalString("text")
        var parts: [LearningNote.Part: String] = [:]
        for part in LearningNote.Part.allCases {
            parts[part] = try reader.optionalString(part.rawValue)
        }
        guard text != nil || !parts.isEmpty else { throw reader.refused("it says nothing") }
        note = LearningNote(text: text, parts: parts)
    }

    func write(to writer: inout BodyWriter) {
        writer.add("iteration", iteration)
        writer.add(optional: "text", note.text)
        for (part, text) in note.ordered { writer.add(part.rawValue, text) }
    }
}

/// The body of a `revert` row: the best candidate was put back.
public struct RevertRecord: Sendable, Equatable, RowBody {
    static let kind = "revert"

    /// The iteration.
    public var iteration: Int
    /// The candidate that was put back.
    public var digest: CandidateDigest

    init(iteration: Int, digest: CandidateDigest) {
        self.iteration = iteration
        self.digest = digest
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        iteration = try reader.integer("iteration")
        digest = try reader.digest("digest")
    }

    func write(to writer: inout BodyWriter) {
        writer.add("iteration", iteration)
        writer.add("digest", digest)
    }
}

/// The body of a `void` row: work that counts for nothing.
///
/// With a ticket it closes that intent; without one it says that an exam is run again.
public struct VoidRecord: Sendable, Equatable, RowBody {
    static let kind = "void"

    /// The iteration.
    public var iteration: Int
    /// The ticket whose intent is closed, if one is.
    public var ticket: String?
    /// Why.
    public var reason: String
    /// What sealed exams of the closed intent told all the same, though no answer was released; nil where
    /// none began.
    public var bits: ReleasedBits?

    init(iteration: Int, ticket: String?, reason: String) {
        self.iteration = iteration
        self.ticket = ticket
        self.reason = reason
    }

    /// Closes an exam whose run was cut off.
    ///
    /// - Parameter exam: the exam that began.
    public init(cutOff exam: ExamStartedRecord) {
        let reason = "the run before this one ended while an exam was running"
        self.init(iteration: exam.iteration, ticket: nil, reason: reason)
    }

    /// Closes an intent.
    init(closing intent: IntentRecord, because reason: String, telling bits: ReleasedBits?) {
        self.init(iteration: intent.iteration, ticket: intent.ticket, reason: reason)
        self.bits = bits
    }

    /// Says that the exams of an intent are run again.
    init(repeating intent: IntentRecord, because reason: String) {
        let iteration = intent.iteration
        self.init(iteration: iteration, ticket: nil, reason: "\(reason); it is run again")
    }

    /// Says that an exam of the preparation is run again.
    ///
    /// - Parameter reason: what broke.
    public init(repeatingInPreparation reason: String) {
        self.init(iteration: 0, ticket: nil, reason: "\(reason); it is run again")
    }

    /// What broke in an exam that is void, as a reason to run it again.
    ///
    /// - Parameters:
    ///   - purpose: what the exam was run for.
    ///   - results: its results.
    /// - Returns: the faults and how many rollouts they voided.
    public static func broken(_ purpose: ExamPurpose, _ results: TrialResults) -> String {
        let codes = TrialResults.faultCounts(of: results.candidate).keys.sorted()
        return "infrastructure broke (\(codes.joined(separator: ", "))) in \(results.voidedCount)"
            + " rollouts of the \(purpose.rawValue) exam"
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        iteration = try reader.integer("iteration")
        ticket = try reader.optionalString("ticket")
        reason = try reader.string("reason")
        bits = try reader.optionalObject("bits").map { reader throws(LoopError) in
            var reader = reader
            return try ReleasedBits(from: &reader)
        }
    }

    func write(to writer: inout BodyWriter) {
        writer.add("iteration", iteration)
        writer.add(optional: "ticket", ticket)
        writer.add("reason", reason)
        if let bits { writer.add("bits", bits.body) }
    }
}

/// The body of a `run-started` or `run-resumed` row.
public struct RunRecord: Sendable, Equatable {
    /// Which run of the experiment this is, from 1.
    public var run: Int
    /// What the shell wants kept of the host and the program; an object.
    public var facts: JSONValue

    init(run: Int, facts: JSONValue) {
        self.run = run
        self.facts = facts
    }

    init(_ body: JSONValue, kind: String) throws(LoopError) {
        var reader = try BodyReader(body, kind: kind)
        run = try reader.integer("run")
        facts = try reader.value("facts")
        try reader.finish()
    }

    var body: JSONValue { ["run": JSONValue(run), "facts": facts] }
}
