import ExamResults
import TestSupport
import Testing

@Suite("Scores")
struct ScoreTests {
    private func score(_ rewards: [Double]) throws -> Score {
        let planned = try tasks(rewards.count)
        var outcomes: [TaskID: TaskOutcome] = [:]
        for (task, reward) in zip(planned, rewards) { outcomes[task] = .graded(try Reward(reward)) }
        return try ExamResults(planned: planned, outcomes: outcomes).mean()
    }

    @Test("equal means compare equal where floating-point sums would not")
    func exactEquality() throws {
        #expect([0.1, 0.2, 0.3].reduce(0, +) != [0.3, 0.2, 0.1].reduce(0, +))
        #expect(try score([0.1, 0.2, 0.3]) == score([0.3, 0.2, 0.1]))
        #expect(try score([0.3, 0.3, 0.3]) == score([0.3]))
        #expect(try score([1, 0, 0]) == score([1, 0, 0, 1, 0, 0]))
        #expect(try score([1, 0, 0]) < score([0.333334]))
        #expect(try score([1, 0, 0]) > score([0.333333]))
    }

    @Test("the decimal text rounds half up and keeps its zeros")
    func decimalText() throws {
        #expect(try score([1, 1, 0]).text() == "0.6667")
        #expect(try score([1]).text() == "1.0000")
        #expect(try score([0]).text() == "0.0000")
        #expect(try score([0.00005]).text() == "0.0001")
        #expect(try score([0.5]).text(decimals: 0) == "1")
        #expect(try score([0.07]).text(decimals: 2) == "0.07")
    }

    @Test("a released score is the nearest multiple of the quantum")
    func release() throws {
        let quantum = try Proportion(0.05)
        #expect(try score([0.62]).released(quantum: quantum).value == 0.6)
        #expect(try score([0.625]).released(quantum: quantum).value == 0.65)
        #expect(try score([0.99]).released(quantum: quantum).value == 1)
        #expect(try score([0.02]).released(quantum: quantum).value == 0)
        #expect(try score([1]).released(quantum: Proportion(0.3)).value == 0.9)
        #expect(try score([1]).released(quantum: Proportion(0.4)).value == 1)
    }

    @Test("A13: scores in one release cell cannot be told apart", arguments: 0..<20)
    func releaseHides(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let quantum = try Proportion(0.05)
        let one = try score((0..<27).map { _ in try generator.reward().value })
        let released = one.released(quantum: quantum)
        #expect(released.millionths % quantum.millionths == 0)
        #expect(abs(released.value - one.mean) <= 0.025 + 1e-9)
    }

    @Test("a recorded mean and count give the same score back", arguments: 0..<40)
    func replay(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let one = try score(
            (0..<(1 + generator.below(90))).map { _ in try generator.reward().value }
        )
        #expect(try Score(replayingMean: one.mean, count: one.count) == one)
    }

    @Test("a recorded mean that no exam of that size has is refused")
    func replayRefuses() {
        for (mean, count) in [(0.5, 0), (1.5, 2), (-0.1, 2), (.nan, 2), (0.123_456_78, 1)] {
            #expect(throws: ExamError.self) { try Score(replayingMean: mean, count: count) }
        }
    }

    @Test("a pass rate is compared exactly")
    func passRate() throws {
        let planned = try tasks(5)
        var outcomes: [TaskID: TaskOutcome] = [:]
        for task in planned.dropLast() { outcomes[task] = .graded(.one) }
        let rate = try ExamResults(planned: planned, outcomes: outcomes).passRate()
        #expect(try rate.reaches(Proportion(0.8)))
        #expect(try !rate.reaches(Proportion(0.800001)))
        #expect(rate.value == 0.8)
    }
}

@Suite("Names and numbers from outside")
struct IdentifierTests {
    @Test(
        "a reward that is no finite number from 0 to 1 is refused",
        arguments: [.nan, .infinity, -.infinity, -0.000_001, 1.000_001, .signalingNaN, -1, 2]
            as [Double]
    )
    func badReward(value: Double) {
        #expect(throws: ExamError.self) { try Reward(value) }
    }

    @Test(
        "a task name that could be a path, an option or a control sequence is refused",
        arguments: [
            "", ".", "..", ".hidden", "-x", "a/b", "a b", "a\n", "é", "\u{1B}[0m", "a\u{0}",
            String(repeating: "a", count: 129), "\u{212A}",
        ]
    )
    func badTaskID(text: String) {
        #expect(throws: ExamError.self) { try TaskID(text) }
    }

    @Test("good task names are kept as they are", arguments: ["a", "0", "A.b_c-9", "_x"])
    func goodTaskID(text: String) throws {
        #expect(try TaskID(text).text == text)
    }

    @Test("a digest is 64 lower-case hexadecimal digits or 32 bytes")
    func digests() throws {
        let hex = String(repeating: "0f", count: 32)
        #expect(try CandidateDigest(hex: hex).hex == hex)
        #expect(try CandidateDigest(bytes: Array(repeating: 15, count: 32)).hex == hex)
        #expect(try CandidateDigest(hex: hex).short == "0f0f0f0f0f0f")
        for bad in ["", String(hex.dropLast()), hex.uppercased(), hex + "0"] {
            #expect(throws: ExamError.self) { try CandidateDigest(hex: bad) }
        }
        #expect(throws: ExamError.self) { try CandidateDigest(bytes: [1]) }
    }

    @Test("an outcome survives its record")
    func outcomeRecords() throws {
        let outcomes: [TaskOutcome] =
            [.graded(.half), .missing] + CandidateFault.allCases.map { .failed($0) }
            + InfrastructureFault.allCases.map { .voided($0) }
        #expect(Set(outcomes.map(\.code)).count == outcomes.count)
        for outcome in outcomes {
            let reward: Double? = if case .graded(let grade) = outcome { grade.value } else { nil }
            #expect(try TaskOutcome(code: outcome.code, reward: reward) == outcome)
        }
        #expect(throws: ExamError.self) { try TaskOutcome(code: "exited", reward: 1) }
        #expect(throws: ExamError.self) { try TaskOutcome(code: "graded", reward: nil) }
        #expect(throws: ExamError.self) { try TaskOutcome(code: "perfect", reward: nil) }
    }
}
