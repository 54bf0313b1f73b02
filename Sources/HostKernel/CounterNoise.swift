internal import Glibc
public import LinuxKernel

/// Moves the host's object counters on by secret, random amounts, so that what was taken from them before
/// says little.
///
/// Who runs in a sandbox and can take at most `D` numbers of a counter can move it by a message in `0...D`,
/// which a later sandbox reads. Here the counter is moved on by `U`, drawn uniformly from `0..<W`. The
/// reader sees `X + U`, which tells at most `log2((D + W) / W)` bits about `X`: all values lie in a range
/// of `D + W`, and each of `W` is equally likely under every `X`. What other programs of the host take is a
/// further addend that nobody chose, and can only lower that. Nothing that they do changes `D` or `W`.
///
/// Two things would tell more than the sum, and are taken away: where inside a processor's batch its next
/// number lies, because every processor takes a fresh batch at the end, and how long the moving took,
/// because it is made to last as long as the largest amount would have.
public struct CounterNoise: Sendable {
    /// What can have been taken, in numbers of each counter.
    public struct Writable: Sendable, Equatable {
        /// Of the counter of pipes, sockets and files of procfs.
        public var inodes: UInt64
        /// Of the counter of memory files and shared memory.
        public var sharedMemory: UInt64

        /// Makes a bound.
        public init(inodes: UInt64, sharedMemory: UInt64) {
            self.inodes = inodes
            self.sharedMemory = sharedMemory
        }

        fileprivate func of(_ counter: ObjectCounter) -> UInt64 {
            switch counter {
            case .inode: inodes
            case .sharedMemory: sharedMemory
            }
        }
    }

    fileprivate struct Part {
        let counter: ObjectCounter
        let range: UInt64
        /// How long one number took when the noise was made, in nanoseconds.
        let pace: UInt64
    }
    private let parts: [Part]

    // Half of what the counters can tell apart: they wrap at 32 bits.
    private static let widest: UInt64 = 1 << 31
    private static let sample: UInt32 = 2 * ObjectCounter.batch

    /// Makes the noise for what can have been taken, before it is.
    ///
    /// - Parameters:
    ///   - writable: the bound.
    ///   - bits: what all counters together may tell, above 0.
    /// - Throws: ``SystemError``; EOVERFLOW where the counters are too small for such an amount.
    public init(_ writable: Writable, bits: Double) throws(SystemError) {
        // What was taken on another processor than the one that moves shows as whole batches.
        let slack =
            UInt64(try ProcessorSet.current().single.count - 1) * UInt64(ObjectCounter.batch)
        let share = bits / Double(ObjectCounter.allCases.count)
        var parts: [Part] = []
        for counter in ObjectCounter.allCases {
            let most = writable.of(counter) + slack
            guard let range = Self.range(hiding: most, within: share), range <= Self.widest else {
                throw SystemError("hide numbers", "\(most) within \(share) bits", number: 75)
            }
            parts.append(Part(counter: counter, range: range, pace: try Self.pace(of: counter)))
        }
        self.parts = parts
    }

    fileprivate init(_ parts: [Part]) { self.parts = parts }

    /// The size of the range to draw from, so that a sum tells at most so much about its first addend.
    ///
    /// - Parameters:
    ///   - most: the largest first addend.
    ///   - bits: what the sum may tell, above 0.
    /// - Returns: the size `W = D / (2^b - 1)`, rounded up; nil where it is no number of 63 bits.
    public static func range(hiding most: UInt64, within bits: Double) -> UInt64? {
        let range = (Double(most) / (exp2(bits) - 1)).rounded(.up)
        return range >= 0 && range < 0x1p62 ? UInt64(range) : nil
    }

    /// The moving, which takes about a second for each 400,000 numbers.
    ///
    /// - Throws: ``SystemError``.
    public func moving() throws(SystemError) -> CounterMoving {
        // A batch from before, on the processor that moves, would be overtaken instead of added to: the sum
        // would be the larger of both amounts.
        try ProcessorSet.refreshAll()
        var random = SystemRandomNumberGenerator()
        return CounterMoving(
            parts.map { part in
                let amount = part.range == 0 ? 0 : UInt64.random(in: 0..<part.range, using: &random)
                // A quarter more, because the host may be busier than it was.
                let time = Nanoseconds(Int64(clamping: part.range * part.pace / 4 * 5))
                return (part.counter, amount, time)
            }
        )
    }

    fileprivate static func pace(of counter: ObjectCounter) throws(SystemError) -> UInt64 {
        try ProcessorSet.pinned { () throws(SystemError) in
            let start = MonotonicTime.now
            let moved = try counter.advance(by: sample)
            return UInt64(MonotonicTime.now.since(start).count) / UInt64(max(moved, 1)) + 1
        }
    }
}

/// Where the counters stood before an exam whose sandboxes can take numbers that nobody counts, as by
/// looking things up in a procfs.
///
/// What they can have taken is then known only afterwards: no more than the counter moved, and no more than
/// every processor of the host could take in that time. The noise may last a twentieth of it, so it may hide
/// less than is wished, and what it leaves is said.
public struct CounterMark: Sendable {
    private let beginnings: [(counter: ObjectCounter, number: UInt32, pace: UInt64)]
    private let time = MonotonicTime.now

    /// Notes where the counters stand, and how fast they can be moved.
    ///
    /// - Throws: ``SystemError``.
    public init() throws(SystemError) {
        beginnings = try ObjectCounter.allCases.map { counter throws(SystemError) in
            let pace = try CounterNoise.pace(of: counter)
            return (
                counter,
                try ProcessorSet.pinned { () throws(SystemError) in try counter.refreshed() },
                pace
            )
        }
    }

    /// The noise for what was taken since.
    ///
    /// - Parameter bits: what all counters together should tell at the most.
    /// - Returns: the noise, and the bits that they tell under it, which may be more.
    /// - Throws: ``SystemError``.
    public func noise(bits: Double) throws(SystemError) -> (noise: CounterNoise, bits: Double) {
        let span = UInt64(MonotonicTime.now.since(time).count)
        let processors = UInt64(try ProcessorSet.current().single.count)
        let share = bits / Double(beginnings.count)
        var (parts, told): ([CounterNoise.Part], Double) = ([], 0)
        for (counter, number, pace) in beginnings {
            let now = try ProcessorSet.pinned { () throws(SystemError) in try counter.refreshed() }
            // Wraps at 32 bits, beyond which no exam gets.
            let moved = UInt64(now &- number)
            let most = min(moved, span / pace * processors)
            let affordable = max(1, span / 20 / UInt64(beginnings.count) / pace)
            let wished = CounterNoise.range(hiding: most, within: share) ?? affordable
            let range = min(max(1, wished), affordable)
            parts.append(CounterNoise.Part(counter: counter, range: range, pace: pace))
            told += log2(Double(most + range) / Double(range))
        }
        return (CounterNoise(parts), told)
    }
}

/// The moving of every counter by an amount that was drawn for it, in steps of some ten milliseconds.
public struct CounterMoving: Sendable {
    private var waiting: [(counter: ObjectCounter, amount: UInt64, time: Nanoseconds)]
    private var end: MonotonicTime?
    private static let step: UInt64 = 4096

    fileprivate init(_ amounts: [(counter: ObjectCounter, amount: UInt64, time: Nanoseconds)]) {
        waiting = amounts
    }

    /// Does the next step.
    ///
    /// - Returns: how long to wait before the next one, which may be no time; nil when all is done, and every
    ///   processor has a fresh batch of every counter.
    /// - Throws: ``SystemError``.
    public mutating func next() throws(SystemError) -> Nanoseconds? {
        guard let (counter, amount, time) = waiting.first else {
            try ProcessorSet.refreshAll()
            return nil
        }
        let end = self.end ?? MonotonicTime.now.advanced(by: time)
        self.end = end
        if amount > 0 {
            let step = UInt32(min(amount, Self.step))
            let moved = try ProcessorSet.pinned { () throws(SystemError) in
                try counter.advance(by: step)
            }
            waiting[0].amount -= min(amount, UInt64(moved))
            return .milliseconds(0)
        }
        guard MonotonicTime.now >= end else { return end.since(.now) }
        waiting.removeFirst()
        self.end = nil
        return .milliseconds(0)
    }
}

extension ProcessorSet {
    /// Gives every processor a fresh batch of each counter.
    ///
    /// - Throws: ``SystemError``.
    fileprivate static func refreshAll() throws(SystemError) {
        let own = try current()
        try restoring(own) { () throws(SystemError) in
            for processor in own.single {
                try processor.take()
                for counter in ObjectCounter.allCases { _ = try counter.refreshed() }
            }
        }
    }

    // Numbers are compared on one processor only, because each has a batch of its own.
    fileprivate static func pinned<Answer>(
        _ body: () throws(SystemError) -> Answer
    ) throws(SystemError) -> Answer {
        let own = try current()
        return try restoring(own) { () throws(SystemError) in
            try own.single[0].take()
            return try body()
        }
    }

    private static func restoring<Answer>(
        _ own: ProcessorSet,
        _ body: () throws(SystemError) -> Answer
    ) throws(SystemError) -> Answer {
        let answer: Answer
        do throws(SystemError) {
            answer = try body()
        } catch {
            try own.take()
            throw error
        }
        try own.take()
        return answer
    }
}
