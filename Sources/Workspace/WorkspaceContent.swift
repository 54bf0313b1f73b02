public import ExamResults
public import StrictJSON

/// What the files of `workspace/` say, as values: the result of a replay, not a state of its own.
public struct WorkspaceContent: Sendable, Equatable {
    /// The regression suite.
    public var suite: Suite
    /// One row for the baseline and one for each accepted candidate, oldest first.
    public var rows: [Row]
    /// The last train outcomes, if any exam ran.
    public var train: TrainResults?
    /// What the coding agent noted, oldest first.
    public var learnings: [Learning]

    /// The regression suite: train tasks that were fixed and must stay fixed.
    public struct Suite: Sendable, Equatable {
        /// The suite's tasks.
        public var tasks: Set<TaskID>
        /// The pass rate that the gate demands.
        public var threshold: Double
        /// The last rewards of suite tasks.
        public var lastResults: [TaskID: Reward]
        /// The train tasks that were found flaky and are kept out of it.
        public var quarantined: Set<TaskID>
        /// The tasks that the operator took out of it.
        public var retired: Set<TaskID>

        /// Makes a suite.
        ///
        /// - Parameters:
        ///   - tasks: the suite's tasks.
        ///   - threshold: the pass rate that the gate demands.
        ///   - lastResults: the last rewards of suite tasks.
        ///   - quarantined: the train tasks that were found flaky and are kept out of it.
        ///   - retired: the tasks that the operator took out of it.
        public init(
            tasks: Set<TaskID>,
            threshold: Double,
            lastResults: [TaskID: Reward],
            quarantined: Set<TaskID> = [],
            retired: Set<TaskID> = []
        ) {
            self.quarantined = quarantined
            self.retired = retired
            self.tasks = tasks
            self.threshold = threshold
            self.lastResults = lastResults
        }
    }

    /// One row of `results.tsv`.
    public struct Row: Sendable, Equatable {
        /// The iteration; 0 is the baseline.
        public var iteration: Int
        /// The exact sealed mean, for the operator.
        public var exactScore: Score
        /// The score that was released, if one was.
        public var releasedScore: Proportion?
        /// The commit in the supervisor's repository.
        public var commit: String?
        /// The suite tasks that passed.
        public var suitePassed: Int
        /// The suite tasks that were run.
        public var suiteTotal: Int
        /// When it was decided, in milliseconds since 1970.
        public var decidedAt: Int64
        /// When it was released, in milliseconds since 1970; nothing where it is not yet.
        public var releasedAt: Int64?

        /// Makes a row.
        ///
        /// - Parameters:
        ///   - iteration: the iteration; 0 is the baseline.
        ///   - exactScore: the exact sealed mean.
        ///   - releasedScore: the score that was released, if one was.
        ///   - commit: the commit in the supervisor's repository.
        ///   - suite: the suite tasks that passed, and those that were run.
        ///   - times: when it was decided, and when released, in milliseconds since 1970.
        public init(
            iteration: Int,
            exactScore: Score,
            releasedScore: Proportion?,
            commit: String?,
            suite: (passed: Int, total: Int),
            times: (decided: Int64, released: Int64?)
        ) {
            self.iteration = iteration
            self.exactScore = exactScore
            self.releasedScore = releasedScore
            self.commit = commit
            suitePassed = suite.passed
            suiteTotal = suite.total
            decidedAt = times.decided
            releasedAt = times.released
        }
    }

    /// The last train outcomes.
    public struct TrainResults: Sendable, Equatable {
        /// When the last of them was made, in milliseconds since 1970.
        public var time: Int64
        /// Rewards; nothing where no verdict was given.
        public var results: [TaskID: Reward?]

        /// Makes train results.
        ///
        /// - Parameters:
        ///   - time: when the last of them was made, in milliseconds since 1970.
        ///   - results: rewards; nothing where no verdict was given.
        public init(time: Int64, results: [TaskID: Reward?]) {
            self.time = time
            self.results = results
        }
    }

    /// One note of the coding agent.
    public struct Learning: Sendable, Equatable {
        /// The iteration in which it was written.
        public var iteration: Int
        /// What was noted.
        public var note: LearningNote

        /// Makes a note.
        ///
        /// - Parameters:
        ///   - iteration: the iteration in which it was written.
        ///   - note: what was noted.
        public init(iteration: Int, note: LearningNote) {
            self.iteration = iteration
            self.note = note
        }
    }

    /// Makes a content.
    ///
    /// - Parameters:
    ///   - suite: the regression suite.
    ///   - rows: one row for the baseline and one for each accepted candidate, oldest first.
    ///   - train: the last train outcomes, if any exam ran.
    ///   - learnings: what the coding agent noted, oldest first.
    public init(suite: Suite, rows: [Row], train: TrainResults?, learnings: [Learning]) {
        self.suite = suite
        self.rows = rows
        self.train = train
        self.learnings = learnings
    }
}

/// The record of one train rollout, as the coding agent reads it.
public struct TraceRecord: Sendable, Equatable {
    /// The train task.
    public let task: TaskID
    /// The messages in order, each an object with at least `role` and `content`.
    public let messages: [JSONValue]
    /// What was said to a model, one JSON object a line; empty where there was none.
    public let calls: [UInt8]
    /// The reward; nothing where no verdict was given.
    public let reward: Reward?
    /// What the examiner says about the verdict; train tasks only.
    public let detail: JSONValue

    /// Makes a record.
    ///
    /// - Parameters:
    ///   - task: the train task.
    ///   - messages: the messages in order.
    ///   - calls: what was said to a model, one JSON object a line.
    ///   - reward: the reward; nothing where no verdict was given.
    ///   - detail: what the examiner says about the verdict.
    public init(
        task: TaskID,
        messages: [JSONValue],
        calls: [UInt8] = [],
        reward: Reward?,
        detail: JSONValue
    ) {
        self.task = task
        self.messages = messages
        self.calls = calls
        self.reward = reward
        self.detail = detail
    }
}
