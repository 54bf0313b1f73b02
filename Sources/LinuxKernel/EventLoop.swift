internal import CLinux

/// Waits for many descriptors and deadlines in one thread (poll(2)).
///
/// The launcher and the supervisor have one thread and one loop each: what happens is the order of
/// events, and nothing is shared with anybody. poll and not epoll, because standard streams may be
/// regular files, which epoll refuses, and the number of descriptors is small.
public final class EventLoop {
    /// What to wait for.
    public struct Interest: OptionSet, Sendable {
        /// Bits of this set.
        public let rawValue: UInt8
        /// Adopts bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Data, a connection, or the end.
        public static let readable = Interest(rawValue: 1)
        /// Room to write, or a broken other end.
        public static let writable = Interest(rawValue: 2)
    }

    /// One watched descriptor or one deadline.
    public final class Token {
        // -1 for a deadline, which the kernel ignores.
        fileprivate let number: Int32
        fileprivate var interest: Interest
        fileprivate let time: MonotonicTime
        /// Nothing once it is forgotten: a handler may hold what holds its token.
        fileprivate var handler: ((Interest) -> Void)?

        fileprivate init(
            _ number: Int32,
            _ interest: Interest,
            _ time: MonotonicTime,
            _ handler: @escaping (Interest) -> Void
        ) {
            self.number = number
            self.interest = interest
            self.time = time
            self.handler = handler
        }
    }

    private var tokens: [Token] = []

    /// Creates a loop that waits for nothing.
    public init() {}

    /// Calls a handler whenever a descriptor is ready.
    ///
    /// The descriptor must stay open until ``forget(_:)``; a hang-up or an error counts as ready for all that was asked.
    public func watch(
        _ descriptor: borrowing Descriptor,
        _ interest: Interest,
        _ handler: @escaping (Interest) -> Void
    ) -> Token {
        tokens.append(Token(descriptor.number, interest, .never, handler))
        return tokens[tokens.count - 1]
    }

    /// Changes what a watched descriptor is waited for; an empty interest pauses it entirely.
    public func change(_ token: Token?, to interest: Interest) {
        token?.interest = interest
    }

    /// Calls a handler once at a time.
    public func at(_ time: MonotonicTime, _ handler: @escaping () -> Void) -> Token {
        tokens.append(Token(-1, [], time, { _ in handler() }))
        return tokens[tokens.count - 1]
    }

    /// Stops waiting for a descriptor or a deadline; no effect when it is gone.
    public func forget(_ token: Token?) {
        token?.handler = nil
        tokens.removeAll { $0 === token }
    }

    /// Waits and handles events until a condition holds.
    ///
    /// Handlers may run the loop again: each inner run serves every descriptor, too.
    ///
    /// - Throws: ``SystemError`` when poll fails.
    public func run(until condition: () -> Bool) throws(SystemError) {
        while !condition() { try turn(atMost: nil) }
    }

    /// Waits once, at most until the nearest deadline, and handles what is ready.
    ///
    /// - Parameter limit: the longest wait; nil for as long as it takes.
    /// - Throws: ``SystemError`` when poll fails.
    public func turn(atMost limit: Nanoseconds?) throws(SystemError) {
        let active = tokens.filter { !$0.interest.isEmpty }
        var polled = active.map { token in
            var entry = pollfd()
            entry.fd = token.number
            if token.interest.contains(.readable) { entry.events |= Int16(POLLIN) }
            if token.interest.contains(.writable) { entry.events |= Int16(POLLOUT) }
            return entry
        }
        let wait = timeout(limit)
        try result("poll") {
            // Safety: the kernel reads and writes exactly count entries.
            unsafe polled.withUnsafeMutableBufferPointer { buffer in
                unsafe clx_poll(buffer.baseAddress, UInt32(buffer.count), wait)
            }
        }
        for (index, token) in active.enumerated() where polled[index].revents != 0 {
            // An earlier handler may have forgotten this one.
            token.handler?(Self.readiness(polled[index].revents, token.interest))
        }
        let now = MonotonicTime.now
        for token in deadlines where token.time <= now {
            let handler = token.handler
            forget(token)
            handler?([])
        }
    }

    // Deadlines, the nearest first.
    private var deadlines: [Token] {
        tokens.filter { $0.time < .never }.sorted { $0.time < $1.time }
    }

    private static func readiness(_ events: Int16, _ asked: Interest) -> Interest {
        if events & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { return asked }
        var ready: Interest = []
        if events & Int16(POLLIN) != 0 { ready.insert(.readable) }
        if events & Int16(POLLOUT) != 0 { ready.insert(.writable) }
        return ready
    }

    private func timeout(_ limit: Nanoseconds?) -> Int32 {
        var wait = limit
        if let nearest = deadlines.first?.time {
            let left = nearest.since(MonotonicTime.now)
            wait = wait.map { min($0, left) } ?? left
        }
        guard let wait else { return -1 }
        // Rounded up: a wait that ends early would spin until the deadline.
        return Int32(min((wait.count + 999_999) / 1_000_000, 3_600_000))
    }
}

/// A span of time in nanoseconds, never negative.
public struct Nanoseconds: Sendable, Equatable, Comparable {
    /// The count itself.
    public let count: Int64
    /// Creates a span; a negative one becomes zero.
    public init(_ count: Int64) { self.count = max(0, count) }
    /// Creates a span of milliseconds.
    public static func milliseconds(_ count: UInt64) -> Nanoseconds {
        Nanoseconds(Int64(clamping: count) * 1_000_000)
    }
    /// The span in whole milliseconds.
    public var milliseconds: UInt64 { UInt64(count / 1_000_000) }
    /// Orders spans by length.
    public static func < (left: Nanoseconds, right: Nanoseconds) -> Bool {
        left.count < right.count
    }
}

/// A point of the clock that never jumps (CLOCK_MONOTONIC, clock_gettime(2)).
public struct MonotonicTime: Sendable, Equatable, Comparable {
    /// Nanoseconds since some fixed point before the process began.
    public let nanoseconds: Int64

    /// Later than anything that happens.
    static var never: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    /// The present.
    public static var now: MonotonicTime {
        MonotonicTime(nanoseconds: clx_clock_nanoseconds(CLOCK_MONOTONIC))
    }

    /// This point moved into the future.
    public func advanced(by span: Nanoseconds) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds + span.count)
    }

    /// The span since an earlier point; zero when that is later.
    public func since(_ earlier: MonotonicTime) -> Nanoseconds {
        Nanoseconds(nanoseconds - earlier.nanoseconds)
    }

    /// Orders points.
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

/// Signals read as data (signalfd(2)).
public struct SignalDescriptor: ~Copyable {
    /// Readable when a signal has arrived.
    public let descriptor: Descriptor

    /// Blocks signals for this thread and opens a descriptor that reports them.
    ///
    /// - Throws: ``SystemError``.
    public init(_ signals: [Int32]) throws(SystemError) {
        let mask = signals.reduce(UInt64(0)) { $0 | 1 << UInt64($1 - 1) }
        descriptor = Descriptor(
            adopting: try result("signalfd") { clx_signal_descriptor(mask) }
        )
    }

    /// The next signal that arrived; nil when there is none.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func next() throws(SystemError) -> Int32? {
        do throws(SystemError) {
            let record = try descriptor.read(atMost: 128)
            return record.count == 128 ? Int32(record[0]) : nil
        } catch {
            guard error.isWouldBlock else { throw error }
            return nil
        }
    }
}

/// Random bytes from the kernel (getrandom(2)).
public enum KernelRandom {
    /// Returns `count` bytes, at most 256.
    ///
    /// - Throws: ``SystemError``.
    public static func bytes(_ count: Int) throws(SystemError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: min(count, 256))
        try result("getrandom") {
            // Safety: the kernel fills exactly the buffer.
            unsafe buffer.withUnsafeMutableBytes { raw in
                unsafe clx_random(raw.baseAddress, raw.count)
            }
        }
        return buffer
    }
}
