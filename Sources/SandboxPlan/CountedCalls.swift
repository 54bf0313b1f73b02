internal import CLinux

/// The calls that take a number from a counter which the whole host shares.
///
/// Such numbers are results of fstat(2), which no filter can hide, so who takes many of them can write a
/// message that a later sandbox reads. Candidates and examiners get a limited number of them each
/// (``SandboxLimits/objects``): their filters leave these calls to init, which counts them.
///
/// Sources (Linux 6.18): fs/inode.c `get_next_ino` for pipes, sockets, message queues and the files behind
/// MAP_HUGETLB; mm/shmem.c `shmem_reserve_inode` for memory files and shared anonymous memory. Files of
/// procfs take numbers, too, at each look-up, which no filter can tell from another; so a sandbox of these
/// roles has no procfs.
public enum CountedCalls {
    /// Names, numbers of x86-64, how many numbers one call takes at the most, and whether they can be of
    /// shared memory; one that fails may have taken them all the same.
    public static var all: [(name: String, number: UInt32, takes: UInt32, isMemory: Bool)] {
        [
            ("pipe", UInt32(SYS_pipe), 1, false), ("pipe2", UInt32(SYS_pipe2), 1, false),
            ("socket", UInt32(SYS_socket), 1, false),
            ("socketpair", UInt32(SYS_socketpair), 2, false),
            ("accept", UInt32(SYS_accept), 1, false), ("accept4", UInt32(SYS_accept4), 1, false),
            ("mq_open", UInt32(SYS_mq_open), 1, false), ("mmap", map, 1, true),
            ("memfd_create", UInt32(SYS_memfd_create), 1, true),
            ("shmget", UInt32(SYS_shmget), 1, true),
        ]
    }

    /// The most that one sandbox can be given.
    public static let most: UInt32 = 1 << 20

    /// How many of a sandbox's objects may be shared memory: numbers of that counter take three times as
    /// long to hide, and few programs share memory.
    public static func memoryShare(of objects: UInt32) -> UInt32 { (objects + 7) / 8 }

    /// The number of mmap(2), of which only shared mappings are counted.
    public static let map = UInt32(SYS_mmap)
    /// MAP_SHARED and MAP_HUGETLB in the fourth argument of mmap(2).
    ///
    /// Without both it takes no number; with
    /// the first alone it is counted; the second is refused.
    public static let mapFlags: UInt32 = 0x4_0001
    /// MAP_SHARED, which is also a bit of MAP_SHARED_VALIDATE.
    public static let sharedMap: UInt32 = 1

    /// How many numbers a call takes, by its number; nil for one that takes none.
    public static func takes(_ number: UInt32) -> UInt32? {
        all.first { $0.number == number }?.takes
    }

    /// Whether a call that is known to have these arguments takes no number.
    static func isFree(_ number: UInt32, _ known: [KnownBits]) -> Bool {
        guard takes(number) != nil else { return true }
        return number == map && known[3].mask & mapFlags == mapFlags
            && known[3].value & mapFlags == 0
    }
}

/// A call that init lets through and counts, where the filter leaves it to the listener.
public struct CountedCall: Sendable, Equatable, Hashable {
    /// The call's number.
    public let number: UInt32
    /// What its first argument must be; nil for anything.
    public let argument: UInt32?

    /// Creates one.
    public init(_ number: UInt32, argument: UInt32? = nil) {
        self.number = number
        self.argument = argument
    }

    /// Whether a call is this one.
    ///
    /// - Parameters:
    ///   - number: the call's number.
    ///   - argument: the low half of its first argument.
    /// - Returns: whether this entry counts it.
    public func covers(_ number: UInt32, _ argument: UInt32) -> Bool {
        self.number == number && (self.argument ?? argument) == argument
    }

    // Whether a call of which this is known can be this one.
    func canCover(_ number: UInt32, _ known: [KnownBits]) -> Bool {
        guard self.number == number else { return false }
        return argument.map { ($0 ^ known[0].value) & known[0].mask == 0 } ?? true
    }
}
