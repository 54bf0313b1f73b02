internal import FilterLint
public import SandboxPlan
public import SeccompCompiler
internal import StrictYAML

/// A policy together with the plan that it gives on one host.
public struct ResolvedPolicy: Sendable, Equatable {
    /// The policy.
    public let policy: SandboxPolicy
    /// The plan, which satisfies the invariants that the launcher checks again.
    public let plan: SandboxPlan
    /// The filter of the plan with its listing.
    public let filter: CompiledFilter
    /// The groups of system calls that the policy names, in its order.
    public let groups: [SyscallGroup]
    /// Sources of optional mounts that this host does not have.
    public let missingSources: [String]
}

/// Turns policies into plans.
///
/// All that is decided about a sandbox is decided here: sources are pinned, variables replaced,
/// the filter compiled, Landlock rules derived, and the launcher's invariants checked.
public struct PolicyResolver: Sendable {
    /// The groups of system calls by name.
    public let groups: [String: SyscallGroup]
    /// What the resolution needs to know of the host.
    public let context: ResolutionContext

    /// Creates a resolver.
    public init(groups: [String: SyscallGroup], context: ResolutionContext) {
        self.groups = groups
        self.context = context
    }

    /// Resolves a policy.
    ///
    /// - Throws: ``PolicyRefusal`` with every problem that could be found.
    public func resolve(_ policy: SandboxPolicy) throws(PolicyRefusal) -> ResolvedPolicy {
        try resolve(policy, toleratesMissingVault: false)
    }

    /// Resolves a policy to be looked at: where the context names no vault, a vault mount gets a
    /// stand-in, and the launcher would refuse the plan.
    ///
    /// - Throws: ``PolicyRefusal`` with every problem that could be found.
    public func preview(_ policy: SandboxPolicy) throws(PolicyRefusal) -> ResolvedPolicy {
        try resolve(policy, toleratesMissingVault: true)
    }

    private func resolve(
        _ policy: SandboxPolicy,
        toleratesMissingVault: Bool
    ) throws(PolicyRefusal) -> ResolvedPolicy {
        let problems = ProblemList(file: policy.file, operation: "resolve policy \(policy.name)")
        PolicyLint(policy: policy, groups: groups, context: context, problems: problems).check()
        var resolution = MountResolution(
            policy: policy,
            context: context,
            problems: problems,
            toleratesMissingVault: toleratesMissingVault
        )
        let mounts = resolution.mounts()
        let environment = resolution.environment()
        let root = root(of: policy, mounts: mounts, problems)
        let rules = SyscallResolution(policy: policy, groups: groups, problems: problems).rules()
        guard problems.isEmpty else { throw PolicyRefusal(problems) }
        let filter = try compiled(rules, policy, problems)
        let plan = SandboxPlan(
            name: policy.name,
            role: policy.role,
            demandedLevel: policy.assurance,
            root: root,
            mounts: mounts,
            proc: proc(of: policy),
            devices: policy.devices,
            limits: policy.limits,
            streams: policy.streams,
            network: policy.network,
            landlock: try landlock(of: policy, mounts: mounts, problems),
            filter: filter.program,
            counted: filter.counted,
            environment: environment,
            workingDirectory: policy.workingDirectory,
            command: policy.command,
            descriptors: policy.descriptors
        )
        try check(plan, policy, problems)
        return ResolvedPolicy(
            policy: policy,
            plan: plan,
            filter: filter,
            groups: policy.syscalls.groups.compactMap { groups[$0.value] },
            missingSources: resolution.missing
        )
    }

    private func root(
        of policy: SandboxPolicy,
        mounts: [PlannedMount],
        _ problems: ProblemList
    ) -> RootSource {
        guard case .skeleton(let entries) = policy.root else { return .tree }
        let place = policy.place(of: "root")
        return .skeleton(SkeletonPlan.entries(entries, mounts: mounts, problems, at: place))
    }

    private func proc(of policy: SandboxPolicy) -> ProcView {
        switch policy.proc {
        case .none: .none
        case .pidOnly: .pidOnly
        case .masked: .masked(ProcMasks.standard(policy.limits))
        }
    }

    private func compiled(
        _ rules: [SyscallRule],
        _ policy: SandboxPolicy,
        _ problems: ProblemList
    ) throws(PolicyRefusal) -> CompiledFilter {
        do throws(SeccompError) {
            return try FilterLint.compiled(rules, counting: policy.limits.objects > 0)
        } catch {
            problems.add(error, of: policy)
            throw PolicyRefusal(problems)
        }
    }

    private func landlock(
        of policy: SandboxPolicy,
        mounts: [PlannedMount],
        _ problems: ProblemList
    ) throws(PolicyRefusal) -> LandlockPlan {
        do throws(PlanError) {
            return LandlockPlan(
                minimumABI: policy.minimumABI,
                rules: try LandlockDerivation.rules(root: policy.root, mounts: mounts),
                allowsTCP: policy.sockets.contains { $0 == .inet || $0 == .inet6 },
                isLogged: policy.logsLandlock
            )
        } catch {
            problems.add(error, at: policy.place(of: "landlock"))
            throw PolicyRefusal(problems)
        }
    }

    /// The launcher's own check, in the words of the policy.
    private func check(
        _ plan: SandboxPlan,
        _ policy: SandboxPolicy,
        _ problems: ProblemList
    ) throws(PolicyRefusal) {
        do throws(PlanError) {
            try PlanInvariants.check(plan)
        } catch {
            problems.add(error, of: policy)
            throw PolicyRefusal(problems)
        }
    }
}
