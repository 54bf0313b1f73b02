import ExamResults
import GateStatistics
import TestSupport
import Testing

/// One trial; a task without a reward is missing.
private func trial(_ rewards: [Double?]) throws -> ExamResults {
    let planned = try tasks(rewards.count)
    var outcomes: [TaskID: TaskOutcome] = [:]
    for (task, reward) in zip(planned, rewards) {
        if let reward { outcomes[task] = .graded(try Reward(reward)) }
    }
    return try ExamResults(planned: planned, outcomes: outcomes)
}

private func exam(_ candidate: [[Double?]], _ incumbent: [[Double?]] = []) throws -> TrialResults {
    try TrialResults(candidate: try candidate.map(trial), incumbent: try incumbent.map(trial))
}

private func voided() throws -> TrialResults {
    let planned = try tasks(2)
    let broken = try ExamResults(planned: planned, outcomes: [planned[0]: .voided(.hostExhausted)])
    return try TrialResults(candidate: [broken], incumbent: [try trial([1, 1])])
}

@Suite("Intervals clustered by task")
struct ClusteredIntervalTests {
    @Test("four tasks, by hand")
    func byHand() throws {
        let interval = try ClusteredInterval(candidateOf: exam([[1, 1, 0, 0]]))
        #expect(interval.mean == 0.5)
        // Squares of a half, four times, over three and over four.
        #expect(interval.standardError == (1.0 / 3 / 4).squareRoot())
        #expect(interval.lower == 0)
        #expect(interval.upper == 1)
    }

    @Test("a second trial that repeats the first makes no figure surer")
    func trials() throws {
        let once = [1, 0, 0.5, 1, 0, 0.25, 1, 1, 0, 1]
        let one = try ClusteredInterval(candidateOf: exam([once]))
        let two = try ClusteredInterval(candidateOf: exam([once, once]))
        #expect(one == two)
        let error = try #require(one.standardError)
        #expect(abs(one.upper - (one.mean + 1.96 * error)) < 1e-12)
    }

    @Test("a task without a verdict counts 0, and a void exam has no interval")
    func missing() throws {
        let interval = try ClusteredInterval(candidateOf: exam([[1, nil]]))
        #expect(interval.mean == 0.5)
        #expect(throws: ExamError.self) { try ClusteredInterval(candidateOf: voided()) }
        #expect(throws: ExamError.self) { try ClusteredInterval(incumbentOf: voided()) }
        #expect(throws: ExamError.self) { try ClusteredInterval(differenceOf: voided()) }
    }

    @Test("tasks that are all alike have an interval by the rule of three")
    func alike() throws {
        let perfect = try ClusteredInterval(candidateOf: exam([[Double?](repeating: 1, count: 30)]))
        #expect(perfect.mean == 1)
        #expect(perfect.standardError == 0)
        #expect(perfect.lower == 0.9)
        #expect(perfect.upper == 1)
        let single = try ClusteredInterval(candidateOf: exam([[0.5]]))
        #expect(single.standardError == nil)
        #expect((single.lower, single.upper) == (0, 1))
    }

    @Test("the difference is paired, and absent without an incumbent")
    func difference() throws {
        let both = try exam([[1, 1, 0, 1], [1, 0, 0, 1]], [[1, 0, 0, 1], [1, 0, 0, 1]])
        let difference = try #require(try ClusteredInterval(differenceOf: both))
        #expect(difference.mean == 0.125)
        #expect(difference.standardError == 0.125)
        #expect(try ClusteredInterval(incumbentOf: both)?.mean == 0.5)
        #expect(try ClusteredInterval(differenceOf: exam([[1, 0]])) == nil)
        #expect(try ClusteredInterval(incumbentOf: exam([[1, 0]])) == nil)
        let same = try #require(try ClusteredInterval(differenceOf: exam([[1, 0]], [[1, 0]])))
        #expect((same.lower, same.upper) == (-1, 1))
    }
}

@Suite("pass^k")
struct PassHatKTests {
    /// The share of choices of so many trials that all pass, by trying them all.
    private func tried(_ passes: [Bool], _ chosen: Int) -> Double {
        let choices = (0..<(1 << passes.count)).filter { $0.nonzeroBitCount == chosen }
        let good = choices.count { choice in
            passes.indices.allSatisfy { choice >> $0 & 1 == 0 || passes[$0] }
        }
        return Double(good) / Double(choices.count)
    }

    @Test("it is what trying every choice of trials gives", arguments: 0..<50)
    func exact(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let trials = 1 + generator.below(6)
        let count = 1 + generator.below(5)
        let rewards = (0..<trials).map { _ in
            (0..<count).map { _ in Double(generator.below(3)) / 2 as Double? }
        }
        let shares = try PassHatK(exam(rewards)).shares
        #expect(shares.count == trials)
        for chosen in 1...trials {
            let expected =
                (0..<count).reduce(0.0) { sum, task in
                    sum + tried(rewards.map { ($0[task] ?? 0) >= 0.5 }, chosen)
                } / Double(count)
            #expect(abs(shares[chosen - 1] - expected) < 1e-12, "seed \(seed)")
        }
    }

    @Test("k of 1 is the pass rate, every k less or the same, and a void exam has none")
    func corners() throws {
        let shares = try PassHatK(exam([[1, 1, 0, nil], [1, 0, 0, 1]])).shares
        #expect(shares == [0.5, 0.25])
        #expect(try PassHatK(exam([[0.6]]), mark: Reward(0.7)).shares == [0])
        #expect(throws: ExamError.self) { try PassHatK(voided()) }
    }
}

@Suite("What told bits can do to a score")
struct OverfitBoundTests {
    @Test("20 bits leave 0.46 on 40 tasks and 0.09 on 1,000")
    func figures() {
        #expect((OverfitBound(bits: 20, tasks: 40).bound * 100).rounded() == 46)
        #expect((OverfitBound(bits: 20, tasks: 1000).bound * 100).rounded() == 9)
        #expect(
            OverfitBound(bits: 20, tasks: 40).line
                == "20.0 bits over 40 tasks: with 95 % the sealed score is less than 0.46 above the"
                + " true one"
        )
    }

    @Test("without a bit it is Hoeffding's bound for one candidate")
    func none() {
        // exp(-2 n t²) is 1/20 there.
        #expect(abs(OverfitBound(bits: 0, tasks: 100).bound - 0.122_387) < 1e-6)
        #expect(OverfitBound(bits: .nan, tasks: 100) == OverfitBound(bits: -3, tasks: 100))
    }

    @Test("it says when it says nothing")
    func vacuous() {
        #expect(!OverfitBound(bits: 20, tasks: 40).isVacuous)
        #expect(OverfitBound(bits: 60, tasks: 40).isVacuous)
        #expect(OverfitBound(bits: 60, tasks: 40).line.hasSuffix(", which says nothing"))
        #expect(OverfitBound(bits: 20, tasks: 40).isVacuous(for: 0.4))
        #expect(!OverfitBound(bits: 20, tasks: 40).isVacuous(for: 0.5))
        #expect(OverfitBound(bits: 20, tasks: 40).certified(0.3) == 0)
        #expect((OverfitBound(bits: 20, tasks: 1000).certified(0.8) * 100).rounded() == 71)
        #expect(OverfitBound(bits: .infinity, tasks: 40).isVacuous)
    }
}
