internal import CLinux
@_spi(KernelHandles) public import LinuxKernel

/// Whose rights a file is opened with.
///
/// What a user's file names is opened with the rights of that user: root, who reads it, would open anything.
public struct FileRights: Sendable, Equatable {
    /// The user.
    public let user: UInt32

    /// Those of a user.
    public init(of user: UInt32) { self.user = user }

    /// Those of this process.
    public static var ours: FileRights { FileRights(of: Identity.effectiveUser) }

    /// Whether opening with them is the same as opening without: they are ours, or we are nobody who could
    /// take those of another.
    public var areOurs: Bool { Identity.effectiveUser != 0 || user == 0 }

    /// Does something while this thread opens files with these rights: with the user's id for file systems
    /// (setfsuid(2)), the user's groups, and without the capabilities that go past modes.
    ///
    /// - Parameter body: what is done; it opens files, and neither starts nor asks anybody.
    /// - Returns: what it returns.
    /// - Throws: what it throws, or ``SystemError`` where the rights cannot be taken.
    public func perform<Answer: ~Copyable>(
        _ body: () throws(SystemError) -> Answer
    ) throws(SystemError) -> Answer {
        guard !areOurs else { return try body() }
        let before = try Held.current()
        let wanted = Held(of: user)
        // Where root's ids have no magic the kernel would leave us CAP_DAC_OVERRIDE (capabilities(7)).
        let bits = try result("prctl", "PR_GET_SECUREBITS") {
            clx_prctl(PR_GET_SECUREBITS, 0, 0, 0, 0)
        }
        guard bits & Self.noFixup == 0 else {
            throw SystemError("setfsuid", "no-setuid-fixup is set", number: EPERM)
        }
        defer {
            // With another user's rights, later calls would fail for no reason that is visible there.
            if !before.isTaken() { fatalError("the rights of this process did not come back") }
        }
        guard wanted.isTaken() else {
            throw SystemError("setfsuid", "uid \(user)", number: EPERM)
        }
        return try body()
    }

    // SECBIT_NO_SETUID_FIXUP (linux/securebits.h).
    private static let noFixup = 1 << 2
}

/// The ids that a thread opens files with.
private struct Held {
    private var user: UInt32
    private var group: UInt32
    private var groups: [UInt32]

    // NGROUPS_MAX (getgroups(2)).
    private static let most: Int32 = 65_536
    // Nobody's group (kernel.overflowgid): of a user whom the host does not know, no group is known.
    private static let nobodys: UInt32 = 65_534

    /// A user's, with the groups that the host gives an account.
    init(of user: UInt32) {
        self.user = user
        (group, groups) = (Self.nobodys, [])
        var room = [CChar](repeating: 0, count: 1 << 16)
        var name: UnsafeMutablePointer<CChar>?
        var main = Self.nobodys
        let size = room.count
        unsafe room.withUnsafeMutableBufferPointer { room in
            // Safety: the name that is filled in lies in the room, which lives until the end of this block.
            guard unsafe clx_account(user, room.baseAddress, size, &name, &main) == 0 else {
                return
            }
            var found = [UInt32](repeating: 0, count: Int(Self.most))
            let count = unsafe clx_account_groups(name, main, &found, Self.most)
            group = main
            groups = Array(found.prefix(max(0, Int(count))))
        }
    }

    private init(user: UInt32, group: UInt32, groups: [UInt32]) {
        (self.user, self.group, self.groups) = (user, group, groups)
    }

    /// This thread's.
    static func current() throws(SystemError) -> Held {
        // An id that nobody can have changes nothing, and the one before is answered.
        let (user, group) = (clx_setfsuid(.max), clx_setfsgid(.max))
        var groups = [UInt32](repeating: 0, count: Int(most))
        // Safety: the kernel fills at most as many numbers as the array has.
        let count = try result("getgroups") { unsafe clx_thread_groups(most, &groups) }
        return Held(user: user, group: group, groups: Array(groups.prefix(count)))
    }

    /// Takes them; false where the kernel does not show them afterwards.
    func isTaken() -> Bool {
        // Safety: the kernel reads as many numbers as the array has.
        guard unsafe clx_set_thread_groups(groups.count, groups) == 0 else { return false }
        _ = clx_setfsgid(group)
        _ = clx_setfsuid(user)
        return clx_setfsgid(.max) == group && clx_setfsuid(.max) == user
    }
}
