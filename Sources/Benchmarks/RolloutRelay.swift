// One rollout, in order: begin to the examiner; its start; init to the candidate; ready; then turns until the
// examiner's stop; then the verdict. `gone` is sent only while the examiner waits for the candidate, so that
// no verdict can be on its way for a session that was declared gone: otherwise a candidate that dies at the
// right moment could make an honest examiner look as if it had judged a dead session, and void the exam.

public import ExamResults
internal import StrictJSON

/// The relay of one rollout, as a value: events in, actions out; no clock, no descriptor.
///
/// It checks every frame of both sides against the one order that the protocol allows, rebuilds
/// each from its parsed value, names calls itself, and ends the rollout with exactly one outcome.
/// A candidate's mistake costs the candidate its reward and never more; only the supervisor's side
/// voids.
public struct RolloutRelay: Sendable {
    enum Phase: Sendable, Equatable {
        /// `begin` was sent; the examiner owes `start`.
        case awaitingStart
        /// `init` was sent; the candidate owes `ready`. The first turn may be here already.
        case awaitingReady(firstTurn: [Message]?)
        /// The candidate owes an answer.
        case candidateTurn
        /// The examiner owes the result of a call.
        case awaitingResult
        /// The examiner owes a turn or `stop`.
        case examinerTurn
        /// The candidate is done; the examiner owes `stop`.
        case awaitingStop
        /// The examiner said `stop`; its verdict is due.
        case awaitingVerdict
        /// The outcome is out. After `gone` a frame may still be on its way.
        case ended(afterGone: Bool)
    }

    /// A fault of the candidate while the examiner is at work.
    enum Deferred: Sendable, Equatable {
        case none
        /// The process ended: harmless if the conversation turns out to be over.
        case lost(CandidateFault)
        /// The protocol was broken: the rollout fails in any case.
        case breach(CandidateFault)
    }

    /// The rollout's name.
    public let session: SessionID
    /// The rollout's task.
    public let task: TaskID
    let most: SessionLimits
    var phase = Phase.awaitingStart
    var deferred = Deferred.none
    var decoder: FrameDecoder
    var calls = CallNames()
    var trace: RolloutTranscript
    var limits: SessionLimits
    var turns = 0
    var answerBytes = 0
    var earlyVerdict: Reward?
    var isCandidateClosed = false

    /// Makes the relay of one rollout.
    ///
    /// - Parameters:
    ///   - session: its name, drawn by the supervisor.
    ///   - task: its task.
    ///   - split: the split; a sealed rollout records nothing.
    ///   - limits: the most turns and seconds, whatever the examiner asks for.
    ///   - frames: what the candidate may cost.
    public init(
        session: SessionID,
        task: TaskID,
        split: Split,
        limits: SessionLimits,
        frames: FrameLimits = .candidate
    ) {
        self.session = session
        self.task = task
        self.most = limits
        self.limits = limits
        decoder = FrameDecoder(limits: frames)
        trace = RolloutTranscript(records: split == .train)
    }

    /// Gives the transcript an equal share of an exam's room, before the rollout begins.
    ///
    /// - Parameter rollouts: the planned rollouts.
    public mutating func shareTranscripts(among rollouts: Int) {
        trace = RolloutTranscript(records: trace.records, sharing: rollouts)
    }

    /// Whether the outcome is out.
    public var isEnded: Bool {
        if case .ended = phase { true } else { false }
    }

    /// Whether the rollout waits for its candidate; only then does its idle clock run.
    public var awaitsCandidate: Bool {
        switch phase {
        case .awaitingReady, .candidateTurn: true
        case .awaitingStart, .awaitingResult, .examinerTurn, .awaitingStop, .awaitingVerdict,
            .ended:
            false
        }
    }

    /// What was said so far; always empty in a sealed exam.
    public var transcript: [TranscriptEntry] { trace.entries }

    /// Whether the candidate gave a reply in its turn.
    var hasReply: Bool { trace.hasReply }

    /// The first actions of the rollout.
    ///
    /// - Parameter seed: what the examiner may seed its own randomness with.
    /// - Returns: the actions.
    public func begin(seed: Int64) -> [RelayAction] {
        do throws(FrameError) {
            let message = ExaminerMessage.begin(session, task: task, seed: seed)
            return [.toExaminer(try FrameEncoder.frame(message.json))]
        } catch {
            fatalError("invariant: begin is a short frame: \(error)")
        }
    }

    /// Takes one event.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - time: when, in milliseconds since 1970.
    /// - Returns: what to do, in order; nothing but ``RelayAction/voidExam(_:)`` once the rollout
    ///   has ended.
    public mutating func event(_ event: RelayEvent, at time: Int64) -> [RelayAction] {
        switch event {
        case .candidateBytes(let bytes): return candidateBytes(bytes, time)
        case .candidateClosed: return closeCandidate()
        case .candidateFailed(let fault): return candidateLost(fault, time)
        case .examiner(let frame, let bytes):
            countAnswer(bytes, time)
            return examiner(frame, time)
        case .verdict(let reward): return verdict(reward)
        case .noVerdict: return noVerdict()
        case .infrastructure(let fault): return void(fault)
        }
    }
}

// How a rollout ends.
extension RolloutRelay {
    mutating func closeCandidate() -> [RelayAction] {
        guard !isCandidateClosed, !isEnded else { return [] }
        isCandidateClosed = true
        return [.closeCandidate]
    }

    mutating func end(_ outcome: TaskOutcome, afterGone: Bool = false) -> [RelayAction] {
        let closing = closeCandidate()
        phase = .ended(afterGone: afterGone)
        return closing + [.end(outcome)]
    }

    /// Ends a rollout while the examiner waits for the candidate.
    mutating func fail(_ fault: CandidateFault, _ time: Int64) -> [RelayAction] {
        trace.add(note: "the rollout ended: \(fault.rawValue)", time: time)
        let reason: ExaminerMessage.GoneReason = fault == .abstained ? .abstain : .fault
        return send(.gone(session, reason)) + [.withdrawVerdict]
            + end(.failed(fault), afterGone: true)
    }

    mutating func void(_ fault: InfrastructureFault) -> [RelayAction] {
        isEnded ? [.voidExam(fault)] : [.voidExam(fault)] + end(.voided(fault))
    }

    /// A frame of the supervisor's own making, always short.
    private func send(_ message: ExaminerMessage) -> [RelayAction] {
        do throws(FrameError) {
            return [.toExaminer(try FrameEncoder.frame(message.json))]
        } catch {
            fatalError("invariant: the supervisor's own frames are short: \(error)")
        }
    }

    mutating func candidateIsDone() -> [RelayAction] {
        phase = .awaitingStop
        return send(.done(session)) + closeCandidate()
    }

    mutating func candidateLost(_ fault: CandidateFault, _ time: Int64) -> [RelayAction] {
        switch phase {
        case .awaitingReady, .candidateTurn: return fail(fault, time)
        case .awaitingStart, .awaitingResult, .examinerTurn:
            if deferred == .none { deferred = .lost(fault) }
            return closeCandidate()
        case .awaitingStop, .awaitingVerdict, .ended: return []
        }
    }

    mutating func breach(_ fault: CandidateFault, _ time: Int64) -> [RelayAction] {
        switch phase {
        case .awaitingReady, .candidateTurn: return fail(fault, time)
        case .awaitingStart, .awaitingResult, .examinerTurn:
            if case .breach = deferred { return [] }
            deferred = .breach(fault)
            trace.add(note: "the candidate broke the protocol: \(fault.rawValue)", time: time)
            return closeCandidate()
        case .awaitingStop, .awaitingVerdict, .ended: return []
        }
    }

    private mutating func verdict(_ reward: Reward) -> [RelayAction] {
        #if LayerSwitches
        if let answer = verdictWithoutRules(reward) { return answer }
        #endif
        switch phase {
        case .awaitingVerdict: return end(outcome(reward))
        case .ended: return []
        case .awaitingStart, .awaitingReady, .candidateTurn, .awaitingResult, .examinerTurn,
            .awaitingStop:
            // The two channels are two pipes: the verdict may be read before `stop` is.
            earlyVerdict = reward
            return []
        }
    }

    private mutating func noVerdict() -> [RelayAction] {
        switch phase {
        case .awaitingVerdict: end(outcome(nil))
        case .ended: []
        case .awaitingStart, .awaitingReady, .candidateTurn, .awaitingResult, .examinerTurn,
            .awaitingStop:
            void(.examinerDied)
        }
    }

    func outcome(_ reward: Reward?) -> TaskOutcome {
        if case .breach(let fault) = deferred { return .failed(fault) }
        guard let reward else { return .missing }
        return .graded(reward)
    }
}
