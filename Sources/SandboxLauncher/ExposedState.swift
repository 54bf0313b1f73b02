#if LayerSwitches
// What the private root hides, for the test-only build that leaves it out; no other build has this file.

internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

extension SourceOpener {
    /// Adds the supervisor's state to a plan's mounts, with its files shown as the payload's: where it
    /// lies by default, or on the empty mount point that an exam's root has for a vault.
    func expose(
        in plan: inout SandboxPlan,
        _ sources: inout [HeldTree?]
    ) throws(LaunchFailure) {
        guard Layer.privateRoot.isOmitted, plan.role != .examiner, let state = site.protected.state
        else { return }
        let host = try attempt(.sources, state) { () throws(SystemError) in
            let host = HeldTree(try MountTree.clone(of: .openWithoutLinks(state, [.path])))
            try host.tree.add([.readOnly, .noSetUID, .noDevices])
            try ownerMap?.apply(to: host.tree)
            return host
        }
        let mount = try checking { () throws(PlanError) in
            PlannedMount(
                target: try InsidePath(plan.role == .candidate ? "/vault" : "/var/lib/invigilator"),
                source: .tree(index: 0),
                access: .readOnly,
                isExecutable: true
            )
        }
        plan.mounts.append(mount)
        sources.append(host)
    }
}
#endif
