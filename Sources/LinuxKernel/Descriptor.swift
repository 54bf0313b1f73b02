internal import CLinux

/// An open file descriptor with one owner; closed when that owner ends.
public struct Descriptor: ~Copyable, Sendable {
    /// The raw number, for the kernel layer alone.
    @_spi(KernelHandles) public let number: Int32

    /// Adopts a number that a call of the kernel layer just returned.
    @_spi(KernelHandles) public init(adopting number: Int) {
        self.number = Int32(number)
    }

    /// Copies a descriptor that this process inherited, leaving the original open; the copy is
    /// numbered above everything that is agreed with a parent.
    ///
    /// - Throws: ``SystemError``; EBADF when no such descriptor is open.
    public static func copy(ofInherited number: Int32) throws(SystemError) -> Descriptor {
        Descriptor(
            adopting: try result("fcntl", "descriptor \(number)") { clx_dup_at_least(number, 64) }
        )
    }

    deinit {
        // close(2) releases the number even when it reports an error; there is nothing to do about it.
        _ = clx_close(number)
    }

    /// Makes a second descriptor of the same open file.
    ///
    /// - Throws: ``SystemError`` when the table is full.
    public borrowing func duplicate(atLeast lowest: Int32 = 3) throws(SystemError) -> Descriptor {
        Descriptor(adopting: try result("fcntl") { clx_dup_at_least(number, lowest) })
    }

    /// Reads at most `limit` bytes; an empty answer is the end of the file.
    ///
    /// - Throws: ``SystemError``, with ``SystemError/isWouldBlock`` when there is nothing yet.
    public borrowing func read(atMost limit: Int) throws(SystemError) -> [UInt8] {
        let descriptor = number
        return try unsafe Self.filled("read", limit) { unsafe clx_read(descriptor, $0, limit) }
    }

    // The bytes that a call wrote into a buffer of some length, and of which it tells the number.
    static func filled(
        _ call: StaticString,
        _ limit: Int,
        _ fill: (UnsafeMutablePointer<UInt8>?) -> Int
    ) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        // Safety: the kernel writes at most `limit` bytes into a buffer of that capacity, and the
        // count it returns is what becomes initialised.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            do throws(SystemError) {
                count = try result(call) { unsafe fill(buffer.baseAddress) }
            } catch {
                failure = error
                count = 0
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Reads to the end of the file.
    ///
    /// - Parameter limit: the most bytes accepted; a longer file is EFBIG.
    /// - Returns: the bytes from the present position on.
    /// - Throws: ``SystemError``.
    public borrowing func readAll(limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let part = try read(atMost: min(1 << 16, limit - bytes.count + 1))
            if part.isEmpty { return bytes }
            bytes.append(contentsOf: part)
            guard bytes.count <= limit else {
                throw SystemError("read", "more than \(limit) bytes", number: EFBIG)
            }
        }
    }

    /// Reads a file from its beginning, as often as its text may change.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func contents(limit: Int) throws(SystemError) -> [UInt8] {
        let descriptor = number
        try result("lseek") { clx_lseek(descriptor, 0, SEEK_SET) }
        return try read(atMost: limit)
    }

    /// Writes what the kernel takes of `bytes` from an offset.
    ///
    /// - Returns: how many bytes it took.
    /// - Throws: ``SystemError``, with ``SystemError/isWouldBlock`` when it takes none now.
    public borrowing func write(
        _ bytes: [UInt8],
        from offset: Int = 0
    ) throws(SystemError) -> Int {
        let descriptor = number
        return try result("write") {
            // Safety: the pointer covers bytes.count bytes, of which those from offset are read.
            unsafe bytes.withUnsafeBytes { raw in
                guard let base = raw.baseAddress else { return 0 }
                return unsafe clx_write(descriptor, base + offset, raw.count - offset)
            }
        }
    }

    /// Writes all bytes, waiting as often as it must.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func writeAll(_ bytes: [UInt8]) throws(SystemError) {
        var done = 0
        while done < bytes.count { done += try write(bytes, from: done) }
    }

    /// Sets or clears `O_NONBLOCK`, which every holder of the open file shares.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func setNonBlocking(_ isNonBlocking: Bool) throws(SystemError) {
        let descriptor = number
        let flags = try result("fcntl") { clx_get_status_flags(descriptor) }
        let wanted = isNonBlocking ? Int32(flags) | O_NONBLOCK : Int32(flags) & ~O_NONBLOCK
        try result("fcntl") { clx_set_status_flags(descriptor, wanted) }
    }

    /// A writer to the same pipe, terminal or socket that never waits.
    ///
    /// A pipe or terminal is opened once more (proc(5), `/proc/self/fd`), so that whoever shares the
    /// open file with us does not get the flag; a socket cannot be, nor a pipe that nobody reads or that is
    /// another user's, and these get it. A regular file never waits. What we were not given for writing is never opened
    /// for it, because whoever gave it may lack the right that we have.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func writerThatNeverWaits() throws(SystemError) -> Descriptor {
        let (path, descriptor) = (procPath, number)
        let flags = Int32(try result("fcntl") { clx_get_status_flags(descriptor) })
        let isWriter = flags & O_PATH == 0 && flags & O_ACCMODE != O_RDONLY
        let isRegular = try status().kind == .regular
        guard isWriter, !isRegular else { return try duplicate() }
        do throws(SystemError) {
            // Safety: the path is a NUL-terminated copy for the length of the call.
            return Descriptor(
                adopting: try result("open", path) {
                    unsafe clx_open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY, 0)
                }
            )
        } catch {
            guard [ENXIO, EACCES].contains(error.number) else { throw error }
            let writer = try duplicate()
            try writer.setNonBlocking(true)
            return writer
        }
    }

    /// Tries to take an exclusive advisory lock (flock(2)) without waiting.
    ///
    /// - Returns: whether it was taken.
    /// - Throws: ``SystemError`` for anything but a lock held by another.
    public borrowing func tryLock() throws(SystemError) -> Bool {
        let descriptor = number
        do throws(SystemError) {
            try result("flock") { clx_flock(descriptor, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            guard error.isWouldBlock else { throw error }
            return false
        }
    }

    /// The file's path under `/proc/self/fd`, for calls that take only paths.
    public var procPath: String { "/proc/self/fd/\(number)" }
}

/// A descriptor that several values refer to; closed when the last one lets go.
public final class SharedDescriptor {
    /// The descriptor, for as long as anybody refers to it.
    public let descriptor: Descriptor

    /// Takes the descriptor over.
    public init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }
}

extension Descriptor {
    /// Makes a pipe (pipe(7)).
    ///
    /// - Throws: ``SystemError``.
    @_spi(KernelHandles) public static func pipeEnds() throws(SystemError) -> [Int32] {
        var ends: [Int32] = [-1, -1]
        try result("pipe2") {
            // Safety: pipe2 fills exactly the two integers of the buffer.
            unsafe ends.withUnsafeMutableBufferPointer { unsafe clx_pipe($0.baseAddress, 0) }
        }
        return ends
    }

    /// Makes two connected sockets (socketpair(2), AF_UNIX).
    ///
    /// - Throws: ``SystemError``.
    @_spi(KernelHandles)
    public static func socketEnds(keepsMessages: Bool) throws(SystemError) -> [Int32] {
        var ends: [Int32] = [-1, -1]
        let kind = keepsMessages ? clx_sock_seqpacket() : clx_sock_stream()
        try result("socketpair") {
            // Safety: socketpair fills exactly the two integers of the buffer.
            unsafe ends.withUnsafeMutableBufferPointer {
                unsafe clx_socketpair(kind, $0.baseAddress)
            }
        }
        return ends
    }
}

/// Two connected descriptors, each closed when the last one lets go of it.
public struct SharedPair {
    /// A pipe's reader, or one socket.
    public let first: SharedDescriptor
    /// A pipe's writer, or the other socket.
    public let second: SharedDescriptor

    private init(_ ends: [Int32]) {
        first = SharedDescriptor(Descriptor(adopting: Int(ends[0])))
        second = SharedDescriptor(Descriptor(adopting: Int(ends[1])))
    }

    /// Makes a pipe (pipe(7)).
    ///
    /// - Throws: ``SystemError``.
    public static func pipe() throws(SystemError) -> SharedPair {
        SharedPair(try Descriptor.pipeEnds())
    }

    /// Makes two connected sockets that keep the boundaries of messages (SOCK_SEQPACKET).
    ///
    /// - Throws: ``SystemError``.
    public static func messageSockets() throws(SystemError) -> SharedPair {
        SharedPair(try Descriptor.socketEnds(keepsMessages: true))
    }
}
