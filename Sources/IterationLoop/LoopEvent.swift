public import ExamResults
public import StrictJSON

/// A connection on the coding agent's request socket, as the shell numbers them.
public struct ConnectionID: Sendable, Hashable {
    /// The number.
    public let number: Int

    /// Makes an id.
    ///
    /// - Parameter number: the number.
    public init(_ number: Int) {
        self.number = number
    }
}

/// Something that happened to a run.
public enum LoopEvent: Sendable, Equatable {
    /// The shell is ready; sent once, first.
    case start
    /// A request arrived.
    case request(ConnectionID, [UInt8])
    /// A connection ended before its reply.
    case disconnected(ConnectionID)
    /// The coding agent waits for us in another way: a model request.
    case agentWaits
    /// The coding agent's process ended.
    case agentExited(AgentEnd)
    /// The copy that ``LoopAction/takeSnapshot(_:)`` asked for.
    case snapshotTaken(SnapshotFacts)
    /// The file is not one that may be judged.
    case snapshotRefused(code: String, reason: String, remedy: String)
    /// The best candidate lies in the coding sandbox, as ``LoopAction/restore(_:commit:)`` asked; it
    /// may have lain there before.
    case restored(isChanged: Bool)
    /// The host could not copy.
    case snapshotFailed(reason: String)
    /// The exam ended; every planned task has an outcome.
    case examEnded(ExamReport)
    /// The exam was cancelled, as ``LoopAction/cancelExam`` asked.
    case examCancelled
    /// Something that another layer refused, to be kept.
    case refused(RefusalRecord)
    /// A tripwire fired.
    case tripped(TripwireRecord)
    /// The operator pauses.
    case pause
    /// The operator resumes.
    case resume
    /// The operator stops, with a reason for the record.
    case stop(reason: String)
    /// What the run may use has changed.
    case rules(LoopRuleChange)
    /// Time passed.
    case tick

    /// The event's word, for error texts.
    var name: String {
        switch self {
        case .start: "start"
        case .request: "a request"
        case .disconnected: "the end of a connection"
        case .agentWaits: "the agent waits"
        case .agentExited: "the agent's exit"
        case .snapshotTaken: "a snapshot"
        case .snapshotRefused: "a refused snapshot"
        case .restored: "a restored file"
        case .snapshotFailed: "a failed snapshot"
        case .examEnded: "the end of an exam"
        case .examCancelled: "a cancelled exam"
        case .refused: "a refusal"
        case .tripped: "a tripwire"
        case .pause: "pause"
        case .resume: "resume"
        case .stop: "stop"
        case .rules: "a change of budgets"
        case .tick: "a tick"
        }
    }
}

/// A candidate that was copied out.
public struct SnapshotFacts: Sendable, Equatable {
    /// The candidate.
    public let digest: CandidateDigest
    /// Its size in bytes.
    public let size: Int
    /// Its commit in the supervisor's repository; needed for a submission.
    public let commit: String?
    /// What the static audit found, each an object of kind, line and detail.
    public let findings: [JSONValue]

    /// Makes facts.
    ///
    /// - Parameters:
    ///   - digest: the candidate.
    ///   - size: its size in bytes.
    ///   - commit: its commit in the supervisor's repository.
    ///   - findings: what the static audit found.
    public init(digest: CandidateDigest, size: Int, commit: String?, findings: [JSONValue]) {
        self.digest = digest
        self.size = size
        self.commit = commit
        self.findings = findings
    }
}

/// How an exam ended.
public struct ExamReport: Sendable, Equatable {
    /// The outcomes.
    public let results: TrialResults
    /// How long it took, in milliseconds.
    public let durationMilliseconds: Int64
    /// The digests of the plans that its sandboxes were built from, by role.
    public let planDigests: [String: String]
    /// What a sealed exam commits to.
    public let sealedRoot: String?
    /// Of a sealed exam, how much better the train tasks went that have twins in it.
    public var twinGap: TwinGap?
    /// Of a sealed exam whose sandboxes take numbers of the host's counters that nobody counts, the bits that
    /// the counters tell of it.
    public var uncountedBits: Double?
    /// Of a sealed exam, how many of the planned sandboxes were never started.
    public var unstarted = 0

    /// Makes a report.
    ///
    /// - Parameters:
    ///   - results: the outcomes.
    ///   - durationMilliseconds: how long it took, in milliseconds.
    ///   - planDigests: the digests of the plans, by role.
    ///   - sealedRoot: what a sealed exam commits to.
    public init(
        results: TrialResults,
        durationMilliseconds: Int64,
        planDigests: [String: String],
        sealedRoot: String? = nil
    ) {
        self.sealedRoot = sealedRoot
        self.results = results
        self.durationMilliseconds = durationMilliseconds
        self.planDigests = planDigests
    }
}

/// What the shell is to do, in this order.
public enum LoopAction: Sendable, Equatable {
    /// Append this row. Nothing after it may happen before it is on the disk.
    case record(LedgerEvent)
    /// Start the coding agent.
    case startAgent
    /// Freeze the coding sandbox.
    case freezeAgent
    /// Thaw the coding sandbox.
    case thawAgent
    /// Copy the candidate out and answer with a snapshot event before any other event.
    case takeSnapshot(SnapshotPurpose)
    /// Run this exam and answer with ``LoopEvent/examEnded(_:)``.
    case runExam(ExamRequest)
    /// Kill the running exam and answer with ``LoopEvent/examCancelled``.
    case cancelExam
    /// Make this commit the newest accepted one.
    case accept(commit: String)
    /// Put this candidate into the coding sandbox and answer, before any other event, that it is
    /// there or that the file is refused; without a commit it is the template.
    case restore(CandidateDigest, commit: String?)
    /// Replace `traces/latest` by those of the train exam that just ended.
    case publishTraces
    /// Render both views of `workspace/`.
    case render
    /// Answer a request.
    case reply(ConnectionID, JSONValue)
    /// Answer with where the campaign stands, adding the member `candidate`.
    case replyStatus(ConnectionID, JSONValue)
    /// Answer with the difference of the file from this commit; without one, from the template.
    case replyDifference(ConnectionID, commit: String?)
    /// Kill the coding agent and leave.
    case endRun(EndReason)
}

/// What a snapshot is taken for.
public enum SnapshotPurpose: String, Sendable {
    /// A train exam; the copy need not be kept.
    case train
    /// A submission; the copy is kept in the repository.
    case submit
}

/// An exam that is to be run.
public struct ExamRequest: Sendable, Equatable {
    /// What it is run for.
    public let purpose: ExamPurpose
    /// The split.
    public let split: Split
    /// The tasks to run; nothing for the whole split.
    public let tasks: [TaskID]?
    /// The candidate.
    public let digest: CandidateDigest
    /// The candidate's commit, where it has one.
    public let commit: String?
    /// The iteration.
    public let iteration: Int
    /// How often every task is run; at least 1.
    public let trials: Int
    /// The incumbent that runs the same tasks, and its commit where it has one.
    public let incumbent: Incumbent?

    /// An incumbent in an exam.
    public struct Incumbent: Sendable, Equatable {
        /// The candidate that is the best one so far.
        public let digest: CandidateDigest
        /// Its commit; nothing for a template that was not kept.
        public let commit: String?
    }

    init(
        _ exam: ExamStartedRecord,
        tasks: [TaskID]?,
        commit: String?,
        incumbentCommit: String? = nil
    ) {
        trials = exam.trials
        incumbent = exam.incumbent.map { Incumbent(digest: $0, commit: incumbentCommit) }
        purpose = exam.purpose
        split = exam.split
        digest = exam.digest
        iteration = exam.iteration
        self.tasks = tasks
        self.commit = commit
    }
}

/// How the coding agent's process ended.
public struct AgentEnd: Sendable, Equatable {
    /// The status of its process; 128 and the signal's number where one ended it.
    public let code: Int
    /// The limit that it went past and was ended for, in words; absent where it ended otherwise.
    public let limit: String?

    /// Creates an end.
    public init(code: Int, limit: String? = nil) {
        self.code = code
        self.limit = limit
    }

    /// The end as the record keeps it.
    public var text: String {
        "the coding agent ended with \(code)" + (limit.map { ": \($0)" } ?? "")
    }
}

/// Why a run ended.
public enum EndReason: Sendable, Equatable {
    /// As many candidates were judged as the budget allows.
    case iterationsSpent
    /// As many candidates were submitted as the budget allows.
    case submissionsSpent
    /// The running time is over.
    case timeSpent
    /// As many paired tests were made as the error budget allows.
    case errorSpent
    /// The next answer could tell more of sealed tasks than the release budget allows.
    case releaseSpent
    /// What this run was bound to is reached: hours, iterations or cost.
    case boundReached(String)
    /// The score did not rise for too long.
    case noImprovement
    /// The coding agent's process ended.
    case agentExited(AgentEnd)
    /// The coding agent was refused too often.
    case tooManyRefusals
    /// The operator stopped the run.
    case stopped(reason: String)

    /// The reason as the record keeps it.
    public var text: String {
        switch self {
        case .iterationsSpent: "the budget of iterations is spent"
        case .submissionsSpent: "the budget of submissions is spent"
        case .timeSpent: "the budget of hours is spent"
        case .errorSpent: "the error budget of the gate's paired tests is spent"
        case .releaseSpent: "the release budget of bits about sealed tasks is spent"
        case .boundReached(let what): "the bound of this run's \(what) is reached"
        case .noImprovement: "the score did not rise for as long as the budget allows"
        case .agentExited(let how): how.text
        case .tooManyRefusals: "the coding agent was refused too often"
        case .stopped(let reason): reason
        }
    }
}
