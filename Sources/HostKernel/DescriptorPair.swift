@_spi(KernelHandles) public import LinuxKernel

/// Two connected descriptors, each handed over once; what is not taken is closed.
public struct DescriptorPair: ~Copyable, Sendable {
    private var first: Descriptor?
    private var second: Descriptor?

    private init(_ ends: [Int32]) {
        first = Descriptor(adopting: Int(ends[0]))
        second = Descriptor(adopting: Int(ends[1]))
    }

    /// Makes a pipe (pipe(7)): the first end is read, the second is written.
    ///
    /// - Throws: ``SystemError``.
    public static func pipe() throws(SystemError) -> DescriptorPair {
        DescriptorPair(try Descriptor.pipeEnds())
    }

    /// Makes two connected sockets (socketpair(2), AF_UNIX).
    ///
    /// - Parameter keepsMessages: whether each write arrives as one message (SOCK_SEQPACKET).
    /// - Returns: both ends.
    /// - Throws: ``SystemError``.
    public static func sockets(keepsMessages: Bool) throws(SystemError) -> DescriptorPair {
        DescriptorPair(try Descriptor.socketEnds(keepsMessages: keepsMessages))
    }

    /// Hands over the first end (a pipe's reader); taking it twice breaks an invariant.
    public mutating func takeFirst() -> Descriptor {
        guard let end = first.take() else { fatalError("an end of a pair is taken once") }
        return end
    }

    /// Hands over the second end (a pipe's writer); taking it twice breaks an invariant.
    public mutating func takeSecond() -> Descriptor {
        guard let end = second.take() else { fatalError("an end of a pair is taken once") }
        return end
    }
}
