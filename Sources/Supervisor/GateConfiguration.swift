internal import ExamResults
internal import Gate
internal import IterationLoop
internal import Workspace

/// The gate of an experiment: what its configuration says, and what its benchmark decides where the
/// configuration is silent.
struct GateConfiguration {
    /// The gate's rules.
    let rules: GateRules
    /// What is told of sealed scores.
    let release: ReleaseRules

    /// How often a paired exam runs every task where no number is configured: one run tells little,
    /// and each further one costs twice the tasks.
    static let usualTrials = 3
    /// The chance of any false acceptance where none is configured.
    static let usualError = 0.05

    /// Resolves the rules.
    ///
    /// - Parameters:
    ///   - config: the configuration.
    ///   - isDeterministic: whether the benchmark says that its rewards do not vary.
    /// - Throws: ``ExamError`` for a number that is no proportion.
    init(_ config: ExperimentConfig, isDeterministic: Bool) throws(ExamError) {
        let gate = config.gate
        let rule = gate.rule ?? (isDeterministic ? .ratchet : .paired)
        let budget = ErrorBudget(
            error: try Proportion(gate.error ?? Self.usualError),
            tests: gate.tests ?? config.budget.iterations
        )
        let sealed: SealedRule =
            switch rule {
            case .ratchet: .ratchet
            case .paired: .paired(budget)
            case .nonInferior:
                .nonInferior(budget, margin: try Proportion(gate.margin ?? 0))
            }
        rules = GateRules(
            threshold: try Proportion(gate.threshold),
            stepTwo: gate.step2 == .always ? .always : .afterStepOne,
            sealed: sealed,
            trials: gate.trials ?? (sealed == .ratchet ? 1 : Self.usualTrials),
            ties: gate.ties == .refuse ? .refuse : .accept
        )
        release = ReleaseRules(
            Self.policy(config.release.score),
            step: try Proportion(config.release.bucket),
            budget: config.release.bits,
            counterBits: config.release.counterBits
        )
    }

    private static func policy(_ score: ReleaseSettings.Score) -> ReleaseRules.Policy {
        switch score {
        case .verdict: .verdict
        case .bucket: .bucket
        case .ladder: .ladder
        case .score: .score
        }
    }
}
