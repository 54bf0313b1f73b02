package import LauncherClient
package import SandboxPlan

/// A plan as it is, but for what would keep our program from starting or from being heard, or would
/// make the probe of its processes take long.
package struct CheckablePlan {
    /// The plan.
    package private(set) var plan: SandboxPlan
    /// The index of the tree that holds our program.
    package let tree: Int
    /// Our program's path inside.
    package let program: String

    private static let ownTarget = "/self-check"

    /// Adapts a plan; those that ship stay as they are, but for the level that they demand.
    ///
    /// - Parameter compiled: a plan that an exam uses.
    /// - Throws: `LauncherError` for bytes that are no plan.
    package init(_ compiled: CompiledPlan) throws(LauncherError) {
        do throws(PlanError) {
            try self.init(try compiled.plan())
        } catch {
            throw .protocolBroken(during: "read a plan", detail: "\(error)")
        }
    }

    private init(_ original: SandboxPlan) throws(PlanError) {
        var plan = original
        plan.command = []
        // What is demanded is compared with what was seen, afterwards and by others.
        plan.demandedLevel = .noUserNamespace
        // Our program finds most of its facts in procfs.
        if plan.proc == .none { plan.proc = .pidOnly }
        plan.limits.cpuTime = nil
        plan.limits.idle = nil
        plan.limits.killsOnOutput = false
        plan.limits.output = max(plan.limits.output, .mebibytes(1))
        plan.limits.wallClock = max(plan.limits.wallClock, Milliseconds(20_000))
        // Each thread costs the kernel about 20 KiB, which counts as the sandbox's memory.
        let affordable = UInt32(clamping: plan.limits.memory.bytes >> 16)
        plan.limits.processes = min(plan.limits.processes, affordable, 512)
        // Each takes init some 50 µs, and fewer show the same.
        plan.limits.objects = min(plan.limits.objects, 64)
        let shown = plan.mounts.first { $0.source == .tree(index: 0) && $0.isExecutable }
        if plan.root == .tree {
            (tree, program) = (0, "/" + QuickSetKit.programName)
        } else if let shown {
            (tree, program) = (0, "\(shown.target)/\(QuickSetKit.programName)")
        } else {
            // Nothing of ours can be started in it: it is shown one tree more.
            tree = TreeNeeds.count(of: plan)
            let target = try InsidePath(Self.ownTarget)
            program = "\(target)/\(QuickSetKit.programName)"
            plan.mounts.append(
                PlannedMount(
                    target: target,
                    source: .tree(index: UInt8(clamping: tree)),
                    access: .readOnly,
                    isExecutable: true
                )
            )
            plan.landlock.rules.append(LandlockRule(path: target, access: .readExecute))
        }
        self.plan = plan
    }

    /// Lowers the limit of memory, so that reaching it takes little.
    package mutating func lowerMemory(to count: ByteCount) {
        plan.limits.memory = min(plan.limits.memory, count)
    }
}
