public import ExamResults

/// What accepted candidates did on the whole train split, and the regression suite that follows.
///
/// Promotion rests on this and on nothing the coding agent can write or steer: its own train runs
/// leave no mark here. Otherwise a single run on one passing task would hide every other failure,
/// and the suite would starve.
public struct TrainEvidence: Sendable, Equatable {
    /// All train tasks, sorted.
    public let train: [TaskID]
    /// The reward at which a task passes.
    public let passMark: Reward
    /// The tasks that were fixed and must stay fixed, sorted; a subset of ``train``.
    public private(set) var suite: [TaskID] = []
    /// The tasks that the operator took out of the suite, sorted; they never enter it again.
    public private(set) var retired: [TaskID] = []
    private var outcomes: [TaskID: TaskOutcome] = [:]

    /// Begins with no evidence: every train task counts as failing.
    ///
    /// - Parameters:
    ///   - train: all tasks of the train split.
    ///   - passMark: the reward at which a task passes.
    /// - Throws: ``ExamError`` where there is no task or one occurs twice.
    public init(train: [TaskID], passMark: Reward = .half) throws(ExamError) {
        self.train = try ExamResults(planned: train, outcomes: [:]).planned
        self.passMark = passMark
    }

    /// The train tasks outside the suite that no accepted candidate is known to pass, sorted; not
    /// those that are retired.
    public var failing: [TaskID] {
        let promoted = Set(suite).union(retired)
        return train.filter { task in
            !promoted.contains(task) && !(outcomes[task] ?? .missing).passes(mark: passMark)
        }
    }

    /// The last outcome of a train task under an accepted candidate; missing where there is none.
    ///
    /// - Parameter task: the task.
    /// - Returns: its outcome.
    public func outcome(of task: TaskID) -> TaskOutcome {
        outcomes[task] ?? .missing
    }

    /// Enters the results of the baseline or of an accepted candidate; voided tasks leave what was
    /// known before.
    ///
    /// - Parameter results: outcomes of train tasks.
    /// - Throws: ``ExamError/notPlanned(_:)`` for the first task that is not of the train split;
    ///   then nothing is entered.
    public mutating func enter(_ results: ExamResults) throws(ExamError) {
        try checkTrain(results.planned)
        for (task, outcome) in results.all where !outcome.isVoided {
            outcomes[task] = outcome
        }
    }

    /// Adds tasks to the regression suite; tasks that are in it already stay.
    ///
    /// - Parameter tasks: what ``Gate/promotion(evidence:recheck:)`` named.
    /// - Throws: ``ExamError/notPlanned(_:)`` for the first task that is not of the train split;
    ///   then nothing is added.
    public mutating func promote(_ tasks: [TaskID]) throws(ExamError) {
        try checkTrain(tasks)
        suite = Set(suite).union(tasks).sorted()
    }

    /// Forgets what is known of tasks, so that they count as failing.
    ///
    /// - Parameter tasks: tasks whose passes were not confirmed.
    public mutating func doubt(_ tasks: [TaskID]) {
        for task in tasks { outcomes[task] = nil }
    }

    /// Takes a task out of the regression suite, for good.
    ///
    /// - Parameter task: what the operator named.
    /// - Throws: ``ExamError/notPlanned(_:)`` where it is not in the suite; then nothing changes.
    public mutating func retire(_ task: TaskID) throws(ExamError) {
        guard suite.contains(task) else { throw .notPlanned(task) }
        suite.removeAll { $0 == task }
        retired = Set(retired).union([task]).sorted()
    }

    private func checkTrain(_ tasks: [TaskID]) throws(ExamError) {
        let known = Set(train)
        if let stranger = tasks.first(where: { !known.contains($0) }) {
            throw .notPlanned(stranger)
        }
    }
}
