import ExamResults
import Gate
import GateStatistics
import Testing

@Suite("The outlook of an experiment")
struct GateOutlookTests {
    private static let each: [SealedRule] = [
        .ratchet, .paired(night), .nonInferior(night, margin: fivePercent),
    ]

    @Test("the ratchet's says the drift that luck alone gives")
    func ratchet() {
        let outlook = GateOutlook(rules(.ratchet), tasks: 40, tries: 96)
        #expect(
            outlook.lines == [
                "gate ratchet: 40 sealed tasks, 1 trial, 40 rollouts an exam, at most 96 candidates",
                "if no candidate is better than the first, luck alone lifts the recorded best by 0.16",
                "(0.14 to 0.19, by how tasks differ; in one campaign of 20 by more than 0.20), and 5.7"
                    + " of 96 are accepted",
                "where rewards vary, the rule `paired` asks for evidence instead of luck",
            ]
        )
        #expect(outlook.power == nil)
        #expect(outlook.drifts.map(\.spread) == [.even, .polarized, .alike])
    }

    @Test("where rewards do not vary there is no drift")
    func deterministic() {
        let outlook = GateOutlook(rules(.ratchet), tasks: 29, tries: 10, rewardsVary: false)
        #expect(outlook.drifts.isEmpty)
        #expect(
            outlook.lines.last
                == "rewards do not vary from run to run: the recorded best does not drift"
        )
    }

    @Test("a paired rule's has the power table and what it comes to as configured")
    func paired() {
        let outlook = GateOutlook(rules(.paired(night), trials: 5), tasks: 40, tries: 7)
        #expect(outlook.tries == 96)
        #expect(outlook.rollouts == 400)
        #expect(outlook.lines.count == 9)
        #expect(outlook.lines[1].contains("level 0.00052;"))
        #expect(
            outlook.lines.last
                == "as configured, a candidate that is better by 0.30 is accepted at least 8 times of"
                + " 10"
        )
        let blind = GateOutlook(rules(.paired(night)), tasks: 12, tries: 96)
        #expect(blind.lines.last?.contains("not even one better by 0.30") == true)
    }

    @Test("too few tasks for the level are said to be, and the gate indeed accepts nothing")
    func unreachable() throws {
        #expect(SignFlipTest.pValue([Int](repeating: 1, count: 10)) > night.perTest)
        #expect(SignFlipTest.pValue([Int](repeating: 1, count: 11)) <= night.perTest)
        let short = GateOutlook(rules(.paired(night)), tasks: 10, tries: 96)
        #expect(short.lines.last?.hasPrefix("10 tasks cannot reach that level") == true)
        #expect(short.power?.rows.allSatisfy { $0.chances.allSatisfy { $0 == 0 } } == true)
        #expect(PowerTable(.paired(night), tasks: 11, trials: 1)?.isReachable == true)
    }

    @Test("a margin's says of what rate it is a share")
    func margin() throws {
        let rule = SealedRule.nonInferior(night, margin: try Proportion(0.015))
        let outlook = GateOutlook(rules(rule), tasks: 12, tries: 96)
        #expect(
            outlook.lines.contains(
                "what must be shown is a rate above 0.985 times the incumbent's; the first column is at"
                    + " just that"
            )
        )
        #expect(!outlook.lines.contains { $0.contains("beware") })
    }

    @Test("it fits a terminal, whatever is configured", arguments: each, [1, 7])
    func size(_ rule: SealedRule, _ trials: Int) {
        let outlook = GateOutlook(rules(rule, trials: trials), tasks: 1, tries: 0)
        #expect(outlook.lines.count <= 14)
        #expect(outlook.lines.allSatisfy { $0.count <= 110 })
    }

    @Test("every rule is explained with its own figures", arguments: each)
    func explained(_ rule: SealedRule) {
        let explanation = RuleExplanation(rule)
        #expect(explanation.name == rule.name)
        #expect(explanation.lines.count >= 5)
        #expect(explanation.lines.allSatisfy { $0.count <= 96 })
        let words = explanation.lines.dropFirst().joined(separator: " ").split(separator: " ")
        #expect(words.joined(separator: " ").contains("luck \(explanation.luck) fits"))
        let says = explanation.asks.contains("at level 0.00052 (0.05 over 96 tests)")
        #expect(says == (rule.budget != nil))
        let limit = "above 0.95 times the incumbent's"
        #expect(explanation.asks.contains(limit) == (rule.name == "non-inferior"))
    }
}
