import Benchmarks
import ExamResults
import StrictJSON
import Testing

@Suite("The verdict collector")
struct VerdictCollectorTests {
    private let one = SessionID(random: 1)
    private let two = SessionID(random: 2)

    private func verdict(_ session: SessionID, _ task: String, _ reward: Double = 1) throws
        -> [UInt8]
    {
        try FrameEncoder.frame([
            "type": "verdict", "session": .string(session.hex), "task": .string(task),
            "reward": .number(reward), "detail": ["why": "x"],
        ])
    }

    private func collector(_ split: Split = .train) throws -> VerdictCollector {
        var collector = VerdictCollector(split: split, limits: .verdicts(sessions: 2))
        collector.begin(one, task: try TaskID("a"))
        collector.begin(two, task: try TaskID("b"))
        return collector
    }

    @Test("one verdict a session is taken, and what has none stays open")
    func takes() throws {
        var collector = try collector()
        let verdicts = try collector.receive(try verdict(two, "b", 0.5))
        #expect(verdicts.map(\.session) == [two])
        #expect(verdicts.map(\.reward) == [.half])
        #expect(verdicts[0].detail == ["why": "x"])
        #expect(collector.open.map(\.text) == ["a"])
        try collector.close()
    }

    @Test("the detail of a sealed verdict is dropped where it is read")
    func sealed() throws {
        var collector = try collector(.test)
        #expect(try collector.receive(try verdict(one, "a"))[0].detail.isEmpty)
    }

    @Test("an unknown session, another task and a second verdict are faults, and stay faults")
    func faults() throws {
        let cases: [([UInt8], VerdictFault)] = [
            (try verdict(SessionID(random: 3), "a"), .unknownSession(SessionID(random: 3))),
            (try verdict(one, "b"), .wrongTask(one)),
            (try verdict(one, "a") + verdict(one, "a"), .repeated(one)),
        ]
        for (bytes, fault) in cases {
            var collector = try collector()
            #expect(throws: fault) { try collector.receive(bytes) }
            #expect(throws: fault) { try collector.receive(try verdict(two, "b")) }
            #expect(throws: fault) { try collector.close() }
            #expect(collector.fault == fault)
            #expect(fault.description.contains("remedy"))
        }
    }

    @Test("a session that was declared gone must have no verdict, before or after")
    func withdrawn() throws {
        var after = try collector()
        try after.withdraw(one)
        try after.withdraw(one)
        #expect(after.open.map(\.text) == ["b"])
        #expect(throws: VerdictFault.withdrawn(one)) { try after.receive(try verdict(one, "a")) }
        var before = try collector()
        #expect(try before.receive(try verdict(one, "a")).count == 1)
        #expect(throws: VerdictFault.withdrawn(one)) { try before.withdraw(one) }
    }

    @Test(
        "what is no verdict is a fault",
        arguments: [
            #"{"type":"verdict"}"#, #"{"type":"stop","session":"0000000000000001"}"#, "{", "[]",
            #"{"type":"verdict","session":"0000000000000001","task":"a","reward":NaN}"#,
            #"{"type":"verdict","session":"0000000000000001","task":"a","reward":1e999}"#,
            #"{"type":"verdict","session":"0000000000000001","task":"a","reward":2}"#,
            #"{"type":"verdict","session":"0000000000000001","task":"../a","reward":1}"#,
            #"{"type":"verdict","session":"0000000000000001","task":"a","reward":1,"reward":0}"#,
            #"{"type":"verdict","session":"0000000000000001","task":"a","reward":1,"x":0}"#,
        ]
    )
    func malformed(text: String) throws {
        var collector = try collector()
        #expect(throws: VerdictFault.self) { try collector.receive(rawFrame(text)) }
        #expect(collector.fault != nil)
    }

    @Test("a channel that ends inside a frame is a fault")
    func cut() throws {
        var collector = try collector()
        #expect(try collector.receive(Array(verdict(one, "a").dropLast())).isEmpty)
        #expect(throws: VerdictFault.self) { try collector.close() }
    }
}
