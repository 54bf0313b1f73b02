internal import Benchmarks
internal import ExamResults
internal import IterationLoop
internal import LauncherClient
internal import LinuxKernel
internal import SelfCheck
internal import StrictJSON
internal import Workspace

// Commands from another terminal or another experiment, and signals.

extension LoopShell {
    func openControl() throws(SupervisorError) {
        control = try supervision.openSocket(
            ControlFile.name,
            onRequest: { [unowned self] number, bytes in takeControl(number, bytes) },
            onEnd: { [unowned self] number in
                forgetAsker(number)
                do throws(SupervisorError) {
                    try holds.remove(number, freezing: changeHolds)
                } catch {
                    fail(error)
                }
            }
        )
        signals = try system("watch signals", "SIGINT, SIGTERM") { () throws(SystemError) in
            try SignalDescriptor([1, 2, 15])
        }
        switch signals {
        case .some(let descriptor):
            signal = supervision.loop.watch(descriptor.descriptor, .readable) {
                [unowned self] _ in
                guard end == nil else { return }
                do throws(SystemError) { _ = try signals?.next() } catch {}
                post(.stop(reason: "a signal asked for the end"))
            }
        case .none: break
        }
    }

    func takeControl(_ number: Int, _ bytes: [UInt8]) {
        var verb: ControlVerb?
        var value = JSONValue.null
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes, limits: .request)
            verb = value["verb"]?.stringValue.flatMap(ControlVerb.init(rawValue:))
        } catch {}  // a malformed request has no verb and is refused below
        switch verb {
        case .pause: post(.pause)
        case .resume: post(.resume)
        case .stop: post(.stop(reason: "the operator asked for the end"))
        case .status: break
        case .extend: return extend(number, value["budget"] ?? .null)
        case .hold:
            guard !isTidying else { return }
            guard let error = holds.add(number, freezing: changeHolds) else {
                control?.answerAndKeep(number, ["ok": true])
                return
            }
            control?.answer(number, ["ok": false, "reason": .string(error.description)])
            fail(error)
            return
        case nil:
            control?.answer(number, ["ok": false])
            return
        }
        control?.answer(number, standing)
    }

    // Frozen is what the agent is, whoever's exam it is for; what it waits for says whose.
    private var standing: JSONValue {
        let turn = supervision.turn
        let isHeld = !holds.isEmpty || (coding?.isAlive == true && !turn.hasShare)
        let isFrozen = supervision.quickSet.canFreeze && (machine.isAgentFrozen || isHeld)
        return [
            "ok": true, "phase": .string(machine.phase.rawValue),
            "paused": .bool(machine.state.isPaused), "frozen": .bool(isFrozen),
            "waiting": (turn.examWait ?? turn.agentWait).map { .object($0.members) } ?? .null,
            "agent_time": supervision.agentTime, "exam": supervision.examStanding,
            "models": supervision.unbookedStanding,
        ]
    }

    /// Extends the budget; whoever asks is answered when the row is on the disk, or will never be.
    private func extend(_ number: Int, _ body: JSONValue) {
        do {
            let more = try BudgetExtension(reading: body)
            let inputs = supervision.inputs
            try more.requireLimits(in: inputs.config, at: inputs.experiment.directory)
            if [.idle, .ended].contains(machine.phase) || end != nil || isTidying {
                control?.answer(number, Self.notExtended("the run begins or ends in this moment"))
            } else {
                post(.rules(.extended(more)), for: number)
            }
        } catch {
            control?.answer(number, ["ok": false, "reason": .string("\(error)")])
        }
    }

    private func changeHolds(by difference: Int) throws(SupervisorError) {
        try coding?.changeHolds(by: difference)
    }
}
