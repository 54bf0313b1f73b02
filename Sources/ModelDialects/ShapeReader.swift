internal import StrictJSON

/// Rebuilds one request from an allow-list: each object is made anew of the members that its shape
/// names, so that nothing reaches the provider because nobody thought of it.
struct ShapeReader {
    /// One step of the path to a value.
    enum Step {
        case name(String)
        case index(Int)
    }

    let policy: RequestPolicy
    let toolRule: ToolRule
    private(set) var events: [ModelEvent] = []
    /// Bytes of text that go upstream.
    private(set) var textBytes = 0
    /// Images and documents that go upstream.
    private(set) var attachments = 0
    private var path: [Step] = []

    /// More than this many events of one request say nothing new.
    static let eventLimit = 32

    init(policy: RequestPolicy, toolRule: ToolRule) {
        self.policy = policy
        self.toolRule = toolRule
    }

    /// The value as it may go upstream, or nothing where it stays away.
    mutating func rebuilt(
        _ value: JSONValue,
        as shape: Shape
    ) throws(RequestRefusal) -> JSONValue? {
        switch shape {
        case .text: return .string(try text(value))
        case .word(let words): return try word(value, words)
        case .truth:
            guard value.boolValue != nil else { throw kind(value, "a truth value") }
            return value
        case .integer(let range): return try integer(value, range)
        case .number(let range): return try number(value, range)
        case .list(let element, let most): return try list(value, of: element, most: most)
        case .object(let members): return try object(value, members)
        case .tagged(let tagged): return try self.tagged(value, tagged)
        case .kinds(let text, let list, let object):
            return try byKind(value, text: text, list: list, object: object)
        case .orNull(let shape): return value.isNull ? value : try rebuilt(value, as: shape)
        case .base64: return try base64(value)
        case .dataURL(let types): return try dataURL(value, types)
        case .json: return try free(value, isSchema: false)
        case .schema: return try free(value, isSchema: true)
        case .removed(let kind):
            if let kind, Self.isDemand(value) { note(kind) }
            return nil
        case .refused(let kind, let reason):
            guard Self.isDemand(value) else { return nil }
            throw refusal(kind, reason, "remove it")
        case .unsealed(let shape, let kind):
            guard policy.isSealed else { return try rebuilt(value, as: shape) }
            if Self.isDemand(value) { note(kind) }
            return nil
        case .providerTool:
            if toolRule == .drop {
                note(.providerTool)
                return nil
            }
            throw refusal(
                .providerTool,
                "a tool that the provider would run",
                "offer functions that the caller runs"
            )
        }
    }

    /// Whether a value asks for something: what is absent, `null`, `false` or empty does not.
    private static func isDemand(_ value: JSONValue) -> Bool {
        switch value {
        case .null, .bool(false): false
        case .string(let text): !text.isEmpty
        case .array(let elements): !elements.isEmpty
        case .object(let members): !members.isEmpty
        case .bool, .integer, .number: true
        }
    }
}

// MARK: - objects and lists

extension ShapeReader {
    private mutating func object(
        _ value: JSONValue,
        _ shape: Shape.Members,
        tag: String? = nil
    ) throws(RequestRefusal) -> JSONValue {
        guard case .object(let members) = value else { throw kind(value, "an object") }
        var result: [String: JSONValue] = [:]
        result.reserveCapacity(members.count)
        for (name, member) in members {
            // The name that goes upstream is the table's: a dictionary finds names up to canonical
            // equivalence, a provider compares bytes.
            guard let index = shape.shapes.index(forKey: name) else {
                if name == tag {
                    result[tag ?? name] = member
                } else {
                    try unknown(name)
                }
                continue
            }
            let entry = shape.shapes[index]
            path.append(.name(entry.key))
            if case .null = member, !entry.value.keepsNull {
                path.removeLast()
                continue
            }
            if let kept = try rebuilt(member, as: entry.value) { result[entry.key] = kept }
            path.removeLast()
        }
        for name in shape.required where result[name] == nil {
            path.append(.name(name))
            throw refusal(.badRequest, "the member is missing or empty", "send it")
        }
        return .object(result)
    }

    private mutating func tagged(
        _ value: JSONValue,
        _ shape: Shape.Tagged
    ) throws(RequestRefusal) -> JSONValue? {
        guard case .object(let members) = value else { throw kind(value, "an object") }
        guard let tag = members[shape.tag], !tag.isNull else {
            guard let absent = shape.absent else {
                path.append(.name(shape.tag))
                throw refusal(.badRequest, "the member is missing", "send it")
            }
            return try object(value, absent)
        }
        guard let word = tag.stringValue else {
            path.append(.name(shape.tag))
            throw kind(tag, "a string")
        }
        if let members = shape.cases[word] { return try object(value, members, tag: shape.tag) }
        if let special = shape.special[word] { return try rebuilt(value, as: special) }
        for (prefix, members) in shape.prefixes where Self.isDated(word, prefix) {
            return try object(value, members, tag: shape.tag)
        }
        if case .removed(.unknownField?) = shape.otherwise {
            path.append(.name(shape.tag))
            try unknown(word)
            path.removeLast()
            return nil
        }
        return try rebuilt(value, as: shape.otherwise)
    }

    /// Whether a word is this prefix and a date of eight digits, and nothing else.
    private static func isDated(_ word: String, _ prefix: String) -> Bool {
        word.utf8.count == prefix.utf8.count + 8 && word.utf8.starts(with: prefix.utf8)
            && word.utf8.dropFirst(prefix.utf8.count)
                .allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private mutating func list(
        _ value: JSONValue,
        of shape: Shape,
        most: Int
    ) throws(RequestRefusal) -> JSONValue {
        guard case .array(let elements) = value else { throw kind(value, "a list") }
        guard elements.count <= most else {
            throw refusal(.tooLarge, "more than \(most) elements", "send fewer", status: 413)
        }
        var result: [JSONValue] = []
        result.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            path.append(.index(index))
            if let kept = try rebuilt(element, as: shape) { result.append(kept) }
            path.removeLast()
        }
        return .array(result)
    }

    private mutating func byKind(
        _ value: JSONValue,
        text: Shape?,
        list: Shape?,
        object: Shape?
    ) throws(RequestRefusal) -> JSONValue? {
        switch value {
        case .string: if let text { return try rebuilt(value, as: text) }
        case .array: if let list { return try rebuilt(value, as: list) }
        case .object: if let object { return try rebuilt(value, as: object) }
        case .null, .bool, .integer, .number: break
        }
        throw kind(value, "another kind of value")
    }
}

// MARK: - scalars

extension ShapeReader {
    private mutating func text(_ value: JSONValue) throws(RequestRefusal) -> String {
        guard case .string(let text) = value else { throw kind(value, "a string") }
        textBytes += text.utf8.count
        return text
    }

    private mutating func word(
        _ value: JSONValue,
        _ words: [String]
    ) throws(RequestRefusal) -> JSONValue? {
        guard case .string(let text) = value else { throw kind(value, "a string") }
        guard words.contains(where: { $0.utf8.elementsEqual(text.utf8) }) else {
            try unknown(text)
            return nil
        }
        return value
    }

    private mutating func integer(
        _ value: JSONValue,
        _ range: ClosedRange<Int64>
    ) throws(RequestRefusal) -> JSONValue {
        guard let number = value.integerValue else { throw kind(value, "a whole number") }
        guard range.contains(number) else {
            throw refusal(.badRequest, "a number out of range", "see the provider's reference")
        }
        return value
    }

    private mutating func number(
        _ value: JSONValue,
        _ range: ClosedRange<Double>
    ) throws(RequestRefusal) -> JSONValue {
        guard let number = value.numberValue else { throw kind(value, "a number") }
        guard range.contains(number) else {
            throw refusal(.badRequest, "a number out of range", "see the provider's reference")
        }
        return value
    }

    private mutating func base64(_ value: JSONValue) throws(RequestRefusal) -> JSONValue {
        guard case .string(let text) = value else { throw kind(value, "a string") }
        guard Base64Text.isValid(text.utf8) else {
            throw refusal(.badRequest, "a text that is not base64", "encode the bytes in base64")
        }
        attachments += 1
        return value
    }

    private mutating func dataURL(
        _ value: JSONValue,
        _ types: [String]
    ) throws(RequestRefusal) -> JSONValue {
        guard case .string(let text) = value else { throw kind(value, "a string") }
        for type in types {
            let head = "data:\(type);base64,"
            guard text.utf8.starts(with: head.utf8) else { continue }
            guard Base64Text.isValid(text.utf8.dropFirst(head.utf8.count)) else { break }
            attachments += 1
            return value
        }
        throw refusal(
            .urlContent,
            "content that the provider would fetch",
            "send it inline as data:TYPE;base64, with TYPE one of \(types.joined(separator: " "))"
        )
    }

    private mutating func free(
        _ value: JSONValue,
        isSchema: Bool
    ) throws(RequestRefusal) -> JSONValue {
        var walk = FreeJSON(isSchema: isSchema)
        switch walk.check(value, depth: 1) {
        case .sound:
            textBytes += walk.textBytes
            return value
        case .tooDeep:
            throw refusal(.tooLarge, "nested too deeply", "flatten it", status: 413)
        case .foreignReference:
            throw refusal(.urlContent, "a schema in another document", "write the schema inline")
        }
    }
}

// MARK: - what is told

extension ShapeReader {
    /// Notes an event at the present place.
    mutating func note(_ kind: ModelEvent.Kind) {
        note(kind, place(isExact: false))
    }

    /// Notes an event with these words.
    mutating func note(_ kind: ModelEvent.Kind, _ detail: String) {
        guard events.count < Self.eventLimit else { return }
        let event = ModelEvent(kind, detail)
        if !events.contains(event) { events.append(event) }
    }

    /// Notes or refuses a name that no allow-list has.
    private mutating func unknown(_ name: String) throws(RequestRefusal) {
        // In a sealed exam a name is text of the body, and no text of a body leaves the sandbox.
        let shown = policy.isSealed ? "?" : ModelEvent.printable(name, limit: 60)
        path.append(.name(shown))
        if policy.unknownFields == .refuse {
            throw refusal(.unknownField, "not on the allow-list", "remove it")
        }
        note(.unknownField)
        path.removeLast()
    }

    func refusal(
        _ kind: ModelEvent.Kind,
        _ reason: String,
        _ remedy: String,
        status: Int = 400
    ) -> RequestRefusal {
        RequestRefusal(
            status: status,
            kind: kind,
            field: path.isEmpty ? nil : place(isExact: !policy.isSealed),
            reason: reason,
            remedy: remedy
        )
    }

    private func kind(_ value: JSONValue, _ expected: String) -> RequestRefusal {
        refusal(.badRequest, "found \(value.kindName) in place of \(expected)", "correct the value")
    }

    /// The path, with the places in lists or without.
    private func place(isExact: Bool) -> String {
        var text = ""
        for step in path {
            switch step {
            case .name(let name): text += text.isEmpty ? name : "." + name
            case .index(let index): text += isExact ? "[\(index)]" : "[]"
            }
        }
        return text
    }
}

extension Shape {
    fileprivate var keepsNull: Bool {
        switch self {
        case .orNull, .json: true
        case .text, .word, .truth, .integer, .number, .list, .object, .tagged, .kinds, .base64,
            .dataURL, .schema, .removed, .refused, .unsealed, .providerTool:
            false
        }
    }
}
