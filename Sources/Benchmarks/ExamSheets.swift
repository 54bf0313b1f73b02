package import ExamResults

/// The sheets of one exam: one for every arm and trial, all over the same tasks.
package struct ExamSheets {
    private var candidate: [ExamSheet]
    private var incumbent: [ExamSheet]
    private let seed: UInt64

    /// Opens the sheets.
    ///
    /// - Throws: ``ExamError`` where the order plans no task or one twice.
    package init(_ order: ExamOrder) throws(ExamError) {
        let sheet = try ExamSheet(planned: order.tasks)
        candidate = Array(repeating: sheet, count: order.trials)
        incumbent = order.incumbent.isEmpty ? [] : candidate
        seed = order.incumbent.isEmpty ? 0 : order.seed
    }

    /// Enters the outcome of a rollout.
    ///
    /// - Parameters:
    ///   - outcome: what became of it.
    ///   - seat: the rollout.
    /// - Throws: ``ExamError`` where its task was not planned or has an outcome already.
    package mutating func enter(_ outcome: TaskOutcome, for seat: Seat) throws(ExamError) {
        switch seat.arm {
        case .candidate: try candidate[seat.trial].enter(outcome, for: seat.task)
        case .incumbent: try incumbent[seat.trial].enter(outcome, for: seat.task)
        }
    }

    /// Voids every outcome of every sheet: what breaks for one arm counts for neither.
    package mutating func void(_ fault: InfrastructureFault) {
        for trial in candidate.indices { candidate[trial].void(fault) }
        for trial in incumbent.indices { incumbent[trial].void(fault) }
    }

    /// Closes the exam; an incumbent's handicap is drawn from the seed of the order.
    ///
    /// - Returns: the results of both arms.
    package func closed() -> TrialResults {
        do throws(ExamError) {
            return try TrialResults(
                candidate: candidate.map { $0.closed() },
                incumbent: incumbent.map { $0.closed() },
                seed: seed
            )
        } catch {
            fatalError("invariant: all sheets are opened over the same tasks: \(error)")
        }
    }
}
