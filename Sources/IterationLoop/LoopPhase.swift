internal import ExamResults
internal import Gate

/// What a run is doing, in one word, for status and error texts.
public enum LoopPhase: String, Sendable {
    /// The run has not begun.
    case idle
    /// The coding agent works.
    case editing
    /// A candidate is being copied out.
    case copying
    /// A train exam that the coding agent asked for is running.
    case training
    /// A submitted candidate is waiting or being judged.
    case judging
    /// The result waits for the next moment of the grid.
    case releasing
    /// The run ended.
    case ended
}

/// The phase with what belongs to it.
enum Phase: Sendable, Equatable {
    case idle
    case editing
    case copying(Copying)
    case training(Training)
    case judging(Judgement)
    case ended(EndReason)

    var word: LoopPhase {
        switch self {
        case .idle: .idle
        case .editing: .editing
        case .copying: .copying
        case .training: .training
        case .judging(let judgement):
            if case .releasing = judgement.stage { .releasing } else { .judging }
        case .ended: .ended
        }
    }
}

/// A copy that was asked for; the request waits for it.
struct Copying: Sendable, Equatable {
    let connection: ConnectionID
    let wish: Wish

    enum Wish: Sendable, Equatable {
        case train([TaskID]?)
        case submit(AgentRequest.Manifest?)
        case revert
    }
}

/// A train exam that the coding agent asked for.
struct Training: Sendable, Equatable {
    let connection: ConnectionID
    let exam: ExamStartedRecord
    let planned: [TaskID]?
}

/// A candidate on its way through the gate.
struct Judgement: Sendable, Equatable {
    let intent: IntentRecord
    var stage: Stage
    var sentinels: ExamResults?
    var suite: SuiteEvidence?
    var sealed: TrialResults?
    /// The suite tasks that failed, on fresh seeds.
    var repeats: [ExamResults] = []
    var recheck: ExamResults?
    /// The train tasks that pass anew, on fresh seeds.
    var confirmations: [ExamResults] = []
    var decision: DecisionRecord?
    var agentReasons: [String] = []
    var promotion: PromotionRecord?
    var waiting: [ConnectionID] = []
    var voidedExams = 0

    enum Stage: Sendable, Equatable {
        /// Until the coding agent waits for us, or this moment.
        case queued(until: Moment)
        /// Whatever comes next can begin.
        case ready
        /// This exam is running.
        case examining(ExamStartedRecord, planned: [TaskID]?)
        /// The result is told at this moment.
        case releasing(at: Moment)
    }

    init(_ intent: IntentRecord, stage: Stage) {
        self.intent = intent
        self.stage = stage
    }
}

/// The coding agent's process.
enum AgentProcess: Sendable, Equatable {
    case notStarted
    case running
    case exited(AgentEnd)
}
