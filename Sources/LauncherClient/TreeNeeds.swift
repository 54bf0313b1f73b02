package import SandboxPlan

/// What the trees of a launch must hold before it, as a plan says.
package enum TreeNeeds {
    /// How many trees a launch of the plan names.
    package static func count(of plan: SandboxPlan) -> Int {
        let mounted = plan.mounts.compactMap { index(of: $0.source).map { Int($0) + 1 } }
        return max(plan.root == .tree ? 1 : 0, mounted.max() ?? 0)
    }

    /// Directories that must exist in a tree: mount points of what lies over it, and the two that
    /// every coding agent's view has.
    package static func directories(ofTree tree: Int, in plan: SandboxPlan) -> [String] {
        var paths = mountPoints(onTree: tree, in: plan).filter { !isFile($0.mount) }.map(\.path)
        for file in files(ofTree: tree, in: plan) {
            let above = file.split(separator: "/").dropLast().joined(separator: "/")
            if !above.isEmpty { paths.append(above) }
        }
        if plan.role == .coding, tree == 0 { paths += ["agent", "workspace"] }
        return Array(Set(paths)).sorted()
    }

    /// Files that must exist in a tree: those that a plan shows one by one, and, where it shows them
    /// over another tree, empty ones for them to lie on.
    package static func files(ofTree tree: Int, in plan: SandboxPlan) -> [String] {
        var paths = mountPoints(onTree: tree, in: plan).filter { isFile($0.mount) }.map(\.path)
        for mount in plan.mounts {
            guard case .treeFile(let index, let path) = mount.source, Int(index) == tree else {
                continue
            }
            paths.append(String(path.text.dropFirst()))
        }
        return Array(Set(paths)).sorted()
    }

    // Mounts whose place is in a tree, with the path in it.
    private static func mountPoints(
        onTree tree: Int,
        in plan: SandboxPlan
    ) -> [(mount: PlannedMount, path: String)] {
        let isRoot = plan.root == .tree && tree == 0
        let own = plan.mounts.filter { $0.source == .tree(index: UInt8(clamping: tree)) }
            .map(\.target)
        var points: [(mount: PlannedMount, path: String)] = []
        for mount in plan.mounts {
            if isRoot { points.append((mount, String(mount.target.text.dropFirst()))) }
            for target in own where mount.target != target && mount.target.isWithin(target) {
                points.append(
                    (mount, String(mount.target.text.dropFirst(target.text.utf8.count + 1)))
                )
            }
        }
        return points
    }

    private static func isFile(_ mount: PlannedMount) -> Bool {
        switch mount.source {
        case .treeFile: true
        case .host(let source), .vault(let source): !source.isDirectory
        case .tree, .tmpfs: false
        }
    }

    private static func index(of source: MountSource) -> UInt8? {
        switch source {
        case .tree(let index), .treeFile(let index, _): index
        case .host, .vault, .tmpfs: nil
        }
    }
}
