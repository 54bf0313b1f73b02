internal import LauncherClient
internal import SandboxPlan

/// What the record says of plans: their digests without where on this host their sources lie just now.
///
/// A plan pins its sources by device and inode, and the launcher holds it to that. The numbers change
/// when the host upgrades a package, mounts its disks anew or starts a container again; what a
/// sandbox may see, use and ask for does not, and an experiment goes on.
struct AgreedPlans: Sendable, Equatable {
    private var digests: [SHA256Digest: SHA256Digest] = [:]

    /// Notes a plan.
    ///
    /// - Returns: its bytes and digest as the launcher gets them.
    mutating func compile(_ plan: SandboxPlan) -> CompiledPlan {
        let compiled = CompiledPlan(plan)
        var unpinned = plan
        for index in unpinned.mounts.indices { unpinned.mounts[index].source.unpin() }
        digests[compiled.digest] = CompiledPlan(unpinned).digest
        return compiled
    }

    /// The digest in the record of a plan that was noted; of any other its own.
    func digest(of compiled: SHA256Digest) -> String { "\(digests[compiled] ?? compiled)" }
}

extension MountSource {
    fileprivate mutating func unpin() {
        switch self {
        case .host(let source): self = .host(source.unpinned)
        case .vault(let source): self = .vault(source.unpinned)
        case .tree, .treeFile, .tmpfs: break
        }
    }
}

extension PinnedSource {
    fileprivate var unpinned: PinnedSource {
        PinnedSource(path: path, device: 0, inode: 0, isDirectory: isDirectory)
    }
}
