public import ExamResults
public import StrictJSON

/// The body of a `snapshot` row: a file that was copied out.
public struct SnapshotRecord: Sendable, Equatable, RowBody {
    static let kind = "snapshot"

    /// The iteration that it belongs to.
    public var iteration: Int
    /// The candidate.
    public var digest: CandidateDigest
    /// Its size in bytes.
    public var size: Int
    /// What it was copied out for: `train`, `submit` or `operator`.
    public var source: String

    init(iteration: Int, digest: CandidateDigest, size: Int, source: String) {
        self.iteration = iteration
        self.digest = digest
        self.size = size
        self.source = source
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        iteration = try reader.integer("iteration")
        digest = try reader.digest("digest")
        size = try reader.integer("size")
        source = try reader.string("source")
    }

    func write(to writer: inout BodyWriter) {
        writer.add("iteration", iteration)
        writer.add("digest", digest)
        writer.add("size", size)
        writer.add("source", source)
    }
}

/// The body of an `audit` row: what the static audit found.
public struct AuditRecord: Sendable, Equatable, RowBody {
    static let kind = "audit"

    /// The candidate.
    public var digest: CandidateDigest
    /// The findings, each an object of kind, line and detail.
    public var findings: [JSONValue]

    init(digest: CandidateDigest, findings: [JSONValue]) {
        self.digest = digest
        self.findings = findings
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        digest = try reader.digest("digest")
        findings = try reader.array("findings")
    }

    func write(to writer: inout BodyWriter) {
        writer.add("digest", digest)
        writer.add("findings", .array(findings))
    }
}

/// The body of an `intent` row: what is about to be judged.
public struct IntentRecord: Sendable, Equatable, RowBody {
    static let kind = "intent"

    /// The iteration.
    public var iteration: Int
    /// The ticket under which the coding agent asks for the result.
    public var ticket: String
    /// The candidate.
    public var digest: CandidateDigest
    /// What the coding agent expects of it.
    public var manifest: JSONValue
    /// The candidate's commit in the supervisor's repository.
    public var commit: String?

    init(
        iteration: Int,
        ticket: String,
        digest: CandidateDigest,
        manifest: JSONValue,
        commit: String?
    ) {
        self.iteration = iteration
        self.ticket = ticket
        self.digest = digest
        self.manifest = manifest
        self.commit = commit
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        iteration = try reader.integer("iteration")
        ticket = try reader.string("ticket")
        digest = try reader.digest("digest")
        manifest = try reader.value("manifest")
        commit = try reader.optionalString("commit")
    }

    func write(to writer: inout BodyWriter) {
        writer.add("iteration", iteration)
        writer.add("ticket", ticket)
        writer.add("digest", digest)
        writer.add("manifest", manifest)
        writer.add(optional: "commit", commit)
    }
}

/// The three verdicts of the gate.
public enum Verdict: String, Sendable, CaseIterable {
    /// The candidate becomes the best one.
    case accepted
    /// The candidate is refused.
    case rejected
    /// Nothing was decided.
    case void
}

/// The body of a `decision` row.
public struct DecisionRecord: Sendable, Equatable, RowBody {
    static let kind = "decision"

    /// The iteration.
    public var iteration: Int
    /// The ticket.
    public var ticket: String
    /// The candidate.
    public var digest: CandidateDigest
    /// The verdict.
    public var verdict: Verdict
    /// The step that refused the candidate, 1 or 2; nothing where none did.
    public var step: Int?
    /// The gate's reasons with exact figures, for the operator.
    public var reasons: [String]
    /// The sealed score, where the sealed exam was run and is not void.
    public var sealed: Score?
    /// The suite tasks that passed.
    public var suitePassed: Int
    /// The suite tasks that were run.
    public var suiteTotal: Int
    /// The suite tasks that failed and then passed often enough on fresh seeds, sorted.
    public var flaky: [TaskID] = []
    /// The best score before, as a number for readers.
    public var bestBefore: Double?
    /// What the paired test found, where one was made.
    public var paired: PairedRecord?
    /// The floors that earned more than the candidate, by name, for the operator.
    public var underFloors: [String] = []
    /// What will be released of the score, if anything.
    public var released: Proportion?
    /// The commit of an accepted candidate.
    public var commit: String?

    init(of intent: IntentRecord, verdict: Verdict, step: Int?, reasons: [String]) {
        iteration = intent.iteration
        ticket = intent.ticket
        digest = intent.digest
        self.verdict = verdict
        self.step = step
        self.reasons = reasons
        suitePassed = 0
        suiteTotal = 0
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        iteration = try reader.integer("iteration")
        ticket = try reader.string("ticket")
        digest = try reader.digest("digest")
        verdict = try reader.word("verdict", Verdict.self)
        step = try reader.optionalInteger("step")
        reasons = try reader.texts("reasons")
        sealed = try reader.optionalScore("sealed_mean", "sealed_count")
        suitePassed = try reader.integer("suite_passed")
        suiteTotal = try reader.integer("suite_total")
        flaky = try reader.optionalTasks("flaky")
        bestBefore = try reader.optionalNumber("best_before")
        paired = try reader.optionalObject("paired").map { found throws(LoopError) in
            var found = found
            return try PairedRecord(from: &found)
        }
        underFloors = try reader.optionalTexts("under_floors")
        released = try reader.optionalProportion("released")
        commit = try reader.optionalString("commit")
    }

    func write(to writer: inout BodyWriter) {
        writer.add("iteration", iteration)
        writer.add("ticket", ticket)
        writer.add("digest", digest)
        writer.add("verdict", verdict.rawValue)
        if !underFloors.isEmpty { writer.add("under_floors", JSONValue(underFloors)) }
        if let step { writer.add("step", step) }
        writer.add("reasons", JSONValue(reasons))
        writer.add("sealed_mean", "sealed_count", sealed)
        writer.add("suite_passed", suitePassed)
        writer.add("suite_total", suiteTotal)
        writer.add(unlessEmpty: "flaky", flaky)
        if let bestBefore { writer.add("best_before", .number(bestBefore)) }
        if let paired { writer.add("paired", paired.body) }
        writer.add("released", released)
        writer.add(optional: "commit", commit)
    }
}

/// The body of a `release` row: what the coding agent's side was told, and when.
public struct ReleaseRecord: Sendable, Equatable, RowBody {
    static let kind = "release"

    /// The iteration.
    public var iteration: Int
    /// The ticket.
    public var ticket: String
    /// The verdict.
    public var verdict: Verdict
    /// The rounded score, if one was told.
    public var released: Proportion?
    /// The moment of the grid, in milliseconds since 1970.
    public var slot: Int64
    /// What this told about sealed tasks, at the most; absent in rows of older versions.
    public var bits: ReleasedBits?
    /// What its manifest predicted against what happened; absent where an operator asked.
    public var manifest: ManifestScore?
    /// The channels that policies and host left open beside the answers; nil in rows of older versions, where
    /// nobody looked.
    public var channels: OpenChannels?
    /// Whether other experiments' coding agents ran beside its sealed exams; closed in rows that do not say.
    public var liveChannels = LiveChannels.closed

    init(of decision: DecisionRecord, slot: Int64, bits: ReleasedBits? = nil) {
        self.bits = bits
        iteration = decision.iteration
        ticket = decision.ticket
        verdict = decision.verdict
        released = decision.released
        self.slot = slot
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        iteration = try reader.integer("iteration")
        ticket = try reader.string("ticket")
        verdict = try reader.word("verdict", Verdict.self)
        released = try reader.optionalProportion("released")
        slot = Int64(try reader.integer("slot_ms"))
        bits = try reader.optionalObject("bits").map { reader throws(LoopError) in
            var reader = reader
            return try ReleasedBits(from: &reader)
        }
        manifest = try reader.optionalObject("manifest").map { reader throws(LoopError) in
            var reader = reader
            return try ManifestScore(from: &reader)
        }
        liveChannels = try reader.liveChannels()
        channels = try reader.optionalObject("open_channels").map { reader throws(LoopError) in
            var reader = reader
            return try OpenChannels(from: &reader)
        }
    }

    func write(to writer: inout BodyWriter) {
        writer.add(liveChannels)
        if let channels { writer.add("open_channels", channels.body) }
        writer.add("iteration", iteration)
        writer.add("ticket", ticket)
        writer.add("verdict", verdict.rawValue)
        writer.add("released", released)
        writer.add("slot_ms", .integer(slot))
        if let bits { writer.add("bits", bits.body) }
        if let manifest { writer.add("manifest", manifest.body) }
    }
}
