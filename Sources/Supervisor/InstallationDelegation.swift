internal import HostProbe
package import LauncherClient
internal import LinuxKernel
package import SandboxPlan

extension Installation {
    // Looked at once: it takes a process.
    private static let isDelegated = Identity.effectiveUser != 0 && DelegationProbe.probe().isWhole

    /// What gives this user's launcher users and control groups of its own; nothing for root, who has both, and
    /// where the host did not give them.
    package var delegation: Delegation? {
        guard Self.isDelegated else { return nil }
        return Delegation(unshare: DelegationProbe.unshare, ownGroups: ownGroups)
    }

    /// The level that sandboxes of this user have at the most; what they have is measured.
    package static var reach: AssuranceLevel {
        if [0, StateLayout.rootsSupervisor].contains(Identity.effectiveUser) { return .full }
        return isDelegated ? .delegated : .singleUID
    }

    // An installed tree has it beside the programs, a checkout where it is kept.
    private var ownGroups: String {
        has("bin/own-groups") ? "\(resources)/bin/own-groups" : "\(resources)/container/own-groups"
    }
}
