package import LinuxKernel

/// How long a coding agent ran, waited for sealed exams of others, and what it is owed for the wait.
///
/// Half of each wait is owed: whoever waits for d and then runs for d / 2 has a third of the time. Only a
/// wait is paid for, so an agent that waits for its own exam, for an answer of ours or in a pause holds
/// nobody up. More than the longest single wait is never owed: an agent that wants nothing whenever it
/// could run, and to run whenever it cannot, saves up no right to keep sealed exams waiting.
package struct AgentTime: Sendable, Equatable {
    /// What the agent does.
    package enum State: Sendable {
        /// It does not want to run, or not because of others.
        case away
        /// It may run.
        case running
        /// It would run, if no sealed exam of another experiment did.
        case waiting
    }

    /// How long it ran.
    package private(set) var ran = Nanoseconds(0)
    /// How long it waited.
    package private(set) var waited = Nanoseconds(0)
    /// How long it may run before the next sealed exam of another begins.
    package private(set) var owed = Nanoseconds(0)
    private var longestWait = Nanoseconds(0)
    private var state = State.away
    private var last: MonotonicTime?
    /// Since when it waits; absent where it does not.
    package private(set) var waitsSince: MonotonicTime?

    /// Begins with an agent that does not run.
    package init() {}

    /// Whether sealed exams of others let it go first.
    package var goesFirst: Bool {
        switch state {
        case .away: false
        case .waiting: true
        case .running: owed.count > 0
        }
    }

    /// Notes what it does from now on.
    ///
    /// - Parameters:
    ///   - next: what it does.
    ///   - now: the moment; never earlier than one before.
    package mutating func note(_ next: State, at now: MonotonicTime) {
        let span = last.map { now.since($0) } ?? Nanoseconds(0)
        switch state {
        case .away: break
        case .running:
            ran = Nanoseconds(ran.count + span.count)
            owed = Nanoseconds(owed.count - span.count)
        case .waiting:
            waited = Nanoseconds(waited.count + span.count)
            let wait = waitsSince.map { now.since($0) } ?? span
            longestWait = max(longestWait, wait)
            owed = min(Nanoseconds(owed.count + span.count / 2), longestWait)
        }
        if next != .waiting { waitsSince = nil } else if waitsSince == nil { waitsSince = now }
        (state, last) = (next, now)
    }
}
