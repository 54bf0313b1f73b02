import ExamResults
import Gate
import GateStatistics
import Testing

@Suite("Simulated campaigns of the gate")
struct SimulatedCampaignTests {
    private func figures(
        _ rule: SealedRule,
        spread: TaskSpread = .even,
        _ scenario: CampaignScenario = .null,
        campaigns: Int = 150
    ) -> CampaignFigures {
        SimulatedCampaign(
            rules: rules(rule),
            tasks: 30,
            tries: 24,
            spread: spread,
            scenario: scenario
        ).figures(campaigns: campaigns, seed: 5)
    }

    /// A share of campaigns is at most an error, within three standard errors of that error.
    private func isWithin(_ share: Double, _ error: Double, _ campaigns: Int) -> Bool {
        share <= error + 3 * (error * (1 - error) / Double(campaigns)).squareRoot()
    }

    private let budget = ErrorBudget(error: fivePercent, tests: 24)

    @Test("where nothing is better, the paired rule's best does not drift, and its error holds")
    func paired() {
        let figures = figures(.paired(budget), campaigns: 600)
        #expect(abs(figures.drift.mean) < 0.01 + 3 * figures.drift.standardError)
        #expect(isWithin(figures.misled.mean, 0.05, 600))
        #expect(figures.gain.mean == 0)
        #expect(figures.caught.mean == 0)
    }

    @Test("where nothing is better, the ratchet's best drifts, and every campaign accepts")
    func ratchet() {
        let figures = figures(.ratchet)
        #expect(figures.drift.mean > 0.1)
        #expect(figures.misled.mean > 0.9)
        #expect(figures.gain.mean == 0)
    }

    @Test(
        "worse by the margin: the non-inferior rule's error holds",
        arguments: TaskSpread.allCases
    )
    func nonInferior(_ spread: TaskSpread) throws {
        let margin = try Proportion(0.1)
        let rule = SealedRule.nonInferior(budget, margin: margin)
        let figures = figures(rule, spread: spread, .losing(margin), campaigns: 400)
        #expect(isWithin(figures.misled.mean, 0.05, 400))
        #expect(RuleExplanation(rule).luck.contains("in at most 5 % of campaigns"))
    }

    @Test("a loss within the margin misleads nobody, one of the margin does")
    func withinMargin() throws {
        let rule = SealedRule.nonInferior(
            ErrorBudget(error: .half, tests: 1),
            margin: try Proportion(0.4)
        )
        let less = figures(rule, spread: .solved, .losing(try Proportion(0.1)), campaigns: 20)
        #expect(less.accepted.mean > 1)
        #expect(less.misled.mean == 0)
        let all = figures(rule, spread: .solved, .losing(try Proportion(0.4)), campaigns: 20)
        #expect(all.misled.mean == 1)
    }

    @Test("true improvements are won, and count as caught", arguments: [1, 4])
    func better(_ every: Int) {
        let scenario = CampaignScenario(effect: 0.3, every: every)
        let figures = figures(.paired(budget), scenario)
        #expect(figures.caught.mean > 0.05)
        #expect(figures.gain.mean > 0.1)
        #expect(figures.gain.mean <= 0.5 + 1e-9)
        // Candidates that are truly better mislead nobody; the others seldom do.
        #expect(isWithin(figures.misled.mean, every == 1 ? 0 : 0.05, 150))
    }

    @Test("changes that do harm lower the true rate where the ratchet accepts them")
    func harm() {
        let harmful = figures(.ratchet, CampaignScenario(effect: -0.05))
        #expect(harmful.gain.mean < 0)
        #expect(harmful.misled.mean > 0.5)
        #expect(figures(.paired(budget), CampaignScenario(effect: -0.05)).gain.mean > -0.01)
    }

    @Test("one seed gives one course, and more campaigns begin with the same")
    func seeded() {
        let campaign = SimulatedCampaign(rules: rules(.ratchet), tasks: 10, tries: 5)
        let one = campaign.figures(campaigns: 20, seed: 1)
        #expect(one == campaign.figures(campaigns: 20, seed: 1))
        #expect(one != campaign.figures(campaigns: 20, seed: 2))
        #expect(campaign.figures(campaigns: 1, seed: 1).drift.standardError == 0)
    }
}

@Suite("The table of campaigns")
struct CampaignTableTests {
    @Test("a row a rule, with what the columns mean below")
    func lines() throws {
        let table = CampaignTable(
            [rules(.ratchet), rules(.nonInferior(night, margin: fivePercent), trials: 2)],
            tasks: 8,
            tries: 4,
            campaigns: 5,
            seed: 1
        )
        #expect(table.rows.map(\.rule) == ["ratchet", "non-inferior"])
        #expect(table.rows.map { $0.untrueOfSolved == nil } == [true, false])
        #expect(table.lines.count == 2 + 1 + 6)
        #expect(table.lines[0].hasPrefix("rule          trials "))
        #expect(table.lines[3].hasPrefix("5 campaigns of 4 candidates over 8 tasks"))
        #expect(table.lines.allSatisfy { $0.count <= 116 })
    }
}
