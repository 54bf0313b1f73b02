import ExamResults
import TestSupport
import Testing

@Suite("The handicap of an incumbent")
struct HandicapTests {
    private func arm(_ rewards: [[Double]]) throws -> [ExamResults] {
        try rewards.map { rewards in
            let planned = try tasks(rewards.count)
            let graded = try rewards.map { TaskOutcome.graded(try Reward($0)) }
            return try ExamResults(
                planned: planned,
                outcomes: Dictionary(uniqueKeysWithValues: zip(planned, graded))
            )
        }
    }

    /// What two trials of eight tasks that only the incumbent solves come to, in tasks.
    private func lost(seed: UInt64, _ handicap: Reward) throws -> [Int] {
        let exam = try TrialResults(
            candidate: try arm([[Double]](repeating: [Double](repeating: 0, count: 8), count: 2)),
            incumbent: try arm([[Double]](repeating: [Double](repeating: 1, count: 8), count: 2)),
            seed: seed
        )
        return try exam.drawnDifferences(handicap: handicap).map { -$0 }
    }

    @Test("the draws are these, as another program computed them from the same description")
    func golden() throws {
        #expect(try lost(seed: 7, .half) == [0, 2, 0, 1, 1, 2, 1, 2])
        #expect(try lost(seed: 8, .half) != [0, 2, 0, 1, 1, 2, 1, 2])
    }

    @Test("none takes nothing, the whole takes everything, and means stay what they are")
    func ends() throws {
        #expect(try lost(seed: 7, .zero) == [Int](repeating: 2, count: 8))
        #expect(try lost(seed: 7, .one) == [Int](repeating: 0, count: 8))
        let exam = try TrialResults(
            candidate: try arm([[0, 1]]),
            incumbent: try arm([[1, 0.5]]),
            seed: 3
        )
        #expect(try exam.drawnDifferences(handicap: .one) == [0, 1])
        #expect(try exam.incumbentMean() == arm([[0.75]])[0].mean())
    }

    @Test("what one rollout earned moves no draw of another, nor does who entered it first")
    func independent() throws {
        let zeros = [[Double]](repeating: [Double](repeating: 0, count: 30), count: 2)
        var rewards = zeros.map { $0.map { _ in 1.0 } }
        func differences() throws -> [Int] {
            try TrialResults(candidate: try arm(zeros), incumbent: try arm(rewards), seed: 1)
                .drawnDifferences(handicap: .half)
        }
        let before = try differences()
        rewards[0][4] = 0
        let after = try differences()
        #expect(before.indices.allSatisfy { $0 == 4 || before[$0] == after[$0] })
    }

    @Test("it takes as large a share as it says", arguments: [1_000, 50_000, 300_000])
    func share(_ millionths: Int) throws {
        let handicap = try Proportion(millionths: millionths)
        let ones = [[Double](repeating: 1, count: 1_000)]
        let zeros = [[Double](repeating: 0, count: 1_000)]
        var kept = 0
        for seed in 0..<20 as Range<UInt64> {
            let exam = try TrialResults(
                candidate: try arm(zeros),
                incumbent: try arm(ones),
                seed: seed
            )
            kept -= try exam.drawnDifferences(handicap: handicap).reduce(0, +)
        }
        let expected = 20_000 * (1 - handicap.value)
        let deviation = (expected * handicap.value).squareRoot()
        #expect(abs(Double(kept) - expected) < 4 * deviation)
    }

    @Test("rewards of 0 and 1 are what they are, and one between is 1 as often as it is large")
    func lots() throws {
        let plain = try TrialResults(
            candidate: try arm([[0, 1, 1]]),
            incumbent: try arm([[1, 1, 0]]),
            seed: 5
        )
        #expect(try plain.drawnDifferences(handicap: .zero) == [-1, 0, 1])
        var ones = 0
        for seed in 0..<40 as Range<UInt64> {
            let exam = try TrialResults(
                candidate: try arm([[Double](repeating: 0.3, count: 100)]),
                incumbent: try arm([[Double](repeating: 0, count: 100)]),
                seed: seed
            )
            ones += try exam.drawnDifferences(handicap: .zero).reduce(0, +)
        }
        // Four standard deviations of 4,000 lots at 0.3.
        #expect(abs(ones - 1_200) < 116)
    }

    @Test("the order of the tasks in an exam is not drawn from the same sequence")
    func separate() throws {
        // Were it the seed itself, exams whose order of tasks is known would tell their handicap.
        var plain = SeedStream(seed: 7)
        let same = (0..<16).map { _ in plain.next() % 1_000_000 >= 500_000 ? 1 : 0 }
        let sums = (0..<8).map { same[$0] + same[$0 + 8] }
        #expect(try lost(seed: 7, .half) != sums)
    }
}
