import ExamResults
import IterationLoop
import SandboxPolicy
import StrictJSON
import Testing

@Suite("The bits that a release tells")
struct ReleasedBitsTests {
    private static func accepted(_ rules: LoopRules) throws -> Bench {
        var bench = try Bench(rules: rules)
        try bench.send(.start)
        try bench.acceptFirst()
        return bench
    }

    private static func bits(_ bench: Bench) throws -> JSONValue {
        try #require(bench.rows.last { $0.kind == "release" }?.body["bits"])
    }

    @Test("a release says what verdict, score and moment can have told")
    func accepted() throws {
        var rules = LoopRules()
        rules.concurrency = 2
        rules.rolloutMilliseconds = 10_000
        // One of 5 ends, of 21 scores and of 21 moments: two rounds of 10 s, twice where the exam breaks,
        // on a grid of 2 s.
        let bits = try Self.bits(Self.accepted(rules))
        #expect(bits == ["verdict": 2.33, "score": 4.4, "slot": 4.4, "channels": 1.0])
    }

    @Test("on a grid that is longer than an exam, the moment is one bit")
    func longGrid() throws {
        var rules = LoopRules()
        rules.gridMilliseconds = 2 * rules.rolloutMilliseconds
        var bench = try Bench(rules: rules)
        try bench.send(.start)
        try bench.submit(1)
        try bench.endExam(passing: Set(Bench.sealed))
        try bench.endExam(passing: [])
        try bench.tick(rules.gridMilliseconds)
        #expect(try Self.bits(bench)["slot"] == 1.0)
    }

    @Test("a candidate that was refused without a sealed exam tells nothing of it")
    func stepOne() throws {
        var bench = try Self.accepted(LoopRules())
        try bench.submit(2)
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(
            try Self.bits(bench) == ["verdict": 0.0, "score": 0.0, "slot": 0.0, "channels": 0.0]
        )
    }

    @Test("a candidate whose sealed exam broke and whose suite then fails told what an exam tells")
    func brokenFirst() throws {
        var bench = try Self.accepted(LoopRules())
        try bench.submit(2)
        try bench.endExam(passing: Set(bench.machine.state.suite))
        try bench.endExam(Bench.voided(Bench.sealed))
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(bench.lastReply(2)["step"] == 1)
        #expect(try Self.bits(bench)["verdict"] == 2.33)
    }

    @Test(
        "each sealed exam that began is charged with what the host's counters may tell; a suite alone is not"
    )
    func counters() throws {
        let release = ReleaseRules(.bucket, step: try Proportion(0.05), counterBits: 0.1)
        var bench = try Bench(rules: LoopRules(), rows: Bench.prepared(release: release))
        try bench.send(.start)
        try bench.acceptFirst()
        #expect(try Self.bits(bench)["channels"] == 1.1)
        try bench.submit(2)
        try bench.endExam(passing: Set(bench.machine.state.suite))
        try bench.endExam(Bench.voided(Bench.sealed))
        try bench.endExam(passing: Set(bench.machine.state.suite))
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(try Self.bits(bench)["channels"] == 1.2)
        try bench.submit(3)
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(try Self.bits(bench)["channels"] == 0.0)
        let replayed = try CampaignState(replaying: bench.rows)
        #expect(replayed.releasedBits == bench.machine.state.releasedBits)
    }

    @Test(
        "a release names what is open and charges what has a bound; one of a suite alone does not"
    )
    func openChannels() throws {
        let release = ReleaseRules(.bucket, step: try Proportion(0.05), counterBits: 0.1)
        var rules = LoopRules()
        var open = OpenChannels(unbounded: [.ports, .live])
        open.charge(.budget, 3.001)
        rules.channels = open
        var bench = try Bench(rules: rules, rows: Bench.prepared(release: release))
        try bench.send(.start)
        try bench.acceptFirst()
        let row = try #require(bench.rows.last { $0.kind == "release" }?.body)
        #expect(
            row["open_channels"] == [
                "object-counters": 0.1, "launches": 1.0, "model-budget": 3.01,
                "source-ports": "unbounded",
                "running-agents": "unbounded",
            ]
        )
        #expect(try Self.bits(bench)["channels"]?.numberValue == 4.11)
        try bench.submit(2)
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(bench.rows.last { $0.kind == "release" }?.body["open_channels"] == [:])
        let replayed = try CampaignState(replaying: bench.rows)
        #expect(replayed.usage.unboundedChannels == [.ports, .live])
        #expect(replayed.usage.unlookedReleases == 0)
        #expect(replayed == bench.machine.state)
    }

    @Test("an exam that did not start every planned sandbox is charged with their number")
    func launches() throws {
        var bench = try Bench(rules: LoopRules())
        try bench.send(.start)
        try bench.submit(1)
        bench.unstarted = 2
        try bench.endExam(Bench.voided(Bench.sealed))
        bench.unstarted = 0
        try bench.endExam(passing: Set(Bench.sealed))
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        let ended = bench.rows.filter { $0.kind == "exam-ended" && $0.body["split"] == "test" }
        #expect(ended.map { $0.body["unstarted"] } == [2, nil])
        // One of two numbers of exams, and one of 0 to 5 sandboxes.
        #expect(try Self.bits(bench)["channels"] == 3.59)
        #expect(try CampaignState(replaying: bench.rows) == bench.machine.state)
    }

    @Test(
        "a release whose channels are not the sum of those that it names is no history",
        arguments: [
            ["object-counters": 0.2, "launches": 1], ["object-counters": "much"],
            ["object-counters": -1],
            ["telepathy": "unbounded"], [:],
        ] as [JSONValue]
    )
    func forgedChannels(_ forged: JSONValue) throws {
        let release = ReleaseRules(.bucket, step: try Proportion(0.05), counterBits: 0.1)
        var rules = LoopRules()
        rules.channels = OpenChannels()
        var bench = try Bench(rules: rules, rows: Bench.prepared(release: release))
        try bench.send(.start)
        try bench.acceptFirst()
        _ = try CampaignState(replaying: bench.rows)
        let rows = try Self.changed(bench.rows) { $0["open_channels"] = forged }
        #expect(throws: LoopError.self) { try CampaignState(replaying: rows) }
    }

    private static func changed(
        _ rows: [RecordedRow],
        _ change: (inout [String: JSONValue]) -> Void
    ) throws -> [RecordedRow] {
        try rows.map { row in
            guard row.kind == "release" else { return row }
            var members = try #require(row.body.objectValue)
            change(&members)
            return RecordedRow(
                sequence: row.sequence,
                time: row.time,
                kind: row.kind,
                body: .object(members)
            )
        }
    }

    @Test("a row of an older version, which does not say it, is replayed")
    func older() throws {
        let bench = try Self.accepted(LoopRules())
        let rows = try Self.changed(bench.rows) { $0["bits"] = nil }
        let replayed = try CampaignState(replaying: rows)
        #expect(replayed.accepted == bench.machine.state.accepted)
        #expect(replayed.releasedBits < bench.machine.state.releasedBits)
        #expect(replayed.usage.unlookedReleases == 1)
    }
}
