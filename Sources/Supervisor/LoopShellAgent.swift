internal import HostKernel
internal import IterationLoop
internal import LauncherClient
internal import LauncherProtocol
internal import Ledger
internal import LinuxKernel
internal import ModelDialects
internal import StrictJSON
internal import Workspace

// The coding agent's process: its beginning, its ends, and its beginning again.
//
// An agent that ends before a stop rule holds is started again where its profile says so, in its home
// as it left it, and with the command that goes on. The machine is not told: for it the agent runs.

extension LoopShell {
    func startAgentProcess(isAgain: Bool) throws(SupervisorError) {
        try coding?.start(isAgain: isAgain) { [unowned self] exit in agentEnded(exit) }
    }

    private func agentEnded(_ exit: SandboxExit) {
        // Before the end: after it the run may be over.
        if let sandbox = coding?.sandbox { noteAgentDenials(sandbox, hasEnded: true) }
        if exit.kind == .violation {
            post(.refused(.killedByFilter(iteration: machine.workingIteration)))
        }
        let code = Int(exit.code ?? (128 + (exit.signal ?? 9)))
        let how = AgentEnd(code: code, limit: exit.kind.limit)
        guard startsAgain(after: exit) else {
            if let failures = supervision.models?.failures(of: .codingAgent) {
                progress("\(how.text); its last \(failures.text)")
            }
            return post(.agentExited(how))
        }
        restarts += 1
        let rule = supervision.inputs.codingAgent.restart
        // An agent that ends because its model fails looks like one that gives up.
        let failures = supervision.models?.failures(of: .codingAgent)
        let reason = failures.map { "; its last \($0.text)" } ?? ""
        progress("\(how.text)\(reason); it is started again (\(restarts))")
        var row: [String: JSONValue] = ["kind": .string(exit.kind.name), "code": JSONValue(code)]
        if let failures { row["model_failures"] = failures.value }
        do throws(SupervisorError) {
            try record(.sandboxExited, row)
        } catch { return fail(error) }
        startAgain(
            after: .milliseconds(UInt64(clamping: rule.pause.components.seconds) * 1000)
        )
    }

    // Not while it would have to be frozen: until it is, a process that has begun runs, and beside a
    // sealed exam nothing of the agent may.
    private func startAgain(after span: Nanoseconds) {
        restart = supervision.loop.at(MonotonicTime.now.advanced(by: span)) { [unowned self] in
            guard end == nil, !isTidying, let coding else { return }
            isRestartHeld = coding.mustStandStill
            guard !isRestartHeld else { return startAgain(after: ControlQuestion.step) }
            do throws(SupervisorError) {
                try record(.sandboxStarted, [:])
                try startAgentProcess(isAgain: true)
            } catch { fail(error) }
        }
    }

    private func startsAgain(after exit: SandboxExit) -> Bool {
        let rule = supervision.inputs.codingAgent.restart
        // One that we ended is not wanted; one that the filter killed would be killed again.
        guard end == nil, !isTidying, restarts < rule.limit, !exit.wasRequested,
            exit.kind != .violation, exit.kind != .setup
        else { return false }
        // Who has nothing left to ask a model with ends at once, again and again.
        if supervision.models?.isSpent(for: .codingAgent) == true { return false }
        switch rule.after {
        case .never: return false
        case .failure: return exit.kind != .exited || exit.code != 0
        case .anyEnd: return true
        }
    }

    private func record(
        _ kind: EventKind,
        _ members: [String: JSONValue]
    ) throws(SupervisorError) {
        let body = members.merging(["role": "coding", "restart": JSONValue(restarts)]) { $1 }
        try supervision.append(
            .other(kind: kind.rawValue, body: .object(body)),
            at: WallClock.milliseconds
        )
    }
}

extension ExitKind {
    /// The limit that a program was ended for, as a person reads it.
    fileprivate var limit: String? {
        switch self {
        case .idle: "it was silent for longer than its idle limit"
        case .wallClock: "it ran for longer than its time limit"
        case .cpuTime: "it used more than its limit of CPU time"
        case .outOfMemory: "it used more than its limit of memory"
        case .output: "it printed more than its limit"
        case .processes: "it reached its limit of processes"
        case .exited, .signalled, .violation, .setup: nil
        }
    }
}
