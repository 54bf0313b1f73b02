import ExamResults
import IterationLoop
import StrictJSON
import Testing
import Workspace

@Suite("What manifests predicted")
struct ManifestScoreTests {
    private let train = Bench.train
    private let sealed = Bench.sealed

    private func score(
        _ fixes: Set<Int>,
        _ risks: Set<Int>,
        before: Set<Int>,
        after: [Int: Bool]
    ) -> ManifestScore {
        func tasks(_ numbers: Set<Int>) -> Set<TaskID> { Set(numbers.map { train[$0] }) }
        return ManifestScore(
            expected: (fixes: tasks(fixes), risks: tasks(risks)),
            before: Dictionary(
                uniqueKeysWithValues: train.indices.map { (train[$0], before.contains($0)) }
            ),
            after: Dictionary(uniqueKeysWithValues: after.map { (train[$0.key], $0.value) }),
            agent: "scripted"
        )
    }

    @Test("fixes are hits, misses and surprises; breaks are feared, spared and shocks")
    func sorts() {
        let found = score(
            [2, 3],
            [0],
            before: [0, 1],
            after: [0: false, 1: false, 2: true, 3: false, 4: true, 5: false]
        )
        #expect(found.fixed == [train[2]])
        #expect(found.notFixed == [train[3]])
        #expect(found.surprises == [train[4]])
        #expect(found.broken == [train[0]])
        #expect(found.shocks == [train[1]])
        #expect(found.spared.isEmpty && found.unexamined.isEmpty)
        #expect(found.examined == 6)
        // One warned break, one miss, one surprise, one break without warning.
        #expect(found.squaredError == 3.25)
    }

    @Test("whoever expects a passing task to be fixed was wrong")
    func idleFix() {
        let found = score([0], [0], before: [0], after: [0: true])
        #expect(found.fixed.isEmpty)
        #expect(found.notFixed == [train[0]])
        #expect(found.spared == [train[0]])
        #expect(found.squaredError == 1)
    }

    @Test("a named task that was not run is neither hit nor miss")
    func unexamined() {
        let found = score([2], [1], before: [1], after: [0: false])
        #expect(found.unexamined == [train[1], train[2]])
        #expect(found.examined == 1)
        #expect(found.notFixed.isEmpty && found.spared.isEmpty)
        #expect(found.squaredError == 0)
    }

    @Test("naming every task is not worth more than knowing: its error is larger")
    func greed() {
        let after = [0: true, 1: true, 2: true, 3: false, 4: false, 5: false]
        let all = score(Set(train.indices), [], before: [0, 1], after: after)
        let knowing = score([2], [], before: [0, 1], after: after)
        #expect(all.squaredError == 5)
        #expect(knowing.squaredError == 0)
    }

    @Test("precision, recall and Brier are those of all manifests; missing ones are counted apart")
    func calibration() throws {
        var sum = Calibration()
        #expect(sum.precision == nil && sum.recall == nil && sum.brier == nil)
        sum.add(score([2, 3], [], before: [0], after: [2: true, 3: false, 4: true, 0: true]))
        sum.add(score([5], [0], before: [0], after: [5: true, 0: true]))
        var missing = ManifestScore(agent: "scripted")
        missing.isMissing = true
        sum.add(missing)
        #expect(sum.manifests == 2 && sum.missing == 1)
        #expect(sum.precision == 2.0 / 3.0)
        #expect(sum.recall == 2.0 / 3.0)
        #expect(sum.brier == 2.25 / 6.0)
    }

    private func submit(_ bench: inout Bench, _ seed: Int, _ manifest: String) throws {
        try bench.request(#"{"verb":"submit","manifest":\#(manifest)}"#)
        try bench.snapshot(seed)
        let ticket = bench.machine.state.open?.intent.ticket ?? "none"
        try bench.request(#"{"verb":"result","ticket":"\#(ticket)"}"#, from: 2)
    }

    @Test("the release row and the answer hold the score of an accepted candidate's manifest")
    func accepted() throws {
        var rules = LoopRules()
        rules.codingAgent = "scripted"
        var bench = try Bench(rules: rules)
        try bench.send(.start)
        let manifest =
            #"{"hypothesis":"h","expected_fixes":["train-3","train-5"],"tasks_at_risk":["train-1"]}"#
        try submit(&bench, 1, manifest)
        try bench.endExam(passing: Set(sealed.prefix(3)))
        try bench.endExam(passing: [train[2], train[3]])
        try bench.tick(2_000)
        let row = try #require(bench.rows.last { $0.kind == "release" }?.body["manifest"])
        #expect(row["agent"] == "scripted")
        #expect(row["fixed"] == ["train-3"])
        #expect(row["not_fixed"] == ["train-5"])
        #expect(row["surprises"] == ["train-4"])
        #expect(
            row["unexamined"] == ["train-1"],
            "a task that passes already is not examined again"
        )
        #expect(row["foreseen"] == 0)
        #expect(bench.lastReply(2)["manifest"] == row)
        let sum = try #require(bench.machine.state.predictions.calibrations["scripted"])
        #expect(sum.precision == 0.5 && sum.recall == 0.5 && sum.manifests == 1)
        #expect(try CampaignState(replaying: bench.rows) == bench.machine.state)
    }

    @Test("what a rejected candidate did is known from its own train exams, and counted as seen")
    func rejected() throws {
        var bench = try Bench()
        try bench.send(.start)
        try bench.request(#"{"verb":"train","task_ids":["train-1","train-3"]}"#)
        try bench.snapshot(1)
        try bench.endExam(passing: [train[2]])
        let manifest =
            #"{"hypothesis":"h","expected_fixes":["train-3"],"tasks_at_risk":["train-2"]}"#
        try submit(&bench, 1, manifest)
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        let row = try #require(bench.rows.last { $0.kind == "release" }?.body["manifest"])
        #expect(row["fixed"] == ["train-3"])
        #expect(row["shocks"] == ["train-1"])
        #expect(row["unexamined"] == ["train-2"])
        #expect(row["foreseen"] == 1)
    }

    @Test("a later candidate is compared with the best before it, not with the template")
    func compared() throws {
        var bench = try Bench()
        try bench.send(.start)
        try bench.acceptFirst()
        let manifest =
            #"{"hypothesis":"h","expected_fixes":["train-3"],"tasks_at_risk":["train-4"]}"#
        try submit(&bench, 2, manifest)
        try bench.endExam(passing: [train[2]])
        try bench.tick(2_000)
        let row = try #require(bench.rows.last { $0.kind == "release" }?.body["manifest"])
        #expect(row["not_fixed"] == ["train-3"], "candidate 1 had fixed it")
        #expect(row["broken"] == ["train-4"])
    }

    @Test("a missing manifest is refused with its cure, unless policy only warns of it")
    func missing() throws {
        var bench = try Bench()
        try bench.send(.start)
        try bench.request(#"{"verb":"submit"}"#)
        #expect(bench.lastReply(1)["error"]?["code"] == "no-manifest")
        #expect(
            bench.lastReply(1)["error"]?["remedy"]?.stringValue?.contains("--manifest FILE") == true
        )
        #expect(bench.pendingSnapshot == nil)
        #expect(bench.rows.last?.kind == "refusal")

        var rules = LoopRules()
        rules.demandsManifest = false
        var lenient = try Bench(rules: rules)
        try lenient.send(.start)
        try lenient.request(#"{"verb":"submit"}"#)
        try lenient.snapshot(1)
        #expect(lenient.lastReply(1)["warning"]?.stringValue?.contains("no manifest") == true)
        try lenient.request(#"{"verb":"result"}"#, from: 2)
        try lenient.endExam(passing: [])
        try lenient.tick(2_000)
        let row = try #require(lenient.rows.last { $0.kind == "release" }?.body["manifest"])
        #expect(row["missing"] == 1)
        #expect(lenient.machine.state.predictions.calibrations["command"]?.missing == 1)
        #expect(try CampaignState(replaying: lenient.rows) == lenient.machine.state)
    }

    @Test("an operator's judgement is no prediction of the coding agent")
    func byOperator() throws {
        var rules = LoopRules()
        rules.hasCodingAgent = false
        var bench = try Bench(rules: rules)
        try bench.send(.start)
        try bench.submit(1)
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        let row = try #require(bench.rows.last { $0.kind == "release" })
        #expect(row.body["manifest"] == nil)
        #expect(bench.machine.state.predictions.calibrations.isEmpty)
    }

    @Test("nothing of a sealed task is in a score, whatever a row's manifest names")
    func sealedNames() throws {
        var bench = try Bench()
        try bench.send(.start)
        try bench.submit(1)
        try bench.endExam(passing: Set(sealed))
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        var rows = bench.rows
        let place = try #require(rows.firstIndex { $0.kind == "intent" })
        var body = try #require(rows[place].body.objectValue)
        body["manifest"] = ["hypothesis": "h", "expected_fixes": ["sealed-1", "train-3"]]
        rows[place] = RecordedRow(
            sequence: place + 1,
            time: rows[place].time,
            kind: "intent",
            body: .object(body)
        )
        let cut = try #require(rows.firstIndex { $0.kind == "release" })
        var again = try Bench(rows: Array(rows.prefix(cut)))
        try again.send(.start)
        try again.tick(4_000)
        let row = try #require(again.rows.last { $0.kind == "release" }?.body["manifest"])
        #expect(row["not_fixed"] == ["train-3"])
        #expect(!String(decoding: row.canonicalBytes, as: UTF8.self).contains("sealed-"))
    }
}
