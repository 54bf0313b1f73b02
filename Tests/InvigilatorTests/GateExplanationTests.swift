import ExamResults
import Gate
import Invigilator
import StrictJSON
import Testing

@Suite struct GateExplanationTests {
    private func question(campaigns: Int) throws -> GateQuestion {
        let budget = ErrorBudget(error: try Proportion(0.05), tests: 8)
        let each: [SealedRule] = [
            .ratchet, .paired(budget), .nonInferior(budget, margin: try Proportion(0.1)),
        ]
        return GateQuestion(
            rules: each.map { GateRules(threshold: .fourFifths, sealed: $0, trials: 2) },
            tasks: 10,
            tries: 8,
            campaigns: campaigns,
            seed: 3
        )
    }

    @Test("each rule has a paragraph with its words and its outlook")
    func text() throws {
        let text = GateExplanation(try question(campaigns: 0)).text
        let paragraphs = text.split(separator: "\n\n", omittingEmptySubsequences: false)
        #expect(paragraphs.count == 3)
        #expect(
            text.hasPrefix(
                """
                ratchet
                  asks   the sealed mean is at least the best one recorded so far

                """
            )
        )
        #expect(paragraphs[0].contains("\ngate ratchet: 10 sealed tasks, 2 trials, 20 rollouts"))
        #expect(paragraphs[1].contains("\n  true effect  +0.02"))
        #expect(paragraphs[2].contains("above 0.9 times the incumbent's, at level 0.0063"))
        #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"))
    }

    @Test("for programs every number of it, and the same for the same seed")
    func json() throws {
        let json = GateExplanation(try question(campaigns: 3)).json
        #expect(json["schema"] == "invigilator.gate-explanation/1")
        let rules = try #require(json["rules"]?.arrayValue)
        #expect(
            rules.compactMap { $0["rule"]?.stringValue } == ["ratchet", "paired", "non-inferior"]
        )
        #expect(rules[0]["power"] == .null)
        #expect(rules[0]["drift"]?.arrayValue?.count == 3)
        #expect(rules[1]["drift"]?.arrayValue?.isEmpty == true)
        #expect(rules[1]["power"]?["reachable"] == true)
        #expect(rules[2]["power"]?["effects"]?.arrayValue?.first?.numberValue == -0.05)
        let rows = try #require(json["campaigns"]?["rows"]?.arrayValue)
        #expect(rows.count == 3)
        #expect(rows[0]["misled_of_solved"] == .null)
        #expect(rows[2]["misled_of_solved"]?["mean"]?.numberValue != nil)
        #expect(json == GateExplanation(try question(campaigns: 3)).json)
        #expect(GateExplanation(try question(campaigns: 0)).json["campaigns"] == .null)
    }

    @Test("simulated campaigns are one table more")
    func campaigns() throws {
        let text = GateExplanation(try question(campaigns: 3)).text
        #expect(text.contains("\n\nrule          trials  "))
        #expect(text.contains("\n3 campaigns of 8 candidates over 10 tasks;"))
    }
}
