package import ModelDialects

/// When the supervisor is told what a stream has used so far: with its first part, a second after the last
/// time, and sooner where it grew by a thirtieth since, so that a burst is known as well.
package struct SpendingPace: Sendable {
    private static let span = Duration.seconds(1)
    private static let leastGrowth = 64
    private static let part = 32

    private var last: (moment: ContinuousClock.Instant, tokens: Int)?

    /// Begins before the first part.
    package init() {}

    /// Whether it is to be told now; then the time begins anew.
    package mutating func isDue(_ usage: TokenUsage, at now: ContinuousClock.Instant) -> Bool {
        if let last {
            let growth = usage.total - last.tokens
            guard growth != 0,
                now - last.moment >= Self.span
                    || growth > max(Self.leastGrowth, last.tokens / Self.part)
            else { return false }
        }
        last = (now, usage.total)
        return true
    }
}
