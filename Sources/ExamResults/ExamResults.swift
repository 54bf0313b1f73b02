// ExamResults: outcomes of one exam and the scores computed from them. Pure; nothing drops out of a mean.

/// The outcomes of one exam: one for every planned task, whatever happened.
///
/// The denominator of every figure is the number of planned tasks. A task that was planned and has
/// no verdict is ``TaskOutcome/missing`` and weighs 0, so neither a crash nor a refusal to answer
/// can raise a mean.
public struct ExamResults: Sendable, Equatable {
    /// The planned tasks, sorted, each once, at least one.
    public let planned: [TaskID]
    private let outcomes: [TaskID: TaskOutcome]

    /// Closes an exam.
    ///
    /// - Parameters:
    ///   - planned: the tasks that were to be run, in any order.
    ///   - outcomes: what is known of them; a planned task without an entry is missing.
    /// - Throws: ``ExamError`` where nothing was planned, a task was planned twice, or an outcome
    ///   belongs to a task that was not planned.
    public init(
        planned: [TaskID],
        outcomes: [TaskID: TaskOutcome]
    ) throws(ExamError) {
        let sorted = planned.sorted()
        guard !sorted.isEmpty else { throw .nothingPlanned }
        for (task, next) in zip(sorted, sorted.dropFirst()) where task == next {
            throw .plannedTwice(task)
        }
        let known = Set(sorted)
        if let stranger = outcomes.keys.filter({ !known.contains($0) }).min() {
            throw .notPlanned(stranger)
        }
        self.planned = sorted
        self.outcomes = outcomes
    }

    /// The outcome of a planned task.
    ///
    /// - Parameter task: the task.
    /// - Returns: its outcome; ``TaskOutcome/missing`` where it has none.
    /// - Throws: ``ExamError/notPlanned(_:)``.
    public func outcome(of task: TaskID) throws(ExamError) -> TaskOutcome {
        if let outcome = outcomes[task] { return outcome }
        guard planned.contains(task) else { throw .notPlanned(task) }
        return .missing
    }

    /// Every planned task with its outcome, sorted by task.
    public var all: [(task: TaskID, outcome: TaskOutcome)] {
        planned.map { ($0, outcomes[$0] ?? .missing) }
    }

    /// The tasks that an infrastructure fault voided, sorted.
    public var voided: [TaskID] {
        all.filter { $0.outcome.isVoided }.map(\.task)
    }

    /// Whether any task is voided, and with it every figure of this exam.
    public var isVoid: Bool { !voided.isEmpty }

    /// The mean reward over the planned tasks.
    ///
    /// - Returns: the exact mean.
    /// - Throws: ``ExamError/voided(task:fault:)`` where any task is voided.
    public func mean() throws(ExamError) -> Score {
        var total = 0
        for (task, outcome) in all {
            switch outcome {
            case .graded(let reward): total += reward.millionths
            case .failed, .missing: break
            case .voided(let fault): throw .voided(task: task, fault: fault)
            }
        }
        return Score(totalMillionths: total, count: planned.count)
    }

    /// The tasks whose reward reaches the mark, sorted.
    ///
    /// - Parameter mark: the lowest reward that passes.
    /// - Returns: the tasks.
    /// - Throws: ``ExamError/voided(task:fault:)`` where any task is voided.
    public func passedTasks(mark: Reward = .half) throws(ExamError) -> [TaskID] {
        var passed: [TaskID] = []
        for (task, outcome) in all {
            if case .voided(let fault) = outcome { throw .voided(task: task, fault: fault) }
            if outcome.passes(mark: mark) { passed.append(task) }
        }
        return passed
    }

    /// How many planned tasks pass.
    ///
    /// - Parameter mark: the lowest reward that passes.
    /// - Returns: the passes and the number of planned tasks.
    /// - Throws: ``ExamError/voided(task:fault:)`` where any task is voided.
    public func passRate(mark: Reward = .half) throws(ExamError) -> PassRate {
        PassRate(passed: try passedTasks(mark: mark).count, total: planned.count)
    }

    /// How often each outcome other than a grade occurred, by ``TaskOutcome/code``.
    public var faultCounts: [String: Int] {
        var counts: [String: Int] = [:]
        for (_, outcome) in all {
            if case .graded = outcome { continue }
            counts[outcome.code, default: 0] += 1
        }
        return counts
    }
}

/// An exam while it runs: every planned task takes one outcome, once.
public struct ExamSheet: Sendable, Equatable {
    /// The planned tasks, in the order they were given.
    public let planned: [TaskID]
    private var outcomes: [TaskID: TaskOutcome] = [:]

    /// Opens an exam.
    ///
    /// - Parameter planned: the tasks that will be run.
    /// - Throws: ``ExamError`` where nothing is planned or a task is planned twice.
    public init(planned: [TaskID]) throws(ExamError) {
        let checked = try ExamResults(planned: planned, outcomes: [:])
        precondition(checked.planned.count == planned.count, "invariant: checked above")
        self.planned = planned
    }

    /// The tasks that have no outcome yet, in planned order.
    public var open: [TaskID] { planned.filter { outcomes[$0] == nil } }

    /// Enters the outcome of a task.
    ///
    /// - Parameters:
    ///   - outcome: what became of it.
    ///   - task: the task.
    /// - Throws: ``ExamError`` where the task was not planned or has an outcome already.
    public mutating func enter(_ outcome: TaskOutcome, for task: TaskID) throws(ExamError) {
        guard planned.contains(task) else { throw .notPlanned(task) }
        guard outcomes[task] == nil else { throw .outcomeTwice(task) }
        outcomes[task] = outcome
    }

    /// Voids the exam: every task that has no outcome, and every outcome so far, becomes void.
    ///
    /// - Parameter fault: what broke.
    public mutating func void(_ fault: InfrastructureFault) {
        for task in planned { outcomes[task] = .voided(fault) }
    }

    /// Closes the exam; tasks without an outcome are missing.
    ///
    /// - Returns: the results.
    public func closed() -> ExamResults {
        do {
            return try ExamResults(planned: planned, outcomes: outcomes)
        } catch {
            fatalError("invariant: a sheet holds only planned tasks, each once: \(error)")
        }
    }
}
