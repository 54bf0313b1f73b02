import ExamResults
import IterationLoop
import StrictJSON
import Testing
import Workspace

@Suite("The replayed campaign")
struct CampaignStateTests {
    @Test("the rows that a machine emitted replay to the machine's own state")
    func replay() throws {
        var bench = try Bench()
        try bench.send(.start)
        try bench.acceptFirst()
        try bench.submit(2)
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(try CampaignState(replaying: bench.rows) == bench.machine.state)
    }

    @Test("every row's body survives the ledger's own bytes")
    func bytes() throws {
        var bench = try Bench()
        try bench.send(.start)
        try bench.acceptFirst()
        for row in bench.rows {
            let parsed = try JSONValue(parsing: row.body.canonicalBytes, limits: .ledgerBody)
            #expect(try LedgerEvent(kind: row.kind, body: parsed).body == row.body)
        }
    }

    @Test("a genesis row that names no surface is of the one file, in a private directory")
    func noSurface() throws {
        var rows = try Bench.prepared()
        let first = rows[0]
        var body = try #require(first.body.objectValue)
        func genesis() -> RecordedRow {
            RecordedRow(
                sequence: first.sequence,
                time: first.time,
                kind: first.kind,
                body: .object(body)
            )
        }
        body["surface"] = "in-place agent/agent.py agent/a.md"
        rows[0] = genesis()
        let named = try CampaignState(replaying: rows).genesis
        #expect(named?.surface == "in-place agent/agent.py agent/a.md")
        body["surface"] = nil
        rows[0] = genesis()
        #expect(try CampaignState(replaying: rows).genesis?.surface == "replace agent/agent.py")
    }

    @Test("a row out of order is refused with its number")
    func outOfOrder() throws {
        var bench = try Bench()
        try bench.send(.start)
        try bench.acceptFirst()
        for index in bench.rows.indices where bench.rows[index].kind != "snapshot" {
            var rows = bench.rows
            let dropped = rows.remove(at: index)
            // The last row and an exam's end may be missing: that is how a crash looks.
            guard index < rows.count, dropped.kind != "run-started" else { continue }
            #expect(throws: LoopError.self, "without \(dropped.kind) at \(index)") {
                _ = try CampaignState(replaying: rows)
            }
        }
    }

    @Test("each row of an exam carries the assurance level, and another level is refused")
    func assurance() throws {
        var bench = try Bench()
        try bench.send(.start)
        try bench.acceptFirst()
        let exams = bench.rows.indices.filter { bench.rows[$0].kind.hasPrefix("exam-") }
        #expect(!exams.isEmpty)
        for index in exams {
            let row = bench.rows[index]
            #expect(row.body["assurance"] == .string(bench.machine.state.genesis?.assurance ?? ""))
            var members = try #require(row.body.objectValue)
            members["assurance"] = "single-uid"
            var rows = bench.rows
            rows[index] = RecordedRow(
                sequence: row.sequence,
                time: row.time,
                kind: row.kind,
                body: .object(members)
            )
            #expect(throws: LoopError.self) { _ = try CampaignState(replaying: rows) }
        }
    }

    @Test("an acceptance without a sealed exam, or of a lower score, is refused")
    func forgedAcceptance() throws {
        var bench = try Bench()
        try bench.send(.start)
        try bench.submit(1)
        let forged: JSONValue = [
            "iteration": 1, "ticket": "T1", "digest": .string(Bench.digest(1).hex),
            "verdict": "accepted", "reasons": [], "sealed_mean": 1, "sealed_count": 4,
            "suite_passed": 0, "suite_total": 0,
        ]
        let row = RecordedRow(
            sequence: 99,
            time: Moment(milliseconds: 9_000),
            kind: "decision",
            body: forged
        )
        #expect(throws: LoopError.self) { try CampaignState(replaying: bench.rows + [row]) }
    }

    @Test("an exam of another split than its purpose's is refused")
    func wrongSplit() throws {
        var bench = try Bench()
        try bench.send(.start)
        let body: JSONValue = [
            "iteration": 1, "purpose": "train", "split": "test", "count": 4,
            "digest": .string(Bench.digest(1).hex),
        ]
        let row = RecordedRow(
            sequence: 4,
            time: Moment(milliseconds: 9_000),
            kind: "exam-started",
            body: body
        )
        #expect(throws: LoopError.self) { try CampaignState(replaying: bench.rows + [row]) }
    }

    @Test("unknown kinds and unknown members are refused")
    func unknown() throws {
        #expect(throws: LoopError.self) { try LedgerEvent(kind: "score", body: [:]) }
        #expect(throws: LoopError.self) { try LedgerEvent(kind: "pause", body: ["why": 1]) }
        #expect(throws: LoopError.self) {
            try LedgerEvent(kind: "learning", body: ["iteration": 1, "text": "a", "score": 1])
        }
    }

    @Test("no row of a sealed exam lists an outcome of a single task")
    func sealedRows() throws {
        var bench = try Bench()
        try bench.send(.start)
        try bench.acceptFirst()
        let text = bench.rows.map { $0.body.prettyText() }.joined()
        #expect(!text.contains("sealed-1"))
        let ended = try #require(bench.rows.first { $0.kind == "exam-ended" })
        #expect(ended.body["split"] == "test")
        var members = try #require(ended.body.objectValue)
        members["outcomes"] = ["sealed-1": ["outcome": "missing"]]
        #expect(throws: LoopError.self) {
            try LedgerEvent(kind: "exam-ended", body: .object(members))
        }
    }

    @Test("the views show exact scores to the operator and nothing unreleased to the agent")
    func views() throws {
        var bench = try Bench()
        try bench.send(.start)
        try bench.submit(1)
        try bench.endExam(passing: Set(Bench.sealed.prefix(3)))
        let content = bench.machine.state.content
        #expect(content.rows.count == 2)
        #expect(content.rows.last?.releasedAt == nil)
        #expect(content.rows.last?.exactScore.mean == 0.75)
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(bench.machine.state.content.rows.last?.releasedAt != nil)
    }
}
