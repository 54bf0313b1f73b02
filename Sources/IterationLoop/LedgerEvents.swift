public import StrictJSON

/// A row as the ledger gives it, without hash and signature.
public struct RecordedRow: Sendable, Equatable {
    /// The row's number, from 1.
    public let sequence: Int
    /// When it was written.
    public let time: Moment
    /// The kind, as the ledger spells it.
    public let kind: String
    /// The body.
    public let body: JSONValue

    /// Makes a row.
    ///
    /// - Parameters:
    ///   - sequence: the row's number, from 1.
    ///   - time: when it was written.
    ///   - kind: the kind, as the ledger spells it.
    ///   - body: the body.
    public init(sequence: Int, time: Moment, kind: String, body: JSONValue) {
        self.sequence = sequence
        self.time = time
        self.kind = kind
        self.body = body
    }
}

/// A row with its meaning: the one place where kinds and bodies meet.
public enum LedgerEvent: Sendable, Equatable {
    /// What was fixed before any score was seen.
    case genesis(GenesisRecord)
    /// What the template scores.
    case baseline(BaselineRecord)
    /// What a trivial agent scores.
    case floor(FloorRecord)
    /// The first run began.
    case runStarted(RunRecord)
    /// A later run began where the ledger ended.
    case runResumed(RunRecord)
    /// A run ended, with the reason.
    case runEnded(reason: String)
    /// A file was copied out.
    case snapshot(SnapshotRecord)
    /// The static audit found something.
    case audit(AuditRecord)
    /// A candidate is about to be judged.
    case intent(IntentRecord)
    /// An exam is about to begin.
    case examStarted(ExamStartedRecord)
    /// An exam ended.
    case examEnded(ExamEndedRecord)
    /// The gate decided.
    case decision(DecisionRecord)
    /// Train tasks entered the suite.
    case promotion(PromotionRecord)
    /// The operator took a task out of the suite.
    case retirement(RetirementRecord)
    /// The coding agent's side was told.
    case release(ReleaseRecord)
    /// Something was tried and stopped.
    case refusal(RefusalRecord)
    /// A note of the coding agent.
    case learning(LearningRecord)
    /// The best candidate was put back.
    case revert(RevertRecord)
    /// The operator paused the run.
    case pause
    /// The operator resumed the run.
    case resume
    /// The operator stopped the run, with the reason.
    case stop(reason: String)
    /// Work that counts for nothing.
    case void(VoidRecord)
    /// A wire that no honest work touches was touched.
    case tripwire(TripwireRecord)
    /// A row that says nothing about the campaign.
    case other(kind: String, body: JSONValue)

    /// The kinds whose rows say nothing about the campaign.
    static let otherKinds: Set<String> = [
        "sandbox-started", "sandbox-exited", "view-rendered", "migrated", "model-usage",
        "unpublished", BudgetExtension.kind, "unnotified", "pruned", "key-rotated", "key-replaced",
        "bound",
    ]

    /// Reads a row.
    ///
    /// - Parameters:
    ///   - kind: the row's kind.
    ///   - body: the row's body.
    /// - Throws: ``LoopError/badRecord(kind:reason:)`` for an unknown kind, or a body with a
    ///   member missing, unknown or of another type.
    public init(kind: String, body: JSONValue) throws(LoopError) {
        switch kind {
        case "genesis": self = .genesis(try GenesisRecord(body))
        case "baseline": self = .baseline(try BaselineRecord(body))
        case "floor": self = .floor(try FloorRecord(body))
        case "run-started": self = .runStarted(try RunRecord(body, kind: kind))
        case "run-resumed": self = .runResumed(try RunRecord(body, kind: kind))
        case "run-ended": self = .runEnded(reason: try Self.reason(body, kind))
        case "snapshot": self = .snapshot(try SnapshotRecord(body))
        case "audit": self = .audit(try AuditRecord(body))
        case "intent": self = .intent(try IntentRecord(body))
        case "exam-started": self = .examStarted(try ExamStartedRecord(body))
        case "exam-ended": self = .examEnded(try ExamEndedRecord(body))
        case "decision": self = .decision(try DecisionRecord(body))
        case "promotion": self = .promotion(try PromotionRecord(body))
        case "retirement": self = .retirement(try RetirementRecord(body))
        case "release": self = .release(try ReleaseRecord(body))
        case "refusal": self = .refusal(try RefusalRecord(body))
        case "learning": self = .learning(try LearningRecord(body))
        case "revert": self = .revert(try RevertRecord(body))
        case "pause", "resume":
            try BodyReader(body, kind: kind).finish()
            self = kind == "pause" ? .pause : .resume
        case "stop": self = .stop(reason: try Self.reason(body, kind))
        case "void": self = .void(try VoidRecord(body))
        case "tripwire": self = .tripwire(try TripwireRecord(body))
        default:
            guard Self.otherKinds.contains(kind) else {
                throw .badRecord(kind: kind, reason: "the kind is unknown")
            }
            self = .other(kind: kind, body: body)
        }
    }

    private static func reason(_ body: JSONValue, _ kind: String) throws(LoopError) -> String {
        var reader = try BodyReader(body, kind: kind)
        let reason = try reader.string("reason")
        try reader.finish()
        return reason
    }

    /// Whether only a run writes it: others write some rows while no run is on, and a run that was cut off has
    /// no end in the record.
    var showsRun: Bool {
        switch self {
        case .other, .retirement: false
        case .examStarted(let record): record.purpose != .final
        case .examEnded(let record): record.purpose != .final
        default: true
        }
    }

    /// The kind, as the ledger spells it.
    public var kind: String {
        switch self {
        case .genesis: "genesis"
        case .baseline: "baseline"
        case .floor: "floor"
        case .runStarted: "run-started"
        case .runResumed: "run-resumed"
        case .runEnded: "run-ended"
        case .snapshot: "snapshot"
        case .audit: "audit"
        case .intent: "intent"
        case .examStarted: "exam-started"
        case .examEnded: "exam-ended"
        case .decision: "decision"
        case .promotion: "promotion"
        case .retirement: "retirement"
        case .release: "release"
        case .refusal: "refusal"
        case .learning: "learning"
        case .revert: "revert"
        case .pause: "pause"
        case .resume: "resume"
        case .stop: "stop"
        case .void: "void"
        case .tripwire: "tripwire"
        case .other(let kind, _): kind
        }
    }

    /// The body, as the ledger keeps it.
    public var body: JSONValue {
        switch self {
        case .genesis(let record): record.body
        case .baseline(let record): record.body
        case .floor(let record): record.body
        case .runStarted(let record), .runResumed(let record): record.body
        case .runEnded(let reason), .stop(let reason): ["reason": .string(reason)]
        case .snapshot(let record): record.body
        case .audit(let record): record.body
        case .intent(let record): record.body
        case .examStarted(let record): record.body
        case .examEnded(let record): record.body
        case .decision(let record): record.body
        case .promotion(let record): record.body
        case .retirement(let record): record.body
        case .release(let record): record.body
        case .refusal(let record): record.body
        case .learning(let record): record.body
        case .revert(let record): record.body
        case .pause, .resume: [:]
        case .void(let record): record.body
        case .tripwire(let record): record.body
        case .other(_, let body): body
        }
    }
}
