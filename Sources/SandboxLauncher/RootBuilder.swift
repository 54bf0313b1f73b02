// Builds the root file system of one sandbox, as its init, from mounts that the launcher opened.
//
// Order: root, then the plan's mounts from parents to children, then /proc and /dev, then the root
// is made read-only. Nothing is created on the host: the root is a tree the launcher was given or a
// tmpfs of this mount namespace, and every target is looked up inside it without following a link.

internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

struct RootBuilder {
    let plan: SandboxPlan
    let rootTree: HeldTree?
    let sources: [HeldTree?]
    let devices: HeldTree
    let root: Held
    let level: AssuranceLevel

    /// The host directory on which the new root is attached before it becomes `/`.
    private static let stagingPoint = "/tmp"

    /// Attaches the root itself.
    init(_ context: InitContext) throws(SystemError) {
        plan = context.plan
        rootTree = context.rootTree
        sources = context.sources
        devices = context.devices
        level = context.level
        let tree: HeldTree
        if let rootTree {
            tree = rootTree
        } else {
            let options = [("size", "4m"), ("nr_inodes", "1024"), ("mode", "0755")]
            tree = HeldTree(try MountTree.make("tmpfs", options, [.noSetUID, .noDevices]))
        }
        try tree.tree.attach(on: .openWithoutLinks(Self.stagingPoint, [.path]))
        root = Held(try tree.tree.root.duplicate())
    }

    /// Creates the entries of a skeleton and a target for each mount that lies directly on it.
    func fillSkeleton() throws(SystemError) {
        guard case .skeleton(let entries) = plan.root else { return }
        try root.descriptor.fill(entries)
        for name in ["proc", "dev", "tmp"] { try root.descriptor.makeDirectories([name]) }
    }

    /// Attaches every mount of the plan.
    func attachMounts() throws(LaunchFailure) {
        for (index, mount) in plan.mounts.enumerated() {
            let source = sources[index]
            try attempt(.mounts, "mount \(mount.target)") { () throws(SystemError) in
                let isFile = try source?.tree.root.status().kind == .regular
                try prepareTarget(mount, isDirectory: !isFile)
                if let source {
                    try source.tree.attach(on: open(mount.target))
                } else if case .tmpfs(let size, let inodes) = mount.source {
                    try tmpfs(mount, size, inodes).attach(on: open(mount.target))
                }
            }
        }
    }

    private func tmpfs(
        _ mount: PlannedMount,
        _ size: ByteCount,
        _ inodes: UInt32
    ) throws(SystemError) -> MountTree {
        var flags: MountFlags = [.noSetUID, .noDevices]
        if !mount.isExecutable { flags.insert(.noExecution) }
        return try MountTree.make(
            "tmpfs",
            [
                ("size", "\(size.bytes)"), ("nr_inodes", "\(inodes)"), ("mode", "0700"),
                ("uid", "\(InsideIdentity.payload)"), ("gid", "\(InsideIdentity.payload)"),
            ],
            flags
        )
    }

    /// Mounts procfs as the plan shows it (proc(5), "Mount options").
    ///
    /// - Returns: its root, for init and the payload's process before its program starts; where the plan
    ///   shows none it is attached nowhere.
    func mountProc() throws(SystemError) -> Held {
        if Layer.pid.isOmitted {
            let hosts = try MountTree.clone(of: .openWithoutLinks("/proc", [.path]))
            try hosts.add([.noSetUID, .noDevices, .noExecution])
            try hosts.attach(to: "proc", in: root.descriptor)
            return Held(try hosts.root.duplicate())
        }
        var options = [(key: "hidepid", value: "invisible")]
        if [.pidOnly, .none].contains(plan.proc) { options.append(("subset", "pid")) }
        let proc = try MountTree.make("proc", options, [.noSetUID, .noDevices, .noExecution])
        if plan.proc != .none { try proc.attach(to: "proc", in: root.descriptor) }
        if case .masked(let constants) = plan.proc { try coverHost(with: constants) }
        return Held(try proc.root.duplicate())
    }

    // Each cover has the flags of the mount that it is cloned from. One that does not fit its place (a
    // file over a directory) is refused when it is attached.
    private func coverHost(with constants: [SkeletonEntry]) throws(SystemError) {
        let covers = try MountTree.make(
            "tmpfs",
            [("size", "4m"), ("nr_inodes", "1024"), ("mode", "0755")],
            [.noSetUID, .noDevices, .noExecution]
        )
        // Linux before 6.15 clones only what is attached; this goes with the old root.
        try covers.attach(on: .openWithoutLinks("/proc", [.path]))
        try covers.root.fill(constants)
        let given = try Set(covers.root.openBeneath(".", [.directory]).listing().map(\.name))
        // Nothing of the host's in procfs has a number as its name: those are processes.
        try covers.root.makeFile(["0"], [])
        try covers.root.makeDirectories(["1"])
        try covers.add([.readOnly])
        let proc = try root.descriptor.openInside("/proc", [.read, .directory])
        for place in try Self.hostPlaces(in: proc) {
            let empty = place.kind == .directory ? "1" : "0"
            let cover = given.contains(place.name) ? place.name : empty
            try MountTree.clone(of: covers.root.openBeneath(cover, [.path]))
                .attach(to: place.name, in: proc)
        }
    }

    /// What a procfs has beside processes, and the links that lead to the reader's own.
    static func hostPlaces(
        in proc: borrowing Descriptor
    ) throws(SystemError) -> [(name: String, kind: FileStatus.Kind)] {
        try proc.listing().filter { place in
            let isProcess = place.name.utf8.allSatisfy { (48...57).contains($0) }
            let isOwn = ["self", "thread-self", "mounts", "net"].contains(place.name)
            return !isProcess && !(isOwn && place.kind == .symbolicLink)
        }
    }

    /// Attaches the sandbox's own `/dev`; returns a terminal's master where the plan wants one.
    func mountDevices() throws(SystemError) -> Held? {
        try devices.tree.attach(to: "dev", in: root.descriptor)
        for device in plan.devices where level < .full {
            let hosts = try MountTree.clone(
                of: .openWithoutLinks("/dev/\(device.rawValue)", [.path])
            )
            try hosts.add([.noSetUID, .noExecution])
            try hosts.attach(on: root.descriptor.openInside("/dev/\(device.rawValue)", [.path]))
        }
        var master: Held?
        if plan.streams == .terminal {
            let terminals = try MountTree.make(
                "devpts",
                [("ptmxmode", "0666"), ("mode", "0620")],
                [.noSetUID, .noExecution]
            )
            try terminals.attach(on: root.descriptor.openInside("/dev/pts", [.path]))
            let directory = try root.descriptor.openInside("/dev/pts", [.directory])
            master = Held(try PseudoTerminal.openMaster(in: directory))
        }
        try devices.tree.add([.readOnly])
        return master
    }

    /// Makes a skeleton root read-only; a tree already is.
    func seal() throws(SystemError) {
        guard !Layer.readOnlyMounts.isOmitted, rootTree == nil else { return }
        try root.descriptor.addMountFlags([.readOnly])
    }

    // MARK: - paths

    private func open(_ path: InsidePath) throws(SystemError) -> Descriptor {
        try root.descriptor.openInside(path.text, [.path])
    }

    private func prepareTarget(_ mount: PlannedMount, isDirectory: Bool) throws(SystemError) {
        guard case .skeleton = plan.root else { return }
        let parts = mount.target.components
        let liesOnMount = plan.mounts.contains {
            $0.target != mount.target && mount.target.isWithin($0.target)
        }
        if liesOnMount { return }
        if isDirectory {
            try root.descriptor.makeDirectories(parts)
        } else {
            try root.descriptor.makeFile(parts, [])
        }
    }
}

/// What is made below a directory of a file system that nobody else sees yet.
extension Descriptor {
    borrowing func fill(_ entries: [SkeletonEntry]) throws(SystemError) {
        for entry in entries {
            switch entry {
            case .directory(let path): try makeDirectories(path.components)
            case .link(let path, let target):
                let parts = path.components
                try makeDirectories(parts.dropLast())
                try openDirectory(parts.dropLast()).makeLink(parts[parts.count - 1], to: target)
            case .file(let path, let contents): try makeFile(path.components, contents)
            }
        }
    }

    borrowing func openDirectory(_ parts: some Sequence<String>) throws(SystemError) -> Descriptor {
        try openInside("/" + parts.joined(separator: "/"), [.directory])
    }

    borrowing func makeDirectories(_ parts: some Sequence<String>) throws(SystemError) {
        var done: [String] = []
        for name in parts {
            try openDirectory(done).makeDirectoryIfMissing(name)
            done.append(name)
        }
    }

    borrowing func makeFile(_ parts: [String], _ contents: [UInt8]) throws(SystemError) {
        try makeDirectories(parts.dropLast())
        let file = try openDirectory(parts.dropLast())
            .openBeneath(parts[parts.count - 1], [.write, .create], permissions: 0o644)
        try file.writeAll(contents)
    }
}

/// User ids inside every sandbox.
enum InsideIdentity {
    /// Init, without any capability once the payload runs.
    static let initial: UInt32 = 0
    /// The payload.
    static let payload: UInt32 = 1000
}
