public import ExamResults

/// How the gate judges; fixed in the genesis record of an experiment.
public struct GateRules: Sendable, Equatable {
    /// The share of the regression suite that must pass, 0.8 by default.
    ///
    /// Lower values let a candidate trade fixed tasks for new ones.
    public let threshold: Proportion
    /// The reward at which a task passes, 0.5 by default.
    public let passMark: Reward
    /// When the sealed exam is run.
    public let stepTwo: StepTwoRule
    /// What the sealed exam must show.
    public let sealed: SealedRule
    /// How often a sealed exam runs every task; at least 1.
    public let trials: Int
    /// Whether the ratchet accepts a sealed mean that equals the best one.
    public let ties: Ties

    /// When the sealed exam is run.
    public enum StepTwoRule: String, Sendable, CaseIterable {
        /// Only after the suite held, so that a broken candidate spends no sealed query.
        case afterStepOne = "after-step-1"
        /// Always, beside the suite.
        case always
    }

    /// Whether a sealed mean that equals the best one is enough for the ratchet.
    ///
    /// A paired rule never accepts equal results: its p-value is 1.
    public enum Ties: String, Sendable, CaseIterable {
        /// Always, also at 0: the rule of records that were begun before ties had one. Where the
        /// template earns nothing it accepts a candidate that earns nothing either.
        case everywhere
        /// Above 0, as in auto-harness.
        case accept
        /// Never: the candidate must be better.
        case refuse

        /// Whether a mean that equals this best one is enough.
        func accepts(at best: Score) -> Bool {
            switch self {
            case .everywhere: true
            case .accept: best.mean > 0
            case .refuse: false
            }
        }
    }

    /// How often exams of a campaign that infrastructure broke are run again: as many tries as a
    /// candidate that can break them gets in all.
    public static let mostRepetitions = 10

    /// The rules where an experiment names none: 0.8, 0.5, suite first.
    public static let standard = GateRules(threshold: .fourFifths)

    /// Makes rules.
    ///
    /// - Parameters:
    ///   - threshold: the share of the suite that must pass.
    ///   - passMark: the reward at which a task passes.
    ///   - stepTwo: when the sealed exam is run.
    ///   - sealed: what the sealed exam must show.
    ///   - trials: how often a sealed exam runs every task; 1 where it is less.
    ///   - ties: whether the ratchet accepts a mean that equals the best one.
    public init(
        threshold: Proportion,
        passMark: Reward = .half,
        stepTwo: StepTwoRule = .afterStepOne,
        sealed: SealedRule = .ratchet,
        trials: Int = 1,
        ties: Ties = .accept
    ) {
        self.threshold = threshold
        self.passMark = passMark
        self.stepTwo = stepTwo
        self.sealed = sealed
        self.trials = max(1, trials)
        self.ties = ties
    }

    /// Whether the ratchet accepts a sealed mean.
    ///
    /// - Parameters:
    ///   - mean: the candidate's sealed mean.
    ///   - best: the best accepted one.
    /// - Returns: whether it is above the best one, or equals it and ``ties`` accepts that.
    package func ratchetAccepts(_ mean: Score, best: Score) -> Bool {
        mean > best || (mean >= best && ties.accepts(at: best))
    }

    /// Whether the sealed exam is run after this outcome of step 1.
    ///
    /// - Parameter one: step 1.
    /// - Returns: whether to spend a sealed query.
    public func runsSealedExam(after one: StepOne) -> Bool {
        switch (stepTwo, one) {
        case (.always, _), (.afterStepOne, .holds): true
        case (.afterStepOne, .broken), (.afterStepOne, .void): false
        }
    }
}

/// What is known of the regression suite under a candidate.
///
/// An empty suite is said in so many words: an exam that was not run is not an empty suite.
public enum SuiteEvidence: Sendable, Equatable {
    /// The suite has no task yet.
    case empty
    /// The suite was run.
    case examined(ExamResults)
    /// The suite was run; of its failed tasks these failed on fresh seeds too, and of so many others
    /// runs on fresh seeds did not tell.
    case repeated(ExamResults, lost: [TaskID], open: Int)
    /// The suite has tasks and no exam of it was finished.
    case absent
}

/// The result of step 1.
public enum StepOne: Sendable, Equatable {
    /// The suite holds.
    case holds(GateReason)
    /// Too many suite tasks fail.
    case broken(GateReason)
    /// No figure can be computed.
    case void(GateReason)

    /// Why.
    public var reason: GateReason {
        switch self {
        case .holds(let reason), .broken(let reason), .void(let reason): reason
        }
    }
}
