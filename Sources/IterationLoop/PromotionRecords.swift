public import ExamResults
public import Gate
public import Workspace

/// The body of a `promotion` row: what became of the train tasks that pass anew.
public struct PromotionRecord: Sendable, Equatable, RowBody {
    static let kind = "promotion"

    /// The iteration.
    public var iteration: Int
    /// What became of them; empty where none was newly fixed.
    public var promotion: Promotion

    /// The tasks that enter the suite, sorted.
    public var promoted: [TaskID] { promotion.promoted }
    /// The tasks that go on counting as failing, though one run of them passed.
    var doubted: [TaskID] { promotion.quarantined + promotion.unconfirmed }

    init(iteration: Int, promotion: Promotion) {
        self.iteration = iteration
        self.promotion = promotion
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        iteration = try reader.integer("iteration")
        promotion = Promotion()
        promotion.promoted = try reader.tasks("promoted")
        promotion.quarantined = try reader.optionalTasks("quarantined")
        promotion.unconfirmed = try reader.optionalTasks("unconfirmed")
        promotion.capped = try reader.optionalTasks("capped")
    }

    func write(to writer: inout BodyWriter) {
        writer.add("iteration", iteration)
        writer.add("promoted", promoted)
        writer.add(unlessEmpty: "quarantined", promotion.quarantined)
        writer.add(unlessEmpty: "unconfirmed", promotion.unconfirmed)
        writer.add(unlessEmpty: "capped", promotion.capped)
    }
}

/// The body of a `retirement` row: the operator took a task out of the suite, for good.
public struct RetirementRecord: Sendable, Equatable, RowBody {
    static let kind = "retirement"
    /// The longest reason, in bytes.
    public static let reasonLimit = 1_000

    /// The task.
    public var task: TaskID
    /// Why, in the operator's words.
    public var reason: String

    /// Makes a record.
    ///
    /// - Parameters:
    ///   - task: the task.
    ///   - reason: why, in the operator's words.
    public init(task: TaskID, reason: String) {
        self.task = task
        self.reason = reason
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        let name = try reader.string("task")
        task = try reader.exam { () throws(ExamError) in try TaskID(name) }
        reason = try reader.string("reason")
    }

    func write(to writer: inout BodyWriter) {
        writer.add("task", task.text)
        writer.add("reason", reason)
    }
}

extension PromotionRules {
    /// Takes the rules over from a configuration.
    ///
    /// - Parameter settings: the section `promotion`.
    public init(_ settings: PromotionSettings) {
        self.init()
        let repetition = Repetition(settings.confirm, of: settings.of)
        confirmation = settings.policy == .confirmed ? repetition : nil
        protection = settings.protects ? repetition : nil
        quarantines = settings.quarantines
        cap = settings.cap
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        self.init()
        confirmation = try reader.optionalRepetition("confirm")
        protection = try reader.optionalRepetition("protect")
        quarantines = try reader.integer("quarantine") == 1
        cap = try reader.optionalInteger("cap")
        try reader.finish()
    }

    func write(to writer: inout BodyWriter) {
        writer.add("confirm", confirmation)
        writer.add("protect", protection)
        writer.add("quarantine", quarantines ? 1 : 0)
        if let cap { writer.add("cap", cap) }
    }
}

extension BodyReader {
    /// A list of tasks; an absent one is empty.
    mutating func optionalTasks(_ name: String) throws(LoopError) -> [TaskID] {
        try contains(name) ? tasks(name) : []
    }

    fileprivate mutating func optionalRepetition(
        _ name: String
    ) throws(LoopError) -> Repetition? {
        guard var reader = try optionalObject(name) else { return nil }
        let numbers = (try reader.integer("passes"), try reader.integer("of"))
        try reader.finish()
        guard let rule = Repetition(numbers.0, of: numbers.1) else {
            throw refused("\(name) can never be reached")
        }
        return rule
    }
}

extension BodyWriter {
    mutating func add(unlessEmpty name: String, _ tasks: [TaskID]) {
        if !tasks.isEmpty { add(name, tasks) }
    }

    fileprivate mutating func add(_ name: String, _ rule: Repetition?) {
        guard let rule else { return }
        var writer = BodyWriter()
        writer.add("passes", rule.needed)
        writer.add("of", rule.most)
        add(name, writer.body)
    }
}
