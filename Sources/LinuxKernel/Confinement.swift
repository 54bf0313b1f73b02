internal import CLinux

/// A Landlock rule set being built (landlock(7)).
public struct LandlockRuleset: ~Copyable {
    private let descriptor: Descriptor
    private let handled: UInt64

    /// The newest ABI of the running kernel; 0 where there is no Landlock.
    public static var kernelVersion: Int { max(0, clx_landlock_abi()) }

    /// The ABI that rule sets are made for: the kernel's, but no newer than the access rights spelled
    /// out here (landlock(7)).
    public static var version: Int { min(kernelVersion, 7) }

    // LANDLOCK_ACCESS_FS_*, landlock.h: bit numbers in the order of their ABI.
    private static func fileAccess(_ version: Int) -> UInt64 {
        let bits =
            switch version {
            case ...1: 13
            case 2: 14  // REFER
            case 3, 4: 15  // TRUNCATE
            default: 16  // IOCTL_DEV
            }
        return (1 << UInt64(bits)) - 1
    }

    /// Makes a rule set that handles every kind of access of ``version``, so that what no rule
    /// allows is refused: files, TCP bind and connect (ABI 4), abstract sockets and signals to
    /// the outside (ABI 6).
    ///
    /// - Parameters:
    ///   - minimum: the least version that will do; a question that fails is answered like version 0.
    ///   - allowsTCP: leaves TCP alone, where a policy gives a sandbox its loopback.
    /// - Throws: ``SystemError``; ENOMSG, for a rule set that handles nothing, below the minimum.
    public init(minimum: UInt8, allowsTCP: Bool) throws(SystemError) {
        let found = Self.version
        let version = found < minimum ? -1 : found
        let files = version < 0 ? 0 : Self.fileAccess(version)
        let net: UInt64 = version >= 4 && !allowsTCP ? 3 : 0
        let scopes: UInt64 = version >= 6 ? 3 : 0
        descriptor = Descriptor(
            adopting: try result("landlock_create_ruleset") {
                clx_landlock_create(files, net, scopes, Int32(version))
            }
        )
        handled = files
    }

    /// Access to allow beneath a path.
    public struct Access: OptionSet, Sendable {
        /// Bits of this set.
        public let rawValue: UInt8
        /// Adopts bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Execute.
        public static let execute = Access(rawValue: 1)
        /// Everything that changes regular files, directories, sockets and links.
        public static let write = Access(rawValue: 2)
        /// Write to and control an existing device.
        public static let device = Access(rawValue: 4)
    }

    /// Allows reading, listing, and what else is named, beneath an open file or directory.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func allow(
        _ access: Access,
        beneath path: borrowing Descriptor
    ) throws(SystemError) {
        // Bits: 0 execute, 1 write file, 2 read file, 3 read dir, 4-5 remove, 6-12 make (6 char,
        // 7 dir, 8 regular, 9 socket, 10 fifo, 11 block, 12 symlink), 13 refer, 14 truncate, 15 ioctl.
        let writing: UInt64 = 1 << 1 | 3 << 4 | 1 << 7 | 7 << 8 | 1 << 12 | 3 << 13
        var wanted: UInt64 = 1 << 2 | 1 << 3
        if access.contains(.execute) { wanted |= 1 }
        if access.contains(.write) { wanted |= writing }
        if access.contains(.device) { wanted |= 1 << 1 | 1 << 15 }
        let onFile: UInt64 = 1 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
        if try path.status().kind != .directory { wanted &= onFile }
        let allowed = wanted & handled
        let (rules, file) = (descriptor.number, path.number)
        try result("landlock_add_rule") { clx_landlock_add_path(rules, file, allowed) }
    }

    /// Restricts the calling thread for good; needs no_new_privs.
    ///
    /// - Parameter isLogged: has refusals after the exec become audit records as well, but for those
    ///   of rule sets that the program puts on itself (landlock_restrict_self(2), flags 2 and 4).
    /// - Throws: ``SystemError``; EINVAL for what is logged before ABI 7.
    public consuming func restrict(isLogged: Bool) throws(SystemError) {
        let (rules, flags): (Int32, UInt32) = (descriptor.number, isLogged ? 6 : 0)
        try result("landlock_restrict_self") { clx_landlock_restrict(rules, flags) }
    }
}

/// Loading of ready-made seccomp filters (seccomp(2)).
public enum SystemCallFilter {
    /// Loads a program for the calling thread for good; needs no_new_privs.
    ///
    /// - Parameters:
    ///   - program: `struct sock_filter` instructions of eight bytes.
    ///   - tells: whether some of its answers are left to a listener (seccomp_unotify(2)).
    /// - Returns: the listener, close-on-exec; nil where nothing is told.
    /// - Throws: ``SystemError``; EINVAL for a program that the kernel's checker refuses, EBUSY where
    ///   a filter around this one has a listener already.
    public static func load(_ program: [UInt8], tells: Bool) throws(SystemError) -> Descriptor? {
        guard program.count % 8 == 0, program.count / 8 <= 4096 else {
            throw SystemError("seccomp", "program length", number: EINVAL)
        }
        let flags = tells ? UInt32(CLX_SECCOMP_LISTENER) : 0
        let listener = try result("seccomp") {
            // Safety: the kernel copies count instructions from a buffer of exactly that size.
            unsafe program.withUnsafeBytes { raw in
                unsafe clx_seccomp_load(raw.baseAddress, UInt16(raw.count / 8), flags)
            }
        }
        return tells ? Descriptor(adopting: listener) : nil
    }
}

/// What a call gets that waits at a listener.
public enum WaitingCallAnswer: Sendable {
    /// It is made, with the arguments that it came with; only right where neither what a pointer points to
    /// nor who asks can matter (seccomp_unotify(2), "Caveats").
    case proceed
    /// EPERM.
    case refuse
    /// EMFILE.
    case exhausted
}

extension Descriptor {
    /// Answers the next call that waits at this listener (seccomp_unotify(2)).
    ///
    /// - Parameter look: is shown the caller's process id, the call's number and the low half of its
    ///   first argument, while the caller waits. What a pointer points to could change meanwhile.
    /// - Throws: ``SystemError``; EAGAIN where no call waits, ENOENT where the caller died, or was taken
    ///   out of the call by a signal.
    public borrowing func answerWaitingCall(
        _ look: (_ pid: UInt32, _ call: UInt32, _ argument: UInt32) -> WaitingCallAnswer
    ) throws(SystemError) {
        var call = seccomp_notif()
        let listener = number
        // Safety: the kernel fills one structure of that size.
        try result("seccomp receive") { unsafe clx_seccomp_receive(listener, &call) }
        let argument = UInt32(truncatingIfNeeded: call.data.args.0)
        let answer = look(call.pid, UInt32(bitPattern: call.data.nr), argument)
        try result("seccomp answer") {
            switch answer {
            case .proceed: clx_seccomp_continue(listener, call.id)
            case .refuse: clx_seccomp_refuse(listener, call.id, EPERM)
            case .exhausted: clx_seccomp_refuse(listener, call.id, EMFILE)
            }
        }
    }
}

/// The descriptor table of the calling process.
public enum DescriptorTable {
    /// Places descriptors at fixed numbers and closes everything else.
    ///
    /// Sources are first copied above the targets, so that no placement overwrites a source.
    ///
    /// - Parameters:
    ///   - placements: target numbers in ascending order, below 64, without repetition.
    ///   - kept: descriptors numbered 64 or above that stay open and close on exec.
    ///   - closesOthers: whether everything else is closed, as it is but for test-only builds.
    /// - Throws: ``SystemError``.
    public static func arrange(
        _ placements: borrowing DescriptorPlacements,
        keeping kept: borrowing DescriptorPlacements,
        closesOthers: Bool
    ) throws(SystemError) {
        var copies: [Int32] = []
        for index in 0..<placements.count {
            let source = placements.source(at: index)
            copies.append(
                Int32(try result("fcntl") { clx_dup_at_least(source, 64) })
            )
        }
        var next: UInt32 = 0
        for (index, copy) in copies.enumerated() {
            let target = placements.target(at: index)
            if closesOthers { try closeRange(from: next, below: UInt32(target)) }
            try result("dup2") { clx_dup2(copy, target) }
            next = UInt32(target) + 1
        }
        guard closesOthers else { return }
        try closeAll(from: next, but: kept)
    }

    /// Closes every descriptor but those listed, in a process that was just cloned.
    ///
    /// - Throws: ``SystemError``.
    public static func closeAll(but kept: borrowing DescriptorPlacements) throws(SystemError) {
        try closeAll(from: 0, but: kept)
    }

    private static func closeAll(
        from first: UInt32,
        but kept: borrowing DescriptorPlacements
    ) throws(SystemError) {
        var numbers: [UInt32] = []
        for index in 0..<kept.count { numbers.append(UInt32(kept.source(at: index))) }
        numbers.sort()
        var next = first
        for number in numbers {
            try closeRange(from: next, below: number)
            next = number + 1
        }
        try result("close_range") { clx_close_range(next, UInt32.max, 0) }
    }

    private static func closeRange(from first: UInt32, below end: UInt32) throws(SystemError) {
        guard first < end else { return }
        try result("close_range") { clx_close_range(first, end - 1, 0) }
    }
}

/// Which open descriptor goes to which number; holds no ownership of the descriptors it names.
public struct DescriptorPlacements: ~Copyable {
    private var entries: [(source: Int32, target: Int32)] = []

    /// Creates an empty list.
    public init() {}

    /// Adds a descriptor that its owner keeps open while this list is used.
    public mutating func add(_ descriptor: borrowing Descriptor, at target: Int32 = -1) {
        entries.append((descriptor.number, target))
    }

    /// The number of entries.
    public var count: Int { entries.count }

    /// The raw number of a source, for the kernel layer alone.
    @_spi(KernelHandles) public func source(at index: Int) -> Int32 { entries[index].source }
    func target(at index: Int) -> Int32 { entries[index].target }
}
