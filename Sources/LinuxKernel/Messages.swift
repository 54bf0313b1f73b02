internal import CLinux

/// A message with descriptors, received over a socket pair that keeps message boundaries.
///
/// Descriptors that nobody takes are closed with it.
public struct ReceivedMessage: ~Copyable {
    /// The bytes; empty when the other end is closed.
    public let bytes: [UInt8]
    private var numbers: [Int32]

    fileprivate init(bytes: [UInt8], numbers: [Int32]) {
        self.bytes = bytes
        self.numbers = numbers
    }

    deinit {
        for number in numbers { _ = clx_close(number) }
    }

    /// Hands over the next descriptor in the order they were sent; nil when none is left.
    public mutating func takeDescriptor() -> Descriptor? {
        numbers.isEmpty ? nil : Descriptor(adopting: Int(numbers.removeFirst()))
    }

    /// The number of descriptors not taken yet.
    public var descriptorCount: Int { numbers.count }
}

extension Descriptor {
    /// Listens on 127.0.0.1 of the current network namespace, non-blocking (ip(7)).
    ///
    /// - Throws: ``SystemError``.
    public static func loopbackListener(port: UInt16) throws(SystemError) -> Descriptor {
        // As many may wait to be accepted as a broker that starts anew should find.
        Descriptor(
            adopting: try result("listen", "127.0.0.1:\(port)") { clx_loopback_listener(port, 256) }
        )
    }

    /// Listens at a new name in a directory, non-blocking, for whoever reaches it (unix(7)).
    ///
    /// Bound by the name alone, because the other end is told what was bound (getpeername(2)); for that the
    /// current directory becomes this one, and then `/`.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func listen(at name: String) throws(SystemError) -> Descriptor {
        let socket = Descriptor(adopting: try result("socket") { clx_unix_listener() })
        let (directory, listener) = (number, socket.number)
        // What it accepts inherits this.
        try socket.refuseDescriptors()
        try result("fchdir") { clx_fchdir(directory) }
        // Safety: NUL-terminated copies for the length of each call.
        try result("bind", name) { unsafe clx_unix_bind(listener, name, 256) }
        try result("chdir") { unsafe clx_chdir("/") }
        try setPermissions(0o666, of: name)
        return socket
    }

    /// Has descriptors that the other end sends refused there (SO_PASSRIGHTS, unix(7)).
    ///
    /// Who receives one closes it at last, and is kept for as long as the sender likes: the end of a
    /// TCP connection waits for what was not read, where its owner asked for that (SO_LINGER,
    /// socket(7)). Kernels before 6.16 do not know how to refuse.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func refuseDescriptors() throws(SystemError) {
        let socket = number
        do throws(SystemError) {
            try result("setsockopt", "SO_PASSRIGHTS") { clx_refuse_descriptors(socket) }
        } catch {
            guard error.number == ENOPROTOOPT else { throw error }
        }
    }

    /// The largest message of the protocols in this package, in bytes.
    public static let largestMessage = 256 * 1024

    /// Sends one message with descriptors (sendmsg(2), SCM_RIGHTS).
    ///
    /// - Parameters:
    ///   - bytes: the message.
    ///   - descriptors: what goes along; ours stay open.
    ///   - isWaiting: whether to wait for room.
    /// - Throws: ``SystemError``.
    public borrowing func send(
        _ bytes: [UInt8],
        with descriptors: borrowing DescriptorPlacements = DescriptorPlacements(),
        isWaiting: Bool = true
    ) throws(SystemError) {
        var numbers: [Int32] = []
        for index in 0..<descriptors.count { numbers.append(descriptors.source(at: index)) }
        let socket = number
        let flags = isWaiting ? 0 : Int32(MSG_DONTWAIT)
        try result("sendmsg") {
            // Safety: both buffers outlive the call, which reads exactly their counts.
            unsafe bytes.withUnsafeBytes { raw in
                unsafe numbers.withUnsafeBufferPointer { list in
                    unsafe clx_send_message(
                        socket,
                        raw.baseAddress,
                        raw.count,
                        list.baseAddress,
                        list.count,
                        flags
                    )
                }
            }
        }
    }

    /// Whether this local socket has most of its room left (poll(2), `unix_writable` in net/unix/af_unix.c):
    /// at most a quarter is taken by messages that nobody has read.
    public var hasRoom: Bool {
        var entry = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        // Safety: the kernel reads and writes one entry.
        return unsafe clx_poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLOUT) != 0
    }

    /// Receives one message; an empty one means that the other end is closed.
    ///
    /// - Parameter isWaiting: whether to wait for one.
    /// - Returns: the message with its descriptors.
    /// - Throws: ``SystemError``; EMSGSIZE when it did not fit, with its descriptors closed.
    public borrowing func receive(isWaiting: Bool = true) throws(SystemError) -> ReceivedMessage {
        var numbers = [Int32](repeating: -1, count: 32)
        var count = 0
        var failure: SystemError?
        let socket = number
        let flags = isWaiting ? 0 : Int32(MSG_DONTWAIT)
        // Safety: the kernel writes at most the buffers' capacities; both counts come from it.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.largestMessage) {
            buffer,
            length in
            do throws(SystemError) {
                length = try result("recvmsg") {
                    unsafe numbers.withUnsafeMutableBufferPointer { list in
                        unsafe clx_receive_message(
                            socket,
                            buffer.baseAddress,
                            buffer.count,
                            list.baseAddress,
                            &count,
                            flags
                        )
                    }
                }
            } catch {
                failure = error
                length = 0
            }
        }
        if let failure { throw failure }
        return ReceivedMessage(bytes: bytes, numbers: Array(numbers.prefix(count)))
    }
}
