public import ExamResults
public import Workspace

/// What a run may use and how it behaves; the gate's own rules stand in the genesis.
public struct LoopRules: Sendable, Equatable {
    /// The most judged candidates: the budget's, or the run's own bound where that is tighter.
    public var iterations: Int {
        get { min(iterationBudget, iterationBound ?? .max) }
        set { iterationBudget = newValue }
    }
    /// The longest running time, pauses not counted, in milliseconds; the same of the two.
    public var runMilliseconds: Int64 {
        get { min(millisecondBudget, millisecondBound ?? .max) }
        set { millisecondBudget = newValue }
    }
    var iterationBudget = 50
    var millisecondBudget: Int64 = 12 * 3_600_000
    var iterationBound: Int?
    var millisecondBound: Int64?
    /// Why the run must end at the next moment at which nothing is judged, where it must.
    var boundEnd: EndReason?
    /// The most train exams that the coding agent may ask for.
    public var trainRuns = 500
    /// The decisions in a row without a higher score that end the run.
    public var noImprovement = 5
    /// The most submissions.
    public var submissions = 100
    /// The grid of times at which results are told, in milliseconds; above 0.
    public var gridMilliseconds: Int64 = 2_000
    /// The cluster of each train task, of which a suite may be allowed so many.
    public var clusters: [TaskID: String] = [:]
    /// The most rollouts of an exam at one time.
    public var concurrency = 4
    /// The longest that one rollout can take, in milliseconds: what a candidate can stretch an exam by.
    public var rolloutMilliseconds: Int64 = 60_000
    /// What the policies in force and the host leave open beside the answers; nil where nobody looked.
    public var channels: OpenChannels?
    /// How long a coding agent that does not wait is let run before its candidate is judged.
    ///
    /// Shorter cuts tool calls of the agent, longer delays the night.
    public var graceMilliseconds: Int64 = 10_000
    /// How often an exam is run again because infrastructure broke, before the verdict is void.
    public var exams = 2
    /// The refusals of one run that end it: a program that tries so often does nothing else.
    public var refusals = 1_000
    /// The most times in one run that another file is replaced by the best candidate.
    public var reverts = 200
    /// The most times that the coding agent may ask for the status between two exams that it asks for.
    public var statuses = 500
    /// The most times that it may ask for a difference between them; a long one takes the supervisor seconds.
    public var differences = 20
    /// The results that the coding agent may wait for at the same time.
    public var waiters = 4
    /// Whether a submission without a manifest is refused.
    public var demandsManifest = true
    /// The coding agent's profile, under which its manifests are scored.
    public var codingAgent = "command"
    /// The train tasks that every candidate is examined on before step 1, sorted: they watch for cheats.
    public var sentinels: [TaskID] = []
    /// The tasks among them that nobody can pass: they are not rechecked, and so never promoted.
    public var impossible: Set<TaskID> = []
    /// What the host's counters tell of a sealed exam that has no end in the record, beyond what every exam
    /// is charged with, in bits; above 0 where a sandbox of it takes numbers that nobody counts.
    public var uncountedBits = 0.0
    /// Whether a coding agent is started; not so where the operator judges one file.
    public var hasCodingAgent = true

    /// Makes the shipped rules.
    public init() {}

    /// Makes the rules of a configuration.
    ///
    /// - Parameter config: the configuration.
    public init(_ config: ExperimentConfig) {
        iterations = config.budget.iterations
        runMilliseconds = Int64(config.budget.hours * 3_600_000)
        trainRuns = config.budget.trainRuns
        noImprovement = config.budget.noImprovement
        submissions = config.budget.submissions
        concurrency = max(1, config.maximumConcurrency)
        demandsManifest = config.manifest.missing == .refuse
        gridMilliseconds = max(1, config.release.grid.wholeMilliseconds)
    }
}
