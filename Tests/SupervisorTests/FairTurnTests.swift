import Foundation
import LinuxKernel
import StrictJSON
import Supervisor
import Testing
import Workspace

/// A clock that stands still until it is moved.
private final class TestClock {
    private(set) var now = MonotonicTime.now

    func advance(_ milliseconds: UInt64) {
        now = now.advanced(by: .milliseconds(milliseconds))
    }
}

@Suite("Fair turns")
struct FairTurnTests {
    private let folder = LockFolder()
    private let clock = TestClock()

    private func turn(_ experiment: String, isolation: Isolation = .host) throws -> HostTurn {
        try folder.turn(experiment, isolation: isolation, clock: { [clock] in clock.now })
    }

    private var claims: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/claims")
        }
    }

    // MARK: - agents

    @Test("an agent that waited for a sealed exam runs half as long before the next one begins")
    func halfOfTheWait() throws {
        let (agent, first, next) = (try turn("agent"), try turn("first"), try turn("next"))
        #expect(try agent.takeShare())
        #expect(try first.takeExam())
        try agent.follow()
        #expect(try first.areAgentsFrozen())
        #expect(try !next.takeExam())
        clock.advance(30_000)
        try agent.follow()
        try first.releaseExam()
        // Nobody has noticed the end of the exam yet.
        #expect(try !next.takeExam())
        #expect(next.examWait?.why == .codingAgent)
        #expect(next.examWait?.experiment == "agent")
        try agent.follow()
        #expect(agent.hasShare)
        clock.advance(14_900)
        try agent.follow()
        #expect(try !next.takeExam())
        clock.advance(200)
        try agent.follow()
        #expect(try next.takeExam())
        #expect(next.examWait == nil)
        #expect(agent.time.ran >= .milliseconds(15_000))
        #expect(agent.time.waited == .milliseconds(30_000))
    }

    @Test("an agent that starts during a sealed exam is owed time as well")
    func lateStart() throws {
        let (agent, first, next) = (try turn("agent"), try turn("first"), try turn("next"))
        #expect(try first.takeExam())
        #expect(try !agent.takeShare())
        clock.advance(10_000)
        #expect(try !agent.takeShare())
        try first.releaseExam()
        #expect(try !next.takeExam())
        #expect(try agent.takeShare())
        clock.advance(5_000)
        try agent.follow()
        #expect(try next.takeExam())
    }

    @Test("an agent that waits for its own supervisor keeps no sealed exam waiting")
    func wantsNothing() throws {
        let (agent, first, next) = (try turn("agent"), try turn("first"), try turn("next"))
        #expect(try agent.takeShare())
        #expect(try first.takeExam())
        try agent.follow(wantsToRun: true)
        clock.advance(10_000)
        try agent.follow(wantsToRun: false)
        #expect(agent.agentWait == nil)
        try first.releaseExam()
        #expect(try next.takeExam())
        try next.releaseExam()
        // What it is owed stays, for when it wants to run again.
        try agent.follow(wantsToRun: true)
        #expect(agent.hasShare)
        #expect(try !first.takeExam())
        clock.advance(5_000)
        try agent.follow(wantsToRun: true)
        #expect(try first.takeExam())
    }

    @Test("what an agent that is gone was owed keeps nobody waiting", arguments: [true, false])
    func agentGone(isKilled: Bool) throws {
        var agent: HostTurn? = try turn("agent")
        let (first, next) = (try turn("first"), try turn("next"))
        #expect(try first.takeExam())
        #expect(try agent?.takeShare() == false)
        clock.advance(10_000)
        try agent?.follow()
        try first.releaseExam()
        #expect(try !next.takeExam())
        if isKilled { agent = nil } else { try agent?.endAgent() }
        #expect(try next.takeExam())
    }

    @Test("an agent that never waited keeps no sealed exam waiting, and gives way at once")
    func neverWaited() throws {
        let (agent, exam) = (try turn("agent"), try turn("exam"))
        #expect(try agent.takeShare())
        clock.advance(1_000)
        try agent.follow()
        #expect(try exam.takeExam())
        try agent.follow()
        #expect(!agent.hasShare)
    }

    @Test("an agent cannot save up more than its longest wait")
    func saving() {
        var time = AgentTime()
        for _ in 0..<100 {
            time.note(.waiting, at: clock.now)
            clock.advance(10_000)
            time.note(.away, at: clock.now)
        }
        #expect(time.owed == .milliseconds(10_000))
        #expect(time.waited == .milliseconds(1_000_000))
    }

    /// A supervisor that runs a sealed exam, then works a while, again and again.
    private final class Judge {
        let turn: HostTurn
        var left: UInt64 = 0
        var exams = 0
        init(_ turn: HostTurn) { self.turn = turn }
    }

    @Test(
        "beside supervisors that want nothing but sealed exams, every agent has a third of the time"
    )
    func third() throws {
        let judges = try (0..<4).map { Judge(try turn("judge-\($0)")) }
        let agents = try (0..<3).map { try turn("agent-\($0)") }
        let step: UInt64 = 200
        let lengths: [UInt64] = [10_000, 4_000, 800, 6_000]
        for agent in agents { #expect(try agent.takeShare()) }
        for tick in 0..<1_500 {
            for (number, judge) in judges.enumerated() {
                if judge.left > 0 {
                    judge.left -= min(step, judge.left)
                    if judge.left == 0 { try judge.turn.releaseExam() }
                } else if try judge.turn.takeExam() {
                    // An exam lasts from where every agent stands still.
                    judge.exams += 1
                    judge.left = lengths[number]
                }
            }
            #expect(judges.count { $0.left > 0 } <= 1, "one at a time")
            clock.advance(step)
            // Supervisors look when it suits them, never in the same order.
            for agent in agents.indices { try agents[(agent + tick) % agents.count].follow() }
            if let judge = judges.first(where: { $0.left > 0 }) {
                #expect(try judge.turn.areAgentsFrozen())
            }
        }
        for agent in agents {
            // The wait in which the time ends is not paid for yet.
            let (ran, waited) = (agent.time.ran.count, agent.time.waited.count)
            #expect(ran + agent.time.owed.count >= waited / 2, "\(ran) of \(ran + waited)")
            #expect(Double(ran) / Double(ran + waited) < 0.40, "and exams the rest")
        }
        let counts = judges.map(\.exams)
        #expect(try #require(counts.max()) - #require(counts.min()) <= 1, "in turn: \(counts)")
    }

    // MARK: - the line

    @Test("sealed exams go in the order in which they came, whoever looks first")
    func inOrder() throws {
        let judges = try ["a", "b", "c", "d"].map { try turn($0) }
        #expect(try judges[0].takeExam())
        for judge in judges.dropFirst() {
            clock.advance(1)
            #expect(try !judge.takeExam())
        }
        for number in 1...3 {
            try judges[number - 1].releaseExam()
            for late in (number..<4).reversed() where late != number {
                #expect(try !judges[late].takeExam())
            }
            #expect(try judges[number].takeExam())
        }
    }

    @Test("a waiter that ends, or gives up, does not block the line", arguments: [true, false])
    func waiterGone(isKilled: Bool) throws {
        let (first, last) = (try turn("first"), try turn("last"))
        var middle: HostTurn? = try turn("middle")
        #expect(try first.takeExam())
        clock.advance(1)
        #expect(try middle?.takeExam() == false)
        clock.advance(1)
        #expect(try !last.takeExam())
        try first.releaseExam()
        #expect(try !last.takeExam(), "the middle one is before it")
        if isKilled { middle = nil } else { try middle?.releaseExam() }
        #expect(try last.takeExam())
        try last.releaseExam()
        #expect(try claims.isEmpty, "and nothing is left of it")
    }

    @Test("a supervisor that ends in its exam gives the turn back")
    func holderGone() throws {
        var first: HostTurn? = try turn("first")
        let next = try turn("next")
        #expect(try first?.takeExam() == true)
        #expect(try !next.takeExam())
        first = nil
        #expect(try next.takeExam())
    }

    @Test("who gave its place up and comes back is the last")
    func comesBack() throws {
        let (first, second, third) = (try turn("first"), try turn("second"), try turn("third"))
        #expect(try first.takeExam())
        for judge in [second, third] {
            clock.advance(1)
            #expect(try !judge.takeExam())
        }
        try second.releaseExam()
        clock.advance(1)
        #expect(try !second.takeExam())
        try first.releaseExam()
        #expect(try !second.takeExam())
        #expect(second.examWait?.experiment == "third")
        #expect(try third.takeExam())
    }

    @Test("what a killed supervisor left in the folder of claims is removed, and stops nobody")
    func remains() throws {
        let judge = try turn("judge")
        for name in [
            ".0123", "waits-00000000000000000001-ab", "exam-00000000000000000002-cd", "rubbish",
        ] {
            try Data("{}".utf8).write(to: URL(fileURLWithPath: "\(folder.path)/claims/\(name)"))
        }
        #expect(try judge.takeExam())
        #expect(try claims.count == 1)
    }

    @Test("a process that is stopped in the line is passed over, and named")
    func stopped() throws {
        let (judge, stuck) = (try turn("judge"), Process())
        // It holds what a supervisor that waits holds.
        let path = "\(folder.path)/claims/waits-00000000000000000001-ab"
        try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
        let output = Pipe()
        stuck.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        stuck.arguments = ["--no-fork", path, "/bin/sh", "-c", "echo held; exec sleep 1000"]
        stuck.standardOutput = output
        stuck.standardError = FileHandle.nullDevice
        try stuck.run()
        // A runner of tests may have SIGTERM blocked, which its children inherit.
        defer { kill(stuck.processIdentifier, SIGKILL) }
        #expect(output.fileHandleForReading.availableData == Data("held\n".utf8))
        var named: [Int32] = []
        judge.onPassedOver = { named.append($0) }
        #expect(try !judge.takeExam())
        kill(stuck.processIdentifier, SIGSTOP)
        clock.advance(1_000)
        while try !judge.takeExam() { clock.advance(1_000) }
        #expect(named == [stuck.processIdentifier])
        kill(stuck.processIdentifier, SIGCONT)
    }

    // MARK: - what is told

    @Test("who waits is told for whom and since when")
    func told() throws {
        let (agent, exam, next) = (try turn("agent"), try turn("exam"), try turn("next"))
        #expect(try agent.takeShare())
        #expect(try exam.takeExam())
        try agent.follow()
        let begun = clock.now
        #expect(try !next.takeExam())
        clock.advance(12_000)
        try agent.follow()
        #expect(try !next.takeExam())
        let expected = [
            TurnWait(who: .codingAgent, why: .sealedExam, experiment: "exam", since: begun),
            TurnWait(who: .sealedExam, why: .sealedExam, experiment: "exam", since: begun),
        ]
        #expect([agent.agentWait, next.examWait] == expected)
        #expect(
            expected.map { $0.text(at: clock.now) } == [
                "the coding agent is waiting for a sealed exam of experiment exam since 12 s",
                "the sealed exam is waiting for a sealed exam of experiment exam since 12 s",
            ]
        )
        try exam.releaseExam()
        try agent.follow()
        #expect(agent.agentWait == nil)
    }

    @Test("a wait is told once it lasts, again now and then, and once it is over")
    func telling() {
        var telling = TurnTelling()
        let wait = TurnWait(who: .codingAgent, why: .sealedExam, experiment: "x", since: clock.now)
        #expect(telling.note([wait], at: clock.now).isEmpty)
        clock.advance(1_000)
        #expect(telling.note([wait], at: clock.now) == [.waiting(wait)])
        clock.advance(29_999)
        #expect(telling.note([wait], at: clock.now).isEmpty)
        clock.advance(1)
        #expect(telling.note([wait], at: clock.now) == [.stillWaiting(wait)])
        clock.advance(1_000)
        #expect(telling.note([], at: clock.now) == [.waited(.codingAgent, .milliseconds(32_000))])
        #expect(telling.note([], at: clock.now).isEmpty)
    }

    @Test("a wait that is over before it was told is told to nobody")
    func short() {
        var telling = TurnTelling()
        let wait = TurnWait(who: .sealedExam, why: .sealedExam, experiment: "x", since: clock.now)
        clock.advance(999)
        #expect(telling.note([wait], at: clock.now).isEmpty)
        #expect(telling.note([], at: clock.now).isEmpty)
    }

    @Test("a claim's text that is no experiment's id is repeated to nobody")
    func foreignText() throws {
        let judge = try turn("judge")
        let named = try turn("Evil\u{1B}[2J name")
        #expect(try named.takeExam())
        #expect(try !judge.takeExam())
        #expect(judge.examWait?.experiment == nil)
        #expect(judge.examWait?.text(at: clock.now).contains("of another experiment") == true)
    }

    // MARK: - isolation: experiment

    @Test(
        "an exam that freezes its own agent alone lets others run, and waits for one that freezes all"
    )
    func alone() throws {
        let (own, other) = (try turn("own", isolation: .experiment), try turn("other"))
        var runs = false
        own.onShare = { runs = $0 }
        #expect(try own.takeShare())
        #expect(try other.takeShare())
        #expect(try own.takeExam())
        #expect(!runs, "its own agent gives way")
        #expect(try own.areAgentsFrozen())
        try other.follow()
        #expect(other.hasShare)
        // One that freezes the whole host waits for it, though it would not freeze that one.
        #expect(try !other.takeExam())
        #expect(other.examWait?.experiment == "own")
        #expect(other.hasShare, "and its agent runs while it waits")
        try own.releaseExam()
        #expect(try other.takeExam())
        #expect(try other.areAgentsFrozen())
        clock.advance(1)
        #expect(try !own.takeExam(), "no exam runs beside one that freezes all")
        try own.follow()
        #expect(!own.hasShare, "and its agent is frozen as any")
        try other.releaseExam()
        #expect(try own.takeExam())
    }

    @Test(
        "exams that freeze their own agents alone run beside each other, but pass nobody who waits"
    )
    func sideBySide() throws {
        let some = try ["a", "b", "c"].map { try turn($0, isolation: .experiment) }
        let whole = try turn("whole")
        #expect(try some[0].takeExam())
        #expect(try some[1].takeExam())
        clock.advance(1)
        #expect(try !whole.takeExam())
        clock.advance(1)
        #expect(try !some[2].takeExam(), "it came after one that freezes all")
        for one in some.prefix(2) { try one.releaseExam() }
        #expect(try !some[2].takeExam())
        #expect(try whole.takeExam())
        try whole.releaseExam()
        #expect(try some[2].takeExam())
    }

    @Test("a running experiment of the same split is seen, whichever of the two came first")
    func sameSplit() throws {
        let (own, twin, other) = (
            try turn("own", isolation: .experiment), try turn("twin"), try turn("other")
        )
        try own.join("split-1")
        try other.join("split-2")
        #expect(try own.takeExam())
        #expect(try own.neighbourOfSplit() == nil)
        #expect(try other.takeShare(), "another split's agent begins beside it")
        try twin.join("split-1")
        #expect(try !twin.takeShare(), "an agent of the split waits for the exam's end")
        #expect(try own.neighbourOfSplit() == "twin", "and the next one is refused")
        try own.releaseExam()
        #expect(try twin.takeShare())
    }
}
