import Foundation
import HostKernel
import LinuxKernel
import StrictJSON
import Supervisor
import Testing
import Workspace

/// A folder for the locks and claims of a host, removed when its owner ends.
final class LockFolder {
    let path = "/tmp/host-turn-tests-\(UUID().uuidString)/locks"

    deinit {
        // A test that leaves its directory behind must not hide its own failure.
        try? FileManager.default.removeItem(atPath: path)
    }

    func turn(
        _ experiment: String = "one",
        isolation: Isolation = .host,
        clock: @escaping () -> MonotonicTime = { .now }
    ) throws -> HostTurn {
        try HostTurn(
            in: path,
            owner: Identity.effectiveUser,
            experiment: experiment,
            isolation: isolation,
            clock: clock
        )
    }
}

@Suite("The turns of sealed exams and coding agents on one host")
struct HostTurnTests {
    @Test("a sealed exam begins when every coding agent gave way, and they go on after it")
    func givingWay() throws {
        let folder = LockFolder()
        let (one, two, judge) = (try folder.turn(), try folder.turn(), try folder.turn())
        var runs = [false, false]
        one.onShare = { runs[0] = $0 }
        two.onShare = { runs[1] = $0 }
        #expect(try one.takeShare())
        #expect(try two.takeShare())
        #expect(runs == [true, true])
        #expect(try judge.takeExam())
        #expect(try !judge.areAgentsFrozen())
        try one.follow()
        #expect(runs == [false, true])
        #expect(try !judge.areAgentsFrozen())
        try two.follow()
        #expect(runs == [false, false])
        #expect(try judge.areAgentsFrozen())
        for turn in [one, two] {
            try turn.follow()
            #expect(try !turn.takeShare())
        }
        try judge.releaseExam()
        for turn in [one, two] { try turn.follow() }
        #expect(runs == [true, true])
    }

    @Test("a coding agent that begins while an exam waits for the others does not run")
    func lateComer() throws {
        let folder = LockFolder()
        let (early, late, judge) = (try folder.turn(), try folder.turn(), try folder.turn())
        #expect(try early.takeShare())
        #expect(try judge.takeExam())
        #expect(try !late.takeShare())
        #expect(try !judge.areAgentsFrozen())
    }

    @Test("a coding agent that cannot be frozen keeps its share, and no exam begins")
    func freezeFails() throws {
        let folder = LockFolder()
        let (stuck, judge) = (try folder.turn(), try folder.turn())
        stuck.onShare = { mayRun throws(SupervisorError) in
            if !mayRun { throw HoldTests.broken }
        }
        #expect(try stuck.takeShare())
        #expect(try judge.takeExam())
        #expect(throws: SupervisorError.self) { try stuck.follow() }
        #expect(stuck.hasShare)
        #expect(try !judge.areAgentsFrozen())
    }

    @Test("one sealed exam runs at a time, and our own coding agent gives way to ours")
    func oneAtATime() throws {
        let folder = LockFolder()
        let (one, two) = (try folder.turn(), try folder.turn())
        var runs = false
        one.onShare = { runs = $0 }
        #expect(try one.takeShare())
        #expect(try one.takeExam())
        #expect(!runs)
        #expect(try one.areAgentsFrozen())
        #expect(try !two.takeExam())
        try one.follow()
        #expect(!runs, "not during our own exam")
        try one.releaseExam()
        try one.follow()
        #expect(runs)
        #expect(try two.takeExam())
    }

    @Test("what an ended supervisor had is given back")
    func ended() throws {
        let folder = LockFolder()
        let judge = try folder.turn()
        var other: HostTurn? = try folder.turn()
        #expect(try other?.takeShare() == true)
        #expect(try judge.takeExam())
        #expect(try !judge.areAgentsFrozen())
        other = nil
        #expect(try judge.areAgentsFrozen())
    }

    @Test("nobody but their owner can open the locks")
    func permissions() throws {
        let folder = LockFolder()
        _ = try folder.turn()
        for (name, mode) in [
            ("", 0o700), ("/sealed-exam", 0o600), ("/agents", 0o600), ("/claims", 0o700),
        ] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + name)
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
    }
}

@Suite("The answer to a hold")
struct HoldTests {
    static let broken = SupervisorError(
        .hostFailed,
        operation: "freeze the coding agent",
        location: "control group",
        reason: "EIO",
        remedy: "look at the host"
    )

    @Test("a hold is told why the coding agent is not frozen, and is not kept")
    func failing() throws {
        var holds = Holds()
        let failing = { (_: Int) throws(SupervisorError) in throw Self.broken }
        #expect(holds.add(1, freezing: failing)?.description == Self.broken.description)
        #expect(holds.isEmpty)
        try holds.remove(1, freezing: failing)
    }

    @Test("a hold that froze lasts until its connection ends, once")
    func lasting() throws {
        var holds = Holds()
        var count = 0
        #expect(holds.add(1) { count += $0 } == nil)
        #expect(!holds.isEmpty && count == 1)
        for _ in 0..<2 { try holds.remove(1) { count += $0 } }
        #expect(holds.isEmpty && count == 0)
    }

    @Test(
        "no exam begins beside a supervisor whose answer is not that it froze",
        arguments: [["ok": false, "reason": "EIO"], ["ok": false], [:]] as [JSONValue]
    )
    func refused(answer: JSONValue) throws {
        #expect(throws: SupervisorError.self) {
            try SealedExamGuard.requireHeld(answer, "control.sock")
        }
        try SealedExamGuard.requireHeld(["ok": true], "control.sock")
        try SealedExamGuard.requireHeld(nil, "control.sock")
    }
}
