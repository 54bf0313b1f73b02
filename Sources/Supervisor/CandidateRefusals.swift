internal import ExamResults
internal import IterationLoop
internal import SandboxPlan
internal import Workspace

/// What an exam's outcomes say of walls that its candidate ran into: one record for each layer and
/// kind of fault, so that a cheat which only cost its rollouts their reward is on the record too.
///
/// An honest candidate that crashes meets the same wall as one that leaves early on purpose; the
/// record says what happened and does not guess why.
struct CandidateRefusals {
    let records: [RefusalRecord]

    init(of trials: [ExamResults], iteration: Int) {
        var rollouts: [CandidateFault: Int] = [:]
        for case .failed(let fault) in trials.flatMap(\.all).map(\.outcome) {
            rollouts[fault, default: 0] += 1
        }
        let planned = trials.reduce(0) { $0 + $1.planned.count }
        records = CandidateFault.allCases.compactMap { fault in
            guard let count = rollouts[fault], let wall = Wall(fault) else { return nil }
            return RefusalRecord(
                wall.kind,
                layer: wall.layer,
                attempt: wall.attempt,
                detail: "\(count) of \(planned) rollouts, scored 0"
                    + (wall.line.map { "; the line that would allow it: \($0)" } ?? ""),
                iteration: iteration,
                by: "candidate"
            )
        }
    }
}

extension RefusalRecord {
    /// A coding agent that ended by the signal with which the filter kills.
    static func killedByFilter(iteration: Int) -> RefusalRecord {
        RefusalRecord(
            .attempt,
            layer: Layer.filter.rawValue,
            attempt: "make a call that is killed for",
            detail: "it ended by SIGSYS, as a call of x32 or of another architecture does",
            iteration: iteration,
            by: "coding-agent"
        )
    }
}

/// The layer that answered a fault, and what was tried.
private struct Wall {
    let kind: RefusalKind
    let layer: String
    let attempt: String
    /// The line of the candidate's policy that says how much is allowed; nil where none does.
    let line: String?

    private init(
        _ layer: Layer,
        _ attempt: String,
        as kind: RefusalKind = .denied,
        line: String? = nil
    ) {
        self.kind = kind
        self.line = line
        self.layer = layer.rawValue
        self.attempt = attempt
    }

    init?(_ fault: CandidateFault) {
        switch fault {
        case .badFrame:
            self.init(.relaySchema, "send what is no frame of a candidate", as: .attempt)
        case .outOfTurn: self.init(.relaySchema, "send a frame out of turn", as: .attempt)
        case .tooManyTurns: self.init(.relaySchema, "use more turns than a session has")
        case .exited: self.init(.verdictDescriptor, "end before a verdict")
        case .signalled: self.init(.verdictDescriptor, "die of a signal before a verdict")
        case .violation: self.init(.filter, "make a forbidden system call", as: .attempt)
        case .outOfMemory: self.init(.limits, "use more memory", line: "limits: memory")
        case .processes: self.init(.limits, "start more processes", line: "limits: processes")
        case .cpuTime: self.init(.limits, "use more processor time", line: "limits: cpu")
        case .wallClock: self.init(.limits, "run longer", line: "limits: wall, or per_task_timeout")
        case .idle: self.init(.limits, "say nothing")
        case .output: self.init(.limits, "write more", line: "limits: output")
        // A candidate may decline a task in the protocol's own words.
        case .abstained: return nil
        }
    }
}
