public import Workspace

/// What a run may use and how it behaves; the gate's own rules stand in the genesis.
public struct LoopRules: Sendable, Equatable {
    /// The most judged candidates.
    public var iterations = 50
    /// The longest running time, pauses not counted, in milliseconds.
    public var runMilliseconds: Int64 = 12 * 3_600_000
    /// The most train exams that the coding agent may ask for.
    public var trainRuns = 500
    /// The decisions in a row without a higher score that end the run.
    public var noImprovement = 5
    /// The most submissions.
    public var submissions = 100
    /// The grid of times at which results are told, in milliseconds; above 0.
    public var gridMilliseconds: Int64 = 2_000
    /// The most rollouts of an exam at one time.
    public var concurrency = 4
    /// The longest that one rollout can take, in milliseconds: what a candidate can stretch an exam by.
    public var rolloutMilliseconds: Int64 = 60_000
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
    /// The results that the coding agent may wait for at the same time.
    public var waiters = 4
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
        gridMilliseconds = max(1, config.release.grid.wholeMilliseconds)
    }
}
