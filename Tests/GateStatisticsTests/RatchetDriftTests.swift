import Gate
import GateStatistics
import Testing

@Suite("The drift of the ratchet")
struct RatchetDriftTests {
    @Test("one task that is solved every other time: the better of two runs, by hand")
    func byHand() {
        let drift = RatchetDrift(tasks: 1, trials: 1, tries: 1)
        #expect(drift.expected == 0.25)
        #expect(drift.upper == 0.5)
        #expect(drift.acceptances == 0.75)
    }

    @Test("without a try nothing drifts, and where nothing varies neither")
    func none() {
        #expect(abs(RatchetDrift(tasks: 40, trials: 1, tries: 0).expected) < 1e-12)
        let solved = RatchetDrift(tasks: 40, trials: 1, tries: 96, spread: .solved)
        #expect(solved.expected == 0)
        #expect(solved.upper == 0)
        #expect(solved.acceptances == 96)
    }

    @Test("96 tries on one run over 40 tasks lift the recorded best by 0.14 to 0.19")
    func night() {
        let expected = [TaskSpread.polarized, .even, .alike].map {
            RatchetDrift(tasks: 40, trials: 1, tries: 96, spread: $0).expected
        }
        #expect(expected.map { ($0 * 100).rounded() } == [14, 16, 19])
    }

    @Test("it is what the gate does", arguments: TaskSpread.allCases, [1, 3])
    func simulated(_ spread: TaskSpread, _ trials: Int) {
        let drift = RatchetDrift(tasks: 20, trials: trials, tries: 24, spread: spread)
        let figures = SimulatedCampaign(
            rules: rules(.ratchet, trials: trials),
            tasks: 20,
            tries: 24,
            spread: spread
        ).figures(campaigns: 200, seed: 11)
        #expect(abs(figures.drift.mean - drift.expected) <= 4 * figures.drift.standardError)
        #expect(
            abs(figures.accepted.mean - drift.acceptances) <= 4 * figures.accepted.standardError
        )
    }

    @Test("more rollouts drift less, more tries more")
    func order() {
        func drift(_ trials: Int, _ tries: Int) -> RatchetDrift {
            RatchetDrift(tasks: 40, trials: trials, tries: tries)
        }
        #expect(drift(3, 96).expected < drift(1, 96).expected)
        #expect(drift(1, 10).expected < drift(1, 96).expected)
        #expect(drift(1, 96).expected < drift(1, 96).upper)
        #expect(RatchetDrift(tasks: 1000, trials: 10, tries: 96).expected < 0.011)
    }
}

@Suite("The rates of simulated tasks")
struct TaskSpreadTests {
    @Test("rates are from 0 to 1 with a mean of a half", arguments: TaskSpread.allCases)
    func rates(_ spread: TaskSpread) {
        for count in [1, 2, 7, 40] {
            let rates = spread.rates(count)
            #expect(rates.count == count)
            #expect(rates.allSatisfy { (0...1).contains($0) })
            let mean = rates.reduce(0, +) / Double(count)
            #expect(abs(mean - (spread == .solved ? 1 : 0.5)) < 1e-12)
        }
    }
}
