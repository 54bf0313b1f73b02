import ExamResults
import IterationLoop
import StrictJSON
import Testing

@Suite("How many rows a coding agent can cause")
struct LedgerGrowthTests {
    /// Small budgets, so that each of them is spent.
    private static var rules: LoopRules {
        var rules = LoopRules()
        rules.submissions = 6
        rules.iterations = 100
        rules.noImprovement = 100
        rules.trainRuns = 5
        rules.reverts = 7
        rules.refusals = 40
        return rules
    }

    // Each row is paid for by a budget; the operator's pauses and stops are not counted.
    private static func most(_ rules: LoopRules) -> Int {
        let beginningAndEnd = 3  // run-started, void, run-ended
        let forTraining = 3  // snapshot, exam-started, exam-ended
        // snapshot, audit, intent; suite, sealed and recheck with two rows each; void, decision,
        // promotion, release
        let forSubmission = 13
        return beginningAndEnd + forTraining * rules.trainRuns + forSubmission * rules.submissions
            + rules.reverts + rules.refusals + AgentRequest.mostLearnings
    }

    private func greedy(_ bench: inout Bench, _ round: Int) throws {
        try bench.request(#"{"verb":"learn","text":"n"}"#)
        try bench.request(#"{"verb":"revert"}"#)
        for verb in ["status", "diff"] { try bench.request(#"{"verb":"\#(verb)"}"#) }
        try bench.request(#"{"verb":"train"}"#)
        if bench.pendingSnapshot != nil {
            try bench.snapshot(1_000 + round)
            try bench.endExam(passing: [])
        }
        guard round % 100 == 0 else { return }
        try bench.request(#"{"verb":"record"}"#)
        try bench.request(#"{"verb":"submit","manifest":{"hypothesis":"h"}}"#)
        guard bench.pendingSnapshot != nil else { return }
        try bench.snapshot(round + 1)
        try bench.request(#"{"verb":"result"}"#, from: 2)
        while bench.exam != nil {
            let tasks = bench.exam?.tasks ?? Bench.sealed
            try bench.endExam(
                round % 200 == 0 ? Bench.voided(tasks) : Bench.results(tasks, passing: Set(tasks))
            )
        }
        try bench.tick(2_000)
    }

    @Test("an agent that asks for everything it can ends, with no more rows than budgets allow")
    func bounded() throws {
        var bench = try Bench(rules: Self.rules)
        let before = bench.rows.count
        try bench.send(.start)
        var rounds = 0
        while bench.ended == nil, rounds < 5_000 {
            try greedy(&bench, rounds)
            rounds += 1
        }
        #expect(bench.ended != nil)
        #expect(bench.rows.count - before <= Self.most(Self.rules))
        // With the budgets that ship: what a night can add at most.
        #expect(Self.most(LoopRules()) == 5_003)
    }

    @Test("an agent that does nothing but revert, note and look ends in no more rows than budgets")
    func quiet() throws {
        var rules = Self.rules
        rules.refusals = 10_000
        var bench = try Bench(rules: rules)
        let before = bench.rows.count
        try bench.send(.start)
        for _ in 0..<2_000 where bench.ended == nil {
            try bench.request(#"{"verb":"revert"}"#)
            try bench.request(#"{"verb":"status"}"#)
            try bench.request(#"{"verb":"diff"}"#)
        }
        let refused = bench.rows.filter { $0.kind == "refusal" }.count
        #expect(refused == 6_000 - rules.reverts - rules.statuses - rules.differences)
        #expect(bench.rows.count - before == 1 + rules.reverts + refused)
    }

    @Test("what is asked while the run ends costs no row")
    func whileEnding() throws {
        var bench = try Bench()
        try bench.send(.start)
        try bench.request(#"{"verb":"train"}"#)
        try bench.snapshot(1)
        try bench.send(.stop(reason: "enough"))
        let rows = bench.rows.count
        for _ in 0..<100 { try bench.request(#"{"verb":"record"}"#, from: 3) }
        #expect(bench.rows.count == rows)
        #expect(bench.lastReply(3)["ok"] == false)
    }
}
