import ExamResults
import IterationLoop
import StrictJSON
import Testing
import Workspace

@Suite("The coding agent's requests")
struct AgentRequestTests {
    private func parse(_ text: String) throws(RequestRefusal) -> AgentRequest {
        try AgentRequest(parsing: Array(text.utf8), train: Set(Bench.train))
    }

    private func refusal(_ text: String) -> RequestRefusal? {
        do throws(RequestRefusal) {
            _ = try parse(text)
            return nil
        } catch {
            return error
        }
    }

    @Test("every verb of the table is read")
    func verbs() throws {
        #expect(try parse(#"{"verb":"train"}"#) == .train(tasks: nil))
        #expect(
            try parse(#"{"verb":"train","task_ids":["train-2","train-1","train-2"]}"#)
                == .train(tasks: [Bench.train[0], Bench.train[1]])
        )
        #expect(try parse(#"{"verb":"result","ticket":"T3"}"#) == .result(ticket: "T3"))
        #expect(try parse(#"{"verb":"result"}"#) == .result(ticket: nil))
        let note = LearningNote(text: "a\nb\tü")
        #expect(try parse(#"{"verb":"learn","text":"a\nb\tü"}"#) == .learn(note))
        #expect(try parse(#"{"verb":"status"}"#) == .status)
        #expect(try parse(#"{"verb":"revert"}"#) == .revert)
        #expect(try parse(#"{"verb":"diff"}"#) == .diff)
        let manifest = AgentRequest.Manifest(
            hypothesis: "ask first",
            targetCluster: "refunds",
            expectedFixes: [Bench.train[0]],
            tasksAtRisk: []
        )
        let text = #"""
            {"verb":"submit","manifest":{"hypothesis":"ask first","target_cluster":"refunds",
             "expected_fixes":["train-1"],"tasks_at_risk":[]}}
            """#
        #expect(try parse(text) == .submit(manifest))
        #expect(try parse(#"{"verb":"submit"}"#) == .submit(nil))
    }

    @Test("a note has typed parts, free text, or both")
    func typedNote() throws {
        let text = #"""
            {"verb":"learn","tried":"ask first","happened":"worse","pattern":"haste",
             "needs":"a price list"}
            """#
        let parts: [LearningNote.Part: String] = [
            .tried: "ask first", .happened: "worse", .pattern: "haste", .needs: "a price list",
        ]
        #expect(try parse(text) == .learn(LearningNote(text: nil, parts: parts)))
        let both = LearningNote(text: "why", parts: [.pattern: "haste"])
        #expect(try parse(#"{"verb":"learn","text":"why","pattern":"haste"}"#) == .learn(both))
    }

    @Test("the parts of a note are counted together, and none may be empty or unknown")
    func typedNoteSizes() throws {
        let half = String(repeating: "n", count: 2_048)
        let fits = #"{"verb":"learn","tried":"\#(half)","happened":"\#(half)"}"#
        guard case .learn(let note) = try parse(fits) else {
            Issue.record("no note")
            return
        }
        #expect(note.byteCount == AgentRequest.learningLimit)
        let over = #"{"verb":"learn","tried":"\#(half)","happened":"\#(half)","text":"n"}"#
        #expect(refusal(over)?.code == "too-long")
        #expect(refusal(#"{"verb":"learn"}"#)?.code == "too-long")
        #expect(refusal(#"{"verb":"learn","text":"a","needs":""}"#)?.code == "too-long")
        #expect(refusal(#"{"verb":"learn","tried":"a\u001b[2J"}"#)?.code == "not-plain")
        #expect(refusal(#"{"verb":"learn","tried":"a","score":"1"}"#)?.layer == .requestTable)
    }

    @Test("C01: a typed score is refused by the rule that only the supervisor writes")
    func typedScore() {
        let found = refusal(#"{"verb":"record","fields":{"val-score":"0.99","evals-passed":"9"}}"#)
        #expect(found?.layer == .ledgerWriters)
        #expect(found?.attempt == "record evals-passed=9 val-score=0.99")
    }

    @Test("A01, A02: the test split, a sealed task and an unknown task are refused alike")
    func sealedTasks() {
        #expect(refusal(#"{"verb":"test"}"#)?.layer == .vault)
        let sealed = refusal(#"{"verb":"train","task_ids":["sealed-1"]}"#)
        let unknown = refusal(#"{"verb":"train","task_ids":["nothing-1"]}"#)
        #expect(sealed?.layer == .vault)
        #expect(
            sealed?.reason.replacing("sealed-1", with: "x")
                == unknown?.reason.replacing("nothing-1", with: "x")
        )
        let hidden =
            #"{"verb":"submit","manifest":{"hypothesis":"h","expected_fixes":["sealed-1"]}}"#
        #expect(refusal(hidden)?.layer == .vault)
    }

    @Test(
        "anything outside the table is refused by the table",
        arguments: [
            "", "[]", "{}", #"{"verb":7}"#, #"{"verb":"sudo"}"#,
            #"{"verb":"train","split":"test"}"#,
            #"{"verb":"train","task_ids":"train-1"}"#, #"{"verb":"train","task_ids":[]}"#,
            #"{"verb":"train","verb":"status"}"#,
            #"{"verb":"submit","manifest":{}}"#, #"{"verb":"submit","manifest":{"hypothesis":""}}"#,
            #"{"verb":"submit","manifest":{"hypothesis":"h","score":1}}"#,
            #"{"verb":"result","ticket":"T3T3T3T3T3T3T3T3T3"}"#, #"{"verb":"learn","text":""}"#,
            #"{"verb":"learn","text":"a\u001b[2Jb"}"#, #"{"verb":"learn","text":"a\u202eb"}"#,
            #"{"verb":"status","x":1}"#,
        ]
    )
    func malformed(text: String) {
        #expect(refusal(text)?.layer == .requestTable)
    }

    @Test("a note and a manifest have sizes")
    func sizes() {
        let note = String(repeating: "n", count: 4097)
        #expect(refusal(#"{"verb":"learn","text":"\#(note)"}"#)?.code == "too-long")
        let tasks = Array(repeating: #""train-1""#, count: 2_000).joined(separator: ",")
        let manifest = #"{"hypothesis":"h","expected_fixes":[\#(tasks)]}"#
        #expect(refusal(#"{"verb":"submit","manifest":\#(manifest)}"#)?.code == "too-long")
    }

    @Test("a refusal shows what was tried without repeating hostile bytes")
    func printable() {
        let found = refusal(#"{"verb":"train","task_ids":["\u001b]0;owned\u0007<b>"]}"#)
        #expect(found?.attempt.utf8.allSatisfy { (0x20..<0x7F).contains($0) } == true)
    }
}
