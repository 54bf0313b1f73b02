public import ExamResults
public import Gate
public import StrictJSON
public import Workspace

/// The body of a `genesis` row: what was fixed before any score was seen.
public struct GenesisRecord: Sendable, Equatable, RowBody {
    static let kind = "genesis"
    /// What a row without a surface stands for.
    private static let usualSurface = "replace agent/agent.py"

    /// The experiment's id.
    public var experiment: String
    /// The benchmark's name.
    public var benchmark: String
    /// The digest of the benchmark's tasks and programs; absent in a campaign without files.
    public var benchmarkDigest: String?
    /// The digest of the resolved configuration.
    public var configDigest: String
    /// The digest of each policy, by name.
    public var policyDigests: [String: String]
    /// The files of a candidate and how the coding agent sees them: a way to save, then patterns.
    public var surface = Self.usualSurface
    /// The train tasks, sorted.
    public var train: [TaskID]
    /// The number of sealed tasks.
    public var testCount: Int
    /// The number of sealed tasks that are held back for the final tier.
    public var finalCount = 0
    /// The commitment to the split.
    public var commitment: String
    /// The digest of the key that opens sealed outcomes; absent in rows of older versions.
    public var revealDigest: String?
    /// The rules of the gate.
    public var rules: GateRules
    /// How train tasks enter the suite, and how one that fails there is judged.
    public var promotion = PromotionRules.once
    /// What is told of sealed scores.
    public var release: ReleaseRules
    /// The facts of the host, as the probe found them.
    public var host: JSONValue
    /// The assurance level of the host.
    public var assurance: String
    /// The template that the baseline was measured with.
    public var agentDigest: CandidateDigest
    /// Whom sealed exams freeze; the whole host in rows that do not say.
    public var isolation = Isolation.host
    /// Which of the roles that know a sealed task may make internet sockets: `candidate`, `examiner`; none
    /// in rows that do not say.
    public var internet: [String] = []
    /// What the gate's rules can be expected to do: an object; absent in rows of older versions.
    public var outlook: JSONValue?

    /// Makes a record.
    ///
    /// - Parameters:
    ///   - experiment: the experiment's id.
    ///   - benchmark: the benchmark's name.
    ///   - digests: of the resolved configuration, of each policy and of the template.
    ///   - split: the train tasks, the number of sealed ones and the commitment.
    ///   - rules: the rules of the gate and of releases.
    ///   - host: the host's facts and assurance level.
    public init(
        experiment: String,
        benchmark: String,
        digests: (config: String, policies: [String: String], agent: CandidateDigest),
        split: (train: [TaskID], testCount: Int, commitment: String),
        rules: (gate: GateRules, release: ReleaseRules),
        host: (facts: JSONValue, assurance: String)
    ) {
        self.experiment = experiment
        self.benchmark = benchmark
        configDigest = digests.config
        policyDigests = digests.policies
        agentDigest = digests.agent
        train = split.train.sorted()
        testCount = split.testCount
        commitment = split.commitment
        self.rules = rules.gate
        release = rules.release
        self.host = host.facts
        assurance = host.assurance
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        experiment = try reader.string("experiment")
        benchmark = try reader.string("benchmark")
        benchmarkDigest = try reader.optionalString("benchmark_digest")
        configDigest = try reader.string("config_digest")
        policyDigests = try reader.digits("policy_digests")
        surface = try reader.optionalString("surface") ?? Self.usualSurface
        var split = try reader.object("split")
        train = try split.tasks("train").sorted()
        testCount = try split.integer("test_count")
        finalCount = try split.optionalInteger("final_count") ?? 0
        commitment = try split.string("commitment")
        try split.finish()
        revealDigest = try reader.optionalString("reveal_digest")
        var rules = try reader.object("rules")
        self.rules = GateRules(
            threshold: try rules.proportion("threshold"),
            stepTwo: try rules.word("step2", GateRules.StepTwoRule.self),
            sealed: try rules.sealedRule(),
            trials: try rules.trials(),
            ties: try rules.optionalWord("ties", GateRules.Ties.self) ?? .everywhere
        )
        promotion =
            try rules.optionalObject("promotion").map { reader throws(LoopError) in
                var reader = reader
                return try PromotionRules(from: &reader)
            } ?? .once
        release = try ReleaseRules(from: &rules)
        try rules.finish()
        host = try reader.value("host")
        assurance = try reader.string("assurance")
        agentDigest = try reader.digest("agent_digest")
        isolation = try reader.optionalWord("isolation", Isolation.self) ?? .host
        internet = try reader.optionalTexts("internet")
        outlook = try reader.optionalMember("outlook")
    }

    func write(to writer: inout BodyWriter) {
        var split = BodyWriter()
        split.add("train", train)
        split.add("test_count", testCount)
        if finalCount > 0 { split.add("final_count", finalCount) }
        split.add("commitment", commitment)
        var rules = BodyWriter()
        rules.add("threshold", self.rules.threshold)
        rules.add("step2", self.rules.stepTwo.rawValue)
        rules.add(self.rules.sealed)
        if self.rules.trials > 1 { rules.add("trials", self.rules.trials) }
        if self.rules.ties != .everywhere { rules.add("ties", self.rules.ties.rawValue) }
        if promotion != .once {
            var own = BodyWriter()
            promotion.write(to: &own)
            rules.add("promotion", own.body)
        }
        release.write(to: &rules)
        writer.add("experiment", experiment)
        writer.add("benchmark", benchmark)
        writer.add(optional: "benchmark_digest", benchmarkDigest)
        writer.add("config_digest", configDigest)
        writer.add("policy_digests", policyDigests)
        writer.add("surface", surface)
        writer.add("split", split.body)
        writer.add(optional: "reveal_digest", revealDigest)
        writer.add("rules", rules.body)
        writer.add("host", host)
        writer.add("assurance", assurance)
        writer.add("agent_digest", agentDigest)
        if isolation != .host { writer.add("isolation", isolation.rawValue) }
        if !internet.isEmpty { writer.add("internet", JSONValue(internet)) }
        if let outlook { writer.add("outlook", outlook) }
    }
}

/// The body of a `baseline` row: what the template scores.
public struct BaselineRecord: Sendable, Equatable, RowBody {
    static let kind = "baseline"

    /// The template.
    public var digest: CandidateDigest
    /// Its rewards on the train tasks.
    public var train: [TaskID: Reward]
    /// Its mean on the train tasks.
    public var trainMean: Double
    /// Its sealed score.
    public var sealed: Score
    /// What was released of that score, if anything.
    public var released: Proportion?
    /// Its commit in the supervisor's repository, if it was kept there.
    public var commit: String?

    /// Makes a record.
    ///
    /// - Parameters:
    ///   - digest: the template.
    ///   - train: its rewards on the train tasks.
    ///   - trainMean: its mean on the train tasks.
    ///   - sealed: its sealed score, and what was released of it.
    ///   - commit: its commit in the supervisor's repository, if it was kept there.
    public init(
        digest: CandidateDigest,
        train: [TaskID: Reward],
        trainMean: Double,
        sealed: (score: Score, released: Proportion?),
        commit: String?
    ) {
        self.digest = digest
        self.train = train
        self.trainMean = trainMean
        self.sealed = sealed.score
        released = sealed.released
        self.commit = commit
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        digest = try reader.digest("digest")
        train = try reader.rewards("train")
        trainMean = try reader.number("train_mean")
        sealed = try reader.score("sealed_mean", "sealed_count")
        released = try reader.optionalProportion("released")
        commit = try reader.optionalString("commit")
    }

    func write(to writer: inout BodyWriter) {
        writer.add("digest", digest)
        writer.add("train", train)
        writer.add("train_mean", .number(trainMean))
        writer.add("sealed_mean", "sealed_count", sealed)
        writer.add("released", released)
        writer.add(optional: "commit", commit)
    }
}

/// The body of a `floor` row: what a trivial agent scores, or one that knows the answers.
public struct FloorRecord: Sendable, Equatable, RowBody {
    static let kind = "floor"

    /// The trivial agent's name.
    public var name: String
    /// Its sealed score.
    public var sealed: Score
    /// What was released of that score, if anything.
    public var released: Proportion?
    /// Whether this is the ceiling: an agent that knows the answers.
    public var isCeiling = false

    /// Makes a record.
    ///
    /// - Parameters:
    ///   - name: the trivial agent's name.
    ///   - sealed: its sealed score.
    ///   - released: what was released of that score, if anything.
    public init(name: String, sealed: Score, released: Proportion?) {
        self.name = name
        self.sealed = sealed
        self.released = released
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        name = try reader.string("name")
        sealed = try reader.score("sealed_mean", "sealed_count")
        released = try reader.optionalProportion("released")
        isCeiling = try reader.optionalString("bound") == "ceiling"
    }

    func write(to writer: inout BodyWriter) {
        writer.add("name", name)
        if isCeiling { writer.add("bound", "ceiling") }
        writer.add("sealed_mean", "sealed_count", sealed)
        writer.add("released", released)
    }
}
