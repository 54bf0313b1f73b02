internal import ExamResults
public import Gate

/// What the rules of an experiment can be expected to do, before its first candidate: what `prepare`
/// prints and the genesis record keeps.
public struct GateOutlook: Sendable, Equatable {
    /// The rule's word.
    public let rule: String
    /// The number of sealed tasks, at least 1.
    public let tasks: Int
    /// How often a sealed exam runs every task.
    public let trials: Int
    /// How many candidates are judged at most: a paired rule's tests, or what the ratchet is given.
    public let tries: Int
    /// The rollouts of one sealed exam, the incumbent's included.
    public let rollouts: Int
    /// Whether rewards vary from run to run.
    public let rewardsVary: Bool
    /// The chances of a paired rule; nothing for the ratchet.
    public let power: PowerTable?
    /// The drift of the ratchet for each spread of tasks that varies; empty for paired rules.
    public let drifts: [Drift]

    /// The ratchet's drift over one spread of tasks.
    public struct Drift: Sendable, Equatable {
        /// How often the tasks are solved.
        public let spread: TaskSpread
        /// The drift.
        public let drift: RatchetDrift
    }

    /// Looks ahead.
    ///
    /// - Parameters:
    ///   - rules: the rules of the gate.
    ///   - tasks: the number of sealed tasks.
    ///   - tries: the candidates that the budget of iterations allows; a paired rule has its own.
    ///   - rewardsVary: whether rewards vary from run to run; false where a benchmark says, and it
    ///     was shown, that they do not.
    public init(_ rules: GateRules, tasks: Int, tries: Int, rewardsVary: Bool = true) {
        let tries = rules.sealed.budget?.tests ?? max(0, tries)
        rule = rules.sealed.name
        self.tasks = max(1, tasks)
        trials = rules.trials
        self.tries = tries
        rollouts = self.tasks * rules.trials * (rules.sealed.budget == nil ? 1 : 2)
        self.rewardsVary = rewardsVary
        power = PowerTable(rules.sealed, tasks: self.tasks, trials: rules.trials)
        guard rules.sealed.budget == nil, rewardsVary else {
            drifts = []
            return
        }
        drifts = [TaskSpread.even, .polarized, .alike].map { spread in
            let drift = RatchetDrift(
                tasks: max(1, tasks),
                trials: rules.trials,
                tries: tries,
                spread: spread
            )
            return Drift(spread: spread, drift: drift)
        }
    }

    /// The outlook for a terminal, at most 14 lines.
    public var lines: [String] {
        let head =
            "gate \(rule): \(Self.count(tasks, "sealed task")), \(Self.count(trials, "trial")),"
            + " \(rollouts) rollouts an exam, at most \(Self.count(tries, "candidate"))"
        guard let power else { return [head] + driftLines }
        let level = FigureText.significant(power.level)
        var lines = [head, "each is tested at level \(level); the chance that it is accepted:"]
        lines += power.lines.map { "  " + $0 }
        let error = power.rows.map(\.standardError).max() ?? 0
        lines.append(
            "(simulated, ± \(FigureText.fixed(2 * error)): rewards 0 or 1, incumbent's rates spread"
                + " evenly from 0 to 1)"
        )
        if power.margin > .zero {
            lines.append(
                "what must be shown is a rate above \(power.margin.rest) times the incumbent's; the first"
                    + " column is at just that"
            )
        }
        if !power.isReachable {
            lines.append(
                "\(Self.count(tasks, "task")) cannot reach that level, whatever the result: take more"
                    + " tasks or fewer tests"
            )
        } else if let effect = power.visibleEffect(trials: trials) {
            lines.append(
                "as configured, a candidate that is better by \(FigureText.fixed(effect)) is accepted"
                    + " at least 8 times of 10"
            )
        } else {
            lines.append(
                "as configured, not even one better by"
                    + " \(FigureText.fixed(power.effects.last ?? 0)) is accepted 8 times of 10: more tasks"
                    + " or fewer tests would help"
            )
        }
        return lines
    }

    private var driftLines: [String] {
        guard let even = drifts.first?.drift else {
            return ["rewards do not vary from run to run: the recorded best does not drift"]
        }
        let expected = drifts.map(\.drift.expected)
        let least = FigureText.fixed(expected.min() ?? 0)
        let most = FigureText.fixed(expected.max() ?? 0)
        return [
            "if no candidate is better than the first, luck alone lifts the recorded best by"
                + " \(FigureText.fixed(even.expected))",
            "(\(least) to \(most), by how tasks differ; in one campaign of 20 by more than"
                + " \(FigureText.fixed(even.upper))), and \(FigureText.fixed(even.acceptances, 1)) of"
                + " \(tries) are accepted",
            "where rewards vary, the rule `paired` asks for evidence instead of luck",
        ]
    }

    private static func count(_ number: Int, _ word: String) -> String {
        number == 1 ? "1 \(word)" : "\(number) \(word)s"
    }
}
