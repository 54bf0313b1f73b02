// Plans that a launcher must refuse, whoever asks: each breaks one rule that is compiled into it.

internal import HostKernel
public import LauncherClient
internal import LauncherProtocol
internal import LinuxKernel
public import SandboxPlan

/// A plan that breaks one rule.
public enum PlanTrial: String, Sendable, CaseIterable {
    /// The state directory is shown to a coding agent.
    case stateDirectory = "state-directory"
    /// A candidate is shown a vault.
    case vaultForCandidate = "vault-for-candidate"
    /// A source is not what it was when the plan was made.
    case replacedSource = "replaced-source"
    /// A candidate is shown a directory of the host.
    case hostForCandidate = "host-for-candidate"
    /// An examiner may write to a directory of the host.
    case writableForExaminer = "writable-for-examiner"
    /// A coding agent may write to the host's programs.
    case writablePrograms = "writable-programs"
    /// A coding agent is shown the tree of a candidate.
    case sharedTree = "shared-tree"
    /// The filter allows everything.
    case openFilter = "open-filter"
    /// A variable steers the dynamic loader.
    case loaderVariable = "loader-variable"
    /// There is no wall clock.
    case noWallClock = "no-wall-clock"

    /// The sandbox whose plan is broken.
    public var role: SandboxRole {
        switch self {
        case .stateDirectory, .replacedSource, .writablePrograms, .sharedTree: .coding
        case .vaultForCandidate, .hostForCandidate, .openFilter, .loaderVariable, .noWallClock:
            .candidate
        case .writableForExaminer: .examiner
        }
    }

    /// Breaks the rule.
    ///
    /// - Parameters:
    ///   - plan: a sound plan of ``role``.
    ///   - state: the state directory.
    /// - Returns: the plan, broken.
    /// - Throws: `PlanError`, never for these values.
    package func broken(
        _ plan: SandboxPlan,
        state: PinnedSource
    ) throws(PlanError) -> SandboxPlan {
        var plan = plan
        func add(_ source: MountSource, _ access: MountAccess = .readOnly) throws(PlanError) {
            plan.mounts.append(
                PlannedMount(
                    target: try InsidePath("/trial"),
                    source: source,
                    access: access,
                    isExecutable: false
                )
            )
        }
        switch self {
        case .stateDirectory: try add(.host(state))
        case .vaultForCandidate: try add(.vault(state))
        case .replacedSource:
            let usr = PinnedSource(path: "/usr", device: 0, inode: 0, isDirectory: true)
            try add(.host(usr))
        case .hostForCandidate: try add(.host(state))
        case .writableForExaminer, .writablePrograms:
            let usr = PinnedSource(path: "/usr", device: 0, inode: 0, isDirectory: true)
            try add(.host(usr), .readWrite)
        case .sharedTree: break
        case .openFilter:
            // BPF_RET with SECCOMP_RET_ALLOW (linux/filter.h, linux/seccomp.h).
            plan.filter = SeccompProgram(bytes: [6, 0, 0, 0, 0, 0, 0xff, 0x7f])
        case .loaderVariable:
            plan.environment.append(EnvironmentVariable(name: "LD_PRELOAD", value: "/trial.so"))
        case .noWallClock: plan.limits.wallClock = Milliseconds(0)
        }
        return plan
    }
}

/// What one trial came to.
public struct TrialFinding: Sendable, Equatable {
    /// The trial.
    public let trial: PlanTrial
    /// Whether the launcher refused the plan before it made anything.
    public let isRefused: Bool
    /// Its words.
    public let evidence: String

    /// Creates a finding.
    public init(_ trial: PlanTrial, isRefused: Bool, evidence: String) {
        self.trial = trial
        self.isRefused = isRefused
        self.evidence = evidence
    }
}

extension QuickSet {
    /// Asks for sandboxes that the launcher must refuse.
    ///
    /// - Parameters:
    ///   - plans: a sound plan of each role.
    ///   - state: the state directory.
    /// - Returns: a finding for each trial.
    /// - Throws: `LauncherError`, where the launcher is lost.
    public func trials(
        _ plans: [CompiledPlan],
        state: PinnedSource
    ) throws(LauncherError) -> [TrialFinding] {
        var checkable: [SandboxRole: CheckablePlan] = [:]
        for compiled in plans {
            let plan = try CheckablePlan(compiled)
            checkable[plan.plan.role] = plan
        }
        var found: [TrialFinding] = []
        for trial in PlanTrial.allCases {
            guard let sound = checkable[trial.role], let candidate = checkable[.candidate] else {
                continue
            }
            found.append(
                try leavingNothing { () throws(LauncherError) in
                    try attempt(trial, sound, candidate, state)
                }
            )
        }
        return found
    }

    private func attempt(
        _ trial: PlanTrial,
        _ sound: CheckablePlan,
        _ candidate: CheckablePlan,
        _ state: PinnedSource
    ) throws(LauncherError) -> TrialFinding {
        let plan: SandboxPlan
        do throws(PlanError) { plan = try trial.broken(sound.plan, state: state) } catch {
            fatalError("invariant: a trial's own values are well formed: \(error)")
        }
        var trees = try makeTrees(for: sound)
        if trial == .sharedTree { trees[0] = try usedTree(of: candidate) }
        do throws(LauncherError) {
            _ = try start(plan, trees, [sound.program, "eat", "0"])
            return TrialFinding(trial, isRefused: false, evidence: "a sandbox was made")
        } catch {
            guard case .refused(let failure) = error else { throw error }
            let isEarly = [SetupStep.check, .sources].contains(failure.step)
            return TrialFinding(
                trial,
                isRefused: isEarly,
                evidence: "refused at step \(failure.step): \(failure.location): \(failure.reason)"
            )
        }
    }

    // The root tree of a candidate that ran in it.
    private func usedTree(of candidate: CheckablePlan) throws(LauncherError) -> SandboxTree {
        let trees = try makeTrees(for: candidate)
        let sandbox = try start(candidate.plan, trees, [candidate.program, "eat", "0"])
        try wait { sandbox.exit != nil }
        return trees[0]
    }

    /// Lets a program take more memory than its sandbox has.
    ///
    /// - Parameter plan: a sound plan, whose limit is lowered for this.
    /// - Returns: a finding of ``QuickProbe/limits``.
    /// - Throws: `LauncherError`.
    public func memoryFinding(under plan: CompiledPlan) throws(LauncherError) -> QuickFinding {
        var checkable = try CheckablePlan(plan)
        checkable.lowerMemory(to: .mebibytes(32))
        let end = try leavingNothing { () throws(LauncherError) in
            let words = [checkable.program, "eat", "128"]
            let sandbox = try start(checkable.plan, makeTrees(for: checkable), words)
            try wait { sandbox.exit != nil }
            return sandbox.exit
        }
        let wasRefused = end?.kind == .exited && end?.code == 1
        return QuickFinding(
            .limits,
            checkable.plan.role,
            end?.kind == .outOfMemory
                ? .enforced
                : .missing(
                    wasRefused
                        ? "one process got no more than 32 MiB, but nothing limits several together"
                        : "128 MiB were taken where 32 are allowed"
                ),
            evidence: "a program that takes 128 MiB in a sandbox of 32 ended as "
                + (end?.kind.name ?? "nothing")
        )
    }
}
