internal import LinuxKernel

/// Moves bytes from one end to another, through one bounded buffer, without waiting for either.
///
/// The taking end is never trusted to be fast: what it does not take waits in the buffer, and while
/// that is full nothing more is read. A pump of output counts what it reads against a cap; past the
/// cap it goes on reading and drops. After the payload's end the buffer holds what was left in its
/// pipe, and the pump lives until the client has taken it or gone away.
final class StreamPump {
    private let loop: EventLoop
    private let source: Held
    private var sink: Held?
    private let budget: OutputBudget?
    private var pending: [UInt8] = []
    private var hasEnded = false
    private var sourceToken: EventLoop.Token?
    private var sinkToken: EventLoop.Token?

    private static let partSize = 65536

    /// Begins to pump; both ends must be non-blocking, or regular files.
    ///
    /// Output is counted against a budget; a payload's input has none.
    init(_ loop: EventLoop, from source: Held, to sink: Held, budget: OutputBudget?) {
        self.loop = loop
        self.source = source
        self.sink = sink
        self.budget = budget
        sourceToken = loop.watch(source.descriptor, .readable) { [unowned self] _ in read() }
        sinkToken = loop.watch(sink.descriptor, []) { [unowned self] _ in write() }
    }

    deinit { stop() }

    /// Reads all that is left after the payload's end, without waiting for anything or anybody.
    func drain() {
        while !hasEnded, read() {}
        end()
        write()
    }

    /// Whether everything read has been passed on and the taking end is closed.
    var isFlushed: Bool { sink == nil }

    /// Lets go of the taking end at once.
    func stop() {
        loop.forget(sourceToken)
        loop.forget(sinkToken)
        sourceToken = nil
        sinkToken = nil
        sink = nil
    }

    // Whether there was something.
    @discardableResult
    private func read() -> Bool {
        do throws(SystemError) {
            let part = try source.descriptor.read(atMost: Self.partSize)
            pending += budget?.admit(part) ?? part
            if part.isEmpty { end() }
            write()
            return !part.isEmpty
        } catch {
            // EIO is how a terminal's master reports that the last process closed it (pty(7)).
            if !error.isWouldBlock {
                end()
                write()
            }
            return false
        }
    }

    private func write() {
        guard let sink else { return }
        do throws(SystemError) {
            while !pending.isEmpty {
                pending.removeFirst(try sink.descriptor.write(pending))
            }
        } catch {
            // A client that went away loses output, as it would with any pipe, and the payload goes
            // on; a payload that went away ends its input.
            if !error.isWouldBlock {
                pending = []
                hasEnded = hasEnded || budget == nil
            }
        }
        if hasEnded, pending.isEmpty { return stop() }
        loop.change(sinkToken, to: pending.isEmpty ? [] : .writable)
        loop.change(sourceToken, to: pending.isEmpty ? .readable : [])
    }

    private func end() {
        hasEnded = true
        loop.forget(sourceToken)
        sourceToken = nil
    }
}

/// Counts the output of one sandbox over all its streams.
final class OutputBudget {
    private let cap: UInt64
    private(set) var total: UInt64 = 0
    /// When the payload was last heard, or could first be heard again.
    var lastOutput = MonotonicTime.now
    /// Called when the cap is first passed.
    var onExcess: () -> Void = {}

    init(cap: UInt64) {
        self.cap = cap
    }

    var isTruncated: Bool { total > cap }

    /// Counts a part and returns what of it may be passed on.
    func admit(_ part: [UInt8]) -> [UInt8] {
        let left = cap > total ? cap - total : 0
        let wasWithin = total <= cap
        total += UInt64(part.count)
        lastOutput = .now
        if wasWithin, isTruncated { onExcess() }
        return Array(part.prefix(Int(clamping: left)))
    }
}
