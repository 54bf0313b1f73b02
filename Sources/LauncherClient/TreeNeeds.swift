package import SandboxPlan

/// The trees that a plan asks the supervisor for.
package enum TreeNeeds {
    /// How many trees a launch of the plan names.
    package static func count(of plan: SandboxPlan) -> Int {
        let mounted = plan.mounts.compactMap { index(of: $0.source).map { Int($0) + 1 } }
        return max(plan.root == .tree ? 1 : 0, mounted.max() ?? 0)
    }

    /// Directories that must exist in a tree: mount points of what lies over it, and the two that
    /// every coding agent's view has.
    package static func directories(ofTree tree: Int, in plan: SandboxPlan) -> [String] {
        let isRoot = plan.root == .tree && tree == 0
        let own = plan.mounts.filter { index(of: $0.source).map(Int.init) == tree }.map(\.target)
        var paths: [String] = []
        for mount in plan.mounts {
            if isRoot { paths.append(String(mount.target.text.dropFirst())) }
            for target in own where mount.target != target && mount.target.isWithin(target) {
                paths.append(String(mount.target.text.dropFirst(target.text.utf8.count + 1)))
            }
        }
        if plan.role == .coding, tree == 0 { paths += ["agent", "workspace"] }
        return Array(Set(paths)).sorted()
    }

    private static func index(of source: MountSource) -> UInt8? {
        switch source {
        case .tree(let index): index
        case .host, .vault, .tmpfs: nil
        }
    }
}
