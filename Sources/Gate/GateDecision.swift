public import ExamResults

/// What the gate decided, with a reason for each step.
public enum GateDecision: Sendable, Equatable {
    /// The candidate becomes the best one, with this exact sealed score.
    case accept(Score, [GateReason])
    /// The candidate is refused; the step is the first that refused it.
    case reject(Step, [GateReason])
    /// Nothing is decided: infrastructure broke, and both exams are run again.
    case void([GateReason])

    /// The steps of the gate.
    public enum Step: Int, Sendable {
        /// The regression suite.
        case suite = 1
        /// The sealed exam.
        case sealed = 2
    }

    /// The reasons, in the order of the steps.
    public var reasons: [GateReason] {
        switch self {
        case .accept(_, let reasons), .reject(_, let reasons), .void(let reasons): reasons
        }
    }

    /// What the paired test found, where one was made.
    public var finding: PairedFinding? {
        for case .pairedShown(let finding) in reasons { return finding }
        for case .pairedNotShown(let finding) in reasons { return finding }
        return nil
    }

    /// The decision in one word: `accepted`, `rejected` or `void`.
    public var verdict: String {
        switch self {
        case .accept: "accepted"
        case .reject: "rejected"
        case .void: "void"
        }
    }

    /// The step that refused the candidate, or nothing.
    public var refusingStep: Step? {
        switch self {
        case .reject(let step, _): step
        case .accept, .void: nil
        }
    }
}

/// One reason of a decision.
///
/// Its ``number`` is stable, and the number's first digit is the step.
public enum GateReason: Sendable, Equatable {
    /// 11: the suite has no task yet, so step 1 holds.
    case suiteEmpty
    /// 12: enough suite tasks pass.
    case suiteHolds(PassRate, threshold: Proportion)
    /// 13: too few suite tasks pass.
    case suiteBroken(PassRate, threshold: Proportion)
    /// 14: infrastructure broke in the suite's exam.
    case suiteVoid(voided: Int)
    /// 15: the suite has tasks, but no exam of it was finished.
    case suiteNotExamined
    /// 16: enough suite tasks pass, but these failed on fresh seeds too.
    case suiteTasksLost([TaskID])
    /// 20: the sealed mean is not above the best one, and a tie is not enough.
    case sealedNotBetter(Score, best: Score)
    /// 21: there is no best score yet, so any sealed mean will do.
    case sealedFirst(Score)
    /// 22: the sealed mean is at least the best one.
    case sealedNotWorse(Score, best: Score)
    /// 23: the sealed mean is below the best one.
    case sealedWorse(Score, best: Score)
    /// 24: infrastructure broke in the sealed exam.
    case sealedVoid(voided: Int)
    /// 25: step 1 refused, so no sealed query was spent.
    case sealedNotSpent
    /// 26: the sealed exam was due and was not finished.
    case sealedNotExamined
    /// 27: the paired test shows what the rule wants.
    case pairedShown(PairedFinding)
    /// 28: the paired test does not show it.
    case pairedNotShown(PairedFinding)
    /// 17 or 29: exams of this candidate broke again, which refuses it.
    case voidAgain(GateDecision.Step)
    /// 31: a tripwire fired, so nothing that the candidate scores counts.
    case tripwire
    /// 32: infrastructure broke in the exam of the tasks that watch for cheats.
    case sentinelsVoid(voided: Int)

    /// The stable number of the reason.
    public var number: Int {
        switch self {
        case .suiteEmpty: 11
        case .suiteHolds: 12
        case .suiteBroken: 13
        case .suiteVoid: 14
        case .suiteNotExamined: 15
        case .suiteTasksLost: 16
        case .sealedNotBetter: 20
        case .sealedFirst: 21
        case .sealedNotWorse: 22
        case .sealedWorse: 23
        case .sealedVoid: 24
        case .sealedNotSpent: 25
        case .sealedNotExamined: 26
        case .pairedShown: 27
        case .pairedNotShown: 28
        case .voidAgain(.suite): 17
        case .voidAgain(.sealed): 29
        case .tripwire: 31
        case .sentinelsVoid: 32
        }
    }
}
