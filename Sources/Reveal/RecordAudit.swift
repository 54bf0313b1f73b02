public import ExamResults
internal import Gate
public import IterationLoop

/// A record, recomputed row by row: what follows from other rows must be what follows.
///
/// Without the reveal key that is everything but what rests on single sealed outcomes. With it, every
/// sealed exam's figures are computed from its outcomes and every decision by the gate.
public struct RecordAudit {
    /// Opens a sealed exam: its outcomes, or a fault in words.
    public typealias Opening = (ExamIdentity) -> Result<SealedOutcomes, RevealFault>

    private let key: RevealKey?
    private let opening: Opening?
    private var state = CampaignState()
    private var started: (record: ExamStartedRecord, number: Int)?
    /// The last sealed figures of what is not judged: the baseline's and the floors'.
    private var measured: (purpose: ExamPurpose, digest: CandidateDigest, mean: Score?)?
    private var trained: ExamResults?
    /// Exams of the candidate that is judged which infrastructure broke.
    private var voidedExams = 0
    /// Whether the last exam of impossible tasks of that candidate was void.
    private var hasVoidSentinels = false
    /// What its failed suite tasks did on fresh seeds.
    private var repeats: [ExamResults] = []
    /// The opened outcomes of the candidate that is judged, since its last intent or void.
    private var judged: SealedOutcomes?
    /// The tasks of sealed exams that were opened: of the gate's, and of the final one (true).
    private var sealedTasks: [Bool: [TaskID]] = [:]
    private var sealedExams = 0
    private var decisions = 0
    private var commitmentFaults: [String] = []
    private var outcomeFaults: [String] = []
    private var decisionFaults: [String] = []

    /// Recomputes a record.
    ///
    /// - Parameters:
    ///   - rows: all rows, in order, of a ledger that was verified.
    ///   - key: the reveal key, where sealed exams are opened; its digest is compared.
    ///   - opening: finds the outcomes of an exam.
    /// - Throws: ``LoopError`` where a row contradicts those before it.
    public init(
        of rows: [RecordedRow],
        key: RevealKey? = nil,
        opening: Opening? = nil
    ) throws(LoopError) {
        self.key = key
        self.opening = opening
        for row in rows {
            let event = try LedgerEvent(kind: row.kind, body: row.body)
            take(event, row.sequence)
            try state.advance(by: row)
        }
    }

    /// What was found, in the order in which a reader should believe it.
    public var findings: [RecomputedFinding] {
        var findings = [
            RecomputedFinding(
                subject: "commitments",
                detail: isCommitted
                    ? "\(sealedExams) sealed exams, each with the root of its outcomes"
                    : "this experiment is of a version without commitments to sealed outcomes",
                faults: commitmentFaults
            )
        ]
        if opening != nil {
            findings.append(
                RecomputedFinding(
                    subject: "sealed outcomes",
                    detail: "\(sealedExams) sealed exams have the roots, means, passes and faults"
                        + " of their rows",
                    faults: outcomeFaults
                )
            )
        }
        findings.append(
            RecomputedFinding(
                subject: "decisions",
                detail: opening == nil
                    ? "\(decisions) decisions follow from suite, means and rules of the rows"
                    : "\(decisions) decisions are what the gate decides on these outcomes",
                faults: decisionFaults
            )
        )
        return findings
    }

    /// The tasks of every sealed exam of the gate that was opened, sorted; nothing where none was.
    public var revealedTasks: [TaskID]? { sealedTasks[false] }
    /// The tasks of the final exam, sorted; nothing where it was not opened.
    public var revealedFinalTasks: [TaskID]? { sealedTasks[true] }

    private var isCommitted: Bool { state.genesis?.revealDigest != nil }

    // MARK: - rows

    private mutating func take(_ event: LedgerEvent, _ number: Int) {
        switch event {
        case .genesis(let record): compareKey(record, number)
        case .examStarted(let record): started = (record, number)
        case .examEnded(let record): take(record, number)
        case .baseline(let record): compare(record, number)
        case .floor(let record):
            compare("sealed mean", record.sealed, measured?.mean, number)
            compareReleased(
                record.released,
                of: record.isCeiling ? nil : record.sealed,
                nil,
                number
            )
        case .intent: (judged, voidedExams, hasVoidSentinels, repeats) = (nil, 0, false, [])
        case .void: (judged, repeats) = (nil, [])
        case .decision(let record):
            decisions += 1
            compare(record, number)
        case .promotion(let record): compare(record, number)
        case .runStarted, .runResumed, .runEnded, .snapshot, .audit, .release, .refusal, .learning,
            .revert, .pause, .resume, .stop, .tripwire, .retirement, .other:
            break
        }
    }

    private mutating func compareKey(_ genesis: GenesisRecord, _ number: Int) {
        guard let key else { return }
        guard let digest = genesis.revealDigest else {
            commitmentFaults.append("row \(number): the genesis row names no reveal key")
            return
        }
        guard digest != key.digest else { return }
        commitmentFaults.append(
            "row \(number): the genesis row names the reveal key \(digest), this one is \(key.digest)"
        )
    }

    private mutating func take(_ record: ExamEndedRecord, _ number: Int) {
        guard record.split == .test else {
            if record.sealedRoot != nil {
                commitmentFaults.append("row \(number): a train exam has the root of a sealed one")
            }
            if record.purpose == .protect { repeats += record.outcomes.map { [$0] } ?? [] }
            if record.purpose == .sentinel { hasVoidSentinels = record.mean == nil }
            if [.suite, .sentinel].contains(record.purpose), record.mean == nil {
                voidedExams += 1
            }
            if record.purpose == .baseline, record.outcomes?.planned == state.genesis?.train {
                trained = record.outcomes
            }
            return
        }
        sealedExams += 1
        compareCommitment(record, number)
        let outcomes = opened(record, number)
        switch record.purpose {
        case .baseline, .floor: measured = (record.purpose, record.digest, record.mean)
        case .sealed:
            judged = outcomes
            if record.mean == nil { voidedExams += 1 }
        case .train, .suite, .recheck, .protect, .confirm, .final, .sentinel: break
        }
    }

    private mutating func compareCommitment(_ record: ExamEndedRecord, _ number: Int) {
        let isFinal = record.purpose == .final
        let planned = (isFinal ? state.genesis?.finalCount : state.genesis?.testCount) ?? 0
        if record.count != planned {
            commitmentFaults.append(
                "row \(number): count: \(record.count) sealed tasks, the genesis row has \(planned)"
            )
        }
        switch (record.sealedRoot, isCommitted) {
        case (.some(let root), true):
            let isDigest = root.utf8.allSatisfy {
                (48...57).contains($0) || (97...102).contains($0)
            }
            if root.utf8.count != 64 || !isDigest {
                commitmentFaults.append("row \(number): sealed_root is no root of a tree")
            }
        case (.none, true):
            commitmentFaults.append("row \(number): a sealed exam without sealed_root")
        case (.some, false):
            commitmentFaults.append(
                "row \(number): sealed_root, and the genesis row names no reveal key"
            )
        case (.none, false): break
        }
    }

    // MARK: - sealed outcomes

    private mutating func opened(_ record: ExamEndedRecord, _ number: Int) -> SealedOutcomes? {
        guard let key, let opening, let started, let experiment = state.genesis?.experiment else {
            return nil
        }
        let exam = ExamIdentity(started.record, number: started.number, experiment: experiment)
        let outcomes: SealedOutcomes
        switch opening(exam) {
        case .success(let found): outcomes = found
        case .failure(let fault):
            outcomeFaults.append("row \(number): \(fault)")
            return nil
        }
        let root = outcomes.root(under: key, of: exam)
        if record.sealedRoot != root {
            outcomeFaults.append(
                "row \(number): sealed_root: the row has \(record.sealedRoot ?? "none"), these "
                    + "outcomes have \(root)"
            )
        }
        outcomeFaults += RecordedFigures(of: record, begun: started.record)
            .differences(from: outcomes)
            .map { "row \(number): \($0)" }
        compareTasks(outcomes, isFinal: record.purpose == .final, number)
        return outcomes
    }

    // Every sealed exam runs the same tasks, and none of them is a train task.
    private mutating func compareTasks(
        _ outcomes: SealedOutcomes,
        isFinal: Bool,
        _ number: Int
    ) {
        for results in outcomes.arms.values.joined() {
            let tasks = sealedTasks[isFinal] ?? results.planned
            sealedTasks[isFinal] = tasks
            if results.planned != tasks {
                outcomeFaults.append("row \(number): its tasks are not those of the exam before")
            }
        }
        let train = Set(state.genesis?.train ?? [])
        if let stray = sealedTasks[isFinal]?.first(where: train.contains) {
            outcomeFaults.append("row \(number): the sealed exam ran the train task \(stray)")
        }
    }

    // MARK: - what follows from other rows

    private mutating func compare(
        _ what: String,
        _ found: Score,
        _ computed: Score?,
        _ number: Int
    ) {
        guard computed?.mean != found.mean || computed?.count != found.count else { return }
        decisionFaults.append(
            "row \(number): \(what): the row has \(found), its exam "
                + (computed.map { "\($0)" } ?? "none")
        )
    }

    private mutating func compare(_ record: BaselineRecord, _ number: Int) {
        compare("sealed mean", record.sealed, measured?.mean, number)
        let rewards = (trained?.all ?? []).map { ($0.task, $0.outcome.reward) }
        if Dictionary(uniqueKeysWithValues: rewards) != record.train {
            decisionFaults.append("row \(number): train: not the rewards of its train exam")
        }
        compareReleased(record.released, of: record.sealed, nil, number)
    }

    private mutating func compareReleased(
        _ released: Proportion?,
        of score: Score?,
        _ last: Proportion?,
        _ number: Int
    ) {
        let computed = score.flatMap { state.genesis?.release.told(of: $0, after: last) }
        guard computed != released else { return }
        decisionFaults.append(
            "row \(number): released: the row has \(Self.text(released)), the rules give "
                + Self.text(computed)
        )
    }

    private mutating func compare(_ record: PromotionRecord, _ number: Int) {
        var newly: [TaskID] = []
        if let recheck = state.open?.recheck, let evidence = state.evidence {
            newly = Gate.promotion(evidence: evidence, recheck: recheck)
        }
        // Which cluster a task is of is the benchmark's to say, not the record's: whether a task that
        // passes found its cluster full is taken from the row.
        var rules = state.genesis?.promotion ?? .once
        rules.cap = nil
        let computed = rules.promotion(
            of: newly,
            after: state.open?.confirmations ?? [],
            mark: state.genesis?.rules.passMark ?? .half,
            known: (flaky: state.quarantine, suite: state.suite),
            cluster: { $0.text }
        )
        let row = record.promotion
        for (name, told, found) in [
            ("promoted", (row.promoted + row.capped).sorted(), computed.promoted),
            ("quarantined", row.quarantined, computed.quarantined),
            ("unconfirmed", row.unconfirmed, computed.unconfirmed),
        ] where told != found {
            decisionFaults.append(
                "row \(number): \(name): the row has \(told.count) tasks, the gate \(found.count)"
            )
        }
    }

    private mutating func compare(_ record: DecisionRecord, _ number: Int) {
        guard let genesis = state.genesis else { return }
        // What voids a candidate whatever it scored: a tripwire's row, or sentinels that broke.
        let isTripped = state.tripped.contains(record.digest)
        if isTripped || hasVoidSentinels {
            let reason = isTripped ? "31" : "32"
            guard record.verdict != .void || record.reasons.first?.hasPrefix(reason) != true else {
                return
            }
            decisionFaults.append(
                "row \(number): verdict: the row has \(record.verdict.rawValue), and reason "
                    + "\(reason) voids the candidate"
            )
            return
        }
        let decision = RecomputedDecision(
            in: state,
            genesis,
            repeats,
            voidedExams: voidedExams
        )
        let faults =
            opening == nil
            ? decision.differences(from: record) : decision.differences(from: record, on: judged)
        decisionFaults += faults.map { "row \(number): \($0)" }
        let score = record.verdict == .accepted ? record.sealed : nil
        let told = state.accepted.last { $0.candidate.released != nil }
        compareReleased(record.released, of: score, told?.candidate.released, number)
    }

    private static func text(_ released: Proportion?) -> String {
        released.map { "\($0)" } ?? "none"
    }
}

/// Why a sealed exam could not be opened, in words.
public struct RevealFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The words.
    public let description: String

    /// Says why.
    public init(_ description: String) { self.description = description }
}
