import ExamResults
import Gate
import TestSupport
import Testing

@Suite("Promotion and protection")
struct PromotionTests {
    private static let tasks = (1...6).map(task)

    private static func task(_ number: Int) -> TaskID {
        do { return try TaskID("t\(number)") } catch { fatalError("a well-formed id: \(error)") }
    }

    /// An exam: `+` passes, `-` fails, `0` was voided; the other tasks were not run.
    private func exam(_ outcomes: [Int: Character]) throws -> ExamResults {
        let named = outcomes.map { number, sign in
            (
                Self.task(number),
                sign == "0"
                    ? TaskOutcome.voided(.examinerDied) : .graded(sign == "+" ? .one : .zero)
            )
        }
        return try ExamResults(
            planned: named.map(\.0),
            outcomes: Dictionary(uniqueKeysWithValues: named)
        )
    }

    private func rounds(_ text: String, of number: Int = 1) throws -> [ExamResults] {
        try text.map { try exam([number: $0]) }
    }

    private static func promotion(
        _ newly: [TaskID],
        _ rounds: [ExamResults],
        _ rules: PromotionRules,
        _ flaky: [TaskID]
    ) -> Promotion {
        rules.promotion(
            of: newly,
            after: rounds,
            mark: .half,
            known: (flaky: flaky, suite: []),
            cluster: \.text
        )
    }

    private func rules(
        confirm: (Int, Int)? = nil,
        protect: (Int, Int)? = nil
    ) throws -> PromotionRules {
        var rules = PromotionRules.once
        rules.confirmation = try confirm.map { try #require(Repetition($0.0, of: $0.1)) }
        rules.protection = try protect.map { try #require(Repetition($0.0, of: $0.1)) }
        return rules
    }

    @Test("a rule that can never be reached, or always is, cannot be made")
    func ranges() {
        #expect(Repetition(0, of: 3) == nil)
        #expect(Repetition(4, of: 3) == nil)
        #expect(Repetition(3, of: 3) != nil)
    }

    @Test(
        "so many passes of so many runs settle a task; what infrastructure broke says nothing",
        arguments: zip(
            ["", "++", "+++", "+-+-+", "--", "---", "-+-+-", "0000+", "++0-+"],
            [
                Repetition.Standing.open, .open, .reached, .reached, .open, .missed, .missed,
                .open, .reached,
            ]
        )
    )
    func standing(_ runs: String, _ standing: Repetition.Standing) throws {
        let rule = try #require(Repetition(3, of: 5))
        let rounds = try rounds(runs)
        #expect(rule.standing(of: Self.task(1), in: rounds, mark: .half) == standing)
        #expect(rule.standing(of: Self.task(2), in: rounds, mark: .half) == .open)
    }

    @Test("runs end as soon as every task is settled, and at the latest after the most")
    func bounded() throws {
        for seed in 0..<200 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let most = Int.random(in: 1...6, using: &generator)
            let rule = try #require(
                Repetition(Int.random(in: 1...most, using: &generator), of: most)
            )
            var policy = PromotionRules.once
            policy.confirmation = rule
            var done: [ExamResults] = []
            var found = Self.promotion(Self.tasks, [], policy, [Self.tasks[0]])
            while !found.open.isEmpty, done.count < most {
                let outcomes = found.open.map { task -> (TaskID, TaskOutcome) in
                    let draw = Int.random(in: 0..<5, using: &generator)
                    let outcome =
                        draw == 0
                        ? TaskOutcome.voided(.examinerDied) : .graded(draw < 3 ? .one : .zero)
                    return (task, outcome)
                }
                done.append(
                    try ExamResults(
                        planned: found.open,
                        outcomes: Dictionary(uniqueKeysWithValues: outcomes)
                    )
                )
                found = Self.promotion(Self.tasks, done, policy, [Self.tasks[0]])
            }
            #expect(found.open.isEmpty, "seed \(seed)")
            let all = found.promoted + found.quarantined + found.unconfirmed + found.capped
            #expect(all.sorted() == Self.tasks, "seed \(seed): each task is in one list")
            for task in found.promoted {
                let passes = done.filter { round in
                    round.all.contains { $0.task == task && $0.outcome.passes(mark: .half) }
                }.count
                #expect(passes >= (task == Self.tasks[0] ? most : rule.needed), "seed \(seed)")
            }
        }
    }

    @Test("under once every newly passing task is promoted, and nothing is run again")
    func once() {
        let found = Self.promotion(Self.tasks, [], .once, [])
        #expect(found.promoted == Self.tasks)
        #expect(found.open.isEmpty)
    }

    private func outcome(
        of runs: String,
        quarantines: Bool = true,
        before: [TaskID] = []
    ) throws -> Promotion {
        var rules = try rules(confirm: (2, 3))
        rules.quarantines = quarantines
        return Self.promotion([Self.task(1)], try rounds(runs), rules, before)
    }

    @Test("a task that passed once and is not confirmed is flaky, and kept apart if that is asked")
    func quarantine() throws {
        let one = [Self.task(1)]
        #expect(try outcome(of: "+-+").promoted == one)
        #expect(try outcome(of: "+--").quarantined == one)
        #expect(try outcome(of: "--").quarantined == one)
        #expect(try outcome(of: "--", quarantines: false).unconfirmed == one)
        #expect(try outcome(of: "+00").unconfirmed == one, "infrastructure is no flakiness")
    }

    @Test("a task that was flaky before must pass every run")
    func strict() throws {
        let one = Self.task(1)
        #expect(try outcome(of: "+-+", before: [one]).quarantined == [one])
        #expect(try outcome(of: "+++", before: [one]).promoted == [one])
        #expect(try outcome(of: "++", before: [one]).unconfirmed == [one])
    }

    @Test("a cluster takes as many tasks as the cap says, those of the suite counted")
    func cap() throws {
        var rules = PromotionRules.once
        rules.cap = 2
        let clusters = ["t1": "a", "t2": "a", "t3": "a", "t4": "b", "t5": "b", "t6": "b"]
        let found = rules.promotion(
            of: Array(Self.tasks.dropFirst()),
            after: [],
            mark: .half,
            known: (flaky: [], suite: [Self.task(1)]),
            cluster: { clusters[$0.text] ?? "" }
        )
        #expect(found.promoted == [2, 4, 5].map(Self.task))
        #expect(found.capped == [3, 6].map(Self.task))
    }

    // MARK: - protection

    private func stepOne(
        _ suite: [Int: Character],
        _ runs: [[Int: Character]],
        threshold: Double = 0.5
    ) throws -> StepOne {
        let rules = GateRules(threshold: try Proportion(threshold))
        let policy = try self.rules(protect: (2, 3))
        let evidence = SuiteEvidence.examined(try exam(suite))
        let again = try runs.map(exam)
        return Gate.stepOne(policy.weighed(evidence, again, rules: rules).suite, rules: rules)
    }

    @Test("C20: a task that is lost on fresh seeds too refuses what the aggregate would let pass")
    func lost() throws {
        let suite: [Int: Character] = [1: "+", 2: "+", 3: "+", 4: "-"]
        let bare = GateRules(threshold: try Proportion(0.5))
        #expect(Gate.stepOne(.examined(try exam(suite)), rules: bare).reason.number == 12)
        let lost = try stepOne(suite, [[4: "-"], [4: "-"]])
        #expect(lost == .broken(.suiteTasksLost([Self.task(4)])))
        #expect(lost.reason.number == 16)
        #expect("\(lost.reason)".contains("t4"))
        let decision = Gate.decide(
            suite: try rules(protect: (2, 3)).weighed(
                .examined(try exam(suite)),
                try [exam([4: "-"]), exam([4: "-"])],
                rules: bare
            ).suite,
            sealed: nil,
            best: nil,
            rules: bare
        )
        #expect(decision.refusingStep == .suite)
    }

    @Test("C20: a task that failed once and passes on fresh seeds is no loss, and no pass either")
    func flake() throws {
        let suite: [Int: Character] = [1: "+", 2: "-"]
        let held = try stepOne(suite, [[2: "+"], [2: "-"], [2: "+"]])
        #expect(held.reason.number == 12)
        // The run that failed stays in the aggregate: no second try raises a pass rate.
        let broken = try stepOne(suite, [[2: "+"], [2: "+"]], threshold: 0.8)
        #expect(broken.reason.number == 13)
        let flaky = try rules(protect: (2, 3)).weighed(
            .examined(try exam(suite)),
            try [exam([2: "+"]), exam([2: "+"])],
            rules: GateRules(threshold: try Proportion(0.5))
        ).flaky
        #expect(flaky == [Self.task(2)])
    }

    @Test("C17: what infrastructure broke takes no task out of the suite and judges none")
    func broken() throws {
        let suite: [Int: Character] = [1: "+", 2: "-"]
        let void = try stepOne(suite, [[2: "0"], [2: "0"], [2: "0"]])
        #expect(void == .void(.suiteVoid(voided: 1)))
        let one = GateRules(threshold: try Proportion(0.5))
        let voided = SuiteEvidence.examined(try exam([1: "+", 2: "0"]))
        let policy = try rules(protect: (2, 3))
        let weighed = policy.weighed(voided, [], rules: one)
        #expect(weighed.open.isEmpty && weighed.suite == voided)
        #expect(Gate.stepOne(weighed.suite, rules: one).reason.number == 14)
    }

    @Test("failed tasks alone are run again, and none where the aggregate refuses anyway")
    func suspects() throws {
        let policy = try rules(protect: (2, 3))
        let suite = SuiteEvidence.examined(try exam([1: "+", 2: "-", 3: "+"]))
        let none: [ExamResults] = []
        let lenient = GateRules(threshold: try Proportion(0.5))
        let severe = GateRules(threshold: try Proportion(0.9))
        #expect(policy.weighed(suite, none, rules: lenient).open == [Self.task(2)])
        #expect(policy.weighed(suite, none, rules: severe).open.isEmpty)
        #expect(policy.weighed(suite, none, rules: severe).suite == suite)
        #expect(PromotionRules.once.weighed(suite, none, rules: lenient).open.isEmpty)
        #expect(PromotionRules.once.weighed(suite, none, rules: lenient).suite == suite)
        let settled = try [exam([2: "-"]), exam([2: "-"])]
        #expect(policy.weighed(suite, settled, rules: lenient).open.isEmpty)
        let broken = try (0..<3).map { _ in try exam([2: "0"]) }
        #expect(policy.weighed(suite, broken, rules: lenient).open.isEmpty, "runs are bounded")
    }

    @Test("C17: a retired task leaves the suite for good; no other task can be retired")
    func retired() throws {
        var evidence = try TrainEvidence(train: Self.tasks)
        try evidence.promote([Self.task(1), Self.task(2)])
        #expect(throws: ExamError.self) { try evidence.retire(Self.task(3)) }
        try evidence.retire(Self.task(2))
        #expect(evidence.suite == [Self.task(1)])
        #expect(evidence.retired == [Self.task(2)])
        #expect(!evidence.failing.contains(Self.task(2)), "it is not examined to come back")
        #expect(evidence.train == Self.tasks, "it stays a train task")
    }
}
