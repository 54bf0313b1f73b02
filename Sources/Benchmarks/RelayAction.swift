public import ExamResults

/// What happens to one rollout, as the shell observed it.
public enum RelayEvent: Sendable, Equatable {
    /// Bytes on the candidate's channel, in pieces of any size.
    ///
    /// Every byte that a candidate wrote must be given before its end is.
    case candidateBytes([UInt8])
    /// The candidate's channel ended. The typed exit follows as ``candidateFailed(_:)``.
    case candidateClosed
    /// The candidate's process ended or was ended at a limit, by itself or after
    /// ``RelayAction/closeCandidate``.
    case candidateFailed(CandidateFault)
    /// A frame of this session on the examiner's conversation channel, with the bytes that it took
    /// there. Where both channels of the examiner are readable, this one is read first.
    case examiner(ExaminerFrame, bytes: Int)
    /// The verdict of this session, from the collector.
    case verdict(Reward)
    /// The verdict channel ended, and no verdict of this session was on it.
    case noVerdict
    /// The supervisor's side broke.
    case infrastructure(InfrastructureFault)
}

/// What the shell must do, in order.
public enum RelayAction: Sendable, Equatable {
    /// Write these bytes to the candidate, or drop them if it is gone.
    case toCandidate([UInt8])
    /// Write these bytes to the examiner.
    case toExaminer([UInt8])
    /// Start the candidate's wall clock: ``RelayEvent/candidateFailed(_:)`` with
    /// ``CandidateFault/wallClock`` after so many seconds.
    case startClock(seconds: Double)
    /// Destroy the candidate's sandbox. Given once at most.
    case closeCandidate
    /// Tell the verdict collector that this session gets no verdict.
    case withdrawVerdict
    /// Void the whole exam: the supervisor's side broke.
    case voidExam(InfrastructureFault)
    /// Enter this outcome. Given exactly once.
    case end(TaskOutcome)
}
