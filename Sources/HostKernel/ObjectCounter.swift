internal import CLinux
@_spi(KernelHandles) public import LinuxKernel

/// A counter of the whole host from which the kernel numbers objects that every sandbox can make.
///
/// Namespaces do not divide these counters, and no filter can hide the numbers: they are results
/// of fstat(2) and lines of procfs. The kernel hands them out to each processor in batches of
/// ``batch`` (Linux, fs/inode.c, `get_next_ino`; mm/shmem.c, `shmem_reserve_inode`).
public enum ObjectCounter: Sendable, CaseIterable {
    /// Numbers of pipes, sockets and procfs entries.
    case inode
    /// Numbers of memory files and of anonymous shared memory.
    case sharedMemory

    /// How many numbers a processor takes at once.
    public static let batch: UInt32 = 1024

    /// Makes one object, which is gone at once, and tells its number.
    ///
    /// - Returns: the number; it wraps around at 32 bits.
    /// - Throws: ``SystemError``.
    public func next() throws(SystemError) -> UInt32 {
        switch self {
        case .inode:
            var ends = try DescriptorPair.pipe()
            return UInt32(truncatingIfNeeded: try ends.takeFirst().status().inode)
        case .sharedMemory:
            let file = Descriptor(adopting: try result("memfd_create") { clx_memory_file() })
            return UInt32(truncatingIfNeeded: try file.status().inode)
        }
    }

    /// Takes numbers without keeping what they belong to.
    ///
    /// A socket of a protocol that does not exist takes its number before it fails, in a third of a pipe's
    /// time (net/socket.c, `__sock_create`); where a kernel refuses it earlier, pipes do the rest.
    ///
    /// - Parameter count: how many, above 0.
    /// - Returns: how far this processor's numbers moved: as many, or more where others took some as well.
    /// - Throws: ``SystemError``.
    func advance(by count: UInt32) throws(SystemError) -> UInt32 {
        let start = try next()
        var moved: UInt32 = 0
        // The first look is one of those that are asked for, the last of each round as well.
        while moved + 1 < count {
            if self == .inode {
                for _ in 0..<(count - moved - 2) { clx_take_number() }
            }
            moved = try Self.distance(from: start, to: next())
        }
        return moved + 1
    }

    // What lies behind the beginning is a number of a batch that was taken before it.
    private static func distance(from beginning: UInt32, to number: UInt32) -> UInt32 {
        UInt32(clamping: Int32(bitPattern: number &- beginning))
    }

    /// Uses up this processor's batch, so that the number told is the newest of the host.
    ///
    /// - Throws: ``SystemError``.
    func refreshed() throws(SystemError) -> UInt32 {
        var last = try next()
        while true {
            let number = try next()
            // A batch begins at a multiple, or one after it; either way this differs by then.
            if (number &- 1) / Self.batch != (last &- 1) / Self.batch { return number }
            last = number
        }
    }
}

/// The processors that this thread may run on (sched_setaffinity(2)); at most 1,024 of them.
public struct ProcessorSet: Sendable {
    private var words: [UInt64]

    /// The set of now.
    ///
    /// - Throws: ``SystemError``.
    public static func current() throws(SystemError) -> ProcessorSet {
        var words = [UInt64](repeating: 0, count: 16)
        try result("sched_getaffinity") {
            // Safety: the kernel fills at most the 128 bytes of the buffer.
            unsafe words.withUnsafeMutableBufferPointer { unsafe clx_affinity($0.baseAddress) }
        }
        return ProcessorSet(words: words)
    }

    /// One set for each processor of this one.
    public var single: [ProcessorSet] {
        (0..<1024).filter { words[$0 / 64] >> UInt64($0 % 64) & 1 == 1 }.map { number in
            var words = [UInt64](repeating: 0, count: 16)
            words[number / 64] = 1 << UInt64(number % 64)
            return ProcessorSet(words: words)
        }
    }

    /// Runs this thread on these processors from now on.
    ///
    /// - Throws: ``SystemError``.
    public func take() throws(SystemError) {
        let words = words
        try result("sched_setaffinity") {
            // Safety: the kernel reads the 128 bytes of the buffer.
            unsafe words.withUnsafeBufferPointer { unsafe clx_set_affinity($0.baseAddress) }
        }
    }
}
