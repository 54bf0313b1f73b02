import ExamResults
import Gate
import GateStatistics
import Testing

/// The budget of a campaign of 96 tests at 5 %.
let night = ErrorBudget(error: fivePercent, tests: 96)

let fivePercent: Proportion = {
    do { return try Proportion(millionths: 50_000) } catch { fatalError("invariant: 5 %") }
}()

/// Rules with a sealed rule and a number of trials.
func rules(_ sealed: SealedRule, trials: Int = 1) -> GateRules {
    GateRules(threshold: .fourFifths, sealed: sealed, trials: trials)
}

@Suite("The power of paired rules")
struct PowerTableTests {
    @Test("forty tasks and 96 tests have this table, on every host")
    func golden() throws {
        let table = try #require(PowerTable(.paired(night), tasks: 40, trials: 5))
        #expect(
            table.lines == [
                "true effect  +0.02  +0.05  +0.10  +0.15  +0.20  +0.30",
                "1 trial       0.00   0.00   0.00   0.02   0.05   0.30",
                "3 trials      0.00   0.00   0.03   0.15   0.44   0.95",
                "5 trials      0.00   0.01   0.11   0.38   0.77   1.00",
                "10 trials     0.00   0.03   0.35   0.84   0.99   1.00",
            ]
        )
        #expect(table == PowerTable(.paired(night), tasks: 40, trials: 1))
        #expect(table != PowerTable(.paired(night), tasks: 40, trials: 1, seed: 2))
    }

    @Test("configured trials have a row of their own, and the ratchet has no table")
    func rows() throws {
        let table = try #require(PowerTable(.paired(night), tasks: 10, trials: 4))
        #expect(table.rows.map(\.trials) == [1, 3, 4, 5, 10])
        #expect(PowerTable(.ratchet, tasks: 10, trials: 4) == nil)
        let margin = try #require(
            PowerTable(.nonInferior(night, margin: fivePercent), tasks: 10, trials: 1)
        )
        // A rate of 0.5 less a share of 0.05 of it: what just must be refused.
        #expect(margin.effects == [-0.025, 0] + PowerTable.effects)
        #expect(margin.lines[0].hasPrefix("true effect  -0.025  +0.00  +0.02"))
        let whole = PowerTable(.nonInferior(night, margin: .fourFifths), tasks: 10, trials: 1)
        #expect(whole?.lines[0].hasPrefix("true effect  -0.40  +0.00  +0.02") == true)
    }

    @Test("chances rise with the effect, the trials and the tasks")
    func order() throws {
        let small = try #require(PowerTable(.paired(night), tasks: 30, trials: 1))
        let large = try #require(PowerTable(.paired(night), tasks: 120, trials: 1))
        for table in [small, large] {
            for row in table.rows {
                for (less, more) in zip(row.chances, row.chances.dropFirst()) {
                    #expect(less <= more + 2 * row.standardError)
                }
            }
        }
        for (few, many) in zip(small.rows, large.rows) {
            #expect(zip(few.chances, many.chances).allSatisfy { $0 <= $1 + few.standardError })
        }
        #expect(small.visibleEffect(trials: 1) == nil)
        #expect(large.visibleEffect(trials: 10) == 0.1)
        #expect(large.visibleEffect(trials: 2) == nil)
    }

    @Test(
        "the table says what the gate does",
        arguments: [
            SealedRule.paired(night), .nonInferior(night, margin: fivePercent),
        ]
    )
    func gate(_ rule: SealedRule) throws {
        let table = try #require(PowerTable(rule, tasks: 40, trials: 3))
        let row = try #require(table.rows.first { $0.trials == 3 })
        for (effect, chance) in zip(table.effects, row.chances) where effect >= 0.1 {
            let campaign = SimulatedCampaign(
                rules: rules(rule, trials: 3),
                tasks: 40,
                tries: 1,
                scenario: CampaignScenario(effect: effect)
            )
            let caught = campaign.figures(campaigns: 300, seed: 3).caught
            // Four standard errors of the less exact of both.
            #expect(abs(caught.mean - chance) < 4 * 0.5 / 300.0.squareRoot(), "effect \(effect)")
        }
    }

    @Test(
        "at the limit of the margin the chance is at most the level, few tasks or many",
        arguments: [12, 40],
        TaskSpread.allCases
    )
    func limit(_ tasks: Int, _ spread: TaskSpread) throws {
        let budget = ErrorBudget(error: fivePercent, tests: 1)
        let rule = SealedRule.nonInferior(budget, margin: fivePercent)
        let table = try #require(PowerTable(rule, tasks: tasks, trials: 1, spread: spread))
        for row in table.rows {
            let error = (0.05 * 0.95 / Double(row.simulations)).squareRoot()
            #expect(row.chances[0] <= 0.05 + 3 * error, "\(row.trials) trials")
        }
    }

    @Test("a thousand tasks are affordable, with fewer simulations")
    func large() throws {
        let table = try #require(PowerTable(.paired(night), tasks: 1000, trials: 1))
        #expect(table.rows.allSatisfy { (100...1_500).contains($0.simulations) })
        #expect(table.visibleEffect(trials: 1) == 0.1)
    }
}
