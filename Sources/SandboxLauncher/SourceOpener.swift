// Opens what a plan mounts, in the launcher's own mount namespace, before the sandbox exists.
//
// Order, for each source: open without following a link; compare device and inode with the plan;
// check against the protected directories; clone the mount; set its flags; map its owners. After
// this every source is a detached mount held by descriptor, and no path is resolved again.

internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

/// Directories that no sandbox may see, told to the launcher when it starts.
struct ProtectedDirectories {
    /// Device and inode, which a bind mount or another path cannot change.
    struct Identity: Hashable {
        let device: UInt64
        let inode: UInt64

        init(_ status: FileStatus) {
            device = status.device
            inode = status.inode
        }
    }

    private var protected: Set<Identity> = []
    private var above: Set<Identity> = []
    private var vault: Identity?
    #if LayerSwitches
    /// The supervisor's state directory, in which the vault lies.
    private(set) var state: String?
    #endif

    // Devices are shown one by one, as the plan lists them; devtmpfs has no number of its own, nor has
    // the tmpfs that control groups of version 1 are mounted on. Whoever reaches the socket of a
    // container engine is root on the host.
    private static let always = [
        "/dev", "/proc", "/sys", "/run/docker.sock", "/run/containerd", "/run/podman", "/run/crio",
        "/run/buildkit",
    ]
    // What the kernel says of itself and of others, wherever it is mounted (magic.h, Linux 6.18): proc,
    // sysfs, cgroup, cgroup2, devpts, securityfs, debugfs, tracefs, configfs, bpf, efivarfs, pstore,
    // mqueue, nsfs, pidfs, hugetlbfs, resctrl, selinuxfs, smackfs, binfmt_misc, fusectl, rpc_pipefs,
    // nfsd, binder.
    private static let kernels: Set<Int64> = [
        0x9fa0, 0x6265_6572, 0x27_e0eb, 0x6367_7270, 0x1cd1, 0x7363_6673, 0x6462_6720, 0x7472_6163,
        0x6265_6570, 0xcafe_4a11, 0xde5e_81e4, 0x6165_676c, 0x1980_0202, 0x6e73_6673, 0x5049_4446,
        0x9584_58f6, 0x765_5821, 0xf97c_ff8c, 0x4341_5d53, 0x4249_4e4d, 0x6573_5543, 0x6759_6969,
        0x6e66_7364, 0x6c6f_6f70,
    ]

    /// Adopts the directories; those that are never shown are added where they exist.
    init(directories: [String], vault: String?) throws(SystemError) {
        for path in directories { try protect(path) }
        for path in Self.always {
            do throws(SystemError) { try protect(path) } catch  where error.isMissing {}
        }
        guard let vault else { return }
        try protect(vault)
        self.vault = Identity(try FileStatus(path: vault))
        #if LayerSwitches
        state = "/" + vault.split(separator: "/").dropLast().joined(separator: "/")
        #endif
    }

    private mutating func protect(_ path: String) throws(SystemError) {
        let opened = try Descriptor.openWithoutLinks(path, [.path])
        let status = try opened.status()
        protected.insert(Identity(status))
        guard status.kind == .directory else { return }
        for identity in try Self.chain(from: opened).dropFirst() { above.insert(identity) }
    }

    /// Whether a source, found in a directory, lies in a protected one or would show one.
    func forbids(
        _ source: borrowing Descriptor,
        in directory: borrowing Descriptor
    ) throws(SystemError) -> Bool {
        if Self.kernels.contains(try MountStatus(of: source).kind) { return true }
        let own = Identity(try source.status())
        if protected.contains(own) || above.contains(own) { return true }
        return try Self.chain(from: directory).contains { protected.contains($0) }
    }

    /// Whether a directory is one split of one experiment: two levels below the vault.
    func isVaultSplit(_ source: borrowing Descriptor) throws(SystemError) -> Bool {
        guard let vault else { return false }
        let chain = try Self.chain(from: source)
        return chain.count > 2 && chain[2] == vault
    }

    // The directory itself, then each directory above it up to the root.
    private static func chain(
        from directory: borrowing Descriptor
    ) throws(SystemError) -> [Identity] {
        var identities = [Identity(try directory.status())]
        var current = try directory.parent()
        while true {
            let identity = Identity(try current.status())
            if identity == identities[identities.count - 1] { return identities }
            identities.append(identity)
            current = try current.parent()
        }
    }
}

/// Opens the sources of one plan.
struct SourceOpener {
    let site: LaunchSite
    let trees: [HeldTree]
    /// Nothing where the supervisor's user is the payload's.
    let ownerMap: OwnerMap?

    /// The root's tree, if the root is one, read-only.
    func openRoot(_ plan: SandboxPlan) throws(LaunchFailure) -> HeldTree? {
        guard plan.root == .tree else { return nil }
        let tree = try clonedTree(0, "root")
        try setFlags(tree, access: .readOnly, isExecutable: true, "root")
        return tree
    }

    /// One opened source for each mount of the plan; nil for a tmpfs, which is made inside.
    func openMounts(_ plan: SandboxPlan) throws(LaunchFailure) -> [HeldTree?] {
        try plan.mounts.map { mount throws(LaunchFailure) in try open(mount) }
    }

    private func open(_ mount: PlannedMount) throws(LaunchFailure) -> HeldTree? {
        let place = "mount \(mount.target)"
        let tree: HeldTree
        switch mount.source {
        case .tmpfs: return nil
        case .tree(let index): tree = try clonedTree(Int(index), place)
        case .treeFile(let index, let path): tree = try clonedTree(Int(index), place, path.text)
        case .host(let source): tree = try opened(source, isVault: false, place)
        case .vault(let source): tree = try opened(source, isVault: true, place)
        }
        try setFlags(tree, access: mount.access, isExecutable: mount.isExecutable, place)
        // What is the supervisor's is shown as the payload's; the host's file systems are for the host's
        // root to map, and a vault split that is not can be read by everybody who reaches it.
        switch mount.source {
        case .host: return tree
        case .vault where site.level < .full: return tree
        default: break
        }
        try attempt(.sources, place) { () throws(SystemError) in try ownerMap?.apply(to: tree.tree)
        }
        return tree
    }

    private func clonedTree(
        _ index: Int,
        _ place: String,
        _ path: String = "/"
    ) throws(LaunchFailure) -> HeldTree {
        guard index < trees.count else {
            throw refused(place, "the request names no tree \(index)", "name each of the plan")
        }
        let tree = trees[index]
        let found = try attempt(.sources, place) { () throws(SystemError) -> HeldTree? in
            let opened = try tree.tree.root.openInside(path, [.path])
            guard try opened.status().kind == (path == "/" ? .directory : .regular) else {
                return nil
            }
            return HeldTree(try MountTree.clone(of: opened))
        }
        guard let found else {
            throw refused(place, "\(path) of the tree is no plain file", "fill the tree first")
        }
        return found
    }

    private func opened(
        _ source: PinnedSource,
        isVault: Bool,
        _ place: String
    ) throws(LaunchFailure) -> HeldTree {
        let what = "\(place), source \(source.path)"
        let (facts, file) = try attempt(.sources, what) { () throws(SystemError) in
            let (directory, file) = try Self.open(source.path)
            let facts = (
                status: try file.descriptor.status(),
                isForbidden: try site.protected.forbids(file.descriptor, in: directory.descriptor),
                isSplit: isVault ? try site.protected.isVaultSplit(file.descriptor) : false
            )
            return (facts, file)
        }
        let kind: FileStatus.Kind = source.isDirectory ? .directory : .regular
        guard facts.status.device == source.device, facts.status.inode == source.inode,
            facts.status.kind == kind
        else {
            let reason = "\(source.path) is not the file that the plan pinned"
            throw refused(place, reason, "resolve the policy again; somebody replaced the source")
        }
        guard isVault ? facts.isSplit : !facts.isForbidden else {
            let reason = "\(source.path) lies in, or shows, a directory that no sandbox may see"
            throw refused(place, reason, "mount no state, vault, engine or kernel file system")
        }
        return try attempt(.sources, place) { () throws(SystemError) in
            HeldTree(try MountTree.clone(of: file.descriptor))
        }
    }

    private func refused(_ place: String, _ reason: String, _ remedy: String) -> LaunchFailure {
        LaunchFailure(place, reason, remedy, at: .sources)
    }

    // The directory first and the name in it, because a file cannot be asked where it lies.
    private static func open(
        _ path: String
    ) throws(SystemError) -> (directory: Held, file: Held) {
        let parts = path.split(separator: "/")
        let above = "/" + parts.dropLast().joined(separator: "/")
        let directory = Held(try Descriptor.openWithoutLinks(above, [.path, .directory]))
        let name = parts.last.map(String.init) ?? ""
        return (directory, Held(try directory.descriptor.openInside(name, [.path])))
    }

    private func setFlags(
        _ tree: HeldTree,
        access: MountAccess,
        isExecutable: Bool,
        _ place: String
    ) throws(LaunchFailure) {
        var flags: MountFlags = [.noSetUID, .noDevices]
        // How access times behave is locked on what a user namespace did not mount itself.
        if site.level == .full { flags.insert(.noAccessTime) }
        if access == .readOnly, !Layer.readOnlyMounts.isOmitted { flags.insert(.readOnly) }
        if !isExecutable { flags.insert(.noExecution) }
        let wanted = flags
        try attempt(.sources, place) { () throws(SystemError) in try tree.tree.add(wanted) }
    }
}

/// Runs a kernel operation and says at which step and place it failed.
func attempt<Answer>(
    _ step: SetupStep,
    _ location: String,
    _ body: () throws(SystemError) -> Answer
) throws(LaunchFailure) -> Answer {
    do throws(SystemError) {
        return try body()
    } catch {
        let remedy = "check this place, and run `invigilator doctor`; if all is well, report this"
        throw LaunchFailure(location, "\(error)", remedy, at: step)
    }
}

/// Shows what the supervisor owns as owned by the sandbox's user, by an id-mapped mount.
///
/// The map lives in a user namespace that nobody runs in; it is made when first needed.
final class OwnerMap {
    private let supervisor: UInt32
    private let sandboxUser: UInt32
    private var namespace: Held?

    init(from supervisor: UInt32, to sandboxUser: UInt32) {
        self.supervisor = supervisor
        self.sandboxUser = sandboxUser
    }

    func apply(to tree: borrowing MountTree) throws(SystemError) {
        if namespace == nil { namespace = try makeNamespace() }
        if let namespace { try tree.mapOwners(by: namespace.descriptor) }
    }

    private func makeNamespace() throws(SystemError) -> Held {
        try NewNamespace.make([.user], opening: "user") { pid throws(SystemError) in
            try Identity.writeMaps(of: pid, [(inside: supervisor, outside: sandboxUser)])
        }
    }
}
