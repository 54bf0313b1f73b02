internal import Ledger
internal import StrictJSON
internal import Workspace

/// What the report tells, gathered from the rows of a ledger.
///
/// Only the members named here are ever read, so that a row with more in it (a per-task outcome,
/// say) cannot reach the page. Members are optional: a row of an older version, or one that an
/// interrupted run left alone, makes a gap and not an error.
struct Chronicle {
    var genesis = Genesis()
    var baseline: Baseline?
    var floors: [Floor] = []
    var candidates: [Candidate] = []
    var promotions: [Promotion] = []
    var retirements: [Retirement] = []
    var refusals: [RefusalGroup] = []
    var exams: [Exam] = []
    var learnings: [Learning] = []
    var course: [Passage] = []
    var alarms: [Passage] = []
    var sandboxCount = 0
    var firstTime: Int64?
    var lastTime: Int64?
    var rowCount = 0
    /// How many of the newest entries a list shows; nothing where it shows all.
    let newest: Int?
    private var bestPlace: Int?
    private var sizes: [String: Int] = [:]
    private var findings: [String: [Finding]] = [:]

    init(_ entries: [LedgerEntry], newest: Int? = nil) {
        self.newest = newest
        for entry in entries {
            rowCount += 1
            firstTime = firstTime ?? entry.time
            lastTime = entry.time
            add(entry)
        }
    }

    /// The newest entries of a list, and a word about those that are left out.
    func shown<Entry>(_ list: [Entry]) -> (entries: ArraySlice<Entry>, note: Markup) {
        guard let newest, list.count > newest else { return (list[...], "") }
        return (
            list.suffix(newest),
            """
            <p class="note">The newest \(newest) of \(list.count); \
            <code>invigilator report --all</code> shows every one.</p>

            """
        )
    }

    /// The sealed score after the last accepted candidate, or the baseline's.
    var bestExact: Double? { accepted.last?.sealedMean ?? baseline?.sealedMean }

    /// The same, as it was released.
    var bestReleased: Double? { accepted.last?.released ?? baseline?.released }

    var accepted: [Candidate] { candidates.filter { $0.verdict == .accepted } }

    /// How many refusals there were of a kind.
    func refusalCount(_ kind: RefusalKind) -> Int {
        refusals.filter { $0.kind == kind.rawValue }.reduce(0) { $0 + $1.count }
    }

    var suiteSize: Int { max(0, (promotions.last?.suiteSize ?? 0) - retirements.count) }

    /// The train tasks that were found flaky and not promoted since, in the order of their names.
    var quarantined: [String] {
        promotions.reduce(into: Set<String>()) { kept, promotion in
            kept = kept.subtracting(promotion.tasks).union(promotion.quarantined)
        }.sorted()
    }

    private mutating func add(_ entry: LedgerEntry) {
        let body = Members(entry.body)
        switch entry.kind {
        case .genesis: genesis = Genesis(body)
        case .baseline: baseline = Baseline(body)
        case .floor: floors.append(Floor(body))
        case .snapshot: sizes[body.text("digest") ?? ""] = body.integer("size")
        case .audit: findings[body.text("digest") ?? ""] = body.findings("findings")
        case .intent: candidates.append(candidate(body))
        case .decision: decide(body)
        case .promotion: promote(body)
        case .retirement: retire(body)
        case .examEnded: exams.append(Exam(body))
        case .refusal: refuse(body, entry)
        case .learning:
            learnings.append(Learning(body))
        case .runStarted, .runResumed, .runEnded, .pause, .resume, .stop, .revert, .migrated,
            .extended, .pruned, .keyRotated:
            course.append(Passage(entry, body))
        case .void:
            alarms.append(Passage(entry, body))
            voidCandidate(body)
        case .tripwire, .unpublished, .unnotified, .keyReplaced:
            alarms.append(Passage(entry, body))
        case .sandboxStarted: sandboxCount += 1
        case .release: tell(body)
        case .bound, .sandboxExited, .examStarted, .viewRendered, .modelUsage: break
        }
    }

    private func candidate(_ body: Members) -> Candidate {
        let digest = body.text("digest") ?? "not recorded"
        return Candidate(
            body,
            digest: digest,
            base: bestDigest,
            size: sizes[digest],
            findings: findings[digest, default: []]
        )
    }

    private mutating func voidCandidate(_ body: Members) {
        guard let ticket = body.text("ticket"),
            let place = candidates.lastIndex(where: { $0.ticket == ticket })
        else { return }
        candidates[place].verdict = .void
        candidates[place].told = ToldBits(body.members("bits"))
        candidates[place].reasons += body.text("reason").map { [$0] } ?? []
    }

    private mutating func tell(_ body: Members) {
        let ticket = body.text("ticket")
        guard let place = candidates.lastIndex(where: { $0.ticket == ticket }) else { return }
        candidates[place].told = ToldBits(body)
        candidates[place].forecast = Forecast(body.members("manifest"))
    }

    private var bestDigest: String? {
        bestPlace.map { candidates[$0].digest } ?? baseline?.digest ?? genesis.agentDigest
    }

    private mutating func decide(_ body: Members) {
        let ticket = body.text("ticket")
        let known = candidates.lastIndex { $0.ticket == ticket && $0.verdict == .undecided }
        if known == nil { candidates.append(candidate(body)) }
        let place = known ?? candidates.count - 1
        candidates[place].decide(body)
        if candidates[place].verdict == .accepted { bestPlace = place }
    }

    private mutating func promote(_ body: Members) {
        let named = body.texts("promoted")
        let train = genesis.trainTasks
        // A name that is no train task has no place on the page, whoever wrote it.
        let tasks = train.isEmpty ? named : named.filter(train.contains)
        let doubted = body.texts("quarantined")
        let before = Set(promotions.flatMap(\.tasks))
        promotions.append(
            Promotion(
                iteration: body.integer("iteration"),
                tasks: tasks,
                quarantined: train.isEmpty ? doubted : doubted.filter(train.contains),
                suiteSize: before.union(tasks).count
            )
        )
    }

    private mutating func retire(_ body: Members) {
        guard let task = body.text("task"), genesis.trainTasks.contains(task) else { return }
        retirements.append(Retirement(task: task, reason: body.text("reason") ?? ""))
    }

    private mutating func refuse(_ body: Members, _ entry: LedgerEntry) {
        let group = RefusalGroup(body, time: entry.time)
        let known = refusals.firstIndex {
            $0.kind == group.kind && $0.layer == group.layer && $0.attempt == group.attempt
                && $0.author == group.author
        }
        if let known {
            refusals[known].count += group.count
        } else {
            refusals.append(group)
        }
    }
}

/// The members of a row's body, read by name.
struct Members {
    private let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    func text(_ name: String) -> String? { value[name]?.stringValue }
    func integer(_ name: String) -> Int? { value[name]?.intValue }
    func number(_ name: String) -> Double? { value[name]?.numberValue }
    func members(_ name: String) -> Members { Members(value[name] ?? .null) }

    func texts(_ name: String) -> [String] {
        (value[name]?.arrayValue ?? []).compactMap(\.stringValue)
    }

    /// What a static audit found.
    func findings(_ name: String) -> [Finding] {
        (value[name]?.arrayValue ?? []).compactMap { item in Finding(Members(item)) }
    }

    /// The members whose value is a text, by name, in order.
    func namedTexts(_ name: String) -> [(name: String, text: String)] {
        (value[name]?.objectValue ?? [:]).sorted { $0.key < $1.key }.compactMap { member in
            member.value.stringValue.map { (member.key, $0) }
        }
    }

    /// The members whose value is a whole number, by name, in order.
    func namedIntegers(_ name: String) -> [(name: String, count: Int)] {
        (value[name]?.objectValue ?? [:]).sorted { $0.key < $1.key }.compactMap { member in
            member.value.intValue.map { (member.key, $0) }
        }
    }
}
