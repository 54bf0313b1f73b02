public import StrictJSON

/// The body of an `extended` row: what an operator allows an experiment beyond its configuration.
///
/// The genesis row stays as it is. What can be told of sealed tasks is bounded by the rules of that row
/// (`release.bits`, the gate's `tests`), for which there is no member here.
public struct BudgetExtension: Sendable, Equatable, RowBody {
    /// The kind of row.
    public static let kind = "extended"
    /// The longest reason and name, in bytes.
    public static let textLimit = 500
    /// The largest amount of each: what no night uses, and no sum of overflows.
    private static let most = 1_000_000_000_000

    /// More judged candidates.
    public var iterations = 0
    /// More submissions.
    public var submissions = 0
    /// More train exams that the coding agent may ask for.
    public var trainRuns = 0
    /// More decisions in a row without a higher score.
    public var noImprovement = 0
    /// More running time, in milliseconds.
    public var milliseconds = 0
    /// More tokens of the campaign's budget for models.
    public var tokens = 0
    /// More cost of that budget, in millionths of a dollar.
    public var microdollars = 0
    /// Who asked for it.
    public var by = ""
    /// Why, in the operator's words; empty where nothing was said.
    public var reason = ""

    /// Makes an extension by nothing.
    public init() {}

    private typealias Amount = any WritableKeyPath<Self, Int> & Sendable
    private static let amounts: [(name: String, path: Amount)] = [
        ("iterations", \.iterations), ("submissions", \.submissions), ("train_runs", \.trainRuns),
        ("no_improvement", \.noImprovement), ("milliseconds", \.milliseconds),
        ("tokens", \.tokens), ("microdollars", \.microdollars),
    ]

    /// Reads a body.
    ///
    /// - Parameter body: an object.
    /// - Throws: ``LoopError/badRecord(kind:reason:)`` for an unknown member, an amount that is negative or
    ///   beyond every use, a text that is more than a line, or no amount at all.
    public init(reading body: JSONValue) throws(LoopError) { try self.init(body) }

    init(from reader: inout BodyReader) throws(LoopError) {
        for (name, path) in Self.amounts {
            self[keyPath: path] = try reader.optionalInteger(name) ?? 0
            guard (0...Self.most).contains(self[keyPath: path]) else {
                throw reader.refused("\(name) is below 0 or above \(Self.most)")
            }
        }
        guard !isEmpty else { throw reader.refused("it extends nothing") }
        by = try reader.string("by")
        reason = try reader.optionalString("reason") ?? ""
        for text in [by, reason] where !Self.isPlain(text) {
            throw reader.refused(
                "a text is longer than \(Self.textLimit) bytes, or more than a line"
            )
        }
    }

    func write(to writer: inout BodyWriter) {
        for (name, path) in Self.amounts where self[keyPath: path] > 0 {
            writer.add(name, self[keyPath: path])
        }
        writer.add("by", by)
        if !reason.isEmpty { writer.add("reason", reason) }
    }

    /// The row that keeps it.
    public var event: LedgerEvent { .other(kind: Self.kind, body: body) }

    /// Whether it extends nothing.
    public var isEmpty: Bool { Self.amounts.allSatisfy { self[keyPath: $0.path] == 0 } }

    /// The amounts in words, for people.
    public var words: String {
        Self.amounts.filter { self[keyPath: $0.path] > 0 }
            .map { name, path in
                let amount = self[keyPath: path]
                return switch name {
                case "milliseconds": "\(Double(amount) / 3_600_000) hours"
                case "microdollars": "\(Double(amount) / 1_000_000) dollars"
                default: "\(amount) \(name.replacing("_", with: " "))"
                }
            }
            .joined(separator: ", ")
    }

    /// What all such rows of a record allow together.
    ///
    /// - Parameter bodies: the bodies of `extended` rows.
    /// - Throws: ``LoopError`` for a body that is none.
    public init(adding bodies: some Sequence<JSONValue>) throws(LoopError) {
        for body in bodies {
            let one = try Self(body)
            for (_, path) in Self.amounts {
                // Rows are the operator's own; that many of them would be another experiment.
                self[keyPath: path] = min(
                    self[keyPath: path] + one[keyPath: path],
                    Self.most * 1000
                )
            }
        }
    }

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= textLimit
            && text.unicodeScalars.allSatisfy {
                ![.control, .format, .lineSeparator, .paragraphSeparator]
                    .contains($0.properties.generalCategory)
            }
    }
}

/// What one run may use, counted from its beginning; beside the budget, which it can only tighten.
public struct RunBounds: Sendable, Equatable {
    /// The most judged candidates of the run.
    public var iterations: Int?
    /// The longest running time of the run, pauses not counted, in milliseconds.
    public var milliseconds: Int64?
    /// The highest cost of models in the run, in millionths of a dollar.
    public var microdollars: Int?

    /// Makes bounds that bind nothing.
    public init() {}

    /// The bounds for the run's first row; nothing where there are none.
    public var facts: JSONValue? {
        var members: [String: JSONValue] = [:]
        members["iterations"] = iterations.map { JSONValue($0) }
        members["milliseconds"] = milliseconds.map { .integer($0) }
        members["microdollars"] = microdollars.map { JSONValue($0) }
        return members.isEmpty ? nil : .object(members)
    }
}

/// What changes in a run's rules while it is on.
public enum LoopRuleChange: Sendable, Equatable {
    /// The operator extends the budget.
    case extended(BudgetExtension)
    /// Models have cost as much as the run may.
    case costReached
}

extension LoopRules {
    /// Allows more.
    ///
    /// - Parameter more: what is allowed beyond what these rules say.
    public mutating func extend(by more: BudgetExtension) {
        iterationBudget += more.iterations
        submissions += more.submissions
        trainRuns += more.trainRuns
        noImprovement += more.noImprovement
        millisecondBudget += Int64(more.milliseconds)
    }

    /// Bounds the run that begins now.
    ///
    /// - Parameters:
    ///   - bounds: what the run may use.
    ///   - usage: what was used before it.
    public mutating func bind(_ bounds: RunBounds, after usage: BudgetUsage) {
        iterationBound = bounds.iterations.map { usage.iterations + $0 }
        millisecondBound = bounds.milliseconds.map { usage.elapsedMilliseconds + $0 }
    }

    /// Why a run ends whose iterations are used up.
    var iterationsEnd: EndReason {
        iterations < iterationBudget ? .boundReached("iterations") : .iterationsSpent
    }

    /// Why a run ends whose time is used up.
    var timeEnd: EndReason {
        runMilliseconds < millisecondBudget ? .boundReached("hours") : .timeSpent
    }
}

extension LoopMachine {
    mutating func take(_ change: LoopRuleChange) throws(LoopError) {
        switch current {
        case .idle, .ended: throw unexpected(.rules(change))
        case .editing, .copying, .training, .judging: break
        }
        switch change {
        case .extended(let more):
            try record(more.event)
            rules.extend(by: more)
        case .costReached: rules.boundEnd = .boundReached("cost")
        }
    }
}

extension EndReason {
    /// Whether a recorded reason is that of a budget or bound that is spent.
    ///
    /// - Parameter text: the reason as a `run-ended` row has it.
    /// - Returns: whether it is.
    public static func isBudget(_ text: String) -> Bool {
        let budgets: [EndReason] =
            [.iterationsSpent, .submissionsSpent, .timeSpent, .errorSpent, .releaseSpent]
            + ["iterations", "hours", "cost"].map { .boundReached($0) }
        return budgets.contains { $0.text == text }
    }
}
