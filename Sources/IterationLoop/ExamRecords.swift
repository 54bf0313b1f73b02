public import ExamResults
internal import StrictJSON

/// What an exam is run for.
public enum ExamPurpose: String, Sendable, CaseIterable {
    /// The template, on both splits.
    case baseline
    /// A trivial agent.
    case floor
    /// The coding agent asked for it.
    case train
    /// Step 1 of the gate.
    case suite
    /// Step 2 of the gate.
    case sealed
    /// The train tasks that failed so far, under a newly accepted candidate.
    case recheck
}

/// The body of an `exam-started` row.
public struct ExamStartedRecord: Sendable, Equatable, RowBody {
    static let kind = "exam-started"

    /// The iteration.
    public var iteration: Int
    /// What the exam is run for.
    public var purpose: ExamPurpose
    /// The split.
    public var split: Split
    /// The number of planned tasks.
    public var count: Int
    /// The candidate.
    public var digest: CandidateDigest
    /// The assurance level of the host, as the launcher measured it.
    public var assurance: String

    /// Makes a record.
    ///
    /// - Parameters:
    ///   - iteration: the iteration.
    ///   - purpose: what the exam is run for.
    ///   - split: the split.
    ///   - count: the number of planned tasks.
    ///   - digest: the candidate.
    ///   - assurance: the assurance level of the host.
    public init(
        iteration: Int,
        purpose: ExamPurpose,
        split: Split,
        count: Int,
        digest: CandidateDigest,
        assurance: String
    ) {
        self.iteration = iteration
        self.purpose = purpose
        self.split = split
        self.count = count
        self.digest = digest
        self.assurance = assurance
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        iteration = try reader.integer("iteration")
        purpose = try reader.word("purpose", ExamPurpose.self)
        split = try reader.word("split", Split.self)
        count = try reader.integer("count")
        digest = try reader.digest("digest")
        assurance = try reader.string("assurance")
    }

    func write(to writer: inout BodyWriter) {
        writer.add("iteration", iteration)
        writer.add("purpose", purpose.rawValue)
        writer.add("split", split.rawValue)
        writer.add("count", count)
        writer.add("digest", digest)
        writer.add("assurance", assurance)
    }
}

/// The body of an `exam-ended` row; a sealed exam's holds no outcome of a single task.
public struct ExamEndedRecord: Sendable, Equatable, RowBody {
    static let kind = "exam-ended"

    /// The iteration.
    public var iteration: Int
    /// What the exam was run for.
    public var purpose: ExamPurpose
    /// The split.
    public var split: Split
    /// The candidate.
    public var digest: CandidateDigest
    /// The assurance level of the host, as the launcher measured it.
    public var assurance: String
    /// The mean; nothing where the exam is void.
    public var mean: Score?
    /// How many tasks passed; nothing where the exam is void.
    public var passed: Int?
    /// The number of planned tasks.
    public var count: Int
    /// The outcomes of train tasks; nothing for the sealed split.
    public var outcomes: ExamResults?
    /// How often each fault occurred.
    public var faults: [String: Int]
    /// How long it took, in milliseconds.
    public var durationMilliseconds: Int64
    /// The digests of the plans that its sandboxes were built from, by role.
    public var planDigests: [String: String]

    /// Makes a record of results.
    ///
    /// - Parameters:
    ///   - start: the row that the exam began with.
    ///   - results: its results.
    ///   - durationMilliseconds: how long it took, in milliseconds.
    ///   - planDigests: the digests of the plans, by role.
    public init(
        of start: ExamStartedRecord,
        results: ExamResults,
        durationMilliseconds: Int64,
        planDigests: [String: String]
    ) {
        iteration = start.iteration
        purpose = start.purpose
        split = start.split
        digest = start.digest
        assurance = start.assurance
        (mean, passed) = Self.figures(of: results)
        count = results.planned.count
        outcomes = start.split == .train ? results : nil
        faults = results.faultCounts
        self.durationMilliseconds = durationMilliseconds
        self.planDigests = planDigests
    }

    /// The mean and the passes; nothing of both where the exam is void.
    private static func figures(of results: ExamResults) -> (Score?, Int?) {
        do throws(ExamError) {
            return (try results.mean(), try results.passedTasks().count)
        } catch {
            return (nil, nil)
        }
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        iteration = try reader.integer("iteration")
        purpose = try reader.word("purpose", ExamPurpose.self)
        split = try reader.word("split", Split.self)
        digest = try reader.digest("digest")
        assurance = try reader.string("assurance")
        let mean = try reader.optionalNumber("mean")
        passed = try reader.optionalInteger("passed")
        let count = try reader.integer("count")
        self.count = count
        self.mean = try mean.map { mean throws(LoopError) in
            try reader.exam { () throws(ExamError) in
                try Score(replayingMean: mean, count: count)
            }
        }
        let hasOutcomes = try reader.take { reader throws(JSONError) in
            reader.optionalValue("outcomes")
        }
        outcomes = try hasOutcomes.map { value throws(LoopError) in
            try Self.outcomes(value)
        }
        faults = [:]
        for (code, value) in try reader.members("faults") {
            guard let count = value.intValue else { throw reader.refused("faults hold no count") }
            faults[code] = count
        }
        durationMilliseconds = Int64(try reader.integer("duration_ms"))
        planDigests = try reader.digits("plan_digests")
        guard split == .train || outcomes == nil else {
            throw reader.refused("a sealed exam lists outcomes of single tasks")
        }
    }

    private static func outcomes(_ value: JSONValue) throws(LoopError) -> ExamResults {
        let reader = try BodyReader(value, kind: "exam-ended.outcomes")
        var outcomes: [TaskID: TaskOutcome] = [:]
        for (text, value) in value.objectValue ?? [:] {
            var entry = try BodyReader(value, kind: "exam-ended.outcomes.\(text.prefix(40))")
            let code = try entry.string("outcome")
            let reward = try entry.optionalNumber("reward")
            try entry.finish()
            let task = try reader.exam { () throws(ExamError) in try TaskID(text) }
            outcomes[task] = try reader.exam { () throws(ExamError) in
                try TaskOutcome(code: code, reward: reward)
            }
        }
        return try reader.exam { () throws(ExamError) in
            try ExamResults(planned: Array(outcomes.keys), outcomes: outcomes)
        }
    }

    func write(to writer: inout BodyWriter) {
        writer.add("iteration", iteration)
        writer.add("purpose", purpose.rawValue)
        writer.add("split", split.rawValue)
        writer.add("digest", digest)
        writer.add("assurance", assurance)
        if let mean { writer.add("mean", .number(mean.mean)) }
        if let passed { writer.add("passed", passed) }
        writer.add("count", count)
        if let outcomes {
            var entries = BodyWriter()
            for (task, outcome) in outcomes.all {
                var entry = BodyWriter()
                entry.add("outcome", outcome.code)
                if case .graded(let reward) = outcome { entry.add("reward", reward) }
                entries.add(task.text, entry.body)
            }
            writer.add("outcomes", entries.body)
        }
        writer.add("faults", .object(faults.mapValues { JSONValue($0) }))
        writer.add("duration_ms", .integer(durationMilliseconds))
        writer.add("plan_digests", planDigests)
    }
}
