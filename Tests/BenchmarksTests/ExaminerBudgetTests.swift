import Benchmarks
import ExamResults
import StrictJSON
import Testing

/// An honest examiner's conversation channel over a whole exam, with what it was made to say.
private struct SaidAloud {
    var stream: ExaminerStream
    var frames = 0
    var bytes = 0

    init(sessions: Int) throws {
        stream = ExaminerStream(
            benchmark: "b",
            version: 1,
            limits: .examiner(sessions: sessions)
        )
        _ = try stream.receive(rawFrame(#"{"type":"hello","benchmark":"b","version":1}"#))
    }

    /// Says one frame in a session; a throw is an exam made void.
    mutating func say(_ type: String, _ members: String, in bench: inout RelayBench) throws {
        let frame = rawFrame(
            #"{"type":"\#(type)","session":"\#(bench.session.hex)"\#(members)}"#
        )
        frames += 1
        bytes += frame.count
        for sized in try stream.receive(frame) {
            #expect(sized.bytes == frame.count)
            bench.send(.examiner(sized.frame, bytes: sized.bytes))
        }
    }

    mutating func open(_ bench: inout RelayBench) throws {
        try say(
            "start",
            #","kind":"c","policy":"p","tools":[],"limits":{"turns":10,"seconds":20},"history":[]"#,
            in: &bench
        )
        try say("turn", #","messages":[{"role":"user","content":"hi"}]"#, in: &bench)
        bench.candidate(#"{"type":"ready"}"#)
    }

    /// Lets a candidate call tools until its rollout is over, and answers each call.
    mutating func answer(_ content: String, calls: Int, in bench: inout RelayBench) throws {
        for call in 1...calls where bench.outcomes.isEmpty {
            bench.candidate(#"{"type":"tool","id":"x","name":"f","arguments":{}}"#)
            guard bench.outcomes.isEmpty else { break }
            try say(
                "tool_result",
                #","id":"call-\#(call)","content":"\#(content)","error":false"#,
                in: &bench
            )
        }
        // An honest examiner acknowledges that the candidate is gone.
        try say("stop", "", in: &bench)
    }
}

@Suite("What candidates can make an examiner say")
struct ExaminerBudgetTests {
    @Test("calls beyond measure in every rollout end each rollout with 0 and void nothing")
    func everyRolloutCalls() throws {
        let sessions = 3
        var examiner = try SaidAloud(sessions: sessions)
        for _ in 0..<sessions {
            var bench = try RelayBench()
            try examiner.open(&bench)
            try examiner.answer("", calls: 2_500, in: &bench)
            #expect(bench.outcomes == [.failed(.output)])
            #expect(!bench.isVoid)
        }
        #expect(examiner.frames == sessions * FrameLimits.answerFrames)
        #expect(examiner.frames == sessions * (2_000 + 2))
    }

    @Test("long answers in every rollout end each rollout with 0 and void nothing")
    func everyRolloutAsksForMuch() throws {
        let sessions = 3
        var examiner = try SaidAloud(sessions: sessions)
        let long = String(repeating: "a", count: (1 << 20) - 200)
        for _ in 0..<sessions {
            var bench = try RelayBench()
            try examiner.open(&bench)
            try examiner.answer(long, calls: 100, in: &bench)
            #expect(bench.outcomes == [.failed(.output)])
            #expect(!bench.isVoid)
        }
        #expect(examiner.bytes > sessions * FrameLimits.answerBytes)
    }

    @Test("a stop that comes with too much before it gives no reward")
    func stopAfterTooMuch() throws {
        var bench = try RelayBench()
        try bench.open()
        bench.candidate(#"{"type":"done"}"#)
        let stop = ExaminerFrame.stop(bench.session)
        bench.send(.examiner(stop, bytes: FrameLimits.answerBytes))
        bench.send(.verdict(.one))
        #expect(bench.outcomes == [.failed(.output)])
    }

    @Test(
        "the examiner's limits hold what honest sessions can cost, and no more frames than these",
        arguments: [1, 2, 98, 10_000]
    )
    func arithmetic(sessions: Int) {
        let limits = FrameLimits.examiner(sessions: sessions)
        let candidate = FrameLimits.candidate
        // start, first turn, acknowledgement; an answer to each frame but ready; hello once.
        #expect(limits.frames == sessions * (3 + candidate.frames - 1) + 1)
        // One frame passes the limit, a turn may be on its way then, and the acknowledgement follows.
        let largest = 4 + limits.frameBytes
        #expect(
            limits.totalBytes == sessions * (FrameLimits.answerBytes + 3 * largest) + largest
        )
    }
}
