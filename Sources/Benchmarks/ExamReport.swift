public import ExamResults
public import LinuxKernel
public import SandboxPlan
public import StrictJSON

/// What one exam yielded.
public struct ExamReport: Sendable {
    /// The outcome of every planned rollout; void where the supervisor's side broke.
    public let results: TrialResults
    /// What was kept of each train rollout, by task; empty after a sealed exam.
    public let records: [TaskID: RolloutRecord]
    /// Of the planned sandboxes those that were never started, not even to be killed.
    public let unstarted: Int
    /// Why the exam is void, for the operator; absent where it is not.
    public let voidReason: String?
    /// The last words of the examiner's standard error; empty after a sealed exam.
    public let examinerErrors: String
    /// How long the exam took.
    public let duration: Nanoseconds
    /// The digest of the plan of each candidate's sandbox.
    public let candidatePlan: SHA256Digest
    /// The digest of the plan of the examiner's sandbox.
    public let examinerPlan: SHA256Digest

    /// The same exam, void: nothing that either side earned counts.
    ///
    /// - Parameters:
    ///   - fault: what broke.
    ///   - reason: why, for the operator.
    /// - Returns: the void report.
    package func voided(_ fault: InfrastructureFault, because reason: String) -> ExamReport {
        ExamReport(
            results: results.voided(fault),
            records: records,
            unstarted: unstarted,
            voidReason: voidReason ?? "\(fault.rawValue): \(reason)",
            examinerErrors: examinerErrors,
            duration: duration,
            candidatePlan: candidatePlan,
            examinerPlan: examinerPlan
        )
    }

    /// How often each outcome of the candidate other than a grade occurred, by its code.
    public var faultCounts: [String: Int] { TrialResults.faultCounts(of: results.candidate) }
}

/// What is kept of one train rollout.
public struct RolloutRecord: Sendable, Equatable {
    /// What was said.
    public internal(set) var transcript: [TranscriptEntry] = []
    /// Whether the candidate answered at all, were it once.
    public internal(set) var hasReply = false
    /// Why it earned its reward, in the benchmark's words, cleaned.
    public internal(set) var detail: [String: JSONValue] = [:]
    /// The last words of a failed candidate's standard error, cleaned; empty where it did not fail.
    public internal(set) var errors = ""
    /// What a train rollout said to its model and was answered, one JSON object a line.
    public internal(set) var calls: [UInt8] = []

    /// The most bytes of all reasons of one exam, beside the traces.
    static let examBytes = 32 << 20

    /// Keeps what the examiner said of its verdict, cleaned, or that it was too long to keep: its words
    /// may be the candidate's.
    ///
    /// - Parameters:
    ///   - words: the verdict's detail.
    ///   - rollouts: among how many the room of an exam is shared.
    mutating func keep(_ words: [String: JSONValue], sharing rollouts: Int) {
        let cleaned = VisibleText.cleaned(.object(words), maximumBytes: 1 << 14)
        let room = min(1 << 20, Self.examBytes / max(rollouts, 1))
        let fits = cleaned.prettyText().utf8.count <= room
        detail = fits ? cleaned.objectValue ?? [:] : ["cut": "the detail is too long to keep"]
    }
}
