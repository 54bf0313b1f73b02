import Benchmarks
import ExamResults
import StrictJSON
import Testing

/// A relay with what it has done so far.
struct RelayBench {
    let session = SessionID(random: 0xAA)
    var relay: RolloutRelay
    var actions: [RelayAction] = []
    var time: Int64 = 0

    init(split: Split = .train, turns: Int = 10) throws {
        relay = RolloutRelay(
            session: session,
            task: try TaskID("t"),
            split: split,
            limits: SessionLimits(turns: turns, seconds: 60)
        )
        actions = relay.begin(seed: 7)
    }

    @discardableResult
    mutating func send(_ event: RelayEvent) -> [RelayAction] {
        time += 1
        let more = relay.event(event, at: time)
        actions += more
        return more
    }

    @discardableResult
    mutating func candidate(_ payload: String) -> [RelayAction] {
        send(.candidateBytes(rawFrame(payload)))
    }

    @discardableResult
    mutating func examiner(_ type: String, _ members: String = "") throws -> [RelayAction] {
        let text = #"{"type":"\#(type)","session":"\#(session.hex)"\#(members)}"#
        return send(.examiner(try ExaminerFrame(try json(text)), bytes: 4 + text.utf8.count))
    }

    mutating func start() throws {
        try examiner(
            "start",
            #","kind":"c","policy":"p","tools":[],"limits":{"turns":10,"seconds":20},"history":[]"#
        )
    }

    mutating func turn(_ text: String = "hi") throws {
        try examiner("turn", #","messages":[{"role":"user","content":"\#(text)"}]"#)
    }

    /// Brings the rollout to the candidate's first turn.
    mutating func open() throws {
        try start()
        candidate(#"{"type":"ready"}"#)
        try turn()
    }

    var outcomes: [TaskOutcome] {
        actions.compactMap { if case .end(let outcome) = $0 { outcome } else { nil } }
    }

    func types(of pick: (RelayAction) -> [UInt8]?) throws -> [String] {
        try actions.compactMap(pick).flatMap(payloads).compactMap { $0["type"]?.stringValue }
    }

    func toCandidate() throws -> [JSONValue] {
        try actions.compactMap { if case .toCandidate(let bytes) = $0 { bytes } else { nil } }
            .flatMap(payloads)
    }

    func toExaminer() throws -> [JSONValue] {
        try actions.compactMap { if case .toExaminer(let bytes) = $0 { bytes } else { nil } }
            .flatMap(payloads)
    }

    var isVoid: Bool {
        actions.contains { if case .voidExam = $0 { true } else { false } }
    }
}

@Suite("The relay of a well-behaved rollout")
struct RelayConversationTests {
    @Test("a conversation with a tool call and calls in a reply ends graded")
    func whole() throws {
        var bench = try RelayBench()
        try bench.open()
        bench.candidate(#"{"type":"log","text":"thinking"}"#)
        bench.candidate(#"{"type":"tool","id":"mine","name":"f","arguments":{"x":1}}"#)
        try bench.examiner("tool_result", #","id":"call-1","content":"42","error":false"#)
        bench.candidate(
            #"{"type":"reply","tool_calls":[{"id":"p","name":"g","arguments":{}},{"id":"q","name":"h","arguments":{}}]}"#
        )
        try bench.examiner(
            "turn",
            #","messages":[{"role":"tool","id":"call-3","content":"b"},{"role":"tool","id":"call-2","name":"g","content":"a","error":true}]"#
        )
        bench.candidate(#"{"type":"reply","text":"bye"}"#)
        try bench.examiner("stop")
        #expect(bench.outcomes.isEmpty)
        bench.send(.verdict(.half))
        #expect(bench.outcomes == [.graded(.half)])
        #expect(!bench.isVoid)
        let toCandidate = try bench.toCandidate()
        #expect(
            toCandidate.compactMap { $0["type"]?.stringValue }
                == ["init", "turn", "tool_result", "turn", "stop"]
        )
        #expect(toCandidate[2]["id"] == "mine")
        #expect(toCandidate[3]["messages"]?.arrayValue?.map { $0["id"] } == ["q", "p"])
        let toExaminer = try bench.toExaminer()
        #expect(
            toExaminer.compactMap { $0["type"]?.stringValue } == [
                "begin", "tool", "reply", "reply",
            ]
        )
        #expect(toExaminer[1]["id"] == "call-1")
        #expect(toExaminer.allSatisfy { $0["session"] == .string(bench.session.hex) })
        #expect(bench.actions.filter { $0 == .closeCandidate }.count == 1)
        #expect(!bench.actions.contains(.withdrawVerdict))
    }

    @Test(
        "B20, B28: the task's name never reaches the candidate, and its limits are the narrower ones"
    )
    func initFrame() throws {
        var bench = try RelayBench(turns: 4)
        try bench.start()
        let start = try #require(try bench.toCandidate().first)
        #expect(start["limits"] == ["turns": 4, "seconds": 20])
        #expect(
            start.objectValue?.keys.sorted()
                == ["history", "kind", "limits", "policy", "session", "tools", "type"]
        )
        #expect(bench.actions.contains(.startClock(seconds: 20)))
        #expect(
            try bench.toExaminer()[0] == [
                "type": "begin", "session": .string(bench.session.hex), "task": "t", "seed": 7,
            ]
        )
    }

    @Test("a turn that comes before the candidate is ready waits for it")
    func earlyTurn() throws {
        var bench = try RelayBench()
        try bench.start()
        try bench.turn()
        #expect(try bench.toCandidate().count == 1)
        #expect(bench.relay.awaitsCandidate)
        bench.candidate(#"{"type":"ready"}"#)
        #expect(try bench.toCandidate().last?["type"] == "turn")
    }

    @Test("a verdict that is read before stop counts after it")
    func earlyVerdict() throws {
        var bench = try RelayBench()
        try bench.open()
        bench.candidate(#"{"type":"done"}"#)
        bench.send(.verdict(.one))
        #expect(bench.outcomes.isEmpty)
        try bench.examiner("stop")
        #expect(bench.outcomes == [.graded(.one)])
    }

    @Test("a session without a verdict is missing")
    func missing() throws {
        var bench = try RelayBench()
        try bench.open()
        bench.candidate(#"{"type":"done"}"#)
        try bench.examiner("stop")
        bench.send(.noVerdict)
        #expect(bench.outcomes == [.missing])
    }

    @Test("a train rollout is recorded, cleaned and stamped; a sealed one is not recorded")
    func transcript() throws {
        for split in Split.allCases {
            var bench = try RelayBench(split: split)
            try bench.open()
            bench.candidate(#"{"type":"log","text":"a\u001b[2J"}"#)
            bench.candidate(#"{"type":"tool","id":"x","name":"f","arguments":{"k":"\u202e"}}"#)
            try bench.examiner("tool_result", #","id":"call-1","content":"r","error":true"#)
            bench.candidate(#"{"type":"abstain"}"#)
            let entries = bench.relay.transcript
            guard split == .train else {
                #expect(entries.isEmpty)
                continue
            }
            #expect(entries.map(\.role) == ["user", "log", "assistant", "tool", "note"])
            #expect(entries.map(\.index) == [0, 1, 2, 3, 4])
            #expect(entries.map(\.time) == entries.map(\.time).sorted())
            #expect(entries[1].content == "a\u{FFFD}[2J")
            #expect(entries[2].toolCalls[0].arguments == ["k": "\u{FFFD}"])
            #expect(
                entries[3].json
                    == [
                        "index": 3, "time": 6, "role": "tool", "content": "r", "id": "x",
                        "error": true,
                    ]
            )
        }
    }

    @Test("the files of all traces of an exam fit in their room, whatever candidates write")
    func sharedTranscripts() throws {
        var deep = String(repeating: "[", count: 12) + String(repeating: "1,", count: 2_000) + "1"
        deep += String(repeating: "]", count: 12)
        var bytes = 0
        for _ in 0..<69 {
            var bench = try RelayBench()
            bench.relay.shareTranscripts(among: 69)
            try bench.open()
            for call in 1...20 {
                bench.candidate(#"{"type":"tool","id":"x","name":"f","arguments":{"a":\#(deep)}}"#)
                try bench.examiner(
                    "tool_result",
                    #","id":"call-\#(call)","content":"","error":false"#
                )
            }
            let file = JSONValue.array(bench.relay.transcript.map(\.json)).prettyText()
            #expect(bench.relay.transcript.last?.role == "note")
            bytes += file.utf8.count
        }
        #expect(bytes <= 48 << 20)
        #expect(bytes > 40 << 20, "the instrument writes as much as it can")
    }

    @Test("a transcript stops growing and says so")
    func fullTranscript() throws {
        var bench = try RelayBench()
        try bench.open()
        let line = String(repeating: "x", count: 60_000)
        for _ in 0..<100 { bench.candidate(#"{"type":"log","text":"\#(line)"}"#) }
        let bytes = bench.relay.transcript.reduce(0) { $0 + $1.content.utf8.count }
        #expect(bytes < 5 << 20)
        #expect(bench.relay.transcript.last?.role == "note")
        #expect(bench.outcomes.isEmpty)
    }
}
