import IterationLoop
import StrictJSON
import Testing

@Suite("Bounds of a run, and what an operator allows beyond the configuration")
struct BudgetExtensionTests {
    private func more(_ change: (inout BudgetExtension) -> Void) -> BudgetExtension {
        var more = BudgetExtension()
        more.by = "uid 0"
        change(&more)
        return more
    }

    private func started(
        _ rules: LoopRules = LoopRules(),
        rows: [RecordedRow]? = nil
    ) throws -> Bench {
        var bench = try Bench(rules: rules, rows: rows)
        try bench.send(.start)
        return bench
    }

    private func bounded(_ change: (inout RunBounds) -> Void) -> LoopRules {
        var bounds = RunBounds()
        change(&bounds)
        var rules = LoopRules()
        rules.bind(bounds, after: CampaignState().usage)
        return rules
    }

    @Test("a bound ends the run where the budget would not, and says that it is the run's own")
    func iterations() throws {
        var bench = try started(bounded { $0.iterations = 1 })
        try bench.acceptFirst()
        #expect(bench.ended == .boundReached("iterations"))
        #expect(bench.rows.last?.body["reason"] == "the bound of this run's iterations is reached")
        #expect(EndReason.isBudget(try #require(bench.ended).text))
    }

    @Test("a bound never loosens the budget")
    func tightens() throws {
        var rules = bounded { ($0.iterations, $0.milliseconds) = (500, 1 << 40) }
        rules.iterations = 1
        #expect(rules.iterations == 1)
        #expect(rules.runMilliseconds == 12 * 3_600_000)
        var bench = try started(rules)
        try bench.acceptFirst()
        #expect(bench.ended == .iterationsSpent)
    }

    @Test("a bound of hours ends a run that is editing, and no exam")
    func hours() throws {
        var bench = try started(bounded { $0.milliseconds = 60_000 })
        try bench.submit(1)
        try bench.tick(90_000)
        #expect(bench.ended == nil, "an exam is running")
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(bench.ended == .boundReached("hours"))
    }

    @Test(
        "a cost that is reached while a candidate is judged ends the run after the result was told"
    )
    func cost() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.send(.rules(.costReached))
        #expect(bench.ended == nil)
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(bench.lastReply(2)["verdict"] == "rejected")
        #expect(bench.ended == .boundReached("cost"))
    }

    @Test("an extension is a row, and the run goes on as far as it says")
    func extends() throws {
        var rules = LoopRules()
        rules.iterations = 1
        var bench = try started(rules)
        try bench.send(.rules(.extended(more { $0.iterations = 1 })))
        #expect(bench.rows.last?.kind == "extended")
        #expect(bench.rows.last?.body == ["iterations": 1, "by": "uid 0"])
        try bench.acceptFirst()
        #expect(bench.ended == nil)
        try bench.submit(2)
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(bench.ended == .iterationsSpent)
        // The next run reads it from the rows.
        let allowed = try BudgetExtension(
            adding: bench.rows.filter { $0.kind == BudgetExtension.kind }.map(\.body)
        )
        #expect(allowed.iterations == 1)
        _ = try CampaignState(replaying: bench.rows)
    }

    @Test("an extension moves no bound of the run")
    func boundStays() throws {
        var bench = try started(bounded { $0.iterations = 1 })
        try bench.send(.rules(.extended(more { $0.iterations = 5 })))
        try bench.acceptFirst()
        #expect(bench.ended == .boundReached("iterations"))
    }

    @Test("a run that is over takes none")
    func over() throws {
        var bench = try started()
        try bench.send(.stop(reason: "enough"))
        #expect(throws: LoopError.self) {
            try bench.send(.rules(.extended(more { $0.iterations = 1 })))
        }
    }

    @Test(
        "a body without amount, with an unknown member, a negative amount or two lines is refused",
        arguments: [
            ["by": "uid 0"], ["by": "uid 0", "iterations": 0], ["by": "uid 0", "iterations": -1],
            ["by": "uid 0", "iterations": 1, "bits": 8], ["iterations": 1],
            ["by": "uid 0", "iterations": 1, "tests": 3],
            ["by": "uid 0", "iterations": 1, "reason": "a\nb"],
            ["by": "uid 0", "iterations": 1_000_000_000_001],
        ] as [JSONValue]
    )
    func refused(_ body: JSONValue) {
        #expect(throws: LoopError.self) { try BudgetExtension(reading: body) }
    }

    @Test("a body is read as it was written")
    func whole() throws {
        let all = more {
            ($0.iterations, $0.submissions, $0.trainRuns, $0.noImprovement) = (1, 2, 3, 4)
            ($0.milliseconds, $0.tokens, $0.microdollars) = (5, 6, 7)
            $0.reason = "the night was good"
        }
        #expect(try BudgetExtension(reading: all.event.body) == all)
        #expect(try BudgetExtension(adding: [all.event.body, all.event.body]).tokens == 12)
    }
}
