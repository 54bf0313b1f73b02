import ExamResults
import Gate
import TestSupport
import Testing

/// The share of all sign assignments whose sum is at least the observed one, by trying them all.
private func tried(_ differences: [Int]) -> Double {
    let observed = differences.reduce(0, +)
    var reached = 0
    for signs in 0..<(1 << differences.count) {
        var sum = 0
        for (place, difference) in differences.enumerated() {
            sum += signs >> place & 1 == 1 ? abs(difference) : -abs(difference)
        }
        if sum >= observed { reached += 1 }
    }
    return Double(reached) / Double(1 << differences.count)
}

@Suite("The exact sign-flip test")
struct SignFlipTestTests {
    @Test("ten better tasks of ten give 2^-10, and no difference gives 1")
    func corners() {
        #expect(SignFlipTest.pValue([Int](repeating: 1_000_000, count: 10)) == 1.0 / 1024)
        #expect(SignFlipTest.pValue([]) == 1)
        #expect(SignFlipTest.pValue([0, 0, 0]) == 1)
        #expect(SignFlipTest.pValue([-5, 3]) == 1)
        #expect(SignFlipTest.pValue([1]) == 0.5)
    }

    @Test("it is what trying every sign gives, task differences of any size", arguments: 0..<200)
    func exact(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let count = 1 + generator.below(10)
        let scale = [1, 250_000, 1_000_000, 333_333][generator.below(4)]
        let differences = (0..<count).map { _ in (generator.below(9) - 3) * scale }
        let expected = differences.reduce(0, +) > 0 ? tried(differences) : 1
        #expect(abs(SignFlipTest.pValue(differences) - expected) < 1e-12, "seed \(seed)")
    }

    @Test("differences in millionths without a common divisor are rounded, and stay a test")
    func rounded() {
        var generator = SeededGenerator(seed: 5)
        let differences = (0..<12).map { _ in generator.below(1_000_000) - 300_000 }
        let coarse = SignFlipTest.pValue(differences)
        #expect(abs(coarse - tried(differences)) < 0.01)
    }

    @Test("under equal candidates it is below a level no more often than the level says")
    func level() {
        var generator = SeededGenerator(seed: 7)
        var below = 0
        let rounds = 4_000
        for _ in 0..<rounds {
            let differences = (0..<20).map { _ in generator.below(3) - 1 }
            if SignFlipTest.pValue(differences) <= 0.05 { below += 1 }
        }
        // Three standard deviations above 5 % of 4,000.
        #expect(below <= 200 + 42)
        #expect(below > 60)
    }
}

@Suite("The paired rules")
struct PairedGateTests {
    private let budget = ErrorBudget(error: .half, tests: 10)

    private func decide(
        _ candidate: [[Double?]],
        _ incumbent: [[Double?]],
        _ rule: SealedRule,
        hasBest: Bool = true,
        seed: UInt64 = 0
    ) throws -> GateDecision {
        Gate.decide(
            suite: .empty,
            sealed: try TrialResults(
                candidate: try candidate.map(results),
                incumbent: try incumbent.map(results),
                seed: seed
            ),
            best: hasBest ? try results([1]).mean() : nil,
            rules: GateRules(threshold: .fourFifths, sealed: rule)
        )
    }

    @Test("a candidate that is better on every task is accepted below the best recorded mean")
    func better() throws {
        let decision = try decide(
            [[1, 1, 1, 0, 1, 1]],
            [[0, 0, 0, 0, 0, 0]],
            .paired(budget)
        )
        #expect(decision.reasons.map(\.number) == [11, 27])
        #expect(decision.finding?.pValue == 1.0 / 32)
        #expect(decision.finding?.level == 0.05)
    }

    @Test("a candidate that earns a little more nearly always, and is worse, is not let through")
    func lopsided() throws {
        // 0.505 against 0.5, but 0 in one run of fifty: 0.495 on the whole.
        var generator = SeededGenerator(seed: 23)
        let exams = 400
        var (accepted, acceptedBySigns) = (0, 0)
        for _ in 0..<exams {
            let candidate = try results((0..<40).map { _ in generator.below(50) == 0 ? 0 : 0.505 })
            let incumbent = try results([Double](repeating: 0.5, count: 40))
            let exam = try TrialResults(
                candidate: [candidate],
                incumbent: [incumbent],
                seed: generator.next()
            )
            let decision = Gate.decide(
                suite: .empty,
                sealed: exam,
                best: try results([1]).mean(),
                rules: GateRules(threshold: .fourFifths, sealed: .paired(budget))
            )
            if decision.verdict == "accepted" { accepted += 1 }
            // The control: the same test of the rewards as they are.
            if SignFlipTest.pValue(try exam.differences()) <= budget.perTest {
                acceptedBySigns += 1
            }
        }
        #expect(accepted <= 20 + 13, "three standard deviations above 5 % of 400")
        #expect(acceptedBySigns > 150, "without lots it would have been accepted so often")
    }

    @Test("a candidate that is a little better is not shown to be, and is refused")
    func luck() throws {
        let decision = try decide([[1, 1, 0, 1]], [[1, 0, 0, 1]], .paired(budget))
        #expect(decision.refusingStep == .sealed)
        #expect(decision.reasons.map(\.number) == [11, 28])
    }

    @Test("an equal candidate is refused by paired and accepted by non-inferior")
    func equal() throws {
        let same = [[Double?]](repeating: [Double?](repeating: 1, count: 20), count: 2)
        #expect(try decide(same, same, .paired(budget)).verdict == "rejected")
        let decision = try decide(same, same, .nonInferior(budget, margin: .half))
        #expect(decision.verdict == "accepted")
        // What is told of the incumbent is what it earned, not what the handicap left of it.
        #expect(decision.finding?.incumbent == decision.finding?.candidate)
    }

    @Test("a candidate that is worse by the margin is not accepted by non-inferior")
    func worse() throws {
        let rule = SealedRule.nonInferior(budget, margin: .half)
        let half = [Double?](repeating: 1, count: 10) + [Double?](repeating: 0, count: 10)
        for seed in 0..<20 as Range<UInt64> {
            let decision = try decide(
                [half, half],
                [[Double?]](repeating: [Double?](repeating: 1, count: 20), count: 2),
                rule,
                seed: seed
            )
            #expect(decision.refusingStep == .sealed, "seed \(seed)")
        }
    }

    @Test("one seed gives one decision to the last figure, and the handicap is that of the seed")
    func seeded() throws {
        let rule = SealedRule.nonInferior(budget, margin: try Proportion(0.1))
        let ones = [[Double?]](repeating: [Double?](repeating: 1, count: 40), count: 2)
        var seen: Set<Double> = []
        for seed in 0..<10 as Range<UInt64> {
            let decision = try decide(ones, ones, rule, seed: seed)
            #expect(try decide(ones, ones, rule, seed: seed) == decision)
            seen.insert(try #require(decision.finding).pValue)
        }
        #expect(seen.count > 3)
        // Without a margin there is nothing to draw.
        #expect(
            try decide(ones, ones, .paired(budget), seed: 1)
                == decide(ones, ones, .paired(budget), seed: 2)
        )
    }

    @Test("without the incumbent's arm a paired rule decides nothing")
    func noIncumbent() throws {
        let decision = try decide([[1, 1, 1, 1, 1, 1]], [], .paired(budget))
        #expect(decision.verdict == "void")
        #expect(decision.reasons.map(\.number) == [11, 26])
        #expect(try decide([[1]], [], .paired(budget), hasBest: false).verdict == "accepted")
        #expect(try decide([[0]], [], .paired(budget), hasBest: false).verdict == "rejected")
    }

    @Test("a fault in the incumbent's arm voids as one in the candidate's does")
    func void() throws {
        for (candidate, incumbent) in [
            (try voided(3), try results([1, 1, 1])), (try results([1, 1, 1]), try voided(3)),
        ] {
            let decision = Gate.decide(
                suite: .empty,
                sealed: try TrialResults(candidate: [candidate], incumbent: [incumbent]),
                best: try results([0]).mean(),
                rules: GateRules(threshold: .fourFifths, sealed: .paired(budget))
            )
            #expect(decision.reasons.map(\.number) == [11, 24])
        }
    }

    @Test("the incumbent that crashes is no worse than one that fails: both weigh 0")
    func incumbentFault() throws {
        let crashed = try decide([[1, 1, 1, 1, 1]], [[nil, nil, nil, nil, nil]], .paired(budget))
        let failed = try decide([[1, 1, 1, 1, 1]], [[0, 0, 0, 0, 0]], .paired(budget))
        #expect(crashed == failed)
    }

    @Test("trials that are uneven are no results")
    func uneven() throws {
        let two = try results([1, 1])
        #expect(throws: ExamError.unevenTrials) { try TrialResults(candidate: []) }
        #expect(throws: ExamError.unevenTrials) {
            try TrialResults(candidate: [two, two], incumbent: [two])
        }
        #expect(throws: ExamError.unevenTrials) {
            try TrialResults(candidate: [two], incumbent: [try results([1])])
        }
    }

    @Test("what the coding agent may read of a paired test holds no figure")
    func released() throws {
        let decision = try decide([[1, 1, 0, 1]], [[1, 0, 0, 1]], .paired(budget))
        #expect(decision.reasons.last?.description.contains("0.") == false)
        #expect(
            decision.reasons.last?.exactText
                == "28: the paired test against the incumbent does not show what the rule wants"
                + " (0.7500 against 0.5000 of the incumbent, p 0.5 at level 0.05)"
        )
    }
}
