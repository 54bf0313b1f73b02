package import Gate
internal import GateStatistics
package import StrictJSON

/// What is asked about rules of the gate.
package struct GateQuestion: Sendable {
    /// The seed where none is named.
    package static let standardSeed = PowerTable.standardSeed

    /// The rules.
    package let rules: [GateRules]
    /// The number of sealed tasks.
    package let tasks: Int
    /// The candidates of a campaign.
    package let tries: Int
    /// How many campaigns of each kind are simulated; 0 for none.
    package let campaigns: Int
    /// What the simulated campaigns follow from.
    package let seed: UInt64

    package init(rules: [GateRules], tasks: Int, tries: Int, campaigns: Int, seed: UInt64) {
        self.rules = rules
        self.tasks = tasks
        self.tries = tries
        self.campaigns = campaigns
        self.seed = seed
    }
}

/// What rules of the gate are worth, for people and programs; made from values alone.
package struct GateExplanation {
    /// The version of ``json``'s shape.
    package static let schema = "invigilator.gate-explanation/1"

    private let question: GateQuestion
    private let entries: [(explanation: RuleExplanation, outlook: GateOutlook)]
    private let campaigns: CampaignTable?

    /// Answers a question; with campaigns this takes seconds to minutes.
    package init(_ question: GateQuestion) {
        self.question = question
        entries = question.rules.map { rules in
            (
                RuleExplanation(rules.sealed),
                GateOutlook(rules, tasks: question.tasks, tries: question.tries)
            )
        }
        campaigns =
            question.campaigns == 0
            ? nil
            : CampaignTable(
                question.rules,
                tasks: question.tasks,
                tries: question.tries,
                campaigns: question.campaigns,
                seed: question.seed
            )
    }

    /// A paragraph a rule, and the table of campaigns where it was asked for.
    package var text: String {
        var paragraphs = entries.map { $0.explanation.lines + $0.outlook.lines }
        if let campaigns { paragraphs.append(campaigns.lines) }
        return paragraphs.map { $0.map { $0 + "\n" }.joined() }.joined(separator: "\n")
    }

    /// Everything for programs.
    package var json: JSONValue {
        [
            "schema": .string(Self.schema), "tasks": JSONValue(question.tasks),
            "tries": JSONValue(question.tries),
            "rules": .array(entries.map { Self.json($0.explanation, $0.outlook) }),
            "campaigns": campaigns.map { table in
                [
                    "count": JSONValue(table.campaigns), "seed": .string("\(question.seed)"),
                    "rows": .array(table.rows.map(Self.json)),
                ]
            } ?? .null,
        ]
    }

    private static func json(_ said: RuleExplanation, _ outlook: GateOutlook) -> JSONValue {
        [
            "rule": .string(said.name), "asks": .string(said.asks), "costs": .string(said.costs),
            "luck": .string(said.luck), "fits": .string(said.fits),
            "trials": JSONValue(outlook.trials), "rollouts": JSONValue(outlook.rollouts),
            "power": outlook.power.map(json) ?? .null,
            "drift": .array(
                outlook.drifts.map { entry in
                    [
                        "spread": .string(entry.spread.rawValue),
                        "expected": .number(entry.drift.expected),
                        "upper": .number(entry.drift.upper),
                        "acceptances": .number(entry.drift.acceptances),
                    ]
                }
            ),
        ]
    }

    private static func json(_ power: PowerTable) -> JSONValue {
        [
            "level": .number(power.level), "reachable": .bool(power.isReachable),
            "spread": .string(power.spread.rawValue),
            "effects": .array(power.effects.map { .number($0) }),
            "rows": .array(
                power.rows.map { row in
                    [
                        "trials": JSONValue(row.trials),
                        "simulations": JSONValue(row.simulations),
                        "chances": .array(row.chances.map { .number($0) }),
                    ]
                }
            ),
        ]
    }

    private static func json(_ row: CampaignTable.Row) -> JSONValue {
        [
            "rule": .string(row.rule), "trials": JSONValue(row.trials),
            "drift": json(row.null.drift), "accepted": json(row.null.accepted),
            "misled": json(row.untrue.misled),
            "misled_of_solved": row.untrueOfSolved.map { json($0.misled) } ?? .null,
            "caught": json(row.mixed.caught), "gain": json(row.mixed.gain),
            "drift_then": json(row.mixed.drift),
        ]
    }

    private static func json(_ estimate: Estimate) -> JSONValue {
        ["mean": .number(estimate.mean), "standard_error": .number(estimate.standardError)]
    }
}
