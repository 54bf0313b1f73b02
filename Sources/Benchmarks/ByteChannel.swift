package import LinuxKernel

/// Our end of a socket or pipe on the loop: bytes in as they come, bytes out as far as there is room.
///
/// Nothing here ever waits: what the other side does not take is queued up to a bound, and a side
/// that lets its queue pass the bound has broken its contract.
package final class ByteChannel {
    /// What was read, or that there will be no more.
    package enum Arrival {
        case bytes([UInt8])
        case end
    }

    private static let partBytes = 1 << 16

    private let loop: EventLoop
    private let descriptor: Descriptor
    private let queueBytes: Int
    private let onArrival: (Arrival) -> Void
    private var token: EventLoop.Token?
    private var queue: [UInt8] = []
    private var sent = 0
    /// Whether the other side has ended.
    package private(set) var hasEnded = false

    /// Takes a descriptor over and begins to watch it.
    ///
    /// - Parameters:
    ///   - descriptor: our end; it becomes non-blocking.
    ///   - loop: the loop to be watched on.
    ///   - queueBytes: the most bytes that may wait to be written.
    ///   - onArrival: called with each part and once with the end; never from ``send(_:)``.
    /// - Throws: `SystemError`.
    package init(
        _ descriptor: consuming Descriptor,
        on loop: EventLoop,
        queueBytes: Int,
        onArrival: @escaping (Arrival) -> Void
    ) throws(SystemError) {
        try descriptor.setNonBlocking(true)
        self.loop = loop
        self.descriptor = descriptor
        self.queueBytes = queueBytes
        self.onArrival = onArrival
        token = loop.watch(self.descriptor, .readable) { [unowned self] ready in serve(ready) }
    }

    deinit { loop.forget(token) }

    /// Writes bytes now or as soon as there is room; bytes to a side that is gone are dropped.
    ///
    /// - Parameter bytes: the bytes.
    /// - Returns: false where more would wait than may.
    package func send(_ bytes: [UInt8]) -> Bool {
        guard token != nil else { return true }
        if sent == queue.count {
            queue = bytes
            sent = 0
        } else {
            queue += bytes
        }
        flush()
        return queue.count - sent <= queueBytes
    }

    /// Reads until there is nothing now, as far as the other side got.
    ///
    /// - Parameter limit: the most bytes; a living writer could keep us here for ever.
    package func drain(atMost limit: Int = 1 << 21) {
        var left = limit
        while !hasEnded, left > 0 {
            let count = readPart()
            if count == 0 { return }
            left -= count
        }
    }

    /// Stops reading and writing for good; the descriptor closes when this value goes.
    package func stop() {
        loop.forget(token)
        token = nil
        queue = []
        sent = 0
    }

    private func serve(_ ready: EventLoop.Interest) {
        if ready.contains(.writable) { flush() }
        if ready.contains(.readable), !hasEnded { _ = readPart() }
    }

    /// Reads one part and passes it on; 0 where there was none.
    private func readPart() -> Int {
        do throws(SystemError) {
            let part = try descriptor.read(atMost: Self.partBytes)
            if part.isEmpty {
                end()
            } else {
                onArrival(.bytes(part))
            }
            return part.count
        } catch {
            // A peer that died with our bytes unread resets the connection: it is gone either way.
            if !error.isWouldBlock { end() }
            return 0
        }
    }

    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        stop()
        onArrival(.end)
    }

    private func flush() {
        do throws(SystemError) {
            while sent < queue.count { sent += try descriptor.write(queue, from: sent) }
            queue = []
            sent = 0
        } catch {
            if !error.isWouldBlock {
                queue = []
                sent = 0
            }
        }
        loop.change(token, to: queue.isEmpty ? .readable : [.readable, .writable])
    }
}
