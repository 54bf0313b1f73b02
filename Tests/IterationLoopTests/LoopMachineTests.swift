import ExamResults
import Gate
import IterationLoop
import StrictJSON
import Testing
import Workspace

@Suite("The loop's machine")
struct LoopMachineTests {
    private let train = Bench.train
    private let sealed = Bench.sealed

    private func started(_ rules: LoopRules = LoopRules()) throws -> Bench {
        var bench = try Bench(rules: rules)
        try bench.send(.start)
        return bench
    }

    @Test("an accepted candidate is judged in order: suite, sealed, recheck, release on the grid")
    func accepted() throws {
        var bench = try started()
        try bench.submit(1)
        #expect(bench.isFrozen)
        #expect(bench.exam?.purpose == .sealed, "the suite is empty at first")
        try bench.endExam(passing: Set(sealed.prefix(3)))
        #expect(bench.exam?.purpose == .recheck)
        #expect(bench.exam?.tasks == Array(train.dropFirst(2)))
        #expect(bench.accepted == ["commit-1"])
        bench.now = 10_001
        try bench.endExam(passing: [train[2], train[3]])
        #expect(bench.machine.phase == .releasing)
        #expect(bench.replies[2] == nil)
        #expect(bench.machine.nextDeadline == Moment(milliseconds: 12_000))
        bench.now = 12_000
        try bench.send(.tick)
        #expect(!bench.isFrozen)
        let reply = bench.lastReply(2)
        #expect(reply["verdict"] == "accepted")
        #expect(reply["released_score"] == 0.75)
        #expect(reply["promoted"] == ["train-3", "train-4"])
        #expect(
            bench.kinds() == [
                "run-started", "snapshot", "intent", "exam-started", "exam-ended", "decision",
                "exam-started", "exam-ended", "promotion", "release",
            ]
        )
        #expect(bench.machine.state.suite == [train[2], train[3]])
        #expect(bench.machine.state.best?.digest == Bench.digest(1))
    }

    @Test("a clock that is set back holds a result up for one slot at most")
    func clockBackBeforeRelease() throws {
        var bench = try started()
        try bench.submit(1)
        bench.now = 100_001
        try bench.endExam(passing: [])
        #expect(bench.machine.phase == .releasing)
        #expect(bench.machine.nextDeadline == Moment(milliseconds: 102_000))
        bench.now = 30_001
        try bench.send(.tick)
        #expect(bench.replies[2] == nil)
        #expect(bench.machine.nextDeadline == Moment(milliseconds: 32_000))
        bench.now = 32_000
        try bench.send(.tick)
        #expect(bench.lastReply(2)["verdict"] == "rejected")
        #expect(try CampaignState(replaying: bench.rows) == bench.machine.state)
    }

    @Test("a clock that is set back holds a judgement up for the grace at most")
    func clockBackBeforeJudging() throws {
        var bench = try started()
        try bench.request(#"{"verb":"submit","manifest":{"hypothesis":"ask first"}}"#)
        try bench.snapshot(1)
        bench.now -= 86_400_000
        try bench.send(.tick)
        let deadline = try #require(bench.machine.nextDeadline)
        #expect(deadline.milliseconds == bench.now + bench.machine.rules.graceMilliseconds)
        bench.now = deadline.milliseconds
        try bench.send(.tick)
        #expect(bench.exam?.purpose == .sealed)
    }

    @Test("a clock that jumps ahead releases at once and spends time of the budget, no row more")
    func clockAhead() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.endExam(passing: [])
        bench.now += 30 * 86_400_000
        try bench.send(.tick)
        #expect(bench.lastReply(2)["verdict"] == "rejected")
        #expect(bench.ended == .timeSpent)
        #expect(bench.kinds().suffix(2) == ["release", "run-ended"])
        #expect(try CampaignState(replaying: bench.rows) == bench.machine.state)
    }

    @Test("C19: a broken suite spends no sealed query")
    func brokenSuite() throws {
        var bench = try acceptedOnce()
        try bench.submit(2)
        #expect(bench.exam?.purpose == .suite)
        #expect(bench.exam?.tasks == [train[2], train[3]])
        try bench.endExam(passing: [train[2]])
        #expect(bench.exam == nil)
        try bench.tick(2_000)
        #expect(bench.lastReply(2)["verdict"] == "rejected")
        #expect(bench.lastReply(2)["step"] == 1)
        #expect(bench.lastReply(2)["suite"] == ["train-3": 1.0, "train-4": 0.0])
        #expect(bench.machine.state.best?.digest == Bench.digest(1))
    }

    @Test("with step2: always the sealed exam is run after a broken suite as well")
    func always() throws {
        var bench = try Bench(rows: try Bench.prepared(stepTwo: .always))
        try bench.send(.start)
        try bench.acceptFirst()
        try bench.submit(2)
        try bench.endExam(passing: [])
        #expect(bench.exam?.purpose == .sealed)
        try bench.endExam(passing: Set(sealed))
        try bench.tick(2_000)
        #expect(bench.lastReply(2)["verdict"] == "rejected")
        #expect(bench.lastReply(2)["step"] == 1)
    }

    private func acceptedOnce(_ rules: LoopRules = LoopRules()) throws -> Bench {
        var bench = try started(rules)
        try bench.acceptFirst()
        return bench
    }

    @Test("a lower sealed mean is rejected, and the reply holds no figure of it")
    func lowerMean() throws {
        var bench = try acceptedOnce()
        try bench.submit(2)
        try bench.endExam(passing: Set(train))
        try bench.endExam(passing: [sealed[0]])
        try bench.tick(2_000)
        let reply = bench.lastReply(2)
        #expect(reply["verdict"] == "rejected")
        #expect(reply["step"] == 2)
        #expect(reply["released_score"]?.isNull == true)
        let text = reply.prettyText()
        #expect(!text.contains("0.25") && !text.contains("0.75"))
        #expect(!text.contains("sealed-1"))
        #expect(bench.machine.state.usage.sinceImprovement == 1)
    }

    @Test("a second submission is refused while the first is judged")
    func secondSubmission() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.request(#"{"verb":"submit","manifest":{"hypothesis":"again"}}"#, from: 3)
        #expect(bench.lastReply(3)["error"]?["code"] == "busy")
        #expect(bench.rows.last?.kind == "refusal")
        #expect(bench.rows.last?.body["layer"] == "request-table")
        #expect(bench.pendingSnapshot == nil)
    }

    @Test("the agent is frozen for the exam when it waits, or when the grace is over")
    func grace() throws {
        var bench = try started()
        try bench.request(#"{"verb":"submit","manifest":{"hypothesis":"ask first"}}"#)
        #expect(bench.isFrozen, "frozen while it is copied")
        try bench.snapshot(1)
        #expect(!bench.isFrozen)
        #expect(bench.lastReply(1)["ticket"] == "T1")
        try bench.tick(9_999)
        #expect(bench.exam == nil)
        try bench.tick(1)
        #expect(bench.isFrozen)
        #expect(bench.exam?.purpose == .sealed)
        var other = try started()
        try other.request(#"{"verb":"submit","manifest":{"hypothesis":"ask first"}}"#)
        try other.snapshot(1)
        try other.send(.agentWaits)
        #expect(other.exam?.purpose == .sealed)
    }

    @Test("what is frozen at the release is thawed, and the result can be asked for again")
    func resultAgain() throws {
        var bench = try acceptedOnce()
        try bench.request(#"{"verb":"result","ticket":"T1"}"#, from: 9)
        #expect(bench.lastReply(9) == bench.lastReply(2))
        try bench.request(#"{"verb":"result"}"#, from: 8)
        #expect(bench.lastReply(8) == bench.lastReply(2))
        try bench.request(#"{"verb":"result","ticket":"T7"}"#, from: 9)
        #expect(bench.lastReply(9)["error"]?["code"] == "unknown-ticket")
    }

    @Test("C21: bytes that were judged before get no second try, the template's among them")
    func judgedBefore() throws {
        var bench = try acceptedOnce()
        try bench.request(#"{"verb":"submit","manifest":{"hypothesis":"again"}}"#)
        try bench.snapshot(1)
        #expect(bench.lastReply(1)["error"]?["code"] == "judged-before")
        try bench.request(#"{"verb":"submit","manifest":{"hypothesis":"again"}}"#)
        try bench.snapshot(0)
        #expect(bench.lastReply(1)["error"]?["code"] == "judged-before")
        #expect(bench.machine.phase == .editing)
        #expect(!bench.isFrozen)
    }

    @Test("a refused copy is recorded with the snapshot layer and thaws the agent")
    func refusedCopy() throws {
        var bench = try started()
        try bench.request(#"{"verb":"submit","manifest":{"hypothesis":"x"}}"#)
        try bench.send(
            .snapshotRefused(code: "symbolic-link", reason: "it is a link", remedy: "remove it")
        )
        #expect(bench.rows.last?.body["layer"] == "snapshot")
        #expect(bench.lastReply(1)["error"]?["reason"] == "it is a link")
        #expect(!bench.isFrozen)
        #expect(bench.machine.state.usage.submissions == 0)
    }

    @Test("a train exam answers with rewards of train tasks and costs one of its budget")
    func trainExam() throws {
        var rules = LoopRules()
        rules.trainRuns = 1
        var bench = try started(rules)
        try bench.request(#"{"verb":"train","task_ids":["train-1","train-5"]}"#)
        try bench.snapshot(1)
        #expect(bench.exam?.tasks == [train[0], train[4]])
        #expect(!bench.isFrozen)
        try bench.endExam(passing: [train[4]])
        #expect(bench.lastReply(1)["results"] == ["train-1": 0.0, "train-5": 1.0])
        #expect(bench.lastReply(1)["mean"] == 0.5)
        try bench.request(#"{"verb":"train"}"#)
        #expect(bench.lastReply(1)["error"]?["code"] == "train-budget")
        #expect(bench.machine.state.evidence?.outcome(of: train[4]) == .graded(.zero))
    }

    @Test("exams that infrastructure breaks are run again, then the candidate is refused")
    func voidedExams() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.endExam(Bench.voided(sealed))
        #expect(bench.exam?.purpose == .sealed)
        #expect(bench.rows.contains { $0.kind == "void" })
        try bench.endExam(Bench.voided(sealed))
        try bench.tick(2_000)
        #expect(bench.lastReply(2)["verdict"] == "rejected")
        #expect(bench.lastReply(2)["step"] == 2)
    }

    @Test("a campaign runs ten void exams again, then the first void refuses")
    func repetitionsAreBounded() throws {
        var rules = LoopRules()
        rules.noImprovement = 100
        var bench = try started(rules)
        var exams: [Int] = []
        for seed in 1...13 {
            try bench.submit(seed)
            exams.append(0)
            while bench.exam != nil {
                exams[exams.count - 1] += 1
                try bench.endExam(Bench.voided(sealed))
            }
            try bench.tick(2_000)
            #expect(bench.lastReply(2)["verdict"] == "rejected")
        }
        #expect(exams == [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1])
        #expect(try CampaignState(replaying: bench.rows) == bench.machine.state)
    }

    @Test("a second void counts as a decision, and the same bytes are not judged again")
    func voidUsesUp() throws {
        var bench = try started()
        try bench.submit(1)
        for _ in 0..<2 { try bench.endExam(Bench.voided(sealed)) }
        try bench.tick(2_000)
        #expect(bench.lastReply(2)["verdict"] == "rejected")
        #expect(bench.machine.state.usage.iterations == 1)
        #expect(bench.machine.state.usage.sinceImprovement == 1)
        try bench.submit(1)
        #expect(bench.lastReply(1)["error"]?["code"] == "judged-before")
        #expect(bench.exam == nil)
    }

    @Test("candidates that void every exam get as many sealed exams as the budget has submissions")
    func voidsAreBounded() throws {
        var rules = LoopRules()
        rules.submissions = 7
        rules.noImprovement = 100
        var bench = try started(rules)
        var exams = 0
        for seed in 1...20 where bench.ended == nil {
            try bench.submit(seed)
            while bench.exam != nil {
                exams += 1
                try bench.endExam(Bench.voided(sealed))
            }
            try bench.tick(2_000)
        }
        #expect(bench.ended == .submissionsSpent)
        #expect(exams == 7)
        #expect(bench.rows.filter { $0.kind == "decision" }.count == 4)
        #expect(try CampaignState(replaying: bench.rows) == bench.machine.state)
    }

    @Test("candidates that void every exam end the run as one that does not improve")
    func voidsDoNotImprove() throws {
        var bench = try started()
        for seed in 1...5 {
            try bench.submit(seed)
            for _ in 0..<2 { try bench.endExam(Bench.voided(sealed)) }
            try bench.tick(2_000)
        }
        #expect(bench.ended == .noImprovement)
    }

    @Test("an exam that was voided once and then passes is accepted")
    func voidedOnce() throws {
        var bench = try started()
        try bench.submit(1)
        try bench.endExam(Bench.voided(sealed))
        try bench.endExam(passing: Set(sealed))
        try bench.endExam(passing: [])
        try bench.tick(2_000)
        #expect(bench.lastReply(2)["verdict"] == "accepted")
    }

    @Test("a reverted file is the best candidate's")
    func revert() throws {
        var bench = try acceptedOnce()
        try bench.request(#"{"verb":"revert"}"#)
        #expect(bench.lastReply(1)["digest"] == .string(Bench.digest(1).hex))
        #expect(bench.rows.last?.kind == "revert")
        #expect(!bench.isFrozen)
    }

    @Test("a revert of the file that lies there already leaves no row")
    func revertsNothing() throws {
        var bench = try acceptedOnce()
        bench.isFileChanged = false
        let rows = bench.rows.count
        for _ in 0..<2_000 { try bench.request(#"{"verb":"revert"}"#) }
        #expect(bench.lastReply(1)["ok"] == true)
        #expect(bench.rows.count == rows)
    }

    @Test("reverts have a budget")
    func revertBudget() throws {
        var rules = LoopRules()
        rules.reverts = 3
        var bench = try started(rules)
        for _ in 0..<4 { try bench.request(#"{"verb":"revert"}"#) }
        #expect(bench.lastReply(1)["error"]?["code"] == "revert-budget")
        #expect(bench.rows.filter { $0.kind == "revert" }.count == 3)
    }

    @Test("a file that cannot be replaced is a refusal, and the run goes on")
    func revertRefused() throws {
        var bench = try started()
        try bench.send(.request(ConnectionID(1), Array(#"{"verb":"revert"}"#.utf8)))
        #expect(bench.isFrozen && bench.pendingRestore)
        bench.pendingRestore = false
        try bench.request(#"{"verb":"diff"}"#, from: 2)
        #expect(bench.lastReply(2)["error"]?["code"] == "busy")
        try bench.send(.snapshotRefused(code: "not-replaceable", reason: "r", remedy: "m"))
        #expect(bench.lastReply(1)["error"]?["code"] == "not-replaceable")
        #expect(bench.rows.last?.body["layer"] == "snapshot")
        #expect(!bench.isFrozen && bench.ended == nil)
        try bench.request(#"{"verb":"revert"}"#)
        #expect(bench.lastReply(1)["ok"] == true)
    }

    @Test("short notes are as few as they may be, though all together are small")
    func manyLearnings() throws {
        var bench = try started()
        for _ in 0..<AgentRequest.mostLearnings {
            try bench.request(#"{"verb":"learn","text":"n"}"#)
        }
        #expect(bench.lastReply(1)["ok"] == true)
        try bench.request(#"{"verb":"learn","text":"n"}"#)
        #expect(bench.lastReply(1)["error"]?["code"] == "learnings-full")
    }

    @Test("notes are capped one by one and all together")
    func learnings() throws {
        var bench = try started()
        let note = String(repeating: "n", count: 4096)
        for _ in 0..<16 {
            try bench.request(#"{"verb":"learn","text":"\#(note)"}"#)
            #expect(bench.lastReply(1)["ok"] == true)
        }
        try bench.request(#"{"verb":"learn","text":"n"}"#)
        #expect(bench.lastReply(1)["error"]?["code"] == "learnings-full")
        #expect(bench.machine.state.usage.learningBytes == 65_536)
    }

    @Test("the parts of typed notes count against the room of all notes")
    func typedLearnings() throws {
        var bench = try started()
        let part = String(repeating: "n", count: 1_024)
        let typed =
            #"{"verb":"learn","tried":"\#(part)","happened":"\#(part)","pattern":"\#(part)","#
            + #""needs":"\#(part)"}"#
        for _ in 0..<16 {
            try bench.request(typed)
            #expect(bench.lastReply(1)["ok"] == true)
        }
        try bench.request(#"{"verb":"learn","needs":"n"}"#)
        #expect(bench.lastReply(1)["error"]?["code"] == "learnings-full")
        #expect(bench.machine.state.usage.learningBytes == 65_536)
        #expect(try CampaignState(replaying: bench.rows) == bench.machine.state)
        #expect(bench.machine.state.learnings.first?.note.parts[.needs] == part)
    }

    @Test("status tells released figures and what is left")
    func status() throws {
        var bench = try acceptedOnce()
        try bench.request(#"{"verb":"status"}"#)
        #expect(bench.lastReply(1)["best_released"] == 0.75)
        #expect(bench.lastReply(1)["iteration"] == 1)
        #expect(bench.lastReply(1)["budget"]?["iterations_left"] == 49)
        #expect(bench.statuses == 1)
    }

    @Test("looks cost the supervisor time and have a budget, which an exam fills again")
    func looks() throws {
        var rules = LoopRules()
        (rules.statuses, rules.differences) = (3, 2)
        var bench = try started(rules)
        for (verb, most) in [("status", 3), ("diff", 2)] {
            for _ in 0..<most {
                try bench.request(#"{"verb":"\#(verb)"}"#)
                #expect(bench.lastReply(1)["error"] == nil)
            }
            try bench.request(#"{"verb":"\#(verb)"}"#, from: 2)
            #expect(bench.lastReply(2)["error"]?["code"] == "look-budget")
        }
        try bench.request(#"{"verb":"train"}"#)
        try bench.snapshot(1)
        try bench.endExam(passing: [])
        let before = bench.rows.count
        for verb in ["status", "diff"] { try bench.request(#"{"verb":"\#(verb)"}"#) }
        #expect(bench.rows.count == before)
    }

    @Test("each word of the gate is one of the rows'")
    func verdicts() throws {
        let score = try Bench.results(sealed, passing: []).mean()
        let words: [(GateDecision, Verdict)] = [
            (.accept(score, []), .accepted), (.reject(.suite, []), .rejected), (.void([]), .void),
        ]
        for (decision, verdict) in words {
            #expect(Verdict(rawValue: decision.verdict) == verdict)
        }
    }

    @Test("a state without a genesis or a baseline cannot run")
    func notPrepared() throws {
        #expect(throws: LoopError.self) {
            try LoopMachine(state: CampaignState(), rules: LoopRules())
        }
        let half = try CampaignState(replaying: try Bench.prepared().prefix(1))
        #expect(throws: LoopError.self) { try LoopMachine(state: half, rules: LoopRules()) }
    }

    @Test("an event that cannot happen is refused and changes nothing")
    func impossible() throws {
        var bench = try started()
        let before = bench.machine
        #expect(throws: LoopError.self) { try bench.endExam(passing: []) }
        #expect(throws: LoopError.self) { try bench.send(.examCancelled) }
        #expect(throws: LoopError.self) { try bench.snapshot(1) }
        #expect(bench.machine == before)
        try bench.submit(1)
        #expect(throws: LoopError.self) { try bench.endExam(Bench.results(train, passing: [])) }
    }
}

extension Bench {
    /// Accepts candidate 1, which fixes the third and fourth train task.
    mutating func acceptFirst() throws {
        try submit(1)
        try endExam(passing: Set(Self.sealed.prefix(3)))
        try endExam(passing: [Self.train[2], Self.train[3]])
        try tick(2_000)
    }
}
