// What manifests predicted of train tasks, and what became of it. Nothing here sees a sealed task, and
// nothing here decides: a candidate is judged by the gate, whatever was said of it.

public import ExamResults
internal import StrictJSON

/// What one manifest predicted of train tasks against what happened.
///
/// A task counts as changed against the best candidate before. Only tasks that an exam of this
/// candidate ran are counted; what happened to a task that was run several times is what happened more
/// often, a tie being a failure.
public struct ManifestScore: Sendable, Equatable {
    /// The coding agent's profile.
    public var agent: String
    /// Whether the submission had no manifest; then nothing was predicted.
    public var isMissing = false
    /// Expected fixes that came: they failed before and pass now.
    public var fixed: [TaskID] = []
    /// Expected fixes that did not come; whoever expects a passing task to be fixed was wrong as well.
    public var notFixed: [TaskID] = []
    /// Fixes that nobody expected.
    public var surprises: [TaskID] = []
    /// Tasks at risk that broke.
    public var broken: [TaskID] = []
    /// Tasks at risk that did not break.
    public var spared: [TaskID] = []
    /// Tasks that broke though nobody saw a risk.
    public var shocks: [TaskID] = []
    /// Named tasks that no exam of this candidate ran.
    public var unexamined: [TaskID] = []
    /// The train tasks that exams of this candidate ran.
    public var examined = 0
    /// The sum over these of the squared error of the forecast: an expected fix was forecast with
    /// certainty, a break of a task at risk with one half, any other change not at all.
    public var squaredError = 0.0
    /// The named tasks whose outcome the coding agent had seen when it handed the candidate in.
    public var foreseen = 0

    /// Begins with nothing.
    ///
    /// - Parameter agent: the coding agent's profile.
    public init(agent: String) {
        self.agent = agent
    }

    /// Compares.
    ///
    /// - Parameters:
    ///   - expected: the tasks that were to be fixed, and those at risk.
    ///   - before: the train tasks, and whether each passed under the best candidate before.
    ///   - after: the tasks that were run, and whether each passed.
    ///   - agent: the coding agent's profile.
    public init(
        expected: (fixes: Set<TaskID>, risks: Set<TaskID>),
        before: [TaskID: Bool],
        after: [TaskID: Bool],
        agent: String
    ) {
        self.init(agent: agent)
        for task in after.keys.sorted() {
            guard let passed = before[task], let passes = after[task] else { continue }
            enter(task, passed, passes, expected)
        }
        unexamined = expected.fixes.union(expected.risks).filter { after[$0] == nil }.sorted()
    }

    private mutating func enter(
        _ task: TaskID,
        _ passed: Bool,
        _ passes: Bool,
        _ expected: (fixes: Set<TaskID>, risks: Set<TaskID>)
    ) {
        examined += 1
        let isExpected = expected.fixes.contains(task)
        guard passed else {
            if isExpected != passes { squaredError += 1 }
            switch (isExpected, passes) {
            case (true, true): fixed.append(task)
            case (true, false): notFixed.append(task)
            case (false, true): surprises.append(task)
            case (false, false): break
            }
            return
        }
        if isExpected { notFixed.append(task) }
        switch (expected.risks.contains(task), passes) {
        case (true, false): broken.append(task)
        case (true, true): spared.append(task)
        case (false, false): shocks.append(task)
        case (false, true): break
        }
        // A wrong fix weighs as much as two wrong forecasts of a break at risk, and no task more than 1.
        let isAtRisk = expected.risks.contains(task)
        squaredError += isExpected || (!isAtRisk && !passes) ? 1 : isAtRisk ? 0.25 : 0
    }
}

extension ManifestScore {
    init(from reader: inout BodyReader) throws(LoopError) {
        agent = try reader.string("agent")
        isMissing = try reader.optionalInteger("missing") == 1
        fixed = try reader.tasks("fixed")
        notFixed = try reader.tasks("not_fixed")
        surprises = try reader.tasks("surprises")
        broken = try reader.tasks("broken")
        spared = try reader.tasks("spared")
        shocks = try reader.tasks("shocks")
        unexamined = try reader.tasks("unexamined")
        examined = try reader.integer("examined")
        squaredError = try reader.number("squared_error")
        foreseen = try reader.integer("foreseen")
        try reader.finish()
    }

    var body: JSONValue {
        var writer = BodyWriter()
        writer.add("agent", agent)
        if isMissing { writer.add("missing", 1) }
        writer.add("fixed", fixed)
        writer.add("not_fixed", notFixed)
        writer.add("surprises", surprises)
        writer.add("broken", broken)
        writer.add("spared", spared)
        writer.add("shocks", shocks)
        writer.add("unexamined", unexamined)
        writer.add("examined", examined)
        writer.add("squared_error", .number(squaredError))
        writer.add("foreseen", foreseen)
        return writer.body
    }
}

/// How well a coding agent knows what its changes do: the sum over its manifests.
public struct Calibration: Sendable, Equatable {
    /// The manifests that were scored.
    public internal(set) var manifests = 0
    /// The submissions without a manifest.
    public internal(set) var missing = 0
    /// Expected fixes that came.
    public internal(set) var fixed = 0
    /// Expected fixes that did not come.
    public internal(set) var notFixed = 0
    /// Fixes that nobody expected.
    public internal(set) var surprises = 0
    /// Tasks at risk that broke.
    public internal(set) var broken = 0
    /// Tasks at risk that did not break.
    public internal(set) var spared = 0
    /// Tasks that broke though nobody saw a risk.
    public internal(set) var shocks = 0
    /// The named tasks whose outcome was seen before the candidate was handed in.
    public internal(set) var foreseen = 0
    /// The train tasks that were compared.
    public internal(set) var examined = 0
    /// The sum of their squared errors.
    public internal(set) var squaredError = 0.0

    /// Begins with nothing.
    public init() {}

    /// The share of expected fixes that came; nothing where none was expected.
    public var precision: Double? { Self.share(fixed, of: fixed + notFixed) }

    /// The share of fixes that were expected; nothing where there was none.
    public var recall: Double? { Self.share(fixed, of: fixed + surprises) }

    /// The mean squared error: 0 knows all, 1 is wrong about every task.
    public var brier: Double? { examined == 0 ? nil : squaredError / Double(examined) }

    private static func share(_ part: Int, of whole: Int) -> Double? {
        whole == 0 ? nil : Double(part) / Double(whole)
    }

    /// Adds a score.
    ///
    /// - Parameter score: the score of one manifest, or of a submission that had none.
    public mutating func add(_ score: ManifestScore) {
        guard !score.isMissing else {
            missing += 1
            return
        }
        manifests += 1
        fixed += score.fixed.count
        notFixed += score.notFixed.count
        surprises += score.surprises.count
        broken += score.broken.count
        spared += score.spared.count
        shocks += score.shocks.count
        foreseen += score.foreseen
        examined += score.examined
        squaredError += score.squaredError
    }
}
