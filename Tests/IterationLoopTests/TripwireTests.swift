import ExamResults
import Gate
import IterationLoop
import StrictJSON
import Testing
import Workspace

@Suite("Tripwires in the loop")
struct TripwireTests {
    private let train = Bench.train
    private let sealed = Bench.sealed

    private func started(sentinels: Int = 0) throws -> Bench {
        var rules = LoopRules()
        rules.sentinels = Array(train.suffix(sentinels))
        rules.impossible = Set(train.suffix(min(sentinels, 1)))
        var bench = try Bench(rules: rules)
        try bench.send(.start)
        return bench
    }

    private func wire(_ seed: Int?, iteration: Int = 1) -> LoopEvent {
        .tripped(
            TripwireRecord(
                Tripwire(.canary, in: "candidate", evidence: "it holds a string"),
                iteration: iteration,
                digest: seed.map(Bench.digest)
            )
        )
    }

    private func expectVoid(_ bench: inout Bench) throws {
        try bench.tick(4_000)
        let reply = bench.lastReply(2)
        #expect(reply["verdict"] == "void")
        #expect(reply["reasons"] == ["31: the candidate counts for nothing"])
        #expect(!reply.prettyText().contains("canary") && !reply.prettyText().contains("tripwire"))
        #expect(bench.machine.state.best?.iteration == 0)
        #expect(try CampaignState(replaying: bench.rows) == bench.machine.state)
    }

    @Test("a candidate that touched a wire is void without any exam, and its bytes are used up")
    func snapshot() throws {
        var bench = try started()
        try bench.request(#"{"verb":"submit","manifest":{"hypothesis":"ask first"}}"#)
        try bench.send(wire(1))
        try bench.snapshot(1)
        try bench.request(#"{"verb":"result","ticket":"T1"}"#, from: 2)
        #expect(bench.exam == nil)
        try expectVoid(&bench)
        #expect(
            bench.kinds() == [
                "run-started", "tripwire", "snapshot", "intent", "decision", "release",
            ]
        )
        #expect(bench.machine.state.usage.iterations == 1)
        try bench.request(#"{"verb":"submit","manifest":{"hypothesis":"again"}}"#)
        try bench.snapshot(1)
        #expect(bench.lastReply(1)["error"]?["code"] == "judged-before")
    }

    @Test("without the wire the same candidate is accepted")
    func instrument() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.endExam(passing: Set(sealed))
        try bench.endExam(passing: [])
        try bench.tick(4_000)
        #expect(bench.lastReply(2)["verdict"] == "accepted")
    }

    @Test("a wire that its exam touches voids a candidate with the best score")
    func exam() throws {
        var bench = try started()
        try bench.submit(1)
        #expect(bench.exam?.purpose == .sealed)
        try bench.send(wire(1))
        try bench.endExam(passing: Set(sealed))
        #expect(bench.exam == nil)
        try expectVoid(&bench)
    }

    @Test("a note that touches a wire voids the next candidate, or the one that is being judged")
    func note() throws {
        var bench = try started()
        try bench.send(wire(nil))
        #expect(bench.machine.state.isTripped)
        try bench.submit(1)
        try expectVoid(&bench)
        #expect(!bench.machine.state.isTripped)
        try bench.submit(2)
        #expect(bench.exam?.purpose == .sealed)
        try bench.send(wire(nil, iteration: 2))
        try bench.endExam(passing: Set(sealed))
        try expectVoid(&bench)
        try bench.submit(3)
        #expect(bench.exam?.purpose == .sealed)
    }

    @Test("a train exam's wire waits for the candidate's submission, also over a crash")
    func crash() throws {
        var bench = try started()
        try bench.request(#"{"verb":"train"}"#)
        try bench.snapshot(1)
        try bench.send(wire(1))
        try bench.endExam(passing: Set(train))
        try bench.request(#"{"verb":"submit","manifest":{"hypothesis":"ask first"}}"#)
        try bench.snapshot(1)
        // Killed here: the intent is on the disk, the decision is not.
        var again = try Bench(rows: bench.rows)
        try again.send(.start)
        #expect(again.exam == nil)
        try again.tick(4_000)
        let last = again.rows.last { $0.kind == "decision" }
        #expect(last?.body["verdict"] == "void")
    }

    @Test("sentinels are examined before the suite, and impossible ones are never rechecked")
    func sentinels() throws {
        var bench = try started(sentinels: 2)
        try bench.submit(1)
        #expect(bench.exam?.purpose == .sentinel && bench.exam?.split == .train)
        #expect(bench.exam?.tasks == Array(train.suffix(2)))
        try bench.endExam(passing: [])
        #expect(bench.exam?.purpose == .sealed)
        try bench.endExam(passing: Set(sealed))
        #expect(bench.exam?.purpose == .recheck)
        #expect(bench.exam?.tasks == Array(train.dropFirst(2).dropLast()))
        try bench.endExam(passing: [train[4]])
        try bench.tick(4_000)
        #expect(bench.lastReply(2)["verdict"] == "accepted")
        #expect(bench.machine.state.suite == [train[4]])
        #expect(bench.machine.state.latestTrain[train[5]]?.code == "graded", "the baseline's")
        #expect(try CampaignState(replaying: bench.rows) == bench.machine.state)
    }

    @Test("an exam of sentinels that stays void leaves nothing decided")
    func voidSentinels() throws {
        var bench = try started(sentinels: 2)
        try bench.submit(1)
        for _ in 0..<2 {
            #expect(bench.exam?.purpose == .sentinel)
            try bench.endExam(Bench.voided(Array(train.suffix(2))))
        }
        #expect(bench.exam == nil)
        try bench.tick(4_000)
        #expect(bench.lastReply(2)["verdict"] == "void")
        #expect(bench.lastReply(2)["reasons"]?.arrayValue?.count == 1)
    }

    @Test("a record that accepts a candidate in spite of a tripwire is refused")
    func forged() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.endExam(passing: Set(sealed))
        let place = try #require(bench.rows.firstIndex { $0.kind == "decision" })
        let row = Bench.row(
            0,
            bench.now,
            .tripwire(
                TripwireRecord(
                    Tripwire(.canary, in: "candidate", evidence: "it holds a string"),
                    iteration: 1,
                    digest: Bench.digest(1)
                )
            )
        )
        #expect(throws: Never.self) { try CampaignState(replaying: bench.rows) }
        bench.rows.insert(row, at: place)
        #expect(throws: LoopError.self) { try CampaignState(replaying: bench.rows) }
    }

    @Test("a tripwire's row and a sealed exam's gap survive the record")
    func rows() throws {
        for seed in [nil, 7] {
            guard case .tripped(let record) = wire(seed) else { return }
            let event = LedgerEvent.tripwire(record)
            #expect(try LedgerEvent(kind: event.kind, body: event.body) == event)
            #expect(event.body["reason"] == "canary in candidate: it holds a string")
        }
        let start = ExamStartedRecord(
            iteration: 1,
            purpose: .sealed,
            split: .test,
            count: 4,
            digest: Bench.digest(1),
            assurance: "full"
        )
        var ended = ExamEndedRecord(
            of: start,
            results: TrialResults(Bench.results(sealed, passing: [])),
            durationMilliseconds: 1,
            planDigests: [:]
        )
        ended.twinGap = TwinGap(gap: 0.5, pairs: 2)
        let event = LedgerEvent.examEnded(ended)
        #expect(try LedgerEvent(kind: event.kind, body: event.body) == event)
        #expect(event.body["outcomes"] == nil)
    }
}
