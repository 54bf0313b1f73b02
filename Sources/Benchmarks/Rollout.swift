internal import ExamResults
internal import LinuxKernel

/// One rollout of a running exam: its relay, its sandbox and its clocks.
final class Rollout {
    /// The rollout's task and trial, and whose agent runs it.
    let seat: Seat
    /// The rules of the conversation.
    var relay: RolloutRelay
    /// The candidate's sandbox; absent before it starts and once every process of it is gone.
    var candidate: ExamProcess?
    /// What became of the task; absent while the rollout runs.
    var outcome: TaskOutcome?
    /// What the examiner said of its verdict.
    var record = RolloutRecord()
    /// Whether a verdict has been due for so long that the exam may finish without it.
    var isOverdue = false

    private let loop: EventLoop
    private var wallClock: EventLoop.Token?
    private var patience: EventLoop.Token?
    private var closing: EventLoop.Token?

    init(_ relay: RolloutRelay, _ seat: Seat, loop: EventLoop) {
        self.seat = seat
        self.relay = relay
        self.loop = loop
    }

    deinit { stopClocks() }

    /// Whether the exam may finish without hearing of this rollout again.
    var isSettled: Bool { relay.isEnded || isOverdue }

    /// Starts the candidate's wall clock.
    func startWallClock(seconds: Double, _ onEnd: @escaping () -> Void) {
        let span = Nanoseconds(Int64(seconds * 1e9))
        loop.forget(wallClock)
        wallClock = loop.at(MonotonicTime.now.advanced(by: span), onEnd)
    }

    /// Starts the clock of whoever's turn it is from the beginning; none once the rollout ended.
    func restartPatience(_ span: Nanoseconds, _ onEnd: @escaping () -> Void) {
        loop.forget(patience)
        patience = relay.isEnded ? nil : loop.at(MonotonicTime.now.advanced(by: span), onEnd)
    }

    /// Calls back after a span, once, for a candidate that is about to end by itself.
    func closeLater(_ span: Nanoseconds, _ onEnd: @escaping () -> Void) {
        guard closing == nil else { return }
        closing = loop.at(MonotonicTime.now.advanced(by: span), onEnd)
    }

    /// Stops every clock.
    func stopClocks() {
        for token in [wallClock, patience, closing] { loop.forget(token) }
        wallClock = nil
        patience = nil
    }

    /// Releases the sandbox once it is gone, keeping its last words if the rollout failed.
    func release() {
        guard let candidate else { return }
        record.errors = candidate.lastWords()
        self.candidate = nil
        loop.forget(closing)
    }

    /// What is kept of a train rollout.
    var kept: RolloutRecord {
        var kept = record
        kept.transcript = relay.transcript
        kept.hasReply = relay.hasReply
        if case .failed = outcome {} else { kept.errors = "" }
        return kept
    }
}
