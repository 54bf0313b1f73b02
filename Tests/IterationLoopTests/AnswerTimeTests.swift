import IterationLoop
import TestSupport
import Testing

/// What the moment of a verdict tells of the sealed exam that was run for it: a candidate can take its
/// time over an answer, and the coding agent has a clock.
@Suite("The moment of an answer")
struct AnswerTimeTests {
    private static let bits = 2_048
    /// How long a sealed exam takes for a bit, in milliseconds.
    private static let durations = (zero: Int64(600), one: Int64(1_900))

    /// Sends a random message by the durations of sealed exams and reads it from the time between a
    /// submission and its answer; how many bits were read wrong.
    private static func errors(grid: Int64) throws -> Int {
        var rules = LoopRules()
        rules.gridMilliseconds = grid
        rules.iterations = bits + 1
        rules.submissions = bits + 1
        rules.noImprovement = bits + 1
        rules.runMilliseconds = .max / 4
        var bench = try Bench(rules: rules)
        try bench.send(.start)
        var generator = SeededGenerator(seed: 0x71_3e)
        var (sent, waits): ([Bool], [Int64]) = ([], [])
        for round in 0..<bits {
            // A coding agent submits at the beginning of a slot, where it has the best view.
            let slot = bench.now / grid * grid + grid
            try bench.tick(slot - bench.now)
            let begin = bench.now
            sent.append(Bool.random(using: &generator))
            try bench.submit(1_000 + round)
            let answered = bench.replies[2]?.count ?? 0
            bench.now += (sent[round] ? durations.one : durations.zero) - 500
            try bench.endExam(passing: [])
            while bench.replies[2]?.count ?? 0 == answered { try bench.tick(50) }
            waits.append(bench.now - begin)
        }
        let middle = (durations.zero + durations.one) / 2
        return zip(sent, waits).count { $0 != ($1 > middle) }
    }

    @Test("without a grid the duration of an exam is a message, bit for bit")
    func control() throws { #expect(try Self.errors(grid: 1) == 0) }

    @Test("on a grid whose slot is longer than an exam the reader is wrong in half of the bits")
    func closed() throws {
        let wrong = Double(try Self.errors(grid: 5_000)) / Double(Self.bits)
        #expect((0.45...0.55).contains(wrong), "\(wrong)")
    }

    @Test("a slot that is shorter than an exam has an index, which is a message: hence its length")
    func shortSlot() throws { #expect(try Self.errors(grid: 1_000) == 0) }
}
