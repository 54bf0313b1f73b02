internal import CLinux

/// What stat(2) says of a file.
public struct FileStatus: Sendable, Equatable {
    /// The kind of a file.
    public enum Kind: Sendable, Equatable {
        /// A regular file.
        case regular
        /// A directory.
        case directory
        /// A symbolic link.
        case symbolicLink
        /// A FIFO, socket or device.
        case other

        // From the bits of inode(7), S_IFMT, which are a directory entry's kind, too.
        init(_ bits: UInt32) {
            switch bits {
            case 0o10: self = .regular
            case 0o04: self = .directory
            case 0o12: self = .symbolicLink
            default: self = .other
            }
        }
    }

    /// Device number of the file system.
    public let device: UInt64
    /// Inode number.
    public let inode: UInt64
    /// The kind.
    public let kind: Kind
    /// Permission bits, without the kind.
    public let permissions: UInt32
    /// Owning user.
    public let owner: UInt32
    /// Owning group.
    public let group: UInt32
    /// Size in bytes.
    public let size: Int64
    /// Number of hard links.
    public let linkCount: UInt64
    /// Last modification in whole seconds since the epoch.
    public let modificationSeconds: Int64

    init(_ raw: stat) {
        device = UInt64(raw.st_dev)
        inode = UInt64(raw.st_ino)
        permissions = raw.st_mode & 0o7777
        owner = raw.st_uid
        group = raw.st_gid
        size = Int64(raw.st_size)
        linkCount = UInt64(raw.st_nlink)
        modificationSeconds = Int64(raw.st_mtim.tv_sec)
        kind = Kind(raw.st_mode >> 12)
    }

    /// Looks at a path without following a final symbolic link.
    ///
    /// - Throws: ``SystemError``.
    public init(path: String) throws(SystemError) {
        try self.init(AT_FDCWD, path)
    }

    /// Looks at a name in a directory without following a final symbolic link.
    ///
    /// - Throws: ``SystemError``.
    public init(of name: String, in directory: borrowing Descriptor) throws(SystemError) {
        try self.init(directory.number, name)
    }

    private init(_ directory: Int32, _ path: String) throws(SystemError) {
        var raw = stat()
        // Safety: fstatat fills one struct stat.
        try result("fstatat", path) {
            unsafe clx_fstatat(directory, path, &raw, AT_SYMLINK_NOFOLLOW)
        }
        self.init(raw)
    }
}

extension Descriptor {
    /// What kind of opening is wanted.
    public struct Mode: OptionSet, Sendable {
        /// The flags of open(2).
        public let rawValue: Int32

        /// Adopts flags.
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Reading.
        public static let read = Mode([])
        /// Writing.
        public static let write = Mode(rawValue: O_WRONLY)
        /// Reading and writing.
        public static let readWrite = Mode(rawValue: O_RDWR)
        /// A new file; it is an error if there is one.
        public static let createNew = Mode(rawValue: O_CREAT | O_EXCL)
        /// A file made when it is missing.
        public static let create = Mode(rawValue: O_CREAT)
        /// Cut to length zero.
        public static let truncate = Mode(rawValue: O_TRUNC)
        /// Every write at the end.
        public static let append = Mode(rawValue: O_APPEND)
        /// Only a directory.
        public static let directory = Mode(rawValue: O_DIRECTORY)
        /// A handle that names a file without opening it.
        public static let path = Mode(rawValue: O_PATH)
        /// Never waits for a peer or for data.
        public static let nonBlocking = Mode(rawValue: O_NONBLOCK)
    }

    /// Opens a path, refusing a symbolic link as its last component.
    ///
    /// - Throws: ``SystemError``.
    public static func open(
        _ path: String,
        _ mode: Mode,
        permissions: UInt32 = 0o600
    ) throws(SystemError) -> Descriptor {
        let flags = mode.rawValue | O_NOFOLLOW
        // Safety: the path is a NUL-terminated copy for the length of the call.
        return Descriptor(
            adopting: try result("open", path) { unsafe clx_open(path, flags, permissions) }
        )
    }

    /// Opens an absolute path in which no component is a symbolic link (openat2(2)).
    ///
    /// - Throws: ``SystemError``, with ``SystemError/isSymbolicLink`` when one is.
    public static func openWithoutLinks(
        _ path: String,
        _ mode: Mode
    ) throws(SystemError) -> Descriptor {
        try openat2(AT_FDCWD, path, mode, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)
    }

    private static func openat2(
        _ directory: Int32,
        _ path: String,
        _ mode: Mode,
        _ resolve: some BinaryInteger,
        permissions: UInt32 = 0
    ) throws(SystemError) -> Descriptor {
        let (flags, resolve) = (UInt64(mode.rawValue), UInt64(resolve))
        // Safety: as in open.
        return Descriptor(
            adopting: try result("openat2", path) {
                unsafe clx_openat2(directory, path, flags, UInt64(permissions), resolve)
            }
        )
    }

    /// Opens a path beneath this directory: no symbolic link, no way out, no other mount.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func openBeneath(
        _ path: String,
        _ mode: Mode,
        permissions: UInt32 = 0o600
    ) throws(SystemError) -> Descriptor {
        let makes = mode.contains(.createNew) || mode.contains(.create)
        return try Self.openat2(
            number,
            path,
            mode.union(Mode(rawValue: O_NOFOLLOW)),
            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
            permissions: makes ? permissions : 0
        )
    }

    /// What the open file is.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func status() throws(SystemError) -> FileStatus {
        var raw = stat()
        let descriptor = number
        // Safety: fstat fills one struct stat.
        try result("fstat") { unsafe clx_fstat(descriptor, &raw) }
        return FileStatus(raw)
    }

    /// Makes a directory in this one.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func makeDirectory(
        _ name: String,
        permissions: UInt32 = 0o755
    ) throws(SystemError) {
        let directory = number
        // Safety: as in open; so for the calls below.
        try result("mkdirat", name) { unsafe clx_mkdirat(directory, name, permissions) }
    }

    /// Makes a directory in this one where there is nothing of that name.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func makeDirectoryIfMissing(_ name: String) throws(SystemError) {
        do throws(SystemError) { try makeDirectory(name) } catch  where error.isAlreadyThere {}
    }

    /// Makes a symbolic link in this directory.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func makeLink(_ name: String, to target: String) throws(SystemError) {
        let directory = number
        try result("symlinkat", name) { unsafe clx_symlinkat(target, directory, name) }
    }

    /// Makes one of the memory devices (major 1) that everybody may use; needs CAP_MKNOD.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func makeDevice(_ name: String, minor: UInt32) throws(SystemError) {
        let directory = number
        try result("mknodat", name) { unsafe clx_make_device(directory, name, 1, minor) }
    }

    /// Removes a name from this directory.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func remove(_ name: String, isDirectory: Bool = false) throws(SystemError) {
        let directory = number
        let flags = isDirectory ? AT_REMOVEDIR : 0
        try result("unlinkat", name) { unsafe clx_unlinkat(directory, name, flags) }
    }

    /// Sets the permission bits, whatever the umask is.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func setPermissions(_ permissions: UInt32) throws(SystemError) {
        let descriptor = number
        try result("fchmod") { clx_fchmod(descriptor, permissions) }
    }

    /// Sets the permission bits of a name in this directory; a link is followed.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func setPermissions(
        _ permissions: UInt32,
        of name: String
    ) throws(SystemError) {
        let directory = number
        // Safety: as in open.
        try result("fchmodat", name) { unsafe clx_fchmodat(directory, name, permissions) }
    }

    /// The names in this directory with their kinds, without `.` and `..`, in no order.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func listing() throws(SystemError) -> [(name: String, kind: FileStatus.Kind)] {
        var found: [(name: String, kind: FileStatus.Kind)] = []
        let (descriptor, limit) = (number, 32768)
        try result("lseek") { clx_lseek(descriptor, 0, SEEK_SET) }
        while true {
            let block = try unsafe Self.filled("getdents64", limit) {
                unsafe clx_getdents(descriptor, $0, limit)
            }
            if block.isEmpty { return found }
            var at = 0
            while at + 19 <= block.count {
                // struct linux_dirent64: inode 8, offset 8, record length 2, kind 1, name.
                let length = Int(block[at + 16]) | Int(block[at + 17]) << 8
                guard length >= 20, at + length <= block.count else {
                    throw SystemError("getdents64", "malformed record", number: EBADMSG)
                }
                let raw = block[(at + 19)..<(at + length)].prefix { $0 != 0 }
                let name = String(decoding: raw, as: UTF8.self)
                let kind = FileStatus.Kind(UInt32(block[at + 18]))
                if name != ".", name != ".." { found.append((name, kind)) }
                at += length
            }
        }
    }

    /// Reads a whole regular file beneath this directory.
    ///
    /// - Throws: ``SystemError``; EFBIG above `limit`.
    public borrowing func contents(of path: String, limit: Int) throws(SystemError) -> [UInt8] {
        try openBeneath(path, [.read, .nonBlocking]).readAll(limit: limit)
    }
}

extension Descriptor {
    /// Opens a path as if this directory were the root: no symbolic link, mounts are crossed.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func openInside(_ path: String, _ mode: Mode) throws(SystemError) -> Descriptor
    {
        let resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS
        return try Self.openat2(number, path, mode, resolve)
    }

    /// Opens the directory above this one; at the root, the root itself.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func parent() throws(SystemError) -> Descriptor {
        try Self.openat2(number, "..", [.path, .directory], 0)
    }
}
