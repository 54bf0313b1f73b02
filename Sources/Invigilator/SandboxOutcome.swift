internal import DenialEvents
package import LauncherProtocol
package import SandboxPlan
package import StrictJSON
internal import Supervisor

/// How one sandbox ended, or why it did not begin.
package struct SandboxOutcome {
    /// The version of ``json``'s shape.
    package static let schema = "invigilator.sandbox-result/1"

    private let policy: String
    private let digest: String
    private let level: String?
    private let exit: SandboxExit
    private let steps: [StepTime]
    private let problem: String?
    /// What filter and Landlock refused and told.
    var denials: [DenialEvent] = []
    /// How far the host's records of what Landlock refused can be relied on; nothing where the policy
    /// does not have them made.
    var landlockLog: LandlockLog?

    package init(
        plan: SandboxPlan,
        digest: SHA256Digest,
        level: AssuranceLevel,
        exit: SandboxExit,
        steps: [StepTime]
    ) {
        self.init(plan, "\(digest)", level, exit, steps, problem: nil)
    }

    private init(
        _ plan: SandboxPlan,
        _ digest: String,
        _ level: AssuranceLevel?,
        _ exit: SandboxExit,
        _ steps: [StepTime],
        problem: String?
    ) {
        policy = plan.name
        self.digest = digest
        self.level = level?.name
        self.exit = exit
        self.steps = steps
        self.problem = problem
    }

    /// A launch that was refused or failed.
    static func refused(
        _ plan: SandboxPlan,
        _ compiled: CompiledPlan,
        _ level: AssuranceLevel?,
        _ error: SupervisorError
    ) -> SandboxOutcome {
        SandboxOutcome(
            plan,
            "\(compiled.digest)",
            level,
            SandboxExit(kind: .setup),
            [],
            problem: error.description
        )
    }

    /// Bytes of output, passed on or not.
    package var outputBytes: UInt64 { exit.outputBytes }

    /// How long the launch took, in milliseconds.
    package var setupMilliseconds: Double {
        Double(steps.reduce(0) { $0 + Int($1.microseconds) }) / 1000
    }

    /// The limit that ended it, if one did.
    package var limit: String? {
        switch exit.kind {
        case .outOfMemory, .wallClock, .cpuTime, .idle, .output, .processes: exit.kind.name
        case .exited, .signalled, .violation, .setup: nil
        }
    }

    /// The exit code that a shell sees.
    package var status: Int32 {
        switch exit.kind {
        case .exited: exit.code ?? ExitStatus.hostFailed.rawValue
        case .signalled, .violation: 128 + (exit.signal ?? 9)
        case .outOfMemory, .wallClock, .cpuTime, .idle, .output, .processes: 137
        case .setup: ExitStatus.hostFailed.rawValue
        }
    }

    /// The result for programs.
    package var json: JSONValue {
        func count(_ value: UInt64) -> JSONValue { .integer(Int64(clamping: value)) }
        func number(_ value: Int32?) -> JSONValue { value.map { .integer(Int64($0)) } ?? .null }
        let entries = steps.map { step -> JSONValue in
            ["step": .string("\(step.step)"), "microseconds": .integer(Int64(step.microseconds))]
        }
        var members: [String: JSONValue] = [
            "schema": .string(Self.schema),
            "policy": .string(policy), "plan_digest": .string(digest),
            "level": level.map { .string($0) } ?? .null,
            "exit": [
                "kind": .string(exit.kind.name), "code": number(exit.code),
                "signal": number(exit.signal), "requested": .bool(exit.wasRequested),
            ],
            "rusage": [
                "cpu_us": count(exit.cpuMicroseconds), "user_us": count(exit.userMicroseconds),
                "system_us": count(exit.systemMicroseconds),
                "wall_us": count(exit.wallMicroseconds),
                "peak_resident_kib": count(exit.peakResidentKiB),
            ],
            "limits": [
                "hit": limit.map { .string($0) } ?? .null,
                "memory_kills": count(exit.memoryKills),
                "refused_processes": count(exit.refusedProcesses),
            ],
            "output": ["bytes": count(exit.outputBytes), "truncated": .bool(exit.isTruncated)],
            "steps": .array(entries),
            "denials": .array(denials.map { $0.json(sandbox: policy) }),
        ]
        if let landlockLog {
            members["landlock_log"] = [
                "gap": landlockLog.gap.map { .string($0) } ?? .null,
                "records_lost": count(landlockLog.losses),
            ]
        }
        if let problem { members["problem"] = .string(problem) }
        return .object(members)
    }
}

/// The host's audit records, as far as one sandbox is concerned.
struct LandlockLog {
    /// Why there are none; nothing where there are.
    let gap: String?
    /// How often the kernel said that some are gone.
    let losses: UInt64
}
