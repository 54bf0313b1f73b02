public import ExamResults

/// What the sealed exam must show for a candidate to be accepted.
public enum SealedRule: Sendable, Equatable {
    /// A mean that is at least the best one so far: auto-harness's rule.
    ///
    /// Where rewards vary from run to run, the best score drifts upward by luck alone; fit for
    /// benchmarks whose rewards are shown not to vary.
    case ratchet
    /// A paired test, in one exam, that the candidate is better than the incumbent.
    ///
    /// A reward between 0 and 1 counts as 1 with that chance, by a lot of the exam's own seed: see
    /// ``TrialResults/drawnDifferences(handicap:)``.
    case paired(ErrorBudget)
    /// A paired test, in one exam, that the candidate's rate is above (1 - margin) times the
    /// incumbent's.
    ///
    /// The loss that is let pass is a share of the incumbent's rate, so at most the margin itself.
    /// The incumbent runs with a handicap: each of its rewards is set to 0 with a chance of the
    /// margin, then the test is that of ``paired(_:)``. On a task on which a candidate's rate is
    /// just (1 - margin) times the incumbent's, both then earn alike, and the difference is as likely
    /// as its negative: what the test assumes. A margin that is added
    /// to the differences instead shifts their mean and leaves their shape: where the incumbent
    /// always solves what the candidate seldom fails, almost all of them are a little above 0.
    ///
    /// Each acceptance may give away up to the margin, which adds up over a campaign.
    case nonInferior(ErrorBudget, margin: Proportion)

    /// The rule's word: `ratchet`, `paired` or `non-inferior`.
    public var name: String {
        switch self {
        case .ratchet: "ratchet"
        case .paired: "paired"
        case .nonInferior: "non-inferior"
        }
    }

    /// What paired tests may spend; nothing for the ratchet.
    public var budget: ErrorBudget? {
        switch self {
        case .ratchet: nil
        case .paired(let budget), .nonInferior(let budget, _): budget
        }
    }
}

/// The chance of a false acceptance that a whole campaign may run, and the tests it is spread over.
///
/// Every test is made at ``perTest``, so the chance that any of them accepts a candidate for which
/// the rule's claim is untrue is at most ``error`` (Bonferroni's inequality), however the coding
/// agent chooses what it submits next.
public struct ErrorBudget: Sendable, Equatable {
    /// The chance of any false acceptance in the campaign.
    public let error: Proportion
    /// The tests of the campaign, at least 1; no further one is made.
    public let tests: Int

    /// Makes a budget.
    ///
    /// - Parameters:
    ///   - error: the chance of any false acceptance in the campaign.
    ///   - tests: the tests of the campaign; 1 where it is less.
    public init(error: Proportion, tests: Int) {
        self.error = error
        self.tests = max(1, tests)
    }

    /// The level of each test.
    public var perTest: Double { error.value / Double(tests) }
}

/// What a paired test found.
public struct PairedFinding: Sendable, Equatable {
    /// The candidate's mean over every task and trial.
    public let candidate: Score
    /// The incumbent's mean in the same exam, without the handicap of a margin.
    public let incumbent: Score
    /// The chance of a result at least this good if the rule's claim were untrue.
    public let pValue: Double
    /// The level of the test.
    public let level: Double

    /// Makes a finding.
    ///
    /// - Parameters:
    ///   - candidate: the candidate's mean.
    ///   - incumbent: the incumbent's mean in the same exam.
    ///   - pValue: the p-value, from 0 to 1.
    ///   - level: the level of the test.
    public init(candidate: Score, incumbent: Score, pValue: Double, level: Double) {
        self.candidate = candidate
        self.incumbent = incumbent
        self.pValue = pValue
        self.level = level
    }

    /// Whether the test shows what it was made for.
    public var isShown: Bool { pValue <= level }
}
