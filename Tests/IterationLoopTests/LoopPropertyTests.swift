import ExamResults
import Gate
import IterationLoop
import StrictJSON
import TestSupport
import Testing

@Suite("The loop under random events")
struct LoopPropertyTests {
    private func randomResults(
        _ bench: Bench,
        _ generator: inout SeededGenerator
    ) -> ExamResults {
        let tasks = bench.exam?.tasks ?? Bench.sealed
        if Int.random(in: 0..<12, using: &generator) == 0 { return Bench.voided(tasks) }
        let passing = tasks.filter { _ in Bool.random(using: &generator) }
        return Bench.results(tasks, passing: Set(passing))
    }

    /// Sends one event; those that cannot happen must leave the machine as it is.
    private func step(_ bench: inout Bench, _ generator: inout SeededGenerator) throws {
        let before = bench
        do {
            switch Int.random(in: 0..<26, using: &generator) {
            case 0...4 where bench.exam != nil:
                try bench.endExam(randomResults(bench, &generator))
            case 0...4 where bench.pendingSnapshot != nil:
                try bench.snapshot(Int.random(in: 0..<400, using: &generator))
            case 5, 6: try bench.request(#"{"verb":"submit","manifest":{"hypothesis":"h"}}"#)
            case 7: try bench.request(#"{"verb":"train"}"#)
            case 8:
                let ticket = "T\(Int.random(in: 1...8, using: &generator))"
                try bench.request(#"{"verb":"result","ticket":"\#(ticket)"}"#, from: 2)
            case 9: try bench.request(#"{"verb":"learn","text":"x"}"#)
            case 10: try bench.request(#"{"verb":"status"}"#)
            case 11: try bench.request(#"{"verb":"test"}"#)
            case 12: try bench.send(.agentWaits)
            case 13: try bench.send(.disconnected(ConnectionID(2)))
            case 14: try bench.send(.pause)
            case 15, 16: try bench.send(.resume)
            case 17:
                guard Int.random(in: 0..<40, using: &generator) == 0 else { return }
                try bench.send(.stop(reason: "random"))
            case 18:
                guard Int.random(in: 0..<40, using: &generator) == 0 else { return }
                try bench.send(.agentExited(AgentEnd(code: 1)))
            case 19:
                let wasExamining = bench.exam
                bench.exam = nil
                do { try bench.send(.examCancelled) } catch {
                    bench.exam = wasExamining
                    throw error
                }
            case 20: try bench.send(.snapshotRefused(code: "empty", reason: "r", remedy: "m"))
            case 21: try bench.request(#"{"verb":"revert"}"#)
            default: try bench.tick(Int64.random(in: 0...6_000, using: &generator))
            }
        } catch is LoopError {
            #expect(bench.machine == before.machine)
            bench = before
        }
    }

    /// Every second seed is judged under repetitions on fresh seeds.
    private static func prepared(_ seed: Int) throws -> [RecordedRow] {
        var promotion = PromotionRules.once
        if seed % 2 == 1 {
            promotion.confirmation = Repetition(1 + seed % 3, of: 3)
            promotion.protection = Repetition(1 + seed % 2, of: 2)
        }
        return try Bench.prepared(threshold: 0.5, promotion: promotion)
    }

    private func check(_ bench: Bench) throws {
        #expect(try CampaignState(replaying: bench.rows) == bench.machine.state)
        #expect(bench.machine.isExamining == (bench.exam != nil))
        #expect(bench.isFrozen == (bench.machine.isAgentFrozen))
        checkIntents(bench.rows, isOver: bench.ended != nil)
    }

    /// Each intent has one decision or one void, and each acceptance a sealed exam of its own.
    private func checkIntents(_ rows: [RecordedRow], isOver: Bool) {
        var open: String?
        var sealedMean: Double?
        for row in rows {
            switch row.kind {
            case "intent":
                #expect(open == nil, "two intents are open")
                open = row.body["ticket"]?.stringValue
                sealedMean = nil
            case "exam-ended" where row.body["purpose"] == "sealed":
                sealedMean = row.body["mean"]?.numberValue
            case "decision":
                #expect(open == row.body["ticket"]?.stringValue)
                open = nil
                if row.body["verdict"] == "accepted" {
                    #expect(sealedMean != nil)
                    #expect(row.body["sealed_mean"]?.numberValue == sealedMean)
                }
            case "void" where row.body["ticket"] != nil: open = nil
            default: break
            }
        }
        if isOver { #expect(open == nil, "an intent ended in nothing") }
    }

    @Test(
        "one exam at a time, no acceptance without its sealed exam, every intent decided or void",
        arguments: 0..<60
    )
    func randomRuns(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed) &* 0x2545_F491_4F6C_DD1D)
        var rules = LoopRules()
        rules.noImprovement = 30
        rules.refusals = 200
        var bench = try Bench(rules: rules, rows: try Self.prepared(seed))
        try bench.send(.start)
        for _ in 0..<400 where bench.ended == nil {
            try step(&bench, &generator)
        }
        try check(bench)
    }

    @Test(
        "a kill after any row loses nothing and the next run ends every intent",
        arguments: 0..<20
    )
    func randomCrashes(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed) &+ 77)
        var bench = try Bench(rows: try Self.prepared(seed))
        for _ in 0..<12 {
            try bench.send(.start)
            for _ in 0..<40 where bench.ended == nil {
                try step(&bench, &generator)
            }
            try check(bench)
            // Not more than the rows of the run that is killed are lost.
            let rows = bench.rows
            bench = try Bench(rows: rows)
        }
        let intents = bench.rows.filter { $0.kind == "intent" }.count
        #expect(intents == bench.machine.state.iteration)
    }

    @Test("a ledger that was cut after any row is where a run can go on", arguments: 0..<10)
    func everyCut(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed) &+ 4_711)
        var bench = try Bench(rows: try Self.prepared(seed))
        try bench.send(.start)
        for _ in 0..<120 where bench.ended == nil {
            try step(&bench, &generator)
        }
        for count in 2...bench.rows.count {
            var again = try Bench(rows: Array(bench.rows.prefix(count)))
            try again.send(.start)
            for _ in 0..<20 where !again.isAgentRunning && again.ended == nil {
                if again.exam != nil {
                    try again.endExam(randomResults(again, &generator))
                } else {
                    try again.tick(2_000)
                }
            }
            #expect(again.isAgentRunning || again.ended != nil)
            #expect(again.machine.state.open == nil)
            try check(again)
        }
    }
}
