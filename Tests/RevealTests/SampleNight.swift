import ExamResults
import Gate
import IterationLoop
import Reveal
import StrictJSON

/// A prepared experiment and its night, made of memory: rows as a ledger has them, and the outcomes of
/// their sealed exams as the vault keeps them.
struct SampleNight {
    private(set) var rows: [RecordedRow] = []
    /// The encrypted outcomes by the names of their files.
    private(set) var files: [String: [UInt8]] = [:]
    let key: RevealKey
    private let rules: GateRules
    private var machine: LoopMachine?
    private var exam: ExamRequest?
    private var started: (record: ExamStartedRecord, number: Int)?
    private var now: Int64 = 1_000

    /// The seed of every sealed exam; lots of a paired test are drawn by it.
    static let seed: UInt64 = 0xF00D_0000_0000_0005
    static let experiment = "00112233445566aa"
    static let train = (1...5).map { task("train-\($0)") }
    static let sealed = (1...4).map { task("sealed-\($0)") }

    static func task(_ text: String) -> TaskID {
        do { return try TaskID(text) } catch { fatalError("a well-formed id: \(error)") }
    }

    static func digest(_ seed: Int) throws -> CandidateDigest {
        try CandidateDigest(bytes: [UInt8](repeating: UInt8(seed), count: 32))
    }

    static func key(_ seed: UInt8 = 7) throws -> RevealKey {
        try RevealKey([UInt8](repeating: seed, count: RevealKey.byteCount))
    }

    /// Rules that compare candidate and incumbent in one exam, each task run twice.
    static func paired() throws -> GateRules {
        let budget = ErrorBudget(error: try Proportion(0.9), tests: 4)
        return GateRules(threshold: .fourFifths, sealed: .paired(budget), trials: 2)
    }

    /// Prepares: a genesis row, the template's exams and those of one floor.
    init(rules: GateRules = .standard) throws {
        key = try Self.key()
        self.rules = rules
        var genesis = GenesisRecord(
            experiment: Self.experiment,
            benchmark: "helpdesk",
            digests: (config: "c0", policies: ["candidate": "p0"], agent: try Self.digest(0)),
            split: (train: Self.train, testCount: Self.sealed.count, commitment: "k0"),
            rules: (gate: rules, release: ReleaseRules(.bucket, step: try Proportion(0.05))),
            host: (facts: [:], assurance: "full")
        )
        genesis.revealDigest = key.digest
        add(.genesis(genesis))
        let train = try Self.results(Self.train, passing: 1)
        try examine(.baseline, .train, TrialResults(train))
        let sealed = try trials(Self.results(Self.sealed, passing: 1))
        try examine(.baseline, .test, sealed)
        let rewards = train.all.map { ($0.task, $0.outcome.reward) }
        let score = try sealed.mean()
        add(
            .baseline(
                BaselineRecord(
                    digest: try Self.digest(0),
                    train: Dictionary(uniqueKeysWithValues: rewards),
                    trainMean: try train.mean().mean,
                    sealed: (score: score, released: score.released(quantum: try Proportion(0.05))),
                    commit: nil
                )
            )
        )
        let nothing = try trials(Self.results(Self.sealed, passing: 0))
        try examine(.floor, .test, nothing)
        let floor = try nothing.mean()
        add(
            .floor(
                FloorRecord(
                    name: "silent",
                    sealed: floor,
                    released: floor.released(quantum: try Proportion(0.05))
                )
            )
        )
    }

    /// The first tasks earn a reward, the last one faults.
    static func results(
        _ tasks: [TaskID],
        passing count: Int,
        _ reward: Reward = .one
    ) throws -> ExamResults {
        var outcomes: [TaskID: TaskOutcome] = [:]
        for (index, task) in tasks.enumerated() {
            outcomes[task] = .graded(index < count ? reward : .zero)
        }
        if count < tasks.count, let last = tasks.last { outcomes[last] = .failed(.idle) }
        return try ExamResults(planned: tasks, outcomes: outcomes)
    }

    // As many trials as the rules want, all alike.
    private func trials(_ results: ExamResults) throws -> TrialResults {
        try TrialResults(candidate: Array(repeating: results, count: rules.trials), seed: Self.seed)
    }

    private mutating func examine(
        _ purpose: ExamPurpose,
        _ split: Split,
        _ results: TrialResults
    ) throws {
        var start = ExamStartedRecord(
            iteration: 0,
            purpose: purpose,
            split: split,
            count: results.planned.count,
            digest: try Self.digest(0),
            assurance: "full"
        )
        start.trials = results.trials
        add(.examStarted(start))
        let root = split == .test ? try seal(results) : nil
        add(
            .examEnded(
                ExamEndedRecord(
                    of: start,
                    results: results,
                    durationMilliseconds: 5,
                    planDigests: [:],
                    sealedRoot: root
                )
            )
        )
    }

    private mutating func add(_ event: LedgerEvent) {
        now += 10
        let row = RecordedRow(
            sequence: rows.count + 1,
            time: Moment(milliseconds: now),
            kind: event.kind,
            body: event.body
        )
        rows.append(row)
        if case .examStarted(let record) = event { started = (record, row.sequence) }
    }

    private mutating func seal(_ results: TrialResults) throws -> String {
        guard let started else { fatalError("an exam is announced before it is sealed") }
        let identity = ExamIdentity(
            started.record,
            number: started.number,
            experiment: Self.experiment
        )
        let outcomes = SealedOutcomes(results)
        let nonce = (0..<12).map { UInt8(truncatingIfNeeded: started.number + $0) }
        files[identity.fileName] = try outcomes.sealed(under: key, of: identity, nonce: nonce)
        return outcomes.root(under: key, of: identity)
    }

    // MARK: - the night

    private mutating func send(_ event: LoopEvent) throws {
        guard var running = machine else { fatalError("a night begins with start()") }
        let actions = try running.receive(event, at: Moment(milliseconds: now))
        machine = running
        for action in actions {
            switch action {
            case .record(let event): add(event)
            case .runExam(let request): exam = request
            default: break
            }
        }
    }

    /// Begins a run.
    mutating func start() throws {
        machine = try LoopMachine(state: CampaignState(replaying: rows), rules: LoopRules())
        try send(.start)
    }

    /// Judges a candidate of whom so many suite, sealed and other train tasks pass.
    mutating func judge(
        _ seed: Int,
        sealed passing: Int,
        earning reward: Reward = .one,
        train: Int = 5,
        isVoid: Bool = false
    ) throws {
        let submission = #"{"verb":"submit","manifest":{"hypothesis":"h"}}"#
        try send(.request(ConnectionID(1), Array(submission.utf8)))
        try send(
            .snapshotTaken(
                SnapshotFacts(
                    digest: try Self.digest(seed),
                    size: 9,
                    commit: "c\(seed)",
                    findings: []
                )
            )
        )
        try send(.agentWaits)
        now += 20_000
        try send(.tick)
        while let request = exam {
            exam = nil
            let tasks = request.tasks ?? Self.sealed
            let isSealed = request.split == .test
            let outcomes = try Self.results(
                tasks,
                passing: isSealed ? passing : min(train, tasks.count),
                isSealed ? reward : .one
            )
            var results = try isSealed ? trials(outcomes) : TrialResults(outcomes)
            if request.incumbent != nil {
                results = try TrialResults(
                    candidate: results.candidate,
                    incumbent: trials(Self.results(tasks, passing: 1)).candidate,
                    seed: results.seed
                )
            }
            if isVoid, request.split == .test {
                let outcomes = tasks.map { ($0, TaskOutcome.voided(.examinerDied)) }
                results = try trials(
                    ExamResults(
                        planned: tasks,
                        outcomes: Dictionary(uniqueKeysWithValues: outcomes)
                    )
                )
            }
            let root = request.split == .test ? try seal(results) : nil
            try send(
                .examEnded(
                    ExamReport(
                        results: results,
                        durationMilliseconds: 5,
                        planDigests: [:],
                        sealedRoot: root
                    )
                )
            )
        }
        now += 20_000
        try send(.tick)
    }

    /// Two accepted candidates, one whose suite breaks, one that is worse, one that is void.
    static func whole() throws -> SampleNight {
        var night = try SampleNight()
        try night.start()
        try night.judge(1, sealed: 2)
        try night.judge(2, sealed: 3, train: 0)
        try night.judge(3, sealed: 1)
        try night.judge(4, sealed: 0, isVoid: true)
        try night.judge(5, sealed: 4)
        return night
    }

    // MARK: - forging

    /// Changes members of a row's body.
    mutating func change(_ number: Int, _ edit: (inout [String: JSONValue]) -> Void) {
        let row = rows[number - 1]
        var members = row.body.objectValue ?? [:]
        edit(&members)
        rows[number - 1] = RecordedRow(
            sequence: row.sequence,
            time: row.time,
            kind: row.kind,
            body: .object(members)
        )
    }

    /// The numbers of the rows of a kind.
    func numbers(_ kind: String, where isMeant: (JSONValue) -> Bool = { _ in true }) -> [Int] {
        rows.filter { $0.kind == kind && isMeant($0.body) }.map(\.sequence)
    }

    /// Replaces a file of outcomes.
    mutating func replace(_ name: String, with bytes: [UInt8]?) { files[name] = bytes }

    // MARK: - auditing

    /// What is found without the key.
    func audited() throws -> [RecomputedFinding] { try RecordAudit(of: rows).findings }

    /// What is found with a key.
    func revealed(with key: RevealKey? = nil) throws -> [RecomputedFinding] {
        let key = key ?? self.key
        let audit = try RecordAudit(of: rows, key: key) { exam in
            guard let file = files[exam.fileName] else { return .failure(RevealFault("missing")) }
            do {
                return .success(try SealedOutcomes(opening: file, under: key, of: exam))
            } catch {
                return .failure(RevealFault("\(error)"))
            }
        }
        return audit.findings
    }
}

extension [RecomputedFinding] {
    /// Every fault, with its subject.
    var faults: [String] {
        flatMap { finding in finding.faults.map { "\(finding.subject): \($0)" } }
    }
}
