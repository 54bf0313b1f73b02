public import ExamResults
internal import GateStatistics
internal import StrictJSON
internal import Workspace

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
    /// The sealed tasks that were held back, once, at the operator's word.
    case final
    /// The train tasks that watch for cheats, before step 1.
    case sentinel
    /// Suite tasks that failed, on fresh seeds, before step 1 is judged.
    case protect
    /// Train tasks that pass anew, on fresh seeds, before they enter the suite.
    case confirm
}

/// Whether a coding agent could be told something of a sealed exam by other ways than answers.
public enum LiveChannels: String, Sendable {
    /// Every coding agent of the host stood still, and nobody who knew a task had internet sockets.
    case closed
    /// Coding agents of other experiments ran (`isolation: experiment`), or candidates or examiners had
    /// internet sockets, of which the kernel counts for the whole host: nobody counts what can have been
    /// told, and the bits of a release bound answers alone.
    case unbounded
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
    /// How often every task is run; 1 in rows that do not say.
    public var trials = 1
    /// The incumbent that runs the same tasks beside the candidate, where one does.
    public var incumbent: CandidateDigest?
    /// Of a sealed exam; closed in rows that do not say.
    public var liveChannels = LiveChannels.closed

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
        trials = try reader.trials()
        incumbent = try reader.optionalDigest("incumbent")
        liveChannels = try reader.liveChannels()
    }

    func write(to writer: inout BodyWriter) {
        writer.add(liveChannels)
        writer.add("iteration", iteration)
        writer.add("purpose", purpose.rawValue)
        writer.add("split", split.rawValue)
        writer.add("count", count)
        writer.add("digest", digest)
        writer.add("assurance", assurance)
        if trials > 1 { writer.add("trials", trials) }
        writer.add("incumbent", incumbent)
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
    /// How often every task was run; 1 in rows that do not say.
    public var trials: Int
    /// How many tasks passed in every trial; nothing where each was run once.
    public var passedAlways: Int?
    /// The incumbent that ran the same tasks, where one did.
    public var incumbent: CandidateDigest?
    /// The incumbent's mean; nothing where the exam is void.
    public var incumbentMean: Score?
    /// The 95 % interval around the mean, clustered by task; nothing for the train split.
    public var interval: IntervalRecord?
    /// The same around the difference from the incumbent, where one ran.
    public var difference: IntervalRecord?
    /// The outcomes of train tasks; nothing for the sealed split.
    public var outcomes: ExamResults?
    /// Of a sealed exam, how much better the train tasks went that have twins in it, and how many; for the
    /// operator.
    public var twinGap: TwinGap?
    /// Of a sealed exam whose sandboxes take numbers of the host's counters that nobody counts, the bits that
    /// the counters tell of it, in place of those that every exam is charged with.
    public var uncountedBits: Double?
    /// Of a sealed exam, how many of the planned sandboxes were never started; nil where all were.
    public var unstarted: Int?
    /// How often each fault occurred.
    public var faults: [String: Int]
    /// How long it took, in milliseconds.
    public var durationMilliseconds: Int64
    /// The digests of the plans that its sandboxes were built from, by role.
    public var planDigests: [String: String]
    /// What a sealed exam commits to: the root of its outcomes; absent in rows of older versions.
    public var sealedRoot: String?
    /// Of a sealed exam; closed in rows that do not say.
    public var liveChannels: LiveChannels

    /// Makes a record of results.
    ///
    /// - Parameters:
    ///   - start: the row that the exam began with.
    ///   - results: its results.
    ///   - durationMilliseconds: how long it took, in milliseconds.
    ///   - planDigests: the digests of the plans, by role.
    ///   - sealedRoot: what a sealed exam commits to.
    public init(
        of start: ExamStartedRecord,
        results: TrialResults,
        durationMilliseconds: Int64,
        planDigests: [String: String],
        sealedRoot: String? = nil
    ) {
        self.sealedRoot = sealedRoot
        liveChannels = start.liveChannels
        iteration = start.iteration
        purpose = start.purpose
        split = start.split
        digest = start.digest
        assurance = start.assurance
        incumbent = start.incumbent
        count = results.planned.count
        trials = results.trials
        outcomes = start.split == .train ? results.first : nil
        faults = TrialResults.faultCounts(of: results.candidate)
        self.durationMilliseconds = durationMilliseconds
        self.planDigests = planDigests
        do throws(ExamError) {
            mean = try results.mean()
            incumbentMean = try results.incumbentMean()
            let always = try results.passedInEveryTrial().count
            passed = try results.passes()
            passedAlways = trials > 1 ? always : nil
            if start.split == .test {
                interval = IntervalRecord(try ClusteredInterval(candidateOf: results))
                difference = try ClusteredInterval(differenceOf: results).map(IntervalRecord.init)
            }
        } catch {
            // A void exam has no figure at all.
            (mean, incumbentMean, passed, passedAlways) = (nil, nil, nil, nil)
        }
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        iteration = try reader.integer("iteration")
        purpose = try reader.word("purpose", ExamPurpose.self)
        split = try reader.word("split", Split.self)
        digest = try reader.digest("digest")
        assurance = try reader.string("assurance")
        passed = try reader.optionalInteger("passed")
        count = try reader.integer("count")
        trials = try reader.trials()
        passedAlways = try reader.optionalInteger("passed_always")
        guard (1...1_000_000).contains(count) else {
            throw reader.refused("count is not from 1 to 1000000")
        }
        mean = try reader.mean("mean", of: count * trials)
        incumbent = try reader.optionalDigest("incumbent")
        incumbentMean = try reader.mean("incumbent_mean", of: count * trials)
        guard (incumbentMean != nil) == (incumbent != nil && mean != nil) else {
            throw reader.refused("incumbent_mean does not go with incumbent and mean")
        }
        interval = try IntervalRecord(from: &reader, "interval")
        difference = try IntervalRecord(from: &reader, "difference")
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
        sealedRoot = try reader.optionalString("sealed_root")
        liveChannels = try reader.liveChannels()
        twinGap = try reader.optionalObject("twins").map { reader throws(LoopError) in
            var reader = reader
            return try TwinGap(from: &reader)
        }
        uncountedBits = try reader.optionalNumber("uncounted_bits")
        unstarted = try reader.optionalInteger("unstarted")
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
        if trials > 1 { writer.add("trials", trials) }
        if let passedAlways { writer.add("passed_always", passedAlways) }
        writer.add("incumbent", incumbent)
        if let interval { writer.add("interval", interval.body) }
        if let difference { writer.add("difference", difference.body) }
        if let incumbentMean { writer.add("incumbent_mean", .number(incumbentMean.mean)) }
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
        writer.add(optional: "sealed_root", sealedRoot)
        writer.add(liveChannels)
        if let twinGap { writer.add("twins", twinGap.body) }
        if let uncountedBits { writer.add("uncounted_bits", .number(uncountedBits)) }
        if let unstarted { writer.add("unstarted", unstarted) }
    }
}

extension BodyReader {
    mutating func liveChannels() throws(LoopError) -> LiveChannels {
        try optionalWord("live_channels", LiveChannels.self) ?? .closed
    }
}

extension BodyWriter {
    /// What is as it always was is not said.
    mutating func add(_ channels: LiveChannels) {
        if channels != .closed { add("live_channels", channels.rawValue) }
    }
}

extension GenesisRecord {
    /// What sealed exams of this experiment leave open.
    public var liveChannels: LiveChannels {
        isolation == .host && internet.isEmpty ? .closed : .unbounded
    }
}
