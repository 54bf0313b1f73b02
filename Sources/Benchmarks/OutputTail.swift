internal import LinuxKernel

/// The last bytes that a sandbox wrote on a standard stream, for the people who debug it.
final class OutputTail {
    /// How much is kept: a traceback, not a log.
    static let maximumBytes = 4 << 10

    private var bytes: [UInt8] = []
    private var isCut = false
    private var channel: ByteChannel?

    /// Begins to read.
    ///
    /// - Parameters:
    ///   - descriptor: the reading end of a pipe.
    ///   - loop: the loop to be watched on.
    /// - Throws: `SystemError`.
    init(_ descriptor: consuming Descriptor, on loop: EventLoop) throws(SystemError) {
        channel = try ByteChannel(descriptor, on: loop, queueBytes: 0) { [unowned self] arrival in
            if case .bytes(let part) = arrival { keep(part) }
        }
    }

    /// Reads what is left and stops.
    ///
    /// - Returns: the text, cleaned; empty where nothing was written.
    func finish() -> String {
        channel?.drain()
        channel = nil
        let text = VisibleText.cleaned(
            String(decoding: bytes, as: UTF8.self),
            maximumBytes: 3 * Self.maximumBytes
        )
        return isCut ? "[cut] " + text : text
    }

    private func keep(_ part: [UInt8]) {
        bytes += part
        guard bytes.count > Self.maximumBytes else { return }
        isCut = true
        bytes.removeFirst(bytes.count - Self.maximumBytes)
    }
}
