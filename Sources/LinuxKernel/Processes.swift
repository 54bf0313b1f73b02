internal import CLinux

/// Namespaces that a clone can make (namespaces(7)).
public struct NamespaceKinds: OptionSet, Sendable {
    /// `CLONE_NEW*` bits.
    public let rawValue: UInt64

    /// Adopts bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// User and group identities.
    public static let user = NamespaceKinds(rawValue: UInt64(CLONE_NEWUSER))
    /// Mounts.
    public static let mount = NamespaceKinds(rawValue: UInt64(CLONE_NEWNS))
    /// Process ids.
    public static let pid = NamespaceKinds(rawValue: UInt64(CLONE_NEWPID))
    /// Network.
    public static let network = NamespaceKinds(rawValue: UInt64(CLONE_NEWNET))
    /// System V and POSIX message objects.
    public static let ipc = NamespaceKinds(rawValue: UInt64(CLONE_NEWIPC))
    /// Host name.
    public static let hostName = NamespaceKinds(rawValue: UInt64(CLONE_NEWUTS))
    /// Control-group root.
    public static let controlGroup = NamespaceKinds(rawValue: UInt64(CLONE_NEWCGROUP))
}

/// A child process, held by a pidfd so that its number is never reused under us (pidfd_open(2)).
public struct ChildProcess: ~Copyable, Sendable {
    /// The process id in our namespace.
    public let pid: Int32
    /// The pidfd; readable once the child has ended.
    public let handle: Descriptor

    /// What a clone returns: in the parent the child, in the child nothing.
    public enum Side: ~Copyable {
        /// We are the parent.
        case parent(ChildProcess)
        /// We are the new process.
        case child
    }

    /// Clones the calling process, like fork, into new namespaces (clone3(2)).
    ///
    /// Only for a process that never had a second thread.
    ///
    /// - Parameters:
    ///   - namespaces: what the child gets of its own.
    ///   - group: the control group whose version 2 leaf the child begins in, if there is one.
    /// - Returns: which side of the clone the caller now is.
    /// - Throws: ``SystemError``.
    public static func clone(
        _ namespaces: NamespaceKinds,
        into group: ControlGroup? = nil
    ) throws(SystemError) -> Side {
        var handle: Int32 = -1
        var flags = namespaces.rawValue | UInt64(CLONE_PIDFD)
        let directory = group?.unifiedNumber ?? -1
        if directory >= 0 { flags |= 0x2_0000_0000 }  // CLONE_INTO_CGROUP, Linux 5.7
        // Safety: the kernel stores one integer for CLONE_PIDFD; without CLONE_VM the child gets a
        // copy of the address space, so returning twice is what fork does.
        let pid = try result("clone3") { unsafe clx_clone3(flags, &handle, directory) }
        if pid == 0 { return .child }
        return .parent(
            ChildProcess(pid: Int32(pid), handle: Descriptor(adopting: Int(handle)))
        )
    }

    /// Kills the child by pidfd (SIGKILL), and in a pid namespace of its own everything in it; no error
    /// when it has ended.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func kill() throws(SystemError) {
        let number = handle.number
        do throws(SystemError) {
            try result("pidfd_send_signal") { clx_pidfd_send_signal(number, SIGKILL) }
        } catch  where error.number == ESRCH {}
    }

    /// Waits until the child has ended and reaps it.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func wait() throws(SystemError) -> ProcessEnd {
        try ProcessEnd.wait(for: pid)
    }
}

/// How a reaped process ended and what it and its reaped children used.
public struct ProcessEnd: Sendable, Equatable {
    /// The process id.
    public let pid: Int32
    /// The status word of wait(2).
    public let status: Int32
    /// User CPU time in microseconds.
    public let userMicroseconds: UInt64
    /// System CPU time in microseconds.
    public let systemMicroseconds: UInt64
    /// The largest resident set of any one process, in KiB.
    public let peakResidentKiB: UInt64

    /// Adopts what another process measured.
    public init(
        pid: Int32,
        status: Int32,
        userMicroseconds: UInt64,
        systemMicroseconds: UInt64,
        peakResidentKiB: UInt64
    ) {
        self.pid = pid
        self.status = status
        self.userMicroseconds = userMicroseconds
        self.systemMicroseconds = systemMicroseconds
        self.peakResidentKiB = peakResidentKiB
    }

    /// The exit code, if it exited.
    public var exitCode: Int32? {
        clx_status_exited(status) != 0 ? clx_status_code(status) : nil
    }

    /// The signal, if one ended it.
    public var signal: Int32? {
        clx_status_exited(status) != 0 ? nil : clx_status_signal(status)
    }

    /// Waits for one child, or for any with -1 (wait4(2)).
    ///
    /// - Parameters:
    ///   - pid: the child.
    ///   - once: looks once instead of waiting; then a process 0 says that none has ended.
    /// - Returns: how it ended.
    /// - Throws: ``SystemError``; ECHILD when there is none.
    public static func wait(for pid: Int32, once: Bool = false) throws(SystemError) -> ProcessEnd {
        var status: Int32 = 0
        var usage = rusage()
        // Safety: wait4 fills one status word and one struct rusage.
        let ended = try result("wait4") {
            unsafe clx_wait4(pid, &status, once ? WNOHANG : 0, &usage)
        }
        return ProcessEnd(
            pid: Int32(ended),
            status: status,
            userMicroseconds: microseconds(usage.ru_utime),
            systemMicroseconds: microseconds(usage.ru_stime),
            peakResidentKiB: UInt64(usage.ru_maxrss)
        )
    }

    private static func microseconds(_ time: timeval) -> UInt64 {
        UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_usec)
    }
}

/// Calls about the calling process itself.
public enum CurrentProcess {
    /// Ends the process at once, without running exit handlers (_exit(2)).
    public static func exitNow(_ code: Int32) -> Never {
        clx_exit_now(code)
    }

    /// Our process id.
    public static var pid: Int32 { getpid() }

    /// Replaces the program (execve(2)).
    ///
    /// - Throws: ``SystemError``; it does not return otherwise.
    public static func execute(
        _ path: String,
        arguments: [String],
        environment: [String]
    ) throws(SystemError) -> Never {
        let list = CStringList(arguments)
        let variables = CStringList(environment)
        // Safety: both lists are NULL-terminated and outlive the call.
        try result("execve", path) { unsafe clx_execve(path, list.pointers, variables.pointers) }
        fatalError("execve returns only errors")
    }

    /// Enters new namespaces (unshare(2)); only in a process with one thread.
    ///
    /// - Throws: ``SystemError``.
    public static func unshare(_ kinds: NamespaceKinds) throws(SystemError) {
        try result("unshare") { clx_unshare(Int32(truncatingIfNeeded: kinds.rawValue)) }
    }

    /// Enters a namespace that is open (setns(2)).
    ///
    /// - Throws: ``SystemError``.
    public static func enter(_ namespace: borrowing Descriptor) throws(SystemError) {
        let number = namespace.number
        try result("setns") { clx_setns(number, 0) }
    }

    /// The program's arguments, its name left out.
    public static var arguments: [String] {
        // Safety: the vector of the start, each a NUL-terminated string for as long as we live.
        (1..<max(clx_argument_count(), 1)).map { unsafe String(cString: clx_argument($0)) }
    }

    /// Starts a new session (setsid(2)).
    ///
    /// - Throws: ``SystemError``.
    public static func startSession() throws(SystemError) {
        try result("setsid") { clx_setsid() }
    }

    /// Changes the working directory.
    ///
    /// - Throws: ``SystemError``.
    public static func changeDirectory(_ path: String) throws(SystemError) {
        // Safety: a NUL-terminated copy for the length of the call.
        try result("chdir", path) { unsafe clx_chdir(path) }
    }

    /// Sets the file-mode creation mask.
    public static func setMask(_ mask: UInt32) {
        _ = clx_umask(mask)
    }

    /// Asks for SIGKILL when the parent ends (PR_SET_PDEATHSIG); cleared by a change of uid.
    ///
    /// - Throws: ``SystemError``.
    public static func dieWithParent() throws(SystemError) {
        try result("prctl", "PR_SET_PDEATHSIG") {
            clx_prctl(PR_SET_PDEATHSIG, UInt(SIGKILL), 0, 0, 0)
        }
    }

    /// Sets whether `/proc/self` belongs to us rather than to root, and whether a core is dumped.
    ///
    /// - Throws: ``SystemError``.
    public static func setDumpable(_ isDumpable: Bool) throws(SystemError) {
        try result("prctl", "PR_SET_DUMPABLE") {
            clx_prctl(PR_SET_DUMPABLE, isDumpable ? 1 : 0, 0, 0, 0)
        }
    }

    /// Sets the host name of the current namespace.
    ///
    /// - Throws: ``SystemError``.
    public static func setHostName(_ name: String) throws(SystemError) {
        let count = name.utf8.count
        // Safety: the text is NUL-terminated and `count` bytes long.
        try result("sethostname") { unsafe clx_sethostname(name, count) }
    }

    /// Brings the loopback interface of the current network namespace up.
    ///
    /// - Throws: ``SystemError``.
    public static func bringLoopbackUp() throws(SystemError) {
        try result("ioctl", "SIOCSIFFLAGS lo") { clx_loopback_up() }
    }

    /// Restores default signal handling and unblocks every signal, before an exec.
    ///
    /// - Throws: ``SystemError``.
    public static func resetSignals() throws(SystemError) {
        try result("sigaction") { clx_signals_reset() }
    }

    /// Makes writes to a closed pipe an error instead of a signal.
    public static func ignorePipeSignal() {
        clx_ignore_pipe_signal()
    }
}

/// A NULL-terminated array of C strings with one owner.
@_spi(KernelHandles) @safe public struct CStringList: ~Copyable {
    private let storage: UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>
    private let text: UnsafeMutableBufferPointer<CChar>

    /// Copies texts; one with a NUL ends there.
    public init(_ values: [String]) {
        let bytes = values.map { Array($0.utf8CString) }
        let total = bytes.reduce(0) { $0 + $1.count }
        // Safety: `text` holds every string with its terminator one behind another, `storage` the
        // start of each and a final null; both are freed once, in deinit.
        unsafe text = .allocate(capacity: max(total, 1))
        unsafe storage = .allocate(capacity: values.count + 1)
        var at = 0
        for (index, value) in bytes.enumerated() {
            for (offset, byte) in value.enumerated() { unsafe text[at + offset] = byte }
            unsafe storage[index] = unsafe text.baseAddress.map { unsafe $0 + at }
            at += value.count
        }
        unsafe storage[values.count] = nil
    }

    /// The array, for as long as this value lives.
    @unsafe public var pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
        unsafe storage.baseAddress
    }

    deinit {
        unsafe storage.deallocate()
        unsafe text.deallocate()
    }
}

extension Descriptor {
    /// Opens a namespace of a process, as `/proc/PID/ns/NAME` names it (namespaces(7)).
    ///
    /// - Throws: ``SystemError``.
    public static func openNamespace(_ name: String, of pid: Int32) throws(SystemError)
        -> Descriptor
    {
        let path = "/proc/\(pid)/ns/\(name)"
        // Safety: a NUL-terminated copy for the length of the call.
        return Descriptor(
            adopting: try result("open", path) { unsafe clx_open(path, O_RDONLY, 0) }
        )
    }
}

#if LayerSwitches
/// The environment, which only a test-only build looks at.
public enum TestEnvironment {
    /// The value of a variable.
    public static func value(of name: String) -> String? {
        // Safety: getenv returns null or a string that lives as long as the environment.
        guard let text = unsafe clx_environment(name) else { return nil }
        return unsafe String(cString: text)
    }
}
#endif
