import Benchmarks
import ExamResults
import StrictJSON
import TestSupport
import Testing

/// An examiner that keeps to the protocol, reading and writing on pipes with any delay.
private struct HonestExaminer {
    let session: SessionID
    var turnsLeft: Int
    var inbox: [JSONValue] = []
    var outbox: [ExaminerFrame] = []
    var verdicts: [Reward] = []
    var isGone = false

    var isBusy: Bool { !inbox.isEmpty || !outbox.isEmpty || !verdicts.isEmpty }

    mutating func step() throws {
        guard !inbox.isEmpty else { return }
        let frame = inbox.removeFirst()
        switch frame["type"]?.stringValue {
        case "begin":
            try send(
                "start",
                #","kind":"c","policy":"","tools":[],"limits":{"turns":9,"seconds":9},"history":[]"#
            )
            try turn()
        case "reply" where turnsLeft == 0: try stop()
        case "reply":
            turnsLeft -= 1
            try turn()
        case "tool":
            try send("tool_result", #","id":"\#(frame["id"]?.stringValue ?? "")","content":"""#)
        case "done": try stop()
        default: isGone = true
        }
    }

    private mutating func turn() throws {
        try send("turn", #","messages":[{"role":"user","content":"x"}]"#)
    }

    private mutating func stop() throws {
        try send("stop", "")
        verdicts.append(.one)
    }

    private mutating func send(_ type: String, _ members: String) throws {
        let text = #"{"type":"\#(type)","session":"\#(session.hex)"\#(members)}"#
        outbox.append(try ExaminerFrame(try json(text)))
    }
}

@Suite("Properties of the relay over random orders of events")
struct RelayPropertyTests {
    private static let words = [
        #"{"type":"ready"}"#, #"{"type":"reply","text":"x"}"#, #"{"type":"done"}"#,
        #"{"type":"abstain"}"#, #"{"type":"log","text":"x"}"#, "{", "[]", #"{"type":"stop"}"#,
        #"{"type":"tool","id":"i","name":"f","arguments":{}}"#,
        #"{"type":"reply","tool_calls":[{"id":"i","name":"f","arguments":{}}]}"#,
    ]

    private func candidateEvent(_ generator: inout SeededGenerator) -> RelayEvent {
        switch generator.below(24) {
        case 0: .candidateClosed
        case 1: .candidateFailed(CandidateFault.allCases[generator.below(9)])
        case 2: .candidateBytes([UInt8(truncatingIfNeeded: generator.next())])
        default: .candidateBytes(rawFrame(Self.words[generator.below(Self.words.count)]))
        }
    }

    /// What a candidate does that mostly keeps to the protocol.
    private func sensibleEvent(_ bench: RelayBench, _ generator: inout SeededGenerator)
        -> RelayEvent
    {
        guard bench.relay.awaitsCandidate else {
            return generator.chance(80)
                ? .candidateBytes([])
                : generator.chance(50) ? .candidateFailed(.exited) : candidateEvent(&generator)
        }
        if generator.chance(5) { return candidateEvent(&generator) }
        let isReady = bench.actions.contains { action in
            if case .toExaminer = action { bench.relay.transcript.count > 0 } else { false }
        }
        let choices = isReady ? [1, 1, 1, 1, 2, 3, 4, 8] : [0]
        return .candidateBytes(rawFrame(Self.words[choices[generator.below(choices.count)]]))
    }

    /// One rollout of any candidate with an honest examiner; the checks hold for each.
    private func outcome(seed: Int) throws -> TaskOutcome? {
        var generator = SeededGenerator(seed: UInt64(seed))
        var bench = try RelayBench()
        var examiner = HonestExaminer(session: bench.session, turnsLeft: generator.below(4))
        var collector = VerdictCollector(split: .train, limits: .verdicts(sessions: 1))
        collector.begin(bench.session, task: bench.relay.task)
        let hostile = generator.chance(30)
        var passedOn = 0
        for _ in 0..<400 where bench.outcomes.isEmpty || examiner.isBusy {
            switch generator.below(4) {
            case 0: try examiner.step()
            case 1 where !examiner.outbox.isEmpty:
                bench.send(.examiner(examiner.outbox.removeFirst(), bytes: 100))
            case 2 where !examiner.verdicts.isEmpty:
                examiner.verdicts.removeFirst()
                for verdict in try collector.receive(try verdictBytes(bench.session)) {
                    bench.send(.verdict(verdict.reward))
                }
            default:
                bench.send(
                    hostile ? candidateEvent(&generator) : sensibleEvent(bench, &generator)
                )
            }
            for action in bench.actions[passedOn...] {
                if case .toExaminer(let bytes) = action { examiner.inbox += try payloads(bytes) }
                if action == .withdrawVerdict { try collector.withdraw(bench.session) }
            }
            passedOn = bench.actions.count
        }
        #expect(!bench.isVoid, "seed \(seed)")
        #expect(collector.fault == nil, "seed \(seed)")
        #expect(bench.outcomes.count <= 1, "seed \(seed)")
        if case .graded? = bench.outcomes.first {
            #expect(collector.open.isEmpty, "seed \(seed)")
        }
        return bench.outcomes.first
    }

    private func verdictBytes(_ session: SessionID) throws -> [UInt8] {
        try FrameEncoder.frame([
            "type": "verdict", "session": .string(session.hex), "task": "t", "reward": 1,
        ])
    }

    @Test("B17, B21: no candidate can void an honest examiner's exam or win without a verdict")
    func candidateCannotVoid() throws {
        var counts: [String: Int] = [:]
        for seed in 0..<2_000 { counts[try outcome(seed: seed)?.code ?? "open", default: 0] += 1 }
        // The instrument works: the orders reach grades and faults of several kinds.
        #expect(counts["graded", default: 0] > 100)
        #expect(counts["out-of-turn", default: 0] > 50)
        #expect(counts["abstained", default: 0] > 20)
        #expect(counts.count > 6)
    }

    @Test(
        "any order of any events ends at most once, and graded only after a verdict",
        arguments: 0..<400
    )
    func anyOrder(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed) &+ 10_000)
        var bench = try RelayBench(split: .test, turns: 3)
        if generator.chance(70) { try bench.open() }
        var sawVerdict = false
        for _ in 0..<60 {
            switch generator.below(10) {
            case 0: try bench.start()
            case 1, 2: try bench.turn()
            case 3: try bench.examiner("stop")
            case 4: try bench.examiner("tool_result", #","id":"call-1","content":"""#)
            case 5 where generator.chance(20):
                sawVerdict = true
                bench.send(.verdict(.one))
            case 6 where generator.chance(10): bench.send(.noVerdict)
            default: bench.send(candidateEvent(&generator))
            }
        }
        #expect(bench.outcomes.count <= 1, "seed \(seed)")
        if case .graded? = bench.outcomes.first { #expect(sawVerdict, "seed \(seed)") }
        #expect(bench.actions.filter { $0 == .closeCandidate }.count <= 1, "seed \(seed)")
        #expect(bench.relay.transcript.isEmpty)
        let end = bench.actions.firstIndex { if case .end = $0 { true } else { false } }
        for action in bench.actions[(end ?? bench.actions.count)...].dropFirst() {
            guard case .voidExam = action else {
                Issue.record("seed \(seed): \(action) after the end")
                return
            }
        }
    }
}
