/// What a candidate did wrong in a rollout; each weighs 0.
public enum CandidateFault: String, Sendable, CaseIterable {
    /// The process ended before the conversation did, whatever its exit code.
    case exited
    /// A signal ended the process.
    case signalled
    /// The memory limit ended it.
    case outOfMemory = "out-of-memory"
    /// The wall-clock limit ended it.
    case wallClock = "wall-clock"
    /// The limit on processor time ended it.
    case cpuTime = "cpu-time"
    /// It sent nothing for too long while it was its turn.
    case idle
    /// It wrote more than it may.
    case output
    /// It started more processes than it may.
    case processes
    /// It made a system call that its filter answers with a kill.
    case violation
    /// It sent bytes that are no frame of the protocol.
    case badFrame = "bad-frame"
    /// It sent a well-formed frame when it was not its turn, or twice.
    case outOfTurn = "out-of-turn"
    /// It declined the task in the protocol's own words.
    case abstained
    /// It used up its turns.
    case tooManyTurns = "too-many-turns"
}

/// What broke on the supervisor's side; only the supervisor may say so, with evidence.
public enum InfrastructureFault: String, Sendable, CaseIterable {
    /// The examiner's process ended while sessions were open.
    case examinerDied = "examiner-died"
    /// The launcher could not start the candidate's sandbox.
    case launcherRefused = "launcher-refused"
    /// The host ran out of memory, disk or descriptors.
    case hostExhausted = "host-exhausted"
    /// The examiner sent a verdict that no session awaits, or one that is no verdict.
    case badVerdict = "bad-verdict"
    /// The examiner broke the conversation's protocol.
    case badExaminerFrame = "bad-examiner-frame"
    /// The broker was lost, or a sandbox could not be served by it.
    case brokerLost = "broker-lost"
    /// A model's budget that both sides of a paired exam draw on was spent before its end.
    case budgetSpent = "budget-spent"
}

/// What became of one planned task.
public enum TaskOutcome: Sendable, Equatable {
    /// The examiner gave a verdict.
    case graded(Reward)
    /// The candidate's own fault; weighs 0.
    case failed(CandidateFault)
    /// No verdict came; weighs 0.
    case missing
    /// The supervisor's side broke; the whole exam is void.
    case voided(InfrastructureFault)

    /// The reward that this outcome weighs in a mean; 0 for everything but a grade.
    public var reward: Reward {
        switch self {
        case .graded(let reward): reward
        case .failed, .missing, .voided: .zero
        }
    }

    /// Whether the outcome is a grade of at least `mark`; nothing else ever passes.
    ///
    /// - Parameter mark: the lowest reward that passes.
    /// - Returns: whether it passes.
    public func passes(mark: Reward = .half) -> Bool {
        switch self {
        case .graded(let reward): reward >= mark
        case .failed, .missing, .voided: false
        }
    }

    /// Whether an infrastructure fault voided the task.
    public var isVoided: Bool {
        switch self {
        case .voided: true
        case .graded, .failed, .missing: false
        }
    }

    /// The outcome in one word, as records hold it: `graded`, `missing`, or the fault's own word.
    public var code: String {
        switch self {
        case .graded: "graded"
        case .failed(let fault): fault.rawValue
        case .missing: "missing"
        case .voided(let fault): fault.rawValue
        }
    }

    /// Reads an outcome back from a record.
    ///
    /// - Parameters:
    ///   - code: the outcome's ``code``.
    ///   - reward: the reward; present exactly where the code is `graded`.
    /// - Throws: ``ExamError/badOutcome(code:)`` for any other pair, or the reward's own error.
    public init(code: String, reward: Double?) throws(ExamError) {
        switch (code, reward) {
        case ("graded", .some(let value)): self = .graded(try Reward(value))
        case ("missing", .none): self = .missing
        case (_, .none):
            if let fault = CandidateFault(rawValue: code) {
                self = .failed(fault)
            } else if let fault = InfrastructureFault(rawValue: code) {
                self = .voided(fault)
            } else {
                throw .badOutcome(code: code)
            }
        case (_, .some): throw .badOutcome(code: code)
        }
    }
}
