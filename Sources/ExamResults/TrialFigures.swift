// Figures of repeated runs for readers, and a void of all of them; no acceptance rests on them.

extension TrialResults {
    /// The same exam with every rollout of both arms voided.
    ///
    /// - Parameter fault: what broke.
    /// - Returns: results without any figure.
    public func voided(_ fault: InfrastructureFault) -> TrialResults {
        func void(_ arm: [ExamResults]) throws(ExamError) -> [ExamResults] {
            try arm.map { results throws(ExamError) in
                let outcomes = results.planned.map { ($0, TaskOutcome.voided(fault)) }
                return try ExamResults(
                    planned: results.planned,
                    outcomes: Dictionary(uniqueKeysWithValues: outcomes)
                )
            }
        }
        do throws(ExamError) {
            return try TrialResults(
                candidate: void(candidate),
                incumbent: void(incumbent),
                seed: seed
            )
        } catch {
            fatalError("invariant: the tasks are those of results: \(error)")
        }
    }

    /// How often each outcome other than a grade occurred in one arm, by ``TaskOutcome/code``.
    ///
    /// - Parameter arm: ``candidate`` or ``incumbent``.
    /// - Returns: the counts.
    public static func faultCounts(of arm: [ExamResults]) -> [String: Int] {
        arm.reduce(into: [:]) { $0.merge($1.faultCounts, uniquingKeysWith: +) }
    }

    /// The tasks that the candidate passes in every trial, sorted.
    ///
    /// - Parameter mark: the lowest reward that passes.
    /// - Returns: the tasks.
    /// - Throws: ``ExamError/voided(task:fault:)`` where any rollout of any arm is voided.
    public func passedInEveryTrial(mark: Reward = .half) throws(ExamError) -> [TaskID] {
        try checkNotVoid()
        return planned.indices.filter { task in
            candidate.allSatisfy { $0.all[task].outcome.passes(mark: mark) }
        }.map { planned[$0] }
    }

    /// The candidate's rollouts that pass.
    ///
    /// - Parameter mark: the lowest reward that passes.
    /// - Returns: the number of them, over every task and trial.
    /// - Throws: ``ExamError/voided(task:fault:)`` where any rollout of any arm is voided.
    public func passes(mark: Reward = .half) throws(ExamError) -> Int {
        try checkNotVoid()
        return candidate.flatMap(\.all).count { $0.outcome.passes(mark: mark) }
    }
}
