import ExamResults
import Gate
import IterationLoop
import StrictJSON
import Testing
import Workspace

@Suite("The loop under promotion policies")
struct PromotionPolicyTests {
    private let train = Bench.train
    private let sealed = Bench.sealed

    private func prepared(
        threshold: Double = 0.8,
        _ change: (inout PromotionRules) -> Void
    ) throws -> [RecordedRow] {
        var promotion = PromotionRules.once
        change(&promotion)
        return try Bench.prepared(threshold: threshold, promotion: promotion)
    }

    private func started(_ change: (inout PromotionRules) -> Void) throws -> Bench {
        var bench = try Bench(rows: try prepared(change))
        try bench.send(.start)
        return bench
    }

    private func replays(_ bench: Bench) throws -> Bool {
        try CampaignState(replaying: bench.rows) == bench.machine.state
    }

    @Test("confirmed: newly passing tasks are run again until settled, and only then promoted")
    func confirmed() throws {
        var bench = try started { $0.confirmation = Repetition(2, of: 3) }
        try bench.submit(1)
        try bench.endExam(passing: Set(sealed))
        #expect(bench.exam?.purpose == .recheck)
        try bench.endExam(passing: [train[2], train[3], train[4]])
        #expect(bench.exam?.purpose == .confirm)
        #expect(bench.exam?.tasks == [train[2], train[3], train[4]])
        #expect(bench.exam?.split == .train)
        #expect(bench.isFrozen)
        try bench.endExam(passing: [train[2], train[3]])
        try bench.endExam(passing: [train[2]])
        #expect(bench.exam?.tasks == [train[3]], "the others are settled")
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(bench.lastReply(2)["promoted"] == ["train-3"])
        #expect(bench.lastReply(2)["quarantined"] == ["train-4", "train-5"])
        #expect(bench.machine.state.suite == [train[2]])
        #expect(bench.machine.state.quarantine == [train[3], train[4]])
        #expect(try replays(bench))
    }

    @Test(
        "C04: a run on one passing task hides no failure, and a quarantined one is examined again"
    )
    func starvation() throws {
        var bench = try started { $0.confirmation = Repetition(1, of: 1) }
        try bench.request(#"{"verb":"train","task_ids":["train-1"]}"#)
        try bench.snapshot(1)
        try bench.endExam(passing: [train[0]])
        try bench.submit(1)
        try bench.endExam(passing: Set(sealed.prefix(3)))
        #expect(bench.exam?.tasks == Array(train.dropFirst(2)), "all that failed, not what was run")
        try bench.endExam(passing: [train[2], train[3]])
        try bench.endExam(passing: [train[2]])
        try bench.tick(2_000)
        #expect(bench.machine.state.quarantine == [train[3]])

        try bench.submit(2)
        try bench.endExam(passing: [train[2]])
        try bench.endExam(passing: Set(sealed))
        #expect(bench.exam?.tasks == [train[3], train[4], train[5]])
        try bench.endExam(passing: [train[3]])
        try bench.endExam(passing: [train[3]])
        try bench.tick(2_000)
        #expect(bench.machine.state.suite == [train[2], train[3]])
        #expect(bench.machine.state.quarantine.isEmpty)
        #expect(try replays(bench))
    }

    @Test("C20: protected tasks cannot be traded under the threshold")
    func traded() throws {
        let rows = try prepared(threshold: 0.5) { $0.protection = Repetition(2, of: 3) }
        var bench = try Bench(rows: rows)
        try bench.send(.start)
        try bench.acceptFirst()
        try bench.submit(2)
        try bench.endExam(passing: [train[2]])
        #expect(bench.exam?.purpose == .protect, "one of two is enough for the aggregate")
        #expect(bench.exam?.tasks == [train[3]])
        try bench.endExam(passing: [])
        try bench.endExam(passing: [])
        #expect(bench.exam == nil, "no sealed query is spent")
        try bench.tick(2_000)
        #expect(bench.lastReply(2)["verdict"] == "rejected")
        #expect(bench.lastReply(2)["step"] == 1)
        let reasons = bench.lastReply(2)["reasons"]?.arrayValue?.compactMap(\.stringValue) ?? []
        #expect(reasons.first?.hasPrefix("16: ") == true)
        #expect(reasons.first?.contains("train-4") == true)
        #expect(bench.machine.state.best?.digest == Bench.digest(1))
        #expect(bench.machine.state.suite == [train[2], train[3]])

        try bench.submit(3)
        try bench.endExam(passing: [train[2]])
        try bench.endExam(passing: [train[3]])
        try bench.endExam(passing: [train[3]])
        #expect(bench.exam?.purpose == .sealed)
        try bench.endExam(passing: Set(sealed))
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(bench.lastReply(2)["verdict"] == "accepted")
        let decision = try #require(bench.rows.last { $0.kind == "decision" })
        #expect(decision.body["flaky"] == ["train-4"])
        #expect(bench.machine.state.suite.contains(train[3]), "C17: flaky is no way out")
        #expect(try replays(bench))
    }

    @Test("a cap leaves what has no place out of the suite")
    func cap() throws {
        var rules = LoopRules()
        rules.clusters = Dictionary(uniqueKeysWithValues: train.map { ($0, "refunds") })
        var bench = try Bench(rules: rules, rows: try prepared { $0.cap = 1 })
        try bench.send(.start)
        try bench.acceptFirst()
        #expect(bench.machine.state.suite == [train[2]])
        let row = try #require(bench.rows.last { $0.kind == "promotion" })
        #expect(row.body["capped"] == ["train-4"])
        #expect(try replays(bench))
    }

    @Test("a kill after any row of a confirmation loses no run and promotes the same")
    func resumed() throws {
        var bench = try started { $0.confirmation = Repetition(2, of: 3) }
        try bench.submit(1)
        try bench.endExam(passing: Set(sealed))
        try bench.endExam(passing: [train[2], train[3]])
        try bench.endExam(passing: [train[2]])
        try bench.endExam(passing: [train[2], train[3]])
        let ends = bench.rows.indices.filter { bench.rows[$0].body["purpose"] == "confirm" }
        for end in ends {
            var again = try Bench(rows: Array(bench.rows.prefix(end + 1)))
            try again.send(.start)
            for _ in 0..<6 where again.exam != nil {
                try again.endExam(passing: [train[2]])
            }
            try again.tick(4_000)
            #expect(again.machine.state.suite == [train[2]])
            #expect(again.machine.state.quarantine == [train[3]])
            #expect(again.machine.state.open == nil)
            #expect(try replays(again))
        }
    }

    @Test("the genesis row keeps the rules, and refuses those that can never be reached")
    func genesis() throws {
        let rows = try prepared {
            $0.confirmation = Repetition(3, of: 5)
            $0.protection = Repetition(1, of: 2)
            $0.quarantines = false
            $0.cap = 7
        }
        guard case .genesis(let record) = try LedgerEvent(kind: "genesis", body: rows[0].body)
        else {
            Issue.record("no genesis")
            return
        }
        #expect(record.promotion.confirmation == Repetition(3, of: 5))
        #expect(record.promotion.protection == Repetition(1, of: 2))
        #expect(!record.promotion.quarantines && record.promotion.cap == 7)
        let plain = try Bench.prepared()[0].body
        #expect(plain["rules"]?["promotion"] == nil, "rows of before read the same")
        var members = try #require(rows[0].body.objectValue)
        members["rules"] = [
            "threshold": 0.8, "step2": "always",
            "promotion": ["quarantine": 1, "confirm": ["passes": 4, "of": 3]],
        ]
        #expect(throws: LoopError.self) {
            try LedgerEvent(kind: "genesis", body: .object(members))
        }
    }

    // MARK: - retirement

    private func retire(_ task: String) -> LedgerEvent {
        .retirement(RetirementRecord(task: Bench.task(task), reason: "its gold is wrong"))
    }

    @Test("C17: a signed row takes a task out of the suite, and no candidate brings it back")
    func retirement() throws {
        var bench = try started { _ in }
        try bench.acceptFirst()
        try bench.send(.stop(reason: "to retire"))
        var rows = bench.rows
        rows.append(Bench.row(rows.count + 1, bench.now, retire("train-3")))
        var again = try Bench(rows: rows)
        #expect(again.machine.state.suite == [train[3]])
        #expect(again.machine.state.content.suite.retired == [train[2]])
        try again.send(.start)
        try again.submit(2)
        #expect(again.exam?.tasks == [train[3]])
        try again.endExam(passing: [train[3]])
        try again.endExam(passing: Set(sealed))
        #expect(again.exam?.tasks == [train[4], train[5]])
        try again.endExam(passing: [])
        try again.tick(2_000)
        #expect(again.machine.state.suite == [train[3]])
        #expect(try replays(again))
    }

    @Test(
        "C03: a suite row that no act of the operator explains is no history of this experiment",
        arguments: ["train-1", "train-6", "sealed-1"]
    )
    func forgedRetirement(task: String) throws {
        var bench = try started { _ in }
        try bench.acceptFirst()
        let rows = bench.rows + [Bench.row(bench.rows.count + 1, bench.now, retire(task))]
        #expect(throws: LoopError.self) { try CampaignState(replaying: rows) }
    }

    @Test("nothing is retired while a candidate is judged")
    func notWhileJudging() throws {
        var bench = try started { _ in }
        try bench.acceptFirst()
        try bench.submit(2)
        let rows = bench.rows + [Bench.row(bench.rows.count + 1, bench.now, retire("train-3"))]
        #expect(throws: LoopError.self) { try CampaignState(replaying: rows) }
    }

    @Test("C17: the coding agent has no verb that retires", arguments: ["retire", "retirement"])
    func noVerb(verb: String) throws {
        var bench = try started { _ in }
        try bench.acceptFirst()
        try bench.request(#"{"verb":"\#(verb)","task":"train-3","reason":"r"}"#)
        #expect(bench.lastReply(1)["error"]?["code"] == "unknown-verb")
        #expect(bench.machine.state.suite == [train[2], train[3]])
    }

    @Test("C17: tasks that infrastructure broke stay in the split and in the suite")
    func brokenTasks() throws {
        var bench = try started { $0.confirmation = Repetition(1, of: 2) }
        try bench.submit(1)
        try bench.endExam(passing: Set(sealed))
        try bench.endExam(passing: [train[2]])
        for _ in 0..<2 { try bench.endExam(Bench.voided([train[2]])) }
        try bench.tick(2_000)
        #expect(bench.machine.state.quarantine.isEmpty)
        #expect(bench.machine.state.suite.isEmpty)
        #expect(bench.machine.state.train == train)
        #expect(bench.machine.state.evidence?.failing.contains(train[2]) == true)
        let row = try #require(bench.rows.last { $0.kind == "promotion" })
        #expect(row.body["unconfirmed"] == ["train-3"])
    }
}
