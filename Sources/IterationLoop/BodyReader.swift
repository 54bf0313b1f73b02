internal import ExamResults
internal import StrictJSON

/// The body of a row of one kind: says what it reads and writes, member by member.
protocol RowBody {
    /// The kind of row.
    static var kind: String { get }
    /// Reads the members.
    init(from reader: inout BodyReader) throws(LoopError)
    /// Writes the members.
    func write(to writer: inout BodyWriter)
}

extension RowBody {
    /// Reads a body; a member that was not read is refused.
    init(_ body: JSONValue) throws(LoopError) {
        var reader = try BodyReader(body, kind: Self.kind)
        try self.init(from: &reader)
        try reader.finish()
    }

    /// The body.
    var body: JSONValue {
        var writer = BodyWriter()
        write(to: &writer)
        return writer.body
    }
}

/// Reads the body of a ledger row; every member is known or refused.
struct BodyReader {
    private let kind: String
    private var reader: ObjectReader

    init(_ body: JSONValue, kind: String) throws(LoopError) {
        self.kind = kind
        do throws(JSONError) {
            reader = try ObjectReader(body, location: kind)
        } catch {
            throw .badRecord(kind: kind, reason: "\(error)")
        }
    }

    /// Takes something and turns its refusal into one of this target.
    mutating func take<Value>(
        _ body: (inout ObjectReader) throws(JSONError) -> Value
    ) throws(LoopError) -> Value {
        do throws(JSONError) {
            return try body(&reader)
        } catch {
            throw .badRecord(kind: kind, reason: "\(error)")
        }
    }

    /// Makes a value of the examination from what was read.
    func exam<Value>(_ body: () throws(ExamError) -> Value) throws(LoopError) -> Value {
        do throws(ExamError) {
            return try body()
        } catch {
            throw .badRecord(kind: kind, reason: "\(error)")
        }
    }

    func refused(_ reason: String) -> LoopError { .badRecord(kind: kind, reason: reason) }

    func finish() throws(LoopError) {
        do throws(JSONError) {
            try reader.finish()
        } catch {
            throw .badRecord(kind: kind, reason: "\(error)")
        }
    }

    /// Whether there is such a member.
    func contains(_ name: String) -> Bool { reader.contains(name) }

    mutating func string(_ name: String) throws(LoopError) -> String {
        try take { reader throws(JSONError) in try reader.requiredString(name) }
    }

    mutating func optionalString(_ name: String) throws(LoopError) -> String? {
        try take { reader throws(JSONError) in try reader.optionalString(name) }
    }

    mutating func integer(_ name: String) throws(LoopError) -> Int {
        try take { reader throws(JSONError) in try reader.requiredInteger(name) }
    }

    mutating func optionalInteger(_ name: String) throws(LoopError) -> Int? {
        try take { reader throws(JSONError) in try reader.optionalInteger(name) }
    }

    mutating func number(_ name: String) throws(LoopError) -> Double {
        try take { reader throws(JSONError) in try reader.requiredNumber(name) }
    }

    mutating func optionalNumber(_ name: String) throws(LoopError) -> Double? {
        try take { reader throws(JSONError) in try reader.optionalNumber(name) }
    }

    mutating func value(_ name: String) throws(LoopError) -> JSONValue {
        try take { reader throws(JSONError) in try reader.requiredValue(name) }
    }

    mutating func array(_ name: String) throws(LoopError) -> [JSONValue] {
        try take { reader throws(JSONError) in try reader.requiredArray(name) }
    }

    mutating func members(_ name: String) throws(LoopError) -> [String: JSONValue] {
        guard let members = try value(name).objectValue else {
            throw refused("\(name) is no object")
        }
        return members
    }

    /// An object within this one, to be read and finished by its own reader.
    mutating func object(_ name: String) throws(LoopError) -> BodyReader {
        try BodyReader(try value(name), kind: "\(kind).\(name)")
    }

    /// The same where it may be absent.
    mutating func optionalObject(_ name: String) throws(LoopError) -> BodyReader? {
        let found = try take { reader throws(JSONError) in reader.optionalValue(name) }
        return try found.map { value throws(LoopError) in
            try BodyReader(value, kind: "\(kind).\(name)")
        }
    }

    mutating func texts(_ name: String) throws(LoopError) -> [String] {
        var texts: [String] = []
        for value in try array(name) {
            guard let text = value.stringValue else { throw refused("\(name) holds no text") }
            texts.append(text)
        }
        return texts
    }

    mutating func tasks(_ name: String) throws(LoopError) -> [TaskID] {
        var tasks: [TaskID] = []
        for text in try texts(name) {
            tasks.append(try exam { () throws(ExamError) in try TaskID(text) })
        }
        return tasks
    }

    mutating func digest(_ name: String) throws(LoopError) -> CandidateDigest {
        let hex = try string(name)
        return try exam { () throws(ExamError) in try CandidateDigest(hex: hex) }
    }

    mutating func proportion(_ name: String) throws(LoopError) -> Proportion {
        let value = try number(name)
        return try exam { () throws(ExamError) in try Proportion(value) }
    }

    mutating func optionalProportion(_ name: String) throws(LoopError) -> Proportion? {
        guard let value = try optionalNumber(name) else { return nil }
        return try exam { () throws(ExamError) in try Proportion(value) }
    }

    /// A score that is held as its mean and its number of tasks.
    mutating func score(_ mean: String, _ count: String) throws(LoopError) -> Score {
        let (mean, count) = (try number(mean), try integer(count))
        return try exam { () throws(ExamError) in
            try Score(replayingMean: mean, count: count)
        }
    }

    mutating func optionalScore(_ mean: String, _ count: String) throws(LoopError) -> Score? {
        guard let mean = try optionalNumber(mean) else { return nil }
        let count = try integer(count)
        return try exam { () throws(ExamError) in
            try Score(replayingMean: mean, count: count)
        }
    }

    mutating func rewards(_ name: String) throws(LoopError) -> [TaskID: Reward] {
        var rewards: [TaskID: Reward] = [:]
        for (text, value) in try members(name) {
            guard let number = value.numberValue else { throw refused("\(name) holds no number") }
            let task = try exam { () throws(ExamError) in try TaskID(text) }
            rewards[task] = try exam { () throws(ExamError) in try Reward(number) }
        }
        return rewards
    }

    mutating func digits(_ name: String) throws(LoopError) -> [String: String] {
        var texts: [String: String] = [:]
        for (key, value) in try members(name) {
            guard let text = value.stringValue else { throw refused("\(name) holds no text") }
            texts[key] = text
        }
        return texts
    }

    /// One of the words of an enum.
    mutating func word<Word: RawRepresentable>(
        _ name: String,
        _ type: Word.Type
    ) throws(LoopError) -> Word where Word.RawValue == String {
        let text = try string(name)
        guard let word = Word(rawValue: text) else { throw refused("\(name) is unknown") }
        return word
    }

    mutating func optionalWord<Word: RawRepresentable>(
        _ name: String,
        _ type: Word.Type
    ) throws(LoopError) -> Word? where Word.RawValue == String {
        guard let text = try optionalString(name) else { return nil }
        guard let word = Word(rawValue: text) else { throw refused("\(name) is unknown") }
        return word
    }
}

/// Writes the body of a ledger row; what is absent is left out.
struct BodyWriter {
    private(set) var members: [String: JSONValue] = [:]

    var body: JSONValue { .object(members) }

    mutating func add(_ name: String, _ value: JSONValue) { members[name] = value }
    mutating func add(_ name: String, _ text: String) { members[name] = .string(text) }
    mutating func add(_ name: String, _ number: Int) { members[name] = JSONValue(number) }
    mutating func add(_ name: String, _ digest: CandidateDigest) {
        members[name] = .string(digest.hex)
    }
    mutating func add(_ name: String, _ proportion: Proportion?) {
        guard let proportion else { return }
        members[name] = .number(proportion.value)
    }
    mutating func add(optional name: String, _ text: String?) {
        guard let text else { return }
        members[name] = .string(text)
    }
    mutating func add(_ mean: String, _ count: String, _ score: Score?) {
        guard let score else { return }
        members[mean] = .number(score.mean)
        members[count] = JSONValue(score.count)
    }
    mutating func add(_ name: String, _ tasks: [TaskID]) {
        members[name] = JSONValue(tasks.map(\.text))
    }
    mutating func add(_ name: String, _ rewards: [TaskID: Reward]) {
        members[name] = .object(
            Dictionary(
                uniqueKeysWithValues: rewards.map { ($0.key.text, .number($0.value.value)) }
            )
        )
    }
    mutating func add(_ name: String, _ texts: [String: String]) {
        members[name] = .object(texts.mapValues { .string($0) })
    }
}
