internal import CLinux

/// Properties of a mount, as mount_setattr(2) sets them.
public struct MountFlags: OptionSet, Sendable, Equatable {
    /// Bits of `MOUNT_ATTR_*`.
    public let rawValue: UInt64

    /// Adopts bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// No writes.
    public static let readOnly = MountFlags(rawValue: UInt64(CLX_ATTR_RDONLY))
    /// Set-user-id bits and file capabilities are ignored.
    public static let noSetUID = MountFlags(rawValue: UInt64(CLX_ATTR_NOSUID))
    /// Device nodes cannot be opened.
    public static let noDevices = MountFlags(rawValue: UInt64(CLX_ATTR_NODEV))
    /// Nothing can be executed.
    public static let noExecution = MountFlags(rawValue: UInt64(CLX_ATTR_NOEXEC))
    /// Reading leaves no access time behind.
    public static let noAccessTime = MountFlags(rawValue: UInt64(CLX_ATTR_NOATIME))
}

/// A mount or tree of mounts that is held by descriptor, attached or not (fsmount(2), open_tree(2)).
public struct MountTree: ~Copyable, Sendable {
    /// The mount's own root directory.
    public let root: Descriptor

    /// Refers to the mount whose root directory is open; only a clone of it can be attached elsewhere.
    public init(at root: consuming Descriptor) {
        self.root = consume root
    }

    /// Makes a detached file system of a kind with options.
    ///
    /// - Throws: ``SystemError`` naming the option that the kernel refused.
    public static func make(
        _ kind: StaticString,
        _ options: [(key: String, value: String)],
        _ flags: MountFlags
    ) throws(SystemError) -> MountTree {
        let name = kind.description
        // Safety: every path and option is a NUL-terminated copy for the length of its call; so in
        // each call of this file.
        let context = Descriptor(
            adopting: try result("fsopen", name) { unsafe clx_fsopen(name) }
        )
        let number = context.number
        for (key, value) in options {
            try result("fsconfig", "\(name) \(key)=\(value)") {
                unsafe clx_fsconfig_string(number, key, value)
            }
        }
        try result("fsconfig", name) { clx_fsconfig_create(number) }
        let bits = UInt32(flags.rawValue)
        let mount = try result("fsmount", name) { clx_fsmount(number, bits) }
        return MountTree(at: Descriptor(adopting: mount))
    }

    /// Clones the mount that an open file lies on, detached, with that file as its root.
    ///
    /// Only that one mount: what is mounted below it does not come along.
    ///
    /// - Throws: ``SystemError``.
    public static func clone(of file: borrowing Descriptor) throws(SystemError) -> MountTree {
        let number = file.number
        let flags = UInt32(CLX_AT_EMPTY_PATH | CLX_OPEN_TREE_CLONE | CLX_OPEN_TREE_CLOEXEC)
        let mount = try result("open_tree") { unsafe clx_open_tree(number, "", flags) }
        return MountTree(at: Descriptor(adopting: mount))
    }

    /// Adds flags to the mount and sets how access times behave.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func add(_ flags: MountFlags) throws(SystemError) {
        let cleared = flags.contains(.noAccessTime) ? UInt64(CLX_ATTR_ATIME_MASK) : 0
        try MountNamespace.change(root.number, setting: flags.rawValue, clearing: cleared)
    }

    /// Shows the files of one owner as another's, by a user namespace's map (mount_setattr(2)).
    ///
    /// - Throws: ``SystemError``; EINVAL where the file system cannot be mapped.
    public borrowing func mapOwners(
        by userNamespace: borrowing Descriptor
    ) throws(SystemError) {
        let map = userNamespace.number
        try MountNamespace.change(root.number, setting: UInt64(CLX_ATTR_IDMAP), map: map)
    }

    /// Attaches the mount on a name in a directory (move_mount(2)).
    ///
    /// - Throws: ``SystemError``.
    public borrowing func attach(
        to name: String,
        in directory: borrowing Descriptor
    ) throws(SystemError) {
        try attach(directory.number, name, UInt32(CLX_MOVE_FROM_EMPTY))
    }

    /// Attaches the mount on an open file or directory.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func attach(on target: borrowing Descriptor) throws(SystemError) {
        try attach(target.number, "", UInt32(CLX_MOVE_FROM_EMPTY | CLX_MOVE_TO_EMPTY))
    }

    private borrowing func attach(
        _ directory: Int32,
        _ name: String,
        _ flags: UInt32
    ) throws(SystemError) {
        let from = root.number
        try result("move_mount", name) { unsafe clx_move_mount(from, "", directory, name, flags) }
    }
}

/// Operations on the current mount namespace.
public enum MountNamespace {
    /// Stops mount events from leaving or entering this namespace, for every mount in it.
    ///
    /// - Throws: ``SystemError``.
    public static func makePrivate() throws(SystemError) {
        let kind = clx_propagation_private()
        try result("mount_setattr", "private") {
            unsafe clx_mount_setattr(AT_FDCWD, "/", UInt32(CLX_AT_RECURSIVE), 0, 0, kind, -1)
        }
    }

    // Changes the one mount whose root is open under a number.
    static func change(
        _ root: Int32,
        setting flags: UInt64,
        clearing cleared: UInt64 = 0,
        map: Int32 = -1
    ) throws(SystemError) {
        let empty = UInt32(CLX_AT_EMPTY_PATH)
        try result("mount_setattr") {
            unsafe clx_mount_setattr(root, "", empty, flags, cleared, 0, map)
        }
    }

    /// Makes an attached mount the root directory and drops the old root (pivot_root(2)).
    ///
    /// The mount must be attached and is not the current root. Both arguments of pivot_root are
    /// the new root itself, so no directory is needed to hold the old one (pivot_root(2), NOTES).
    ///
    /// - Throws: ``SystemError``.
    public static func pivot(into root: borrowing Descriptor) throws(SystemError) {
        let number = root.number
        try result("fchdir") { clx_fchdir(number) }
        try result("pivot_root") { unsafe clx_pivot_root(".", ".") }
        try result("umount2", "old root") { unsafe clx_detach(".") }
        try result("chdir") { unsafe clx_chdir("/") }
    }

    /// Detaches the mount at a path.
    ///
    /// - Throws: ``SystemError``.
    public static func detach(_ path: String) throws(SystemError) {
        try result("umount2", path) { unsafe clx_detach(path) }
    }
}

/// What fstatfs(2) says of a file's mount.
public struct MountStatus: Sendable, Equatable {
    /// File-system magic number.
    public let kind: Int64
    /// `ST_*` flags of the mount.
    public let flags: UInt64

    /// The magic number of tmpfs.
    public static let tmpfs: Int64 = 0x0102_1994

    /// Looks at the mount of an open file.
    ///
    /// - Throws: ``SystemError``.
    public init(of file: borrowing Descriptor) throws(SystemError) {
        var raw = statfs()
        let number = file.number
        // Safety: fstatfs fills one struct statfs.
        try result("fstatfs") { unsafe clx_fstatfs(number, &raw) }
        kind = Int64(raw.f_type)
        flags = UInt64(raw.f_flags)
    }

    // ST_* of statfs(2); the kernel's values, which glibc's statvfs shares.
    /// Whether writes are refused by the mount.
    public var isReadOnly: Bool { flags & 1 != 0 }
    /// Whether set-user-id bits are ignored.
    public var ignoresSetUID: Bool { flags & 2 != 0 }
    /// Whether device nodes cannot be opened.
    public var refusesDevices: Bool { flags & 4 != 0 }
    /// Whether execution is refused.
    public var refusesExecution: Bool { flags & 8 != 0 }
}

extension Descriptor {
    /// Adds flags to the mount whose root directory this is.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func addMountFlags(_ flags: MountFlags) throws(SystemError) {
        try MountNamespace.change(number, setting: flags.rawValue)
    }
}
