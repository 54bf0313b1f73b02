public import ExamResults
public import Gate
public import SandboxPolicy

/// Where an experiment stands: nothing but a replay of its ledger.
///
/// Whatever decides reads this and no file. Applying a row either changes the state as the row
/// says or throws because the row contradicts those before it; there is no third way.
public struct CampaignState: Sendable, Equatable {
    /// What was fixed before any score was seen.
    public internal(set) var genesis: GenesisRecord?
    /// What the template scores.
    public internal(set) var baseline: BaselineRecord?
    /// What trivial agents score, in the order of their rows.
    public internal(set) var floors: [FloorRecord] = []
    /// What accepted candidates did on the train split, and the suite that follows.
    public internal(set) var evidence: TrainEvidence?
    /// The train tasks that were found flaky and are kept out of the suite, sorted.
    public internal(set) var quarantine: [TaskID] = []
    /// The last rewards of suite tasks.
    public internal(set) var suiteResults: [TaskID: Reward] = [:]
    /// The best candidate.
    public internal(set) var best: BestCandidate?
    /// The number of the last iteration; 0 before the first intent.
    public internal(set) var iteration = 0
    /// The baseline and the accepted candidates, oldest first.
    public internal(set) var accepted: [AcceptedCandidate] = []
    /// The last outcome of each train task that a train exam ran.
    public internal(set) var latestTrain: [TaskID: TaskOutcome] = [:]
    /// When the last train exam ended.
    public internal(set) var latestTrainTime: Moment?
    /// The coding agent's notes.
    public internal(set) var learnings: [LearningRecord] = []
    /// What manifests predicted, and how well each coding agent did.
    public internal(set) var predictions = PredictionBook()
    /// What was used of the budgets.
    public internal(set) var usage = BudgetUsage()
    /// The candidates that the gate decided about, and in which iteration.
    public internal(set) var decided: [CandidateDigest: Int] = [:]
    /// The candidates that a tripwire voids.
    public internal(set) var tripped: Set<CandidateDigest> = []
    /// Whether a tripwire fired that names no candidate: it voids the next one.
    public internal(set) var isTripped = false
    /// The last decision.
    public internal(set) var lastDecision: DecisionRecord?
    /// The candidate that is being judged, until it is released or voided.
    public internal(set) var open: OpenIntent?
    /// The exam that began and has not ended.
    public internal(set) var runningExam: ExamStartedRecord?
    /// The exam of the sealed tasks that were held back, once it was run and is not void.
    public internal(set) var final: ExamEndedRecord?
    /// Whether a run is on.
    public internal(set) var isRunning = false
    /// Whether the operator paused the run.
    public internal(set) var isPaused = false
    /// How many runs there were.
    public internal(set) var runs = 0
    /// When the last row was written.
    public internal(set) var lastTime: Moment?
    /// Running time since the last row that only a run writes; nobody's where the next run begins.
    var unsettledMilliseconds: Int64 = 0

    /// The state before the first row.
    public init() {}

    /// Replays rows from the first one on.
    ///
    /// - Parameter rows: the rows, in order.
    /// - Throws: ``LoopError`` for the first row that cannot be read or contradicts the others.
    public init(replaying rows: some Sequence<RecordedRow>) throws(LoopError) {
        for row in rows { try advance(by: row) }
    }

    /// Applies one row of a record that is read to its end.
    ///
    /// - Parameter row: the next row.
    /// - Throws: ``LoopError``; then the state is of no use.
    public mutating func advance(by row: RecordedRow) throws(LoopError) {
        let event = try LedgerEvent(kind: row.kind, body: row.body)
        try advance(by: event, at: row.time, sequence: row.sequence)
    }

    /// Applies one row that may contradict the state.
    ///
    /// - Parameter row: the next row.
    /// - Throws: ``LoopError``; then the state is as before.
    public mutating func apply(_ row: RecordedRow) throws(LoopError) {
        let event = try LedgerEvent(kind: row.kind, body: row.body)
        try apply(event, at: row.time, sequence: row.sequence)
    }

    /// The floors that earn more than a sealed score, in the order of their rows.
    ///
    /// - Parameter score: the sealed score.
    /// - Returns: their names.
    public func floors(above score: Score) -> [String] {
        floors.filter { !$0.isCeiling && score < $0.sealed }.map(\.name)
    }

    /// The regression suite, sorted.
    public var suite: [TaskID] { evidence?.suite ?? [] }

    /// The train tasks, sorted.
    public var train: [TaskID] { evidence?.train ?? [] }

    /// The ticket that the next intent gets.
    public var nextTicket: String { "T\(iteration + 1)" }

    /// How long runs have lasted up to a moment, pauses not counted, in milliseconds.
    ///
    /// - Parameter now: the moment.
    /// - Returns: the milliseconds.
    public func elapsedMilliseconds(at now: Moment) -> Int64 {
        usage.elapsedMilliseconds + unsettledMilliseconds + sinceLastRow(now)
    }

    /// What the running clock adds between the last row and a moment.
    func sinceLastRow(_ now: Moment) -> Int64 {
        guard isRunning, !isPaused, let lastTime else { return 0 }
        // A clock that was set back must not give time back.
        return max(0, now.milliseconds - lastTime.milliseconds)
    }
}

/// The best candidate.
public struct BestCandidate: Sendable, Equatable {
    /// The candidate.
    public let digest: CandidateDigest
    /// Its commit in the supervisor's repository, if it was kept there.
    public let commit: String?
    /// Its exact sealed score.
    public let score: Score
    /// What was released of that score, if anything.
    public let released: Proportion?
    /// The iteration that it came from; 0 for the template.
    public let iteration: Int
}

/// The baseline or an accepted candidate, as a row of the table of results.
public struct AcceptedCandidate: Sendable, Equatable {
    /// The candidate with its scores.
    public let candidate: BestCandidate
    /// The suite tasks that passed.
    public let suitePassed: Int
    /// The suite tasks that were run.
    public let suiteTotal: Int
    /// When it was decided.
    public let decided: Moment
    /// When it was released; nothing where it is not yet.
    public internal(set) var released: Moment?
}

/// What was used of the budgets.
public struct BudgetUsage: Sendable, Equatable {
    /// Candidates that were decided about, void decisions among them.
    public internal(set) var iterations = 0
    /// Candidates that were submitted for judgement, voided ones among them, and each repetition of
    /// exams that were void: sealed exams are never more than these.
    public internal(set) var submissions = 0
    /// The bits about sealed tasks that releases told at the most, the baseline's score among them.
    public internal(set) var releasedBits = 0.0
    /// The channels that some release says nothing bounds.
    public internal(set) var unboundedChannels: Set<HostChannel> = []
    /// Releases that do not say which channels were open: those of older versions.
    public internal(set) var unlookedReleases = 0
    /// Exams that were run again because infrastructure broke.
    public internal(set) var repetitions = 0
    /// Paired tests that the gate made.
    public internal(set) var tests = 0
    /// Train exams that the coding agent asked for.
    public internal(set) var trainRuns = 0
    /// Decisions in a row that did not raise the best score.
    public internal(set) var sinceImprovement = 0
    /// How long runs lasted up to the last row, pauses not counted.
    public internal(set) var elapsedMilliseconds: Int64 = 0
    /// The bytes of notes.
    public internal(set) var learningBytes = 0
    /// Refusals of every kind, whoever met them.
    public internal(set) var refusals = 0
    /// Those among them that make sense as a cheat alone.
    public internal(set) var attempts = 0
}

/// The candidate that is being judged.
public struct OpenIntent: Sendable, Equatable {
    /// The intent.
    public let intent: IntentRecord
    /// The last finished exam of the suite under it.
    public internal(set) var suite: ExamResults?
    /// The score of the last finished sealed exam under it.
    public internal(set) var sealed: Score?
    /// The incumbent's score in that exam, where it took part.
    public internal(set) var incumbent: Score?
    /// The decision, once there is one.
    public internal(set) var decision: DecisionRecord?
    /// The exam of the train tasks that failed so far, once it ended.
    public internal(set) var recheck: ExamResults?
    /// The exams of those that passed there, on fresh seeds.
    public internal(set) var confirmations: [ExamResults] = []
    /// The promotion, once there is one.
    public internal(set) var promotion: PromotionRecord?

    /// How many sealed exams of it began, void ones among them.
    public internal(set) var sealedExams = 0
    /// Of these, the exams that ended and had started every planned sandbox.
    public internal(set) var wholeExams = 0
    /// What counters told of them beyond what every exam is charged with, in bits.
    public internal(set) var uncountedBits = 0.0
    /// What the coding agent's side had been told of a sealed score when this was submitted.
    let lastTold: Proportion?

    init(_ intent: IntentRecord, lastTold: Proportion?) {
        self.intent = intent
        self.lastTold = lastTold
    }
}
