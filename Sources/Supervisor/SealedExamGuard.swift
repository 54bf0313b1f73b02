internal import HostKernel
internal import LinuxKernel
package import StrictJSON
internal import Workspace

/// Keeps sealed exams of one host apart, and every coding sandbox frozen while one runs.
///
/// The host's turn orders sealed exams, and one begins only when no coding agent has a share. Each
/// running supervisor of the same state directory is asked as well to hold its coding sandbox: it
/// answers once it is frozen, and one that does not answer can be named. One of another state
/// directory gives its share back by itself, or no exam begins beside it.
package final class SealedExamGuard {
    private let turn: HostTurn
    private var holds: [ControlQuestion] = []

    /// Takes the turn, waiting for others that came before, and asks their supervisors to hold.
    ///
    /// Under `isolation: experiment` nobody else is asked: our own agent gave way with the turn.
    ///
    /// - Parameters:
    ///   - id: our experiment, which is not asked.
    ///   - turn: our place among the supervisors of this host.
    ///   - layout: where the other experiments of this state directory are.
    ///   - loop: goes on being served while we wait.
    ///   - hasFreezer: whether this level of assurance can freeze anybody; where it cannot, nobody is asked.
    ///   - goesOn: whether to wait on; nothing is made once it says no.
    /// - Throws: ``SupervisorError``.
    init?(
        _ id: String,
        turn: HostTurn,
        layout: StateLayout,
        loop: EventLoop,
        hasFreezer: Bool,
        goesOn: () throws(SupervisorError) -> Bool
    ) throws(SupervisorError) {
        self.turn = turn
        var isHeld = false
        defer { if !isHeld { giveUp() } }
        while try !turn.takeExam() {
            try Self.wait(loop)
            guard try goesOn() else { return nil }
        }
        let others =
            try hasFreezer && turn.isolation == .host ? Self.others(than: id, in: layout) : []
        for other in others {
            let question = try ControlQuestion(
                ControlVerb.hold.rawValue,
                of: other,
                layout: layout,
                loop: loop
            )
            holds.append(question)
        }
        while let open = holds.first(where: \.isOpen) {
            guard try goesOn() else { return nil }
            try open.requireTime(to: "hold another experiment's coding agent for a sealed exam")
            try Self.wait(loop)
        }
        for (hold, other) in zip(holds, others) {
            try Self.requireHeld(hold.answer, layout.control(other))
        }
        let end = MonotonicTime.now.advanced(by: ControlQuestion.patience)
        while try !turn.areAgentsFrozen() {
            guard MonotonicTime.now < end else { throw Self.notFrozen() }
            guard try goesOn() else { return nil }
            try Self.wait(loop)
        }
        isHeld = true
    }

    private static func others(
        than id: String,
        in layout: StateLayout
    ) throws(SupervisorError) -> [String] {
        try system("find other experiments", layout.experiments) { () throws(SystemError) in
            try Descriptor.open(layout.experiments, [.read, .directory]).entries()
        }.filter { $0 != id }
    }

    /// Lets the other experiments go on, and the next sealed exam begin.
    func release() throws(SupervisorError) {
        holds = []
        try turn.releaseExam()
    }

    // What ended the attempt is what a person needs to read.
    private func giveUp() {
        do throws(SupervisorError) { try release() } catch {}
    }

    private static func wait(_ loop: EventLoop) throws(SupervisorError) {
        try system("wait for another experiment", "event loop") { () throws(SystemError) in
            try loop.turn(atMost: ControlQuestion.step)
        }
    }

    /// Refuses to begin beside a supervisor that says its coding agent is not frozen.
    ///
    /// - Parameters:
    ///   - answer: what it answered; nothing where no supervisor runs.
    ///   - location: its socket.
    /// - Throws: ``SupervisorError``.
    package static func requireHeld(
        _ answer: JSONValue?,
        _ location: String
    ) throws(SupervisorError) {
        guard let answer, answer["ok"]?.boolValue != true else { return }
        let reason = answer["reason"]?.stringValue.map { ": \($0)" } ?? ""
        throw SupervisorError(
            .hostFailed,
            operation: "hold another experiment's coding agent for a sealed exam",
            location: location,
            reason: "its supervisor answered that it cannot\(reason)",
            remedy: "stop that run, or let it end, and run again"
        )
    }

    private static func notFrozen() -> SupervisorError {
        SupervisorError(
            .hostFailed,
            operation: "wait until every coding agent of this host is frozen",
            location: "\(HostTurn.folder)/agents",
            reason: "a supervisor of another state directory did not freeze its coding agent within"
                + " \(ControlQuestion.patience.milliseconds / 1000) s",
            remedy: "`lslocks` names who holds this file: let that run go on, or end it"
        )
    }
}
