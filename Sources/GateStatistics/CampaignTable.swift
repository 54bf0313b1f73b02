internal import ExamResults
public import Gate

/// Simulated campaigns under some rules, side by side: nothing to find, candidates of which the rule's
/// claim is just untrue, and something to find among changes that do a little harm.
public struct CampaignTable: Sendable, Equatable {
    /// The true improvement where there is something to find.
    public static let effect = 0.1
    /// How many candidates there are to one that has it.
    public static let every = 12
    /// The true change of the others.
    public static let others = -0.05

    /// One rule at one number of trials.
    public struct Row: Sendable, Equatable {
        /// The rule's word.
        public let rule: String
        /// How often every task is run.
        public let trials: Int
        /// Every candidate is as good as the incumbent.
        public let null: CampaignFigures
        /// Every candidate is as good as it can be without the rule's claim being true: as good as
        /// the incumbent, or at (1 - margin) times its rate.
        public let untrue: CampaignFigures
        /// The same for an incumbent that always solves every task; nothing without a margin.
        public let untrueOfSolved: CampaignFigures?
        /// One candidate of twelve is better by 0.10, the others are worse by 0.05.
        public let mixed: CampaignFigures
    }

    /// The number of sealed tasks.
    public let tasks: Int
    /// How many candidates a campaign judges.
    public let tries: Int
    /// How many campaigns each figure is the mean of.
    public let campaigns: Int
    /// The rows, in the order of the rules.
    public let rows: [Row]

    /// Simulates campaigns.
    ///
    /// - Parameters:
    ///   - rules: the rules of the rows.
    ///   - tasks: the number of sealed tasks.
    ///   - tries: how many candidates a campaign judges.
    ///   - campaigns: how many campaigns of each kind are simulated.
    ///   - seed: what the draws follow from.
    public init(_ rules: [GateRules], tasks: Int, tries: Int, campaigns: Int, seed: UInt64) {
        self.tasks = max(1, tasks)
        self.tries = max(0, tries)
        self.campaigns = max(1, campaigns)
        rows = rules.map { rules in
            func figures(_ scenario: CampaignScenario, _ spread: TaskSpread) -> CampaignFigures {
                SimulatedCampaign(
                    rules: rules,
                    tasks: tasks,
                    tries: tries,
                    spread: spread,
                    scenario: scenario
                ).figures(campaigns: campaigns, seed: seed)
            }
            let null = figures(.null, .even)
            let margin = rules.sealed.margin
            let worse = CampaignScenario.losing(margin)
            return Row(
                rule: rules.sealed.name,
                trials: rules.trials,
                null: null,
                untrue: margin > .zero ? figures(worse, .even) : null,
                untrueOfSolved: margin > .zero ? figures(worse, .solved) : nil,
                mixed: figures(
                    CampaignScenario(effect: Self.effect, every: Self.every, others: Self.others),
                    .even
                )
            )
        }
    }

    /// The table for a terminal, with what its columns mean.
    public var lines: [String] {
        let head = [
            "rule", "trials", "drift", "accepted", "misled", "(solved)", "caught", "true gain",
            "drift then",
        ]
        let body = rows.map { row in
            [
                row.rule, "\(row.trials)", FigureText.text(row.null.drift),
                FigureText.text(row.null.accepted, 1), Self.share(row.untrue.misled),
                row.untrueOfSolved.map { Self.share($0.misled) } ?? "-",
                Self.share(row.mixed.caught), Self.share(row.mixed.gain),
                Self.share(row.mixed.drift),
            ]
        }
        return FigureText.columns([head] + body) + [
            "\(campaigns) campaigns of \(tries) candidates over \(tasks) tasks; ± is two standard"
                + " errors",
            "drift, accepted: recorded best less true rate, and acceptances, where no candidate differs",
            "misled: campaigns that accept what the rule must refuse: a candidate no better than the",
            "incumbent, or at (1 - margin) times its rate (solved: the incumbent always solves every task)",
            "caught, true gain, drift then: where one candidate in \(Self.every) is better by"
                + " \(FigureText.fixed(Self.effect)), the others",
            "worse by \(FigureText.fixed(-Self.others)): the share of better ones accepted, the true rate"
                + " won, the drift",
        ]
    }

    private static func share(_ estimate: Estimate) -> String { FigureText.text(estimate, 2) }
}
