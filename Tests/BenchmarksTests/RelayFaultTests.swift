import Benchmarks
import ExamResults
import StrictJSON
import Testing

@Suite("The relay against a candidate that breaks the rules")
struct RelayCandidateFaultTests {
    @Test(
        "anything but the protocol in the candidate's own turn fails the rollout at once",
        arguments: [
            (#"{"type":"ready"}"#, CandidateFault.outOfTurn), ("{", .badFrame),
            (#"{"type":"verdict","session":"00000000000000aa","task":"t","reward":1}"#, .badFrame),
            (#"{"type":"reply","text":"a","text":"b"}"#, .badFrame),
            (#"{"type":"reply","text":NaN}"#, .badFrame), (#"{"type":"abstain"}"#, .abstained),
        ]
    )
    func inTurn(payload: String, fault: CandidateFault) throws {
        var bench = try RelayBench()
        try bench.open()
        let actions = bench.candidate(payload)
        #expect(actions.suffix(3) == [.withdrawVerdict, .closeCandidate, .end(.failed(fault))])
        #expect(try bench.toExaminer().last?["type"] == "gone")
        #expect(
            try bench.toExaminer().last?["reason"] == (fault == .abstained ? "abstain" : "fault")
        )
        #expect(!bench.isVoid)
    }

    @Test("a frame before ready, and one while the examiner is at work, are out of turn")
    func outOfTurn() throws {
        var early = try RelayBench()
        try early.start()
        early.candidate(#"{"type":"log","text":"x"}"#)
        #expect(early.outcomes == [.failed(.outOfTurn)])

        var twice = try RelayBench()
        try twice.open()
        twice.candidate(#"{"type":"reply","text":"a"}"#)
        #expect(twice.candidate(#"{"type":"reply","text":"b"}"#) == [.closeCandidate])
        try twice.turn()
        #expect(twice.outcomes == [.failed(.outOfTurn)])
        #expect(try twice.toExaminer().filter { $0["type"] == "reply" }.count == 1)
    }

    @Test("a breach after the last word costs the reward and voids nothing")
    func breachBeforeStop() throws {
        var bench = try RelayBench()
        try bench.open()
        bench.candidate(#"{"type":"reply","text":"a"}"#)
        bench.candidate(#"{"type":"reply","text":"b"}"#)
        try bench.examiner("stop")
        bench.send(.verdict(.one))
        #expect(bench.outcomes == [.failed(.outOfTurn)])
        #expect(!bench.isVoid)
        #expect(!bench.actions.contains(.withdrawVerdict))
    }

    @Test("a process that ends in its turn fails; one that ends after its last word does not")
    func exits() throws {
        var early = try RelayBench()
        try early.open()
        early.send(.candidateClosed)
        #expect(early.outcomes.isEmpty)
        early.send(.candidateFailed(.outOfMemory))
        #expect(early.outcomes == [.failed(.outOfMemory)])

        var late = try RelayBench()
        try late.open()
        late.candidate(#"{"type":"reply","text":"a"}"#)
        late.send(.candidateFailed(.exited))
        try late.examiner("stop")
        late.send(.verdict(.one))
        #expect(late.outcomes == [.graded(.one)])

        var awaited = try RelayBench()
        try awaited.open()
        awaited.candidate(#"{"type":"reply","text":"a"}"#)
        awaited.send(.candidateFailed(.exited))
        try awaited.turn()
        #expect(awaited.outcomes == [.failed(.exited)])
        #expect(try awaited.toExaminer().last?["type"] == "gone")
    }

    @Test(
        "a candidate that is dead before the session starts fails it, and a late turn is harmless"
    )
    func deadAtStart() throws {
        var bench = try RelayBench()
        bench.send(.candidateFailed(.exited))
        #expect(bench.outcomes.isEmpty)
        try bench.start()
        try bench.turn()
        #expect(bench.outcomes == [.failed(.exited)])
        #expect(!bench.isVoid)
        #expect(try bench.toCandidate().isEmpty)
    }

    @Test("B22: one turn more than allowed fails the rollout")
    func turns() throws {
        var bench = try RelayBench(turns: 2)
        try bench.open()
        for _ in 0..<2 {
            bench.candidate(#"{"type":"reply","text":"a"}"#)
            try bench.turn()
        }
        #expect(bench.outcomes == [.failed(.tooManyTurns)])
    }

    @Test("too many frames and too many bytes fail the rollout for output")
    func output() throws {
        var frames = try RelayBench()
        try frames.open()
        for _ in 0..<2_000 { frames.candidate(#"{"type":"log","text":""}"#) }
        #expect(frames.outcomes == [.failed(.output)])
        var bytes = try RelayBench()
        try bytes.open()
        for _ in 0..<17 { bytes.send(.candidateBytes(Array(repeating: 0x20, count: 1 << 20))) }
        #expect(bytes.outcomes.count == 1)
    }

    @Test("what a candidate writes after done or after the end changes nothing")
    func afterTheEnd() throws {
        var bench = try RelayBench()
        try bench.open()
        bench.candidate(#"{"type":"done"}"#)
        for payload in ["{", #"{"type":"done"}"#, #"{"type":"abstain"}"#] {
            #expect(bench.candidate(payload).isEmpty)
        }
        #expect(bench.send(.candidateFailed(.violation)).isEmpty)
        try bench.examiner("stop")
        bench.send(.verdict(.one))
        #expect(bench.outcomes == [.graded(.one)])
        #expect(bench.candidate("{").isEmpty)
    }
}

@Suite("The relay against an examiner that breaks the rules")
struct RelayExaminerFaultTests {
    private func expectVoid(_ bench: RelayBench) {
        #expect(bench.isVoid)
        #expect(bench.outcomes == [.voided(.badExaminerFrame)])
    }

    @Test("frames out of order void the exam")
    func order() throws {
        var turnFirst = try RelayBench()
        try turnFirst.turn()
        expectVoid(turnFirst)
        var startTwice = try RelayBench()
        try startTwice.start()
        try startTwice.start()
        expectVoid(startTwice)
        var turnTwice = try RelayBench()
        try turnTwice.open()
        try turnTwice.turn()
        expectVoid(turnTwice)
        var stopInTurn = try RelayBench()
        try stopInTurn.open()
        try stopInTurn.examiner("stop")
        expectVoid(stopInTurn)
        var stopAtOnce = try RelayBench()
        try stopAtOnce.start()
        stopAtOnce.candidate(#"{"type":"ready"}"#)
        try stopAtOnce.examiner("stop")
        expectVoid(stopAtOnce)
    }

    @Test("a result or a tool message that answers no open call voids the exam")
    func wrongCall() throws {
        var result = try RelayBench()
        try result.open()
        result.candidate(#"{"type":"tool","id":"x","name":"f","arguments":{}}"#)
        try result.examiner("tool_result", #","id":"x","content":"""#)
        expectVoid(result)
        var message = try RelayBench()
        try message.open()
        message.candidate(
            #"{"type":"reply","tool_calls":[{"id":"x","name":"f","arguments":{}}]}"#
        )
        let answer = #"{"role":"tool","id":"call-1","content":""}"#
        try message.examiner("turn", #","messages":[\#(answer),\#(answer)]"#)
        expectVoid(message)
    }

    @Test("a second stop after the outcome voids the exam without a second outcome")
    func afterTheEnd() throws {
        var bench = try RelayBench()
        try bench.open()
        bench.candidate(#"{"type":"done"}"#)
        try bench.examiner("stop")
        bench.send(.verdict(.one))
        try bench.examiner("stop")
        #expect(bench.outcomes == [.graded(.one)])
        #expect(bench.actions.last == .voidExam(.badExaminerFrame))
    }

    @Test("an examiner that dies voids an open session")
    func dies() throws {
        var bench = try RelayBench()
        try bench.open()
        bench.send(.noVerdict)
        #expect(bench.outcomes == [.voided(.examinerDied)])
    }
}
