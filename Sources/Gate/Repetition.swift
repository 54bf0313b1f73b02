// Runs on fresh seeds: how often a task is run again before what one run showed is believed, and what
// that says of the tasks of the regression suite that failed.

public import ExamResults

/// So many passes out of so many runs of a task, each on a fresh seed.
public struct Repetition: Sendable, Equatable {
    /// The passes that are needed.
    public let needed: Int
    /// The most runs.
    public let most: Int

    /// What the runs so far say of a task: it passed often enough; it failed too often for that; or
    /// neither, because runs are left or infrastructure broke in too many of them.
    public enum Standing: Sendable { case reached, missed, open }

    /// Makes a rule.
    ///
    /// - Parameters:
    ///   - needed: the passes that are needed, at least 1.
    ///   - most: the most runs; nothing can be made where these are fewer.
    public init?(_ needed: Int, of most: Int) {
        guard 1 <= needed, needed <= most else { return nil }
        (self.needed, self.most) = (needed, most)
    }

    /// What rounds say of a task; a run that infrastructure broke says nothing.
    ///
    /// - Parameters:
    ///   - task: the task.
    ///   - rounds: exams of one candidate, each on fresh seeds.
    ///   - mark: the reward at which a task passes.
    /// - Returns: the standing.
    public func standing(of task: TaskID, in rounds: [ExamResults], mark: Reward) -> Standing {
        let runs = rounds.flatMap(\.all).filter { $0.task == task && !$0.outcome.isVoided }
        let passed = runs.filter { $0.outcome.passes(mark: mark) }.count
        if passed >= needed { return .reached }
        return runs.count - passed > most - needed ? .missed : .open
    }
}

/// What runs on fresh seeds say of the suite: the failed tasks to run once more, what step 1 judges when
/// there are none, and the tasks that failed and then passed often enough.
public typealias WeighedSuite = (open: [TaskID], suite: SuiteEvidence, flaky: [TaskID])

extension PromotionRules {
    /// The suite's exam with what its failed tasks did on fresh seeds.
    ///
    /// Nothing changes where no task is protected, or where the aggregate refuses the candidate anyway.
    ///
    /// - Parameters:
    ///   - suite: the suite's exam.
    ///   - rounds: what failed tasks did on fresh seeds so far.
    ///   - rules: the rules of the gate.
    /// - Returns: what is to be done and judged.
    public func weighed(
        _ suite: SuiteEvidence,
        _ rounds: [ExamResults],
        rules: GateRules
    ) -> WeighedSuite {
        guard let protection, case .examined(let results) = suite,
            case .holds = Gate.stepOne(suite, rules: rules)
        else { return ([], suite, []) }
        let mark = rules.passMark
        let failed = results.all.filter { !$0.outcome.passes(mark: mark) }.map(\.task)
        let tasks = Dictionary(grouping: failed) {
            protection.standing(of: $0, in: rounds, mark: mark)
        }
        let (open, lost) = (tasks[.open] ?? [], tasks[.missed] ?? [])
        let evidence = SuiteEvidence.repeated(results, lost: lost, open: open.count)
        return (rounds.count < protection.most ? open : [], evidence, tasks[.reached] ?? [])
    }
}
