import ExamResults
import IterationLoop
import StrictJSON
import Testing
import Workspace

@Suite("Beginning, pausing, ending and resuming a run")
struct LoopRunTests {
    private func started(_ change: (inout LoopRules) -> Void = { _ in }) throws -> Bench {
        var rules = LoopRules()
        change(&rules)
        var bench = try Bench(rules: rules)
        try bench.send(.start)
        return bench
    }

    @Test("the budget of iterations ends the run after the result was told")
    func iterations() throws {
        var bench = try started { $0.iterations = 1 }
        try bench.acceptFirst()
        #expect(bench.lastReply(2)["verdict"] == "accepted")
        #expect(bench.ended == .iterationsSpent)
        #expect(bench.rows.last?.kind == "run-ended")
    }

    @Test("decisions without a higher score end the run after N of them")
    func noImprovement() throws {
        var bench = try started { $0.noImprovement = 2 }
        try bench.acceptFirst()
        for seed in 2...3 {
            try bench.submit(seed)
            try bench.endExam(passing: [])
            try bench.tick(2_000)
        }
        #expect(bench.ended == .noImprovement)
    }

    @Test("an equal score is accepted but is no improvement")
    func equalScore() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.endExam(passing: Set(Bench.sealed.prefix(2)))
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(bench.lastReply(2)["verdict"] == "accepted")
        #expect(bench.machine.state.usage.sinceImprovement == 1)
    }

    @Test("the budget of hours counts running time only and never cuts an exam")
    func hours() throws {
        var bench = try started { $0.runMilliseconds = 60_000 }
        try bench.tick(30_000)
        try bench.send(.pause)
        try bench.tick(500_000)
        try bench.send(.resume)
        #expect(bench.ended == nil)
        try bench.submit(1)
        try bench.tick(40_000)
        #expect(bench.ended == nil, "an exam is running")
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(bench.ended == .timeSpent)
    }

    @Test("the time between a run that was cut off and the next one is no running time")
    func timeOfNobody() throws {
        var bench = try started { $0.runMilliseconds = 60_000 }
        try bench.request(#"{"verb":"learn","text":"a"}"#)
        try bench.tick(20_000)
        try bench.request(#"{"verb":"learn","text":"b"}"#)
        let used = bench.machine.state.usage.elapsedMilliseconds
        #expect(used >= 20_000 && used < 30_000)
        // Killed; a day later the operator writes a row, and starts again.
        let day: Int64 = 86_400_000
        var more = BudgetExtension()
        more.iterations = 1
        more.by = "uid 0"
        var rows = bench.rows
        rows.append(Bench.row(rows.count + 1, bench.now + day, more.event))
        var again = try Bench(rows: rows)
        #expect(again.machine.state.usage.elapsedMilliseconds == used)
        try again.send(.start)
        #expect(again.machine.state.usage.elapsedMilliseconds == used)
        #expect(again.ended == nil && again.isAgentRunning)
        // A row of the operator's while a run is on takes no time from the budget's clock.
        try again.tick(10_000)
        let moment = Moment(milliseconds: again.now)
        #expect(again.machine.state.elapsedMilliseconds(at: moment) == used + 10_000)
    }

    @Test("a paused run freezes the agent and begins no exam; a resumed one goes on")
    func pause() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.send(.pause)
        try bench.endExam(passing: Set(Bench.sealed))
        #expect(bench.exam == nil)
        #expect(bench.isFrozen)
        try bench.tick(60_000)
        #expect(bench.exam == nil)
        try bench.send(.resume)
        #expect(bench.exam?.purpose == .recheck)
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(!bench.isFrozen)
        #expect(bench.lastReply(2)["verdict"] == "accepted")
    }

    @Test("a stop cancels the exam, voids the intent and answers who waits")
    func stop() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.send(.stop(reason: "enough"))
        #expect(bench.ended == nil)
        bench.exam = nil
        try bench.send(.examCancelled)
        #expect(bench.ended == .stopped(reason: "enough"))
        #expect(bench.lastReply(2)["error"]?["code"] == "run-ended")
        #expect(bench.kinds().suffix(3) == ["stop", "void", "run-ended"])
        #expect(bench.machine.state.open == nil)
    }

    @Test("an agent that ends while it is judged gets its judgement, then the run ends")
    func exitWhileJudged() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.send(.agentExited(AgentEnd(code: 0)))
        try bench.endExam(passing: Set(Bench.sealed))
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(bench.machine.state.best?.digest == Bench.digest(1))
        #expect(bench.ended == .agentExited(AgentEnd(code: 0)))
    }

    @Test("the end of an agent that went past a limit says which, and ends the run in order")
    func limit() throws {
        var bench = try started()
        let end = AgentEnd(code: 137, limit: "it was silent for longer than its idle limit")
        try bench.send(.agentExited(end))
        #expect(bench.ended == .agentExited(end))
        #expect(
            bench.ended?.text
                == "the coding agent ended with 137: it was silent for longer than its idle limit"
        )
    }

    @Test("an agent that is refused without end is ended")
    func refusalFlood() throws {
        var bench = try started { $0.refusals = 3 }
        for _ in 0..<3 { try bench.request("nonsense") }
        #expect(bench.ended == .tooManyRefusals)
        #expect(bench.replies[1]?.count == 3)
        try bench.request("nonsense")
        #expect(bench.lastReply(1)["error"]?["code"] == "run-ended")
    }

    @Test("after a kill in the middle of an exam the candidate is voided and judged again, once")
    func crashInExam() throws {
        var bench = try started()
        try bench.submit(1)
        var again = try Bench(rows: bench.rows)
        try again.send(.start)
        #expect(!again.isAgentRunning, "judging comes before a new agent")
        #expect(again.exam?.purpose == .sealed)
        #expect(again.exam?.commit == "commit-1")
        #expect(
            again.kinds(after: bench.rows.count).prefix(3) == ["run-resumed", "void", "intent"]
        )
        try again.endExam(passing: Set(Bench.sealed))
        try again.endExam(passing: [])
        try again.tick(2_000)
        #expect(again.isAgentRunning)
        #expect(again.machine.state.best?.digest == Bench.digest(1))
        #expect(again.machine.state.usage.submissions == 2)
    }

    private func charged(budget: Double? = nil) throws -> [RecordedRow] {
        let release = ReleaseRules(
            .bucket,
            step: try Proportion(0.05),
            budget: budget,
            counterBits: 0.1
        )
        return try Bench.prepared(release: release)
    }

    @Test(
        "a sealed exam that a kill cut off is charged when the next run finds it, and the next one too"
    )
    func crashIsCharged() throws {
        var bench = try Bench(rows: charged())
        try bench.send(.start)
        let before = bench.machine.state.releasedBits
        try bench.submit(1)
        #expect(bench.exam?.purpose == .sealed)
        for count in 1...3 {
            var again = try Bench(rows: bench.rows)
            try again.send(.start)
            let void = try #require(again.rows.last { $0.kind == "void" })
            #expect(void.body["bits"]?["channels"] == 0.1, "\(void)")
            for part in ["verdict", "score", "slot"] {
                #expect(void.body["bits"]?[part]?.numberValue == 0, "\(void)")
            }
            let bits = again.machine.state.releasedBits - before
            #expect(abs(bits - 0.1 * Double(count)) < 1e-9, "\(bits)")
            bench = again
        }
        let cut = bench.machine.state.releasedBits
        try bench.endExam(passing: Set(Bench.sealed))
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        let release = try #require(bench.rows.last { $0.kind == "release" })
        // Its own exam, and a bit for whether it was run again.
        #expect(release.body["bits"]?["channels"] == 1.1, "\(release)")
        #expect(bench.machine.state.releasedBits > cut)
        // The rows alone say the same.
        let replayed = try CampaignState(replaying: bench.rows)
        #expect(replayed.releasedBits == bench.machine.state.releasedBits)
    }

    @Test("a sealed exam whose numbers nobody counts is charged with all that counters hold")
    func uncountedCrash() throws {
        var bench = try Bench(rows: charged())
        try bench.send(.start)
        try bench.submit(1)
        var rules = LoopRules()
        rules.uncountedBits = 64
        var again = try Bench(rules: rules, rows: bench.rows)
        try again.send(.start)
        #expect(again.rows.last { $0.kind == "void" }?.body["bits"]?["channels"] == 64.1)
    }

    @Test(
        "a sealed exam that the operator's stop cancelled is charged as well, and a train exam is not"
    )
    func stopIsCharged() throws {
        var bench = try Bench(rows: charged())
        try bench.send(.start)
        try bench.submit(1)
        try bench.send(.stop(reason: "enough"))
        bench.exam = nil
        try bench.send(.examCancelled)
        #expect(bench.rows.last { $0.kind == "void" }?.body["bits"]?["channels"] == 0.1)
        var other = try Bench(rows: charged())
        try other.send(.start)
        try other.request(#"{"verb":"train"}"#)
        try other.snapshot(1)
        try other.send(.stop(reason: "enough"))
        other.exam = nil
        try other.send(.examCancelled)
        let void = try #require(other.rows.last { $0.kind == "void" })
        #expect(void.body["bits"] == nil)
    }

    @Test(
        "a candidate whose run was cut off is not judged again where its answer is no longer paid for"
    )
    func crashSpendsBudget() throws {
        var bench = try Bench(rows: charged())
        try bench.send(.start)
        let before = bench.machine.state.releasedBits
        try bench.submit(1)
        try bench.endExam(passing: Set(Bench.sealed))
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        let one = bench.machine.state.releasedBits - before + 0.1
        // Room for one answer, and not for a cut exam beside it.
        for (room, isJudged) in [(0.05, false), (0.15, true)] {
            var cut = try Bench(rows: charged(budget: before + one + room))
            try cut.send(.start)
            try cut.submit(1)
            #expect(cut.exam?.purpose == .sealed)
            var again = try Bench(rows: cut.rows)
            try again.send(.start)
            #expect((again.exam != nil) == isJudged, "\(again.kinds())")
            #expect((again.ended == .releaseSpent) == !isJudged)
        }
    }

    @Test("after a kill between decision and promotion the recheck is made good")
    func crashBeforePromotion() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.endExam(passing: Set(Bench.sealed))
        var again = try Bench(rows: bench.rows)
        try again.send(.start)
        #expect(again.accepted == ["commit-1"], "the repository is brought to the decision")
        #expect(again.exam?.purpose == .recheck)
        try again.endExam(passing: [Bench.train[5]])
        try again.tick(2_000)
        #expect(again.machine.state.suite == [Bench.train[5]])
        #expect(again.kinds(after: bench.rows.count).filter { $0 == "decision" } == [])
    }

    @Test("after a kill before the release the result is released first")
    func crashBeforeRelease() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.endExam(passing: [])
        #expect(bench.machine.phase == .releasing)
        var again = try Bench(rows: bench.rows)
        try again.send(.start)
        try again.tick(2_000)
        #expect(again.kinds(after: bench.rows.count) == ["run-resumed", "release"])
        #expect(again.isAgentRunning)
    }

    @Test("an operator judges one file without a coding agent")
    func operatorGate() throws {
        var bench = try started { $0.hasCodingAgent = false }
        try bench.submit(1)
        #expect(!bench.isAgentRunning)
        try bench.endExam(passing: Set(Bench.sealed))
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(bench.lastReply(2)["verdict"] == "accepted")
        #expect(bench.rows.contains { $0.kind == "snapshot" && $0.body["source"] == "operator" })
        try bench.send(.stop(reason: "the gate is done"))
        #expect(bench.ended == .stopped(reason: "the gate is done"))
    }

    @Test("a refusal of another layer is kept")
    func otherLayers() throws {
        var bench = try started()
        try bench.send(
            .refused(
                RefusalRecord(
                    .attempt,
                    layer: "relay-schema",
                    attempt: "forged verdict frame",
                    detail: "no such frame",
                    iteration: 1,
                    by: "candidate"
                )
            )
        )
        #expect(bench.rows.last?.body["layer"] == "relay-schema")
        #expect(bench.rows.last?.body["class"] == "attempt")
        #expect(bench.machine.state.usage.refusals == 1)
        #expect(bench.machine.state.usage.attempts == 1)
    }

    @Test("calls that a filter refused and counted never end a run, however many rows they are")
    func countedCalls() throws {
        var bench = try started()
        var record = RefusalRecord(
            .denied,
            layer: "filter",
            attempt: "mount",
            detail: "nothing allows it: compiled in",
            iteration: 1,
            by: "candidate"
        )
        record.count = 7
        let most = bench.machine.rules.refusals
        for _ in 0..<(most + 10) { try bench.send(.refused(record)) }
        #expect(bench.rows.last?.body["count"] == 7)
        #expect(bench.ended == nil)
        record.count = nil
        for _ in 0..<most { try bench.send(.refused(record)) }
        #expect(bench.ended == .tooManyRefusals)
    }
}
