import ExamResults
import Gate
import IterationLoop
import StrictJSON
import Testing

/// A shell made of memory: performs actions, keeps rows and replies, and checks what must hold.
struct Bench {
    var machine: LoopMachine
    var rows: [RecordedRow]
    var now: Int64
    var replies: [Int: [JSONValue]] = [:]
    var pendingSnapshot: SnapshotPurpose?
    var exam: ExamRequest?
    var isFrozen = false
    var isAgentRunning = false
    var ended: EndReason?
    var accepted: [String] = []
    var statuses = 0
    var pendingRestore = false
    /// Whether the coding agent's file is another one when it is restored.
    var isFileChanged = true
    /// Sandboxes that exams plan and do not start.
    var unstarted = 0

    static let train = (1...6).map { task("train-\($0)") }
    static let sealed = (1...4).map { task("sealed-\($0)") }

    static func task(_ text: String) -> TaskID {
        do { return try TaskID(text) } catch { fatalError("a well-formed id: \(error)") }
    }

    static func digest(_ seed: Int) -> CandidateDigest {
        let text = String(seed, radix: 16)
        let hex = String(repeating: "0", count: 64 - text.utf8.count) + text
        do { return try CandidateDigest(hex: hex) } catch { fatalError("64 digits: \(error)") }
    }

    static func results(_ tasks: [TaskID], passing: Set<TaskID>) -> ExamResults {
        let outcomes = tasks.map { ($0, TaskOutcome.graded(passing.contains($0) ? .one : .zero)) }
        do {
            return try ExamResults(
                planned: tasks,
                outcomes: Dictionary(uniqueKeysWithValues: outcomes)
            )
        } catch {
            fatalError("planned tasks: \(error)")
        }
    }

    static func voided(_ tasks: [TaskID]) -> ExamResults {
        let outcomes = tasks.map { ($0, TaskOutcome.voided(.examinerDied)) }
        do {
            return try ExamResults(
                planned: tasks,
                outcomes: Dictionary(uniqueKeysWithValues: outcomes)
            )
        } catch {
            fatalError("planned tasks: \(error)")
        }
    }

    /// The rows of a prepared experiment whose template passes the first two train tasks and
    /// two of the four sealed ones.
    static func prepared(
        stepTwo: GateRules.StepTwoRule = .afterStepOne,
        sealed rule: SealedRule = .ratchet,
        trials: Int = 1,
        release: ReleaseRules? = nil,
        threshold: Double = 0.8,
        promotion: PromotionRules = .once
    ) throws -> [RecordedRow] {
        var genesis = GenesisRecord(
            experiment: "x1",
            benchmark: "helpdesk",
            digests: (config: "c0", policies: ["candidate": "p0"], agent: digest(0)),
            split: (train: train, testCount: sealed.count, commitment: "k0"),
            rules: (
                gate: GateRules(
                    threshold: try Proportion(threshold),
                    stepTwo: stepTwo,
                    sealed: rule,
                    trials: trials
                ),
                release: try release ?? ReleaseRules(.bucket, step: Proportion(0.05))
            ),
            host: (facts: ["kernel": "6.18"], assurance: "full")
        )
        genesis.promotion = promotion
        let start = results(sealed, passing: Set(sealed.prefix(2)))
        let rewards = train.enumerated().map { ($1, $0 < 2 ? Reward.one : .zero) }
        let baseline = BaselineRecord(
            digest: digest(0),
            train: Dictionary(uniqueKeysWithValues: rewards),
            trainMean: 1.0 / 3.0,
            sealed: (score: try start.mean(), released: .half),
            commit: nil
        )
        return [
            row(1, 1_000, .genesis(genesis)), row(2, 2_000, .baseline(baseline)),
        ]
    }

    static func row(_ sequence: Int, _ time: Int64, _ event: LedgerEvent) -> RecordedRow {
        RecordedRow(
            sequence: sequence,
            time: Moment(milliseconds: time),
            kind: event.kind,
            body: event.body
        )
    }

    init(rules: LoopRules = LoopRules(), rows: [RecordedRow]? = nil) throws {
        self.rows = try rows ?? Self.prepared()
        now = (self.rows.last?.time.milliseconds ?? 0) + 1_000
        machine = try LoopMachine(state: try CampaignState(replaying: self.rows), rules: rules)
    }

    /// Sends an event and performs what comes back.
    mutating func send(_ event: LoopEvent) throws {
        let actions = try machine.receive(event, at: Moment(milliseconds: now))
        switch event {
        case .snapshotRefused, .snapshotFailed: pendingSnapshot = nil
        case .agentExited: (isAgentRunning, isFrozen) = (false, false)
        default: break
        }
        for action in actions {
            perform(action)
        }
    }

    private mutating func perform(_ action: LoopAction) {
        switch action {
        case .record(let event): rows.append(Self.row(rows.count + 1, now, event))
        case .startAgent: isAgentRunning = true
        case .freezeAgent:
            #expect(!isFrozen)
            isFrozen = true
        case .thawAgent:
            #expect(isFrozen)
            isFrozen = false
        case .takeSnapshot(let purpose):
            #expect(pendingSnapshot == nil)
            pendingSnapshot = purpose
        case .runExam(let request):
            #expect(exam == nil, "two exams run at the same time")
            if request.purpose == .sealed { #expect(isFrozen || !isAgentRunning) }
            exam = request
        case .cancelExam: #expect(exam != nil)
        case .accept(let commit): accepted.append(commit)
        case .reply(let connection, let reply):
            replies[connection.number, default: []].append(reply)
        case .replyStatus(let connection, let reply):
            statuses += 1
            replies[connection.number, default: []].append(reply)
        case .replyDifference(let connection, _):
            replies[connection.number, default: []].append(["ok": true])
        case .restore:
            #expect(isFrozen || !isAgentRunning)
            pendingRestore = true
        case .publishTraces, .render: break
        case .endRun(let reason):
            #expect(ended == nil)
            ended = reason
            isAgentRunning = false
        }
    }

    mutating func request(_ text: String, from connection: Int = 1) throws {
        try send(.request(ConnectionID(connection), Array(text.utf8)))
        guard pendingRestore else { return }
        pendingRestore = false
        try send(.restored(isChanged: isFileChanged))
    }

    mutating func snapshot(_ seed: Int) throws {
        pendingSnapshot = nil
        try send(
            .snapshotTaken(
                SnapshotFacts(
                    digest: Self.digest(seed),
                    size: 100 + seed,
                    commit: "commit-\(seed)",
                    findings: []
                )
            )
        )
    }

    /// Submits a candidate and waits for its result on connection 2.
    mutating func submit(_ seed: Int) throws {
        try request(#"{"verb":"submit","manifest":{"hypothesis":"ask first"}}"#)
        try snapshot(seed)
        let ticket = machine.state.open?.intent.ticket ?? "none"
        try request(#"{"verb":"result","ticket":"\#(ticket)"}"#, from: 2)
    }

    /// Ends the running exam; the given tasks pass, all others get no reward.
    mutating func endExam(passing: Set<TaskID>) throws {
        let tasks = exam?.tasks ?? Self.sealed
        try endExam(Self.results(tasks, passing: passing))
    }

    mutating func endExam(_ results: ExamResults) throws {
        try endExam(TrialResults(results))
    }

    /// Ends the running paired exam; in every trial of an arm the given tasks pass.
    mutating func endExam(passing: Set<TaskID>, incumbent: Set<TaskID>) throws {
        let trials = exam?.trials ?? 1
        let tasks = exam?.tasks ?? Self.sealed
        func arm(_ passing: Set<TaskID>) -> [ExamResults] {
            Array(repeating: Self.results(tasks, passing: passing), count: trials)
        }
        try endExam(TrialResults(candidate: arm(passing), incumbent: arm(incumbent)))
    }

    mutating func endExam(_ results: TrialResults) throws {
        exam = nil
        now += 500
        var report = ExamReport(
            results: results,
            durationMilliseconds: 500,
            planDigests: ["candidate": "d"]
        )
        report.unstarted = unstarted
        try send(.examEnded(report))
    }

    mutating func tick(_ milliseconds: Int64) throws {
        now += milliseconds
        try send(.tick)
    }

    func kinds(after count: Int = 2) -> [String] { rows.dropFirst(count).map(\.kind) }

    func lastReply(_ connection: Int) -> JSONValue { replies[connection]?.last ?? nil }
}
