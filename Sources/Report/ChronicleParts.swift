internal import Ledger
internal import Workspace

/// What was fixed before any score was seen.
struct Genesis {
    var experiment: String?
    var benchmark: String?
    var assurance: String?
    var isolation: String?
    var internet: [String] = []
    var benchmarkDigest: String?
    var configDigest: String?
    var agentDigest: String?
    var commitment: String?
    var policyDigests: [(name: String, text: String)] = []
    var trainTasks: Set<String> = []
    var testCount: Int?
    var threshold: Double?
    var step2: String?
    var rule = "ratchet"
    var trials = 1
    var releaseQuantum: Double?

    init() {}

    init(_ body: Members) {
        experiment = body.text("experiment")
        benchmark = body.text("benchmark")
        assurance = body.text("assurance")
        isolation = body.text("isolation")
        internet = body.texts("internet")
        benchmarkDigest = body.text("benchmark_digest")
        configDigest = body.text("config_digest")
        agentDigest = body.text("agent_digest")
        policyDigests = body.namedTexts("policy_digests")
        let split = body.members("split")
        commitment = split.text("commitment")
        trainTasks = Set(split.texts("train"))
        testCount = split.integer("test_count")
        let rules = body.members("rules")
        threshold = rules.number("threshold")
        step2 = rules.text("step2")
        rule = rules.text("rule") ?? "ratchet"
        trials = rules.integer("trials") ?? 1
        releaseQuantum = rules.number("release_quantum")
    }
}

/// The score of the unchanged agent file.
struct Baseline {
    var digest: String?
    var trainMean: Double?
    var sealedMean: Double?
    var sealedCount: Int?
    var released: Double?

    init(_ body: Members) {
        digest = body.text("digest")
        trainMean = body.number("train_mean")
        sealedMean = body.number("sealed_mean")
        sealedCount = body.integer("sealed_count")
        released = body.number("released")
    }
}

/// The score of an agent that does not try.
struct Floor {
    var name: String
    var sealedMean: Double?
    var released: Double?

    init(_ body: Members) {
        let ceiling = body.text("bound") == "ceiling" ? " (ceiling)" : ""
        name = (body.text("name") ?? "unnamed") + ceiling
        sealedMean = body.number("sealed_mean")
        released = body.number("released")
    }
}

/// One version of the agent file, from its snapshot to its verdict.
struct Candidate {
    enum Verdict: String {
        case accepted
        case rejected
        case void
        case undecided
    }

    var iteration: Int?
    var digest: String
    /// The candidate that it had to beat.
    var base: String?
    var verdict = Verdict.undecided
    var size: Int?
    var findings: [Finding]
    var ticket: String?
    var hypothesis: String?
    var targetCluster: String?
    var expectedFixes: [String] = []
    var tasksAtRisk: [String] = []
    var step: Int?
    var reasons: [String] = []
    var sealedMean: Double?
    var suitePassed: Int?
    var suiteTotal: Int?
    var bestBefore: Double?
    /// What the incumbent earned in the same exam, where a paired test was made.
    var incumbentMean: Double?
    var underFloors: [String] = []
    var released: Double?
    /// What its release can have told about sealed tasks.
    var told: ToldBits?
    /// What its manifest predicted against what happened.
    var forecast: Forecast?
    var commit: String?

    init(_ body: Members, digest: String, base: String?, size: Int?, findings: [Finding]) {
        iteration = body.integer("iteration")
        ticket = body.text("ticket")
        self.digest = digest
        self.base = base
        self.size = size
        self.findings = findings
        let manifest = body.members("manifest")
        hypothesis = manifest.text("hypothesis")
        targetCluster = manifest.text("target_cluster")
        expectedFixes = manifest.texts("expected_fixes")
        tasksAtRisk = manifest.texts("tasks_at_risk")
    }

    mutating func decide(_ body: Members) {
        verdict = body.text("verdict").flatMap(Verdict.init) ?? .undecided
        step = body.integer("step")
        reasons = body.texts("reasons")
        sealedMean = body.number("sealed_mean")
        suitePassed = body.integer("suite_passed")
        suiteTotal = body.integer("suite_total")
        bestBefore = body.number("best_before")
        incumbentMean = body.members("paired").number("incumbent_mean")
        underFloors = body.texts("under_floors")
        released = body.number("released")
        commit = body.text("commit")
    }
}

/// What one release can have told about sealed tasks, at the most, in bits.
struct ToldBits {
    var verdict: Double
    var score: Double
    var slot: Double
    var channels: Double
    /// Channels that nothing bounds, by name.
    var unbounded: [String]

    /// Nothing where the row of the release does not say.
    init?(_ release: Members) {
        let body = release.members("bits")
        guard let verdict = body.number("verdict"), let score = body.number("score"),
            let slot = body.number("slot"), let channels = body.number("channels")
        else { return nil }
        (self.verdict, self.score, self.slot, self.channels) = (verdict, score, slot, channels)
        unbounded = release.namedTexts("open_channels").filter { $0.text == "unbounded" }.map(
            \.name
        )
    }

    var total: Double { verdict + score + slot + channels }

    /// The sum and its parts in words.
    var words: String {
        func figure(_ value: Double) -> String { Figures.decimal(value, places: 1) }
        return "≤ \(figure(total)) bits (verdict \(figure(verdict)), score \(figure(score)), "
            + "moment \(figure(slot)), open channels \(figure(channels)))"
            + (unbounded.isEmpty ? "" : ", not bounded \(unbounded.joined(separator: ", "))")
    }
}

/// Train tasks that entered the suite.
struct Promotion {
    var iteration: Int?
    var tasks: [String]
    /// Those that passed and failed under one candidate.
    var quarantined: [String]
    var suiteSize: Int
}

/// A task that the operator took out of the suite.
struct Retirement {
    var task: String
    var reason: String
}

/// What one layer refused in one way.
struct RefusalGroup {
    var kind: String
    var layer: String
    var attempt: String
    var author: String
    var detail: String?
    var iteration: Int?
    var firstTime: Int64
    var count: Int

    init(_ body: Members, time: Int64) {
        count = max(1, body.integer("count") ?? 1)
        kind = RefusalKind(recorded: body.text("class")).rawValue
        layer = body.text("layer") ?? "unnamed"
        attempt = body.text("attempt") ?? "unnamed"
        author = body.text("by") ?? "unknown"
        detail = body.text("detail")
        iteration = body.integer("iteration")
        firstTime = time
    }

    /// Who did what, and what became of it the first time.
    var sentence: String {
        RefusalSentence(
            RefusalKind(recorded: kind),
            layer: layer,
            attempt: attempt,
            author: author
        ).text(detail ?? "")
    }
}

/// One exam in totals; its outcomes by task stay in the ledger.
struct Exam {
    var iteration: Int?
    var purpose: String
    var split: String
    var mean: Double?
    var passed: Int?
    var count: Int?
    var faults: [(name: String, count: Int)]
    var milliseconds: Int?
    /// How much better train tasks went than their renamed twins, and how many pairs it is of.
    var twins: (gap: Double, pairs: Int)?

    init(_ body: Members) {
        let gap = body.members("twins")
        if let value = gap.number("gap"), let pairs = gap.integer("pairs") {
            twins = (value, pairs)
        }
        iteration = body.integer("iteration")
        purpose = body.text("purpose") ?? "unknown"
        split = body.text("split") ?? "unknown"
        mean = body.number("mean")
        passed = body.integer("passed")
        count = body.integer("count")
        faults = body.namedIntegers("faults")
        milliseconds = body.integer("duration_ms")
    }
}

/// What the coding agent noted.
struct Learning {
    var iteration: Int?
    var note: LearningNote

    init(_ body: Members) {
        iteration = body.integer("iteration")
        var parts: [LearningNote.Part: String] = [:]
        for part in LearningNote.Part.allCases { parts[part] = body.text(part.rawValue) }
        note = LearningNote(text: body.text("text"), parts: parts)
    }
}

/// A turn in the course of the run.
struct Passage {
    var time: Int64
    var kind: EventKind
    var iteration: Int?
    var reason: String?

    init(_ entry: LedgerEntry, _ body: Members) {
        time = entry.time
        kind = entry.kind
        iteration = body.integer("iteration")
        reason = body.text("reason") ?? body.text("detail") ?? body.text("rule")
    }
}

/// What a static audit found in a candidate.
struct Finding {
    /// Its kind, place and detail, in words.
    let words: String
    /// The file that it is of, where the candidate has several.
    let file: String?
    /// The line, from 1, where it is of one.
    let line: Int?

    init?(_ body: Members) {
        guard let kind = body.text("kind") else { return nil }
        file = body.text("file")
        line = body.integer("line")
        let place = line.map { ", line \($0)" } ?? ""
        words =
            kind + place + (file.map { " of \($0)" } ?? "")
            + (body.text("detail").map { ": " + $0 } ?? "")
    }
}
