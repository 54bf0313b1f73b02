internal import ExamResults
public import Gate

/// A rule of the gate in words: what it asks, what it costs, what luck can do, and where it fits.
public struct RuleExplanation: Sendable, Equatable {
    /// The rule's word.
    public let name: String
    /// What a candidate must show.
    public let asks: String
    /// What a judgement costs.
    public let costs: String
    /// What luck can do under it.
    public let luck: String
    /// For which benchmark it fits.
    public let fits: String

    /// Explains a rule.
    ///
    /// - Parameter rule: the rule with its budget.
    public init(_ rule: SealedRule) {
        name = rule.name
        switch rule {
        case .ratchet:
            asks = "the sealed mean is at least the best one recorded so far"
            costs = "one rollout a task and trial"
            luck =
                "the best of many lucky runs is what is recorded: it rises without any improvement,"
                + " candidates no better than the incumbent are accepted, and later ones that are"
                + " better are refused because they are less lucky"
            fits = "benchmarks whose rewards are shown not to vary from run to run"
        case .paired(let budget):
            asks =
                "candidate and incumbent run in one exam, and an exact sign-flip test over the tasks'"
                + " differences shows that the candidate is better, \(Self.level(budget))"
            costs = "two rollouts a task and trial: the incumbent is run again each time"
            luck =
                "a candidate that is as good as the incumbent is accepted in at most"
                + " \(Self.percent(budget.error.value)) of campaigns; small improvements are seldom"
                + " shown, as the power table says; what is recorded of an accepted one is still"
                + " somewhat lucky"
            fits =
                "benchmarks whose rewards vary, with tasks and trials enough for the improvement that"
                + " is hoped for"
        case .nonInferior(let budget, let margin):
            asks =
                "candidate and incumbent run in one exam, and an exact sign-flip test shows that the"
                + " candidate's rate is above \(margin.rest) times the incumbent's,"
                + " \(Self.level(budget)); for that, each of the incumbent's rewards is set to 0 with"
                + " a chance of \(margin), drawn from the exam's seed"
            costs = "two rollouts a task and trial: the incumbent is run again each time"
            luck =
                "a candidate whose rate is \(margin.rest) times the incumbent's or less is accepted in"
                + " at most \(Self.percent(budget.error.value)) of campaigns; each acceptance may give"
                + " away up to \(margin) of the rate, which adds up; one that is as good as the"
                + " incumbent is often refused, as the power table says"
            fits =
                "clean-ups that should cost nothing, with rollouts enough to see a loss of that size"
        }
    }

    /// The explanation for a terminal, wrapped.
    public var lines: [String] {
        [name]
            + [("asks", asks), ("costs", costs), ("luck", luck), ("fits", fits)].flatMap {
                FigureText.wrapped($0.1, behind: $0.0)
            }
    }

    private static func level(_ budget: ErrorBudget) -> String {
        "at level \(FigureText.significant(budget.perTest))"
            + " (\(FigureText.significant(budget.error.value)) over \(budget.tests) tests)"
    }

    static func percent(_ value: Double) -> String {
        let tenths = (value * 1000).rounded()
        let isWhole = tenths.truncatingRemainder(dividingBy: 10) == 0
        return FigureText.fixed(value * 100, isWhole ? 0 : 1) + " %"
    }
}
