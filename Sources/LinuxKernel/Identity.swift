internal import CCapability
internal import CLinux

/// User, group and capability state of the calling thread (credentials(7), capabilities(7)).
///
/// Every call acts on one thread, so they belong in processes that have one.
public enum Identity {
    /// Writes the id maps of a process in a new user namespace (user_namespaces(7)), through `/proc`.
    ///
    /// - Parameters:
    ///   - pid: the process, in the `/proc` that is mounted here.
    ///   - entries: inside and outside id, for users and groups alike.
    /// - Throws: ``SystemError``.
    public static func writeMaps(
        of pid: Int32,
        _ entries: [(inside: UInt32, outside: UInt32)]
    ) throws(SystemError) {
        try writeMaps(of: pid, entries, in: Descriptor.open("/proc", [.read, .directory]))
    }

    /// Writes the id maps of a process in a new user namespace (user_namespaces(7)).
    ///
    /// - Parameters:
    ///   - pid: the process.
    ///   - entries: inside and outside id, for users and groups alike.
    ///   - procfs: a procfs that knows the process by this number.
    /// - Throws: ``SystemError``.
    public static func writeMaps(
        of pid: Int32,
        _ entries: [(inside: UInt32, outside: UInt32)],
        in procfs: borrowing Descriptor
    ) throws(SystemError) {
        let text = entries.map { "\($0.inside) \($0.outside) 1\n" }.joined()
        for name in ["uid_map", "gid_map"] {
            try procfs.openBeneath("\(pid)/\(name)", [.write]).writeAll(Array(text.utf8))
        }
    }

    private static func write(
        _ text: String,
        to name: String,
        of pid: Int32
    ) throws(SystemError) {
        try Descriptor.open("/proc/\(pid)/\(name)", .write).writeAll(Array(text.utf8))
    }

    /// Gives an ordinary user every capability over nothing but new namespaces: a user namespace that
    /// knows this user alone, under its own number, and a mount namespace.
    ///
    /// The group is known under the user's number, so that one number names both. Who maps without
    /// CAP_SETGID gives up setgroups(2) first (user_namespaces(7)).
    ///
    /// - Throws: ``SystemError``; EPERM where the host lets no ordinary user do so.
    public static func enterOwnNamespaces() throws(SystemError) {
        let (user, group, pid) = (geteuid(), getegid(), CurrentProcess.pid)
        try CurrentProcess.unshare([.user, .mount])
        try write("deny", to: "setgroups", of: pid)
        try write("\(user) \(user) 1", to: "uid_map", of: pid)
        try write("\(user) \(group) 1", to: "gid_map", of: pid)
    }

    /// Becomes one user and group for good: real, effective and saved ids.
    ///
    /// - Parameters:
    ///   - uid: the user.
    ///   - gid: the group.
    ///   - dropsGroups: whether supplementary groups are dropped too; needs CAP_SETGID.
    /// - Throws: ``SystemError``.
    public static func become(
        uid: UInt32,
        gid: UInt32,
        dropsGroups: Bool
    ) throws(SystemError) {
        if dropsGroups { try result("setgroups") { clx_setgroups_none() } }
        try result("setresgid") { clx_setresgid(gid, gid, gid) }
        try result("setresuid") { clx_setresuid(uid, uid, uid) }
    }

    /// Whether real, effective and saved user and group ids are all this one.
    ///
    /// - Throws: ``SystemError``.
    public static func isExactly(uid: UInt32, gid: UInt32) throws(SystemError) -> Bool {
        var users: (UInt32, UInt32, UInt32) = (0, 0, 0)
        var groups: (UInt32, UInt32, UInt32) = (0, 0, 0)
        // Safety: each call fills three integers.
        try result("getresuid") { unsafe clx_getresuid(&users.0, &users.1, &users.2) }
        try result("getresgid") { unsafe clx_getresgid(&groups.0, &groups.1, &groups.2) }
        return users == (uid, uid, uid) && groups == (gid, gid, gid)
    }

    /// The effective user id.
    public static var effectiveUser: UInt32 { geteuid() }

    /// Whether our user namespace knows every id by the host's number (user_namespaces(7)).
    ///
    /// - Throws: ``SystemError``.
    public static func isHostsNamespace() throws(SystemError) -> Bool {
        let map = try Descriptor.open("/proc/\(CurrentProcess.pid)/uid_map", .read)
            .contents(limit: 4096).split { $0 == 32 || $0 == 10 }
        return map.map { String(decoding: $0, as: UTF8.self) } == ["0", "0", "4294967295"]
    }

    /// Gives up every capability but those listed by number, and locks the door: securebits without
    /// any root magic, no_new_privs, and for a process that will exec, an empty bounding set.
    ///
    /// Bounding and securebits first, because both need CAP_SETPCAP. A process that never execs
    /// gains nothing through its bounding set and need not pay 41 calls for it.
    ///
    /// - Parameters:
    ///   - kept: capabilities that stay effective.
    ///   - user: the user and group to become in between, while capabilities still allow it.
    ///   - emptiesBounding: whether a program is to be executed.
    /// - Throws: ``SystemError``.
    public static func confine(
        keeping kept: [UInt32],
        becoming user: UInt32? = nil,
        emptiesBounding: Bool = true
    ) throws(SystemError) {
        for capability in 0...lastCapability where emptiesBounding {
            try result("prctl", "PR_CAPBSET_DROP \(capability)") {
                clx_prctl(PR_CAPBSET_DROP, UInt(capability), 0, 0, 0)
            }
        }
        try result("prctl", "PR_CAP_AMBIENT") {
            clx_prctl(PR_CAP_AMBIENT, UInt(PR_CAP_AMBIENT_CLEAR_ALL), 0, 0, 0)
        }
        try result("prctl", "PR_SET_SECUREBITS") {
            clx_prctl(PR_SET_SECUREBITS, lockedSecureBits, 0, 0, 0)
        }
        if let user { try become(uid: user, gid: user, dropsGroups: true) }
        try setCapabilities(kept)
        try setNoNewPrivileges()
    }

    /// Gives up the gain of privileges by exec for good (PR_SET_NO_NEW_PRIVS).
    ///
    /// - Throws: ``SystemError``.
    public static func setNoNewPrivileges() throws(SystemError) {
        try result("prctl", "PR_SET_NO_NEW_PRIVS") { clx_prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }
    }

    // NOROOT, NO_SETUID_FIXUP, KEEP_CAPS off and NO_CAP_AMBIENT_RAISE, each locked (0xef).
    private static let lockedSecureBits: UInt = 0xef

    private static func setCapabilities(_ kept: [UInt32]) throws(SystemError) {
        // Safety: cap_init returns an owned state or null; it is freed on every way out.
        guard let state = unsafe cap_init() else {
            throw SystemError("cap_init", number: ENOMEM)
        }
        defer { unsafe _ = cap_free(unsafe UnsafeMutableRawPointer(state)) }
        for capability in kept {
            var value = cap_value_t(capability)
            let permitted = unsafe cap_set_flag(state, CAP_PERMITTED, 1, &value, CAP_SET)
            let effective = unsafe cap_set_flag(state, CAP_EFFECTIVE, 1, &value, CAP_SET)
            guard permitted == 0, effective == 0 else {
                throw SystemError("cap_set_flag", "\(capability)", number: EINVAL)
            }
        }
        guard unsafe cap_set_proc(state) == 0 else {
            throw SystemError("cap_set_proc", number: EPERM)
        }
    }

    /// Reads the calling thread's confinement back from the kernel, through `/proc`.
    ///
    /// - Returns: as ``missingWalls(in:)``.
    /// - Throws: ``SystemError``.
    public static func missingWalls() throws(SystemError) -> [String] {
        try missingWalls(in: Descriptor.open("/proc/\(CurrentProcess.pid)/status", .read))
    }

    /// Reads the calling thread's confinement back from the kernel.
    ///
    /// - Parameter status: this thread's `status` in procfs (proc(5)).
    /// - Returns: what ``confine(keeping:becoming:emptiesBounding:)`` should have done and the kernel
    ///   does not show: capability sets that are not empty, by their names in proc(5), `securebits`
    ///   and `no_new_privs`; nothing where every wall stands.
    /// - Throws: ``SystemError``.
    public static func missingWalls(
        in status: borrowing Descriptor
    ) throws(SystemError) -> [String] {
        // One read shows every bit, those of capabilities that this program does not know included.
        let status = try status.readAll(limit: 1 << 16).split(separator: UInt8(ascii: "\n"))
        let sets = ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"]
        var missing = sets.filter { set in
            let value = status.first { $0.starts(with: set.utf8) }?.dropFirst(set.utf8.count)
            return !(value?.allSatisfy { "0\t".utf8.contains($0) } ?? false)
        }
        let bits = try result("prctl", "PR_GET_SECUREBITS") {
            clx_prctl(PR_GET_SECUREBITS, 0, 0, 0, 0)
        }
        let privileges = try result("prctl", "PR_GET_NO_NEW_PRIVS") {
            clx_prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
        }
        if UInt(bits) != lockedSecureBits { missing.append("securebits") }
        if privileges != 1 { missing.append("no_new_privs") }
        return missing
    }

    // CAP_CHECKPOINT_RESTORE, the last of Linux 5.9 and still of 6.18 (capabilities(7)).
    private static let lastCapability: UInt32 = 40
}

/// Capabilities that a launcher keeps, by the kernel's number (capabilities(7)).
public enum LauncherCapability {
    /// Chown, bypass of file modes, foreign signals, group and user changes, capability drops,
    /// device nodes, and the administration that namespaces and mounts need.
    public static let all: [UInt32] = [
        0,  // CAP_CHOWN: tmpfs trees are given to the supervisor
        1,  // CAP_DAC_OVERRIDE: vault and state are 0700 of another uid
        5,  // CAP_KILL: sandboxes run under other uids
        6, 7,  // CAP_SETGID, CAP_SETUID: id maps of sandboxes
        8,  // CAP_SETPCAP: the bounding set of a child
        21,  // CAP_SYS_ADMIN: namespaces and mounts
        27,  // CAP_MKNOD: each sandbox's own device nodes
    ]
}

/// Resource limits of a process (getrlimit(2)), by the kernel's number, which x86-64 and arm64 share
/// (include/uapi/asm-generic/resource.h).
public enum ProcessLimit: Int32, Sendable {
    /// CPU seconds of one process.
    case cpuTime = 0
    /// Size of a written file.
    case fileSize = 1
    /// Private memory of one process.
    case memory = 2
    /// Size of a core dump.
    case core = 4
    /// Processes and threads of the user, within its user namespace.
    case processes = 6
    /// Number of open descriptors.
    case openFiles = 7
    /// Locked memory.
    case lockedMemory = 8
    /// Signals that wait for processes of the user, within its user namespace; timers take one each.
    case pendingSignals = 11
    /// POSIX message queues.
    case messageQueues = 12

    /// Sets soft and hard limit alike, never above the present hard limit.
    ///
    /// - Throws: ``SystemError``.
    public func set(_ wanted: UInt64) throws(SystemError) {
        let value = min(wanted, try get())
        try result("setrlimit", "\(self)") { clx_setrlimit(rawValue, value, value) }
    }

    /// The present hard limit.
    ///
    /// - Throws: ``SystemError``.
    public func get() throws(SystemError) -> UInt64 {
        var soft: UInt64 = 0
        var hard: UInt64 = 0
        // Safety: getrlimit fills both values.
        try result("getrlimit", "\(self)") { unsafe clx_getrlimit(rawValue, &soft, &hard) }
        return hard
    }
}
