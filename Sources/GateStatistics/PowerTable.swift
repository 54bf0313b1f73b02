public import ExamResults
public import Gate

/// How likely a paired rule accepts a candidate that is better by so much: its power.
///
/// A simulation through ``SignFlipTest`` itself. Rewards are 0 or 1, each run of a task independent
/// of the others; the incumbent's rates are those of a ``TaskSpread``, and the candidate solves the
/// same share of what each task failed, so that its true rate is higher by the effect. All numbers
/// follow from a fixed seed and from arithmetic that IEEE 754 rounds exactly, so that two hosts
/// print the same table.
public struct PowerTable: Sendable, Equatable {
    /// The effects of a table, as differences of true rates.
    public static let effects = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3]
    /// How often a table runs each task, beside what is configured.
    public static let usualTrials = [1, 3, 5, 10]
    /// The seed of a table where none is named.
    public static let standardSeed: UInt64 = 1

    /// The chances at one number of trials.
    public struct Row: Sendable, Equatable {
        /// How often every task is run, by the candidate and by the incumbent.
        public let trials: Int
        /// The chance of acceptance from 0 to 1, one an effect of the table.
        public let chances: [Double]
        /// How many exams were simulated for each chance.
        public let simulations: Int

        /// The largest standard error that one of the chances can have.
        public var standardError: Double { 0.5 / Double(simulations).squareRoot() }
    }

    /// The number of sealed tasks.
    public let tasks: Int
    /// The level of each test.
    public let level: Double
    /// The margin of the rule; 0 for the paired rule.
    public let margin: Proportion
    /// How often the simulated incumbent solves its tasks.
    public let spread: TaskSpread
    /// The effects, one a column; a rule with a margin has two more before them: the largest rate
    /// that it must refuse, (1 - margin) times the incumbent's, and 0.
    public let effects: [Double]
    /// One row a number of trials, fewest first.
    public let rows: [Row]

    /// Makes the table of a rule; nothing for the ratchet, which makes no test.
    ///
    /// - Parameters:
    ///   - rule: the rule with its budget.
    ///   - tasks: the number of sealed tasks, at least 1.
    ///   - trials: the configured trials, at least 1; the usual ones are added.
    ///   - spread: how often the simulated incumbent solves its tasks.
    ///   - seed: what the draws follow from.
    public init?(
        _ rule: SealedRule,
        tasks: Int,
        trials: Int,
        spread: TaskSpread = .even,
        seed: UInt64 = standardSeed
    ) {
        guard let budget = rule.budget else { return nil }
        let tasks = max(1, tasks)
        let margin = rule.margin
        let incumbent = TaskRates(spread.rates(tasks))
        let effects = (margin > .zero ? [-margin.value * incumbent.mean, 0] : []) + Self.effects
        let rows = Set(Self.usualTrials + [max(1, trials)]).sorted().map { trials in
            let exam = SimulatedExam(tasks: tasks, trials: trials, level: budget.perTest)
            let simulations = exam.affordable(cells: effects.count)
            // The gate takes from the incumbent by lot, so that it earns what a worse one would.
            let opponent = incumbent.handicapped(by: margin)
            // Every effect sees the same luck, so that chances rise with it.
            let chances = effects.map { effect in
                exam.chance(incumbent.changed(by: effect), opponent, simulations, seed)
            }
            return Row(trials: trials, chances: chances, simulations: simulations)
        }
        self.tasks = tasks
        level = budget.perTest
        self.margin = margin
        self.spread = spread
        self.effects = effects
        self.rows = rows
    }

    /// Whether any result can be accepted: over n tasks no p-value is below 2^-n, which is that of a
    /// candidate that does better on each of them.
    public var isReachable: Bool {
        Double(sign: .plus, exponent: -tasks, significand: 1) <= level
    }

    /// The smallest effect of the table that is shown at least so often.
    ///
    /// - Parameters:
    ///   - trials: the trials of a row of the table.
    ///   - chance: the chance that is enough.
    /// - Returns: the effect; nothing where none of the table is.
    public func visibleEffect(trials: Int, chance: Double = 0.8) -> Double? {
        guard let row = rows.first(where: { $0.trials == trials }) else { return nil }
        return zip(effects, row.chances).first { $0.0 >= 0 && $0.1 >= chance }?.0
    }

    /// The table for a terminal: a line of effects, and one line a number of trials.
    public var lines: [String] {
        let head = ["true effect"] + effects.map { ($0 < 0 ? "" : "+") + Self.text($0) }
        let body = rows.map { row in
            [row.trials == 1 ? "1 trial" : "\(row.trials) trials"]
                + row.chances.map { FigureText.fixed($0) }
        }
        return FigureText.columns([head] + body)
    }

    /// An effect with two decimals, or three where two would make another number of it.
    private static func text(_ effect: Double) -> String {
        let hundredths = effect * 100
        let isShort = abs(hundredths - hundredths.rounded()) < 1e-9
        return FigureText.fixed(effect, isShort ? 2 : 3)
    }
}

extension SealedRule {
    /// The share of the incumbent's rate that a candidate may fall short of and still be accepted; 0
    /// for every rule but the non-inferior one.
    public var margin: Proportion {
        switch self {
        case .ratchet, .paired: .zero
        case .nonInferior(_, let margin): margin
        }
    }
}

/// One paired exam that is simulated over and over.
private struct SimulatedExam {
    let tasks: Int
    let trials: Int
    let level: Double

    /// How many exams to simulate, so that a whole table is made in seconds: fewer of larger ones.
    func affordable(cells: Int) -> Int {
        // The test takes as many steps as there are differences times the sum of their sizes.
        let sum = Double(tasks) * (1 + Double(trials).squareRoot() / 3)
        let steps = Double(tasks) * sum / 2 + Double(10 * tasks * trials)
        return Int(min(1_500, max(100, 1e9 / Double(cells) / steps)))
    }

    func chance(
        _ candidate: TaskRates,
        _ incumbent: TaskRates,
        _ simulations: Int,
        _ seed: UInt64
    ) -> Double {
        var stream = SeedStream(seed: seed)
        var accepted = 0
        for _ in 0..<simulations {
            let differences = (0..<tasks).map { task in
                let won = candidate.solved(task, of: trials, &stream)
                let lost = incumbent.solved(task, of: trials, &stream)
                return won - lost
            }
            if isBeyondDoubt(differences) || SignFlipTest.pValue(differences) <= level {
                accepted += 1
            }
        }
        return Double(accepted) / Double(simulations)
    }

    /// Whether the p-value is at most the level by a bound that costs nothing: with random signs, a
    /// sum of s or more has a chance of at most exp(-s²/2q), q the sum of squares (Hoeffding, 1963).
    private func isBeyondDoubt(_ differences: [Int]) -> Bool {
        let sum = Double(differences.reduce(0, +))
        let squares = differences.reduce(0) { $0 + Double($1) * Double($1) }
        // The level is at least 2 to this power, so its logarithm is at least this times ln 2.
        let power = level > 0 ? Double(level.exponent) : -.infinity
        return sum > 0 && sum * sum >= -2 * squares * power * 0.693_147_180_559_946
    }
}
