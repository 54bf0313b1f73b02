public import LinuxKernel

/// Moves the host's object counters by the same amount whatever was made in between.
///
/// What runs between `init` and ``pad()`` may make objects to spell a message in a counter that a
/// later sandbox reads. The counters are moved on to a fixed distance from where they stood, and
/// then every processor takes a fresh batch, so that no position inside one is left either. A
/// message is possible only beyond the allowance; whoever runs the sandboxes ends them when
/// ``isExceeded()`` says so, and then there is one larger distance for all amounts.
///
/// A look uses up numbers itself, and a host is never quite still, so each look adds
/// ``allowanceOfLook``. How often was looked would tell how long it ran; so padding goes to the
/// distance that all looks up to a given end would have led to, whether they were made or not.
///
/// What other programs of the host make beyond that is noise on top.
public struct CounterPadding: Sendable {
    /// How far a counter may move unnoticed, at the least.
    ///
    /// A larger figure costs time at each padding, a smaller one voids exams on busy hosts.
    public static let leastAllowance: UInt32 = 1 << 15
    /// What each look adds: the batch that it uses up, and a thousand objects a second of other programs
    /// where looks are a quarter of a second apart.
    public static let allowanceOfLook: UInt32 = ObjectCounter.batch + 256
    /// What can be made between two looks a quarter of a second apart.
    private static let overshoot: UInt32 = 1 << 18
    // Days of looks; numbers that lie further apart cannot be told from those that lie behind.
    private static let mostLooks: UInt32 = 1 << 20

    private let allowance: UInt32
    private var looks: UInt32 = 0
    private let beginnings: [(counter: ObjectCounter, number: UInt32)]

    /// Notes where the counters stand.
    ///
    /// - Parameter extra: added to ``leastAllowance``, for what many sandboxes make of themselves.
    /// - Throws: ``SystemError``.
    public init(extra: UInt32 = 0) throws(SystemError) {
        allowance = Self.leastAllowance + extra
        beginnings = try Self.pinned { home throws(SystemError) in
            try home.take()
            return try ObjectCounter.allCases.map { counter throws(SystemError) in
                (counter, try counter.refreshed())
            }
        }
    }

    /// Looks whether a counter has moved further than the allowance.
    ///
    /// - Throws: ``SystemError``.
    public mutating func isExceeded() throws(SystemError) -> Bool {
        looks = min(looks + 1, Self.mostLooks)
        let allowance = allowance(ofLooks: looks)
        return try Self.pinned { home throws(SystemError) in
            try home.take()
            return try moved().contains { $0 > allowance }
        }
    }

    private func allowance(ofLooks looks: UInt32) -> UInt32 {
        allowance + looks * Self.allowanceOfLook
    }

    /// Moves every counter to its distance.
    ///
    /// - Parameter looks: how many looks it is to seem, where that is more than were made.
    /// - Returns: whether that hides how far they had moved: no where even the larger one was passed.
    /// - Throws: ``SystemError``.
    @discardableResult
    public func pad(asAfter looks: UInt32 = 0) throws(SystemError) -> Bool {
        let processors = try ProcessorSet.current().single
        // The one below is the last.
        let allowance = allowance(ofLooks: min(max(looks, self.looks), Self.mostLooks) + 1)
        return try Self.pinned { home throws(SystemError) in
            try home.take()
            let moved = try moved()
            let isExceeded = moved.contains { $0 > allowance }
            let distance = isExceeded ? allowance + Self.overshoot : allowance
            for (counter, number) in beginnings {
                while try Self.distance(from: number, to: counter.next()) < distance {}
            }
            // On each processor, because what is left of an old batch tells how much of it was used.
            for processor in processors {
                try processor.take()
                for (counter, _) in beginnings { _ = try counter.refreshed() }
            }
            return moved.allSatisfy { $0 <= distance }
        }
    }

    private func moved() throws(SystemError) -> [UInt32] {
        try beginnings.map { counter, number throws(SystemError) in
            Self.distance(from: number, to: try counter.refreshed())
        }
    }

    // What lies behind the beginning is a number of a batch that was taken before it.
    private static func distance(from beginning: UInt32, to number: UInt32) -> UInt32 {
        UInt32(clamping: Int32(bitPattern: number &- beginning))
    }

    // Runs a body that may move this thread between processors, and lets it have all of its own again.
    // Numbers are compared on one processor only: each has a batch of its own.
    private static func pinned<Answer>(
        _ body: (_ home: ProcessorSet) throws(SystemError) -> Answer
    ) throws(SystemError) -> Answer {
        let own = try ProcessorSet.current()
        let answer: Answer
        do throws(SystemError) {
            answer = try body(own.single[0])
        } catch {
            try own.take()
            throw error
        }
        try own.take()
        return answer
    }
}
