import ExamResults
import Gate
import IterationLoop
import StrictJSON
import Testing

@Suite("A campaign under the paired rule")
struct PairedLoopTests {
    private static let sealed = Set(Bench.sealed)

    private func started(
        tests: Int = 2,
        error: Double = 0.5,
        trials: Int = 2,
        release: ReleaseRules? = nil,
        rules: LoopRules = LoopRules()
    ) throws -> Bench {
        let budget = ErrorBudget(error: try Proportion(error), tests: tests)
        let rows = try Bench.prepared(sealed: .paired(budget), trials: trials, release: release)
        var bench = try Bench(rules: rules, rows: rows)
        try bench.send(.start)
        return bench
    }

    private func decision(_ bench: Bench) throws -> JSONValue {
        try #require(bench.rows.last { $0.kind == "decision" }?.body)
    }

    @Test("the incumbent runs the same tasks as often, and both means stand in the rows")
    func accepted() throws {
        var bench = try started()
        try bench.submit(1)
        #expect(bench.exam?.trials == 2)
        #expect(bench.exam?.incumbent?.digest == Bench.digest(0))
        try bench.endExam(passing: Self.sealed, incumbent: [])
        #expect(bench.machine.state.best?.digest == Bench.digest(1))
        let ended = try #require(bench.rows.last { $0.kind == "exam-ended" }?.body)
        #expect(ended["mean"] == 1.0 && ended["incumbent_mean"] == 0.0 && ended["trials"] == 2)
        #expect(ended["passed"] == 8 && ended["passed_always"] == 4)
        #expect(try decision(bench)["paired"]?["p"] == 0.0625)
        #expect(try decision(bench)["paired"]?["level"] == 0.25)
        #expect(try CampaignState(replaying: bench.rows) == bench.machine.state)
    }

    @Test("C18: a mean above the best one is refused where the incumbent did as well")
    func luck() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.endExam(passing: Self.sealed, incumbent: Self.sealed)
        try bench.tick(2_000)
        #expect(bench.lastReply(2)["verdict"] == "rejected")
        #expect(bench.machine.state.best?.digest == Bench.digest(0))
    }

    @Test(
        "C21: when every test of the error budget is made, the run ends and nothing further is judged"
    )
    func spent() throws {
        var rules = LoopRules()
        rules.noImprovement = 100
        var bench = try started(tests: 2, rules: rules)
        for seed in 1...2 {
            try bench.submit(seed)
            try bench.endExam(passing: [], incumbent: Self.sealed)
            try bench.tick(2_000)
        }
        #expect(bench.ended == .errorSpent)
        #expect(bench.machine.state.usage.tests == 2)
        var judge = LoopRules()
        judge.hasCodingAgent = false
        var again = try Bench(rules: judge, rows: bench.rows)
        try again.send(.start)
        try again.submit(3)
        #expect(again.lastReply(1)["error"]?["code"] == "error-budget")
        #expect(again.exam == nil)
    }

    @Test("a test is spent when its exam begins, so that breaking the exam buys no other one")
    func voided() throws {
        var bench = try started(tests: 1)
        try bench.submit(1)
        let sealed = Bench.voided(Bench.sealed)
        try bench.endExam(TrialResults(candidate: [sealed, sealed], incumbent: [sealed, sealed]))
        #expect(bench.exam == nil, "the only test was begun")
        try bench.tick(2_000)
        #expect(bench.lastReply(2)["verdict"] == "void")
        #expect(bench.ended == .errorSpent)
        #expect(try CampaignState(replaying: bench.rows) == bench.machine.state)
    }

    @Test("a ledger that accepts without the test, or on another level, is refused")
    func forged() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.endExam(passing: Self.sealed, incumbent: [])
        for change in ["paired", "level", "incumbent_mean", "row"] {
            let rows = try bench.rows.map { row in
                let kind = change == "row" ? "exam-ended" : "decision"
                guard row.kind == kind else { return row }
                var members = try #require(row.body.objectValue)
                if change == "row" {
                    members["incumbent_mean"] = nil
                } else if change == "paired" {
                    members["paired"] = nil
                } else {
                    var paired = try #require(members["paired"]?.objectValue)
                    paired[change] = 0.5
                    members["paired"] = .object(paired)
                }
                return RecordedRow(
                    sequence: row.sequence,
                    time: row.time,
                    kind: row.kind,
                    body: .object(members)
                )
            }
            #expect(throws: LoopError.self, "\(change)") { try CampaignState(replaying: rows) }
        }
    }

    @Test("what the coding agent is told of a paired test holds no figure of it")
    func told() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.endExam(passing: [], incumbent: Self.sealed)
        try bench.tick(2_000)
        let told = bench.lastReply(2)["reasons"]?.prettyText() ?? ""
        #expect(told.contains("28:"))
        #expect(!told.contains("0.") && !told.contains("level"))
    }
}

@Suite("The release budget")
struct ReleaseBudgetTests {
    private func started(_ release: ReleaseRules) throws -> Bench {
        var rules = LoopRules()
        rules.gridMilliseconds = rules.rolloutMilliseconds * 10
        var bench = try Bench(rules: rules, rows: Bench.prepared(release: release))
        try bench.send(.start)
        return bench
    }

    private func judge(_ bench: inout Bench, _ seed: Int, passing: Int) throws {
        try bench.submit(seed)
        while let exam = bench.exam {
            let tasks = exam.purpose == .sealed ? Array(Bench.sealed.prefix(passing)) : []
            try bench.endExam(passing: Set(tasks + (exam.purpose == .suite ? Bench.train : [])))
        }
        try bench.tick(LoopRules().rolloutMilliseconds * 10)
    }

    @Test("A13: a submission whose answer could exceed the budget is refused, and nothing is run")
    func exhausted() throws {
        let quantum = try Proportion(0.25)
        // The baseline's score told 2.33 bits; an answer tells 2.33 + 2.33 + 1 at the most.
        var bench = try started(ReleaseRules(.bucket, step: quantum, budget: 9))
        try judge(&bench, 1, passing: 3)
        let told = bench.machine.state.releasedBits
        #expect(told > 7 && told < 9)
        #expect(bench.ended == .releaseSpent)
        var rules = LoopRules()
        rules.hasCodingAgent = false
        var again = try Bench(rules: rules, rows: bench.rows)
        try again.send(.start)
        try again.submit(2)
        #expect(again.lastReply(1)["error"]?["code"] == "release-budget")
        #expect(again.exam == nil)
        #expect(try CampaignState(replaying: again.rows).releasedBits == told)
    }

    @Test("without a budget the same night goes on")
    func control() throws {
        var bench = try started(ReleaseRules(.bucket, step: try Proportion(0.25)))
        try judge(&bench, 1, passing: 3)
        #expect(bench.ended == nil)
        try judge(&bench, 2, passing: 4)
        #expect(bench.machine.state.best?.digest == Bench.digest(2))
    }

    @Test("the ladder tells a score again until it rose by a step, and each answer costs less")
    func ladder() throws {
        let rules = ReleaseRules(.ladder, step: try Proportion(0.2))
        func score(_ value: Double) throws -> Score {
            try Bench.results(Bench.sealed, passing: Set(Bench.sealed.prefix(Int(value * 4))))
                .mean()
        }
        #expect(rules.told(of: try score(0.5), after: nil)?.value == 0.6)
        #expect(rules.told(of: try score(0.75), after: try Proportion(0.6))?.value == 0.8)
        #expect(rules.told(of: try score(0.75), after: try Proportion(0.8))?.value == 0.8)
        #expect(rules.bits(after: nil) > rules.bits(after: try Proportion(0.8)))
        #expect(rules.bits(after: .one) == 0)
    }

    @Test("verdict tells no score, score tells four decimals")
    func ends() throws {
        let mean = try Bench.results(Bench.sealed, passing: Set(Bench.sealed.prefix(1))).mean()
        #expect(ReleaseRules(.verdict, step: .one).told(of: mean, after: nil) == nil)
        #expect(ReleaseRules(.verdict, step: .one).bits(after: nil) == 0)
        let exact = ReleaseRules(.score, step: .one)
        #expect(exact.told(of: mean, after: nil)?.value == 0.25)
        #expect(exact.bits(after: nil) == 13.29)
    }
}
