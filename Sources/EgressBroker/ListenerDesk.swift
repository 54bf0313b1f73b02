internal import BrokerProtocol
internal import Synchronization

/// What is known of one listener while it is served: its terms, its counts, and whether it is held.
final class ListenerDesk: Sendable {
    /// Whether a request may be served now.
    enum Admission {
        case granted
        case tooMany
        case spent
    }

    private struct State {
        var totals = ListenerTotals()
        var inFlight = 0
        var isHeld = false
        var isAnnounced = false
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    let terms: ListenerTerms
    /// Where bodies go; a sealed listener has none, whatever was sent along.
    let trace: TraceFile?
    /// What its bodies may take.
    let bodies: BodyMemory
    /// Its ways to providers, by their names.
    let pools: [String: UpstreamPool]
    private let state = Mutex(State())

    init(
        _ terms: ListenerTerms,
        trace: TraceFile?,
        bodies: BodyMemory,
        pools: [String: UpstreamPool]
    ) {
        self.terms = terms
        self.pools = pools
        self.bodies = bodies
        self.trace = terms.isSealed ? nil : trace
    }

    /// What the listener was used for so far.
    var totals: ListenerTotals {
        let dropped = trace?.droppedBytes ?? 0
        return state.withLock { state in
            var totals = state.totals
            totals.droppedBytes = dropped
            return totals
        }
    }

    /// Counts a request, and decides whether it is one too many.
    func admit() -> Admission {
        state.withLock { state in
            state.totals.requests += 1
            guard state.totals.requests <= terms.maximumRequests else { return .spent }
            guard state.inFlight < terms.maximumConcurrency else { return .tooMany }
            state.inFlight += 1
            return .granted
        }
    }

    /// Ends a request that was admitted.
    func leave() {
        state.withLock { $0.inFlight -= 1 }
    }

    /// Changes the counts.
    func count(_ change: (inout ListenerTotals) -> Void) {
        state.withLock { change(&$0.totals) }
    }
}

// Held requests wait here.
extension ListenerDesk {
    /// Keeps every request that comes from now on.
    func hold() {
        state.withLock { state in
            state.isHeld = true
            state.isAnnounced = false
        }
    }

    /// Lets what was kept, and everything after it, go on.
    func release() {
        let waiters = state.withLock { state in
            state.isHeld = false
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits while the listener is held; returns early where the task is cancelled.
    ///
    /// - Parameter announce: called for the first request of each hold.
    func waitWhileHeld(announce: () -> Void) async {
        let (ticket, isFirst) = state.withLock { state in
            guard state.isHeld else { return (Int?.none, false) }
            defer { state.isAnnounced = true }
            state.nextWaiter += 1
            return (state.nextWaiter, !state.isAnnounced)
        }
        guard let ticket else { return }
        if isFirst { announce() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // Asked under the lock: a cancellation after this finds the waiter.
                    guard state.isHeld, !Task.isCancelled else { return true }
                    state.waiters[ticket] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: ticket) }?.resume()
        }
    }
}
