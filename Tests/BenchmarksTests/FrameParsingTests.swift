import Benchmarks
import ExamResults
import StrictJSON
import Testing

@Suite("Candidate frames")
struct CandidateFrameTests {
    @Test("every type is read")
    func reads() throws {
        #expect(try CandidateFrame(["type": "ready"]) == .ready)
        #expect(try CandidateFrame(["type": "done"]) == .done)
        #expect(try CandidateFrame(["type": "abstain"]) == .abstain)
        #expect(try CandidateFrame(["type": "log", "text": "x"]) == .log("x"))
        #expect(try CandidateFrame(["type": "reply", "text": ""]) == .reply(.text("")))
        let call: JSONValue = ["id": "1", "name": "f", "arguments": ["a": [1, nil]]]
        guard
            case .reply(.toolCalls(let calls)) = try CandidateFrame(
                ["type": "reply", "tool_calls": [call]]
            )
        else {
            Issue.record("no calls")
            return
        }
        #expect(calls.map(\.json) == [call])
        guard
            case .tool(let single) = try CandidateFrame(
                try json(
                    #"{"type":"tool","id":"1","name":"f","arguments":{}}"#
                )
            )
        else {
            Issue.record("no call")
            return
        }
        #expect(single.arguments.isEmpty)
    }

    @Test(
        "anything else is refused",
        arguments: [
            "[]", "{}", #"{"type":1}"#, #"{"type":"verdict","session":"00"}"#, #"{"type":"READY"}"#,
            #"{"type":"ready","x":1}"#, #"{"type":"reply"}"#, #"{"type":"reply","text":1}"#,
            #"{"type":"reply","text":"a","tool_calls":[]}"#,
            #"{"type":"reply","text":"a","tool_calls":[{"id":"1","name":"f","arguments":{}}]}"#,
            #"{"type":"reply","tool_calls":[]}"#, #"{"type":"reply","tool_calls":{}}"#,
            #"{"type":"reply","tool_calls":[{"id":"1","name":"f","arguments":"{}"}]}"#,
            #"{"type":"reply","tool_calls":[{"id":"1","name":"f"}]}"#,
            #"{"type":"reply","tool_calls":[{"id":"","name":"f","arguments":{}}]}"#,
            #"{"type":"reply","tool_calls":[{"id":"1","name":"f g","arguments":{}}]}"#,
            #"{"type":"reply","tool_calls":[{"id":"1","name":"é","arguments":{}}]}"#,
            #"{"type":"reply","tool_calls":[{"id":"1","name":"f","arguments":{},"requestor":"user"}]}"#,
            #"{"type":"reply","tool_calls":[{"id":"1","name":"f","arguments":{}},{"id":"1","name":"g","arguments":{}}]}"#,
            #"{"type":"log","text":"a","level":1}"#, #"{"type":"init"}"#, #"{"type":"stop"}"#,
            #"{"type":"tool","id":"1","name":"f","arguments":[]}"#,
        ]
    )
    func refuses(text: String) throws {
        let value = try json(text)
        #expect(throws: FrameError.self) { try CandidateFrame(value) }
    }

    @Test("texts above their limits are refused")
    func limits() {
        let long = String(repeating: "x", count: CandidateFrame.maximumTextBytes + 1)
        #expect(throws: FrameError.self) {
            try CandidateFrame(["type": "reply", "text": .string(long)])
        }
        #expect(throws: FrameError.self) {
            try CandidateFrame(["type": "log", "text": .string(long)])
        }
        #expect(throws: FrameError.self) {
            try CandidateFrame(["type": .string(long)])
        }
    }
}

@Suite("Examiner frames and verdicts")
struct ExaminerFrameTests {
    static let start = #"""
        {"type":"start","session":"00000000000000aa","kind":"chat","policy":"p","tools":[{"type":
        "function"}],"limits":{"turns":3,"seconds":2.5},"history":[{"role":"user","content":"hi"},
        {"role":"assistant","content":"","tool_calls":[{"id":"x","name":"f","arguments":{}}]},
        {"role":"tool","id":"x","content":"1"}]}
        """#

    @Test("a start is read with its limits and history")
    func readsStart() throws {
        guard case .start(let session, let start) = try ExaminerFrame(try json(Self.start)) else {
            Issue.record("no start")
            return
        }
        #expect(session == SessionID(random: 0xAA))
        #expect(start.limits == SessionLimits(turns: 3, seconds: 2.5))
        #expect(start.history.map(\.role) == [.user, .assistant, .tool])
        #expect(start.history[1].toolCalls.map(\.name) == ["f"])
    }

    @Test(
        "anything else is refused",
        arguments: [
            #"{"type":"hello","benchmark":"h"}"#, #"{"type":"hello","benchmark":"h","version":0}"#,
            #"{"type":"stop","session":"00000000000000AA"}"#, #"{"type":"stop","session":"aa"}"#,
            #"{"type":"turn","session":"00000000000000aa","messages":[]}"#,
            #"{"type":"turn","session":"00000000000000aa","messages":[{"role":"system","content":"x"}]}"#,
            #"{"type":"turn","session":"00000000000000aa","messages":[{"role":"assistant","content":"x"}]}"#,
            #"{"type":"turn","session":"00000000000000aa","messages":[{"role":"tool","content":"x"}]}"#,
            #"{"type":"turn","session":"00000000000000aa","messages":[{"role":"user","content":"x","id":"1"}]}"#,
            #"{"type":"turn","session":"00000000000000aa","messages":[{"role":"user","content":"x"}],"task":"t"}"#,
            #"{"type":"tool_result","session":"00000000000000aa","id":"1","content":"x","error":"no"}"#,
            #"{"type":"begin","session":"00000000000000aa"}"#, #"{"type":"verdict"}"#,
        ]
    )
    func refuses(text: String) throws {
        let value = try json(text)
        #expect(throws: FrameError.self) { try ExaminerFrame(value) }
    }

    @Test("the stream needs hello of the right benchmark first, once")
    func hello() throws {
        let hello = rawFrame(#"{"type":"hello","benchmark":"b","version":2}"#)
        let stop = rawFrame(#"{"type":"stop","session":"00000000000000aa"}"#)
        func stream() -> ExaminerStream {
            ExaminerStream(benchmark: "b", version: 2, limits: .examiner(sessions: 1))
        }
        var good = stream()
        #expect(try good.receive(hello).isEmpty)
        #expect(good.isReady)
        #expect(try good.receive(stop).map(\.frame) == [.stop(SessionID(random: 0xAA))])
        #expect(throws: FrameError.self) { try good.receive(hello) }
        var silent = stream()
        #expect(throws: FrameError.self) { try silent.receive(stop) }
        for other in [#""a","version":2"#, #""b","version":3"#] {
            var wrong = stream()
            #expect(throws: FrameError.self) {
                try wrong.receive(rawFrame(#"{"type":"hello","benchmark":"# + other + "}"))
            }
        }
    }

    @Test(
        "a verdict that is none is refused",
        arguments: ["1.5", "-0.1", "true", "\"1\"", "null", "NaN", "1e999"]
    )
    func badVerdicts(reward: String) throws {
        let text =
            #"{"type":"verdict","session":"00000000000000aa","task":"t","reward":"# + reward + "}"
        #expect(throws: (any Error).self) { try VerdictFrame(try json(text)) }
    }
}

@Suite("Session names")
struct SessionIDTests {
    @Test("are 16 lower-case hexadecimal digits")
    func names() throws {
        #expect(SessionID(random: 1).hex == "0000000000000001")
        #expect(SessionID(random: .max).hex == "ffffffffffffffff")
        for bad in ["", "1", "000000000000000G", "000000000000000A", "00000000000000001"] {
            #expect(throws: FrameError.self) { try SessionID(hex: bad, location: "x") }
        }
    }
}

@Suite("Visible text")
struct VisibleTextTests {
    @Test("control, bidirectional and invisible characters are replaced, text stays")
    func cleans() {
        let hostile = "a\u{1B}[2J\r\u{202E}b\u{200B}\u{E0041}\u{0}é\n\t😀\u{2028}\u{FEFF}"
        let safe = "a\u{FFFD}[2J\u{FFFD}\u{FFFD}b\u{FFFD}\u{FFFD}\u{FFFD}é\n\t😀\u{FFFD}\u{FFFD}"
        #expect(VisibleText.cleaned(hostile, maximumBytes: 1_000) == safe)
    }

    @Test("a long text is cut between characters and marked")
    func cuts() {
        #expect(VisibleText.cleaned("éé", maximumBytes: 4) == "éé")
        #expect(VisibleText.cleaned("ééé", maximumBytes: 5) == "éé [cut]")
    }

    @Test("values are cleaned throughout, names included")
    func values() {
        let value: JSONValue = ["a\u{0}": ["x\u{7}", 1, ["b": "\u{202E}"]]]
        #expect(
            VisibleText.cleaned(value, maximumBytes: 10)
                == ["a\u{FFFD}": ["x\u{FFFD}", 1, ["b": "\u{FFFD}"]]]
        )
    }
}
