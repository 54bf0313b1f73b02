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
    /// The pinned effort.
    let effort: String?
    /// Whether `inline_data` means `inlineData`, as the readers of protocol buffers have it.
    let foldsNames: Bool
    private(set) var events: [ModelEvent] = []
    /// Bytes of text that go upstream.
    var textBytes = 0
    /// Images and documents that go upstream.
    var attachments = 0
    var path: [Step] = []

    /// More than this many events of one request say nothing new.
    static let eventLimit = 32

    init(policy: RequestPolicy, pin: ModelPin, foldsNames: Bool = false) {
        self.policy = policy
        self.toolRule = pin.toolRule
        self.effort = pin.effort
        self.foldsNames = foldsNames
    }

    /// A reader of answers in sealed exams, where nothing is refused but what cannot be read.
    static let ofAnswers = ShapeReader(
        policy: RequestPolicy(isSealed: true),
        pin: ModelPin(upstream: "", dialects: [], model: "", maxOutputTokens: 1)
    )

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
        case .constant(let value): return value
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
        case .effort:
            if value.stringValue != effort { note(.effortChanged) }
            return nil
        case .unlessEmpty(let shape):
            guard let kept = try rebuilt(value, as: shape), Self.isDemand(kept) else { return nil }
            return kept
        case .client(let kind):
            guard Self.isDemand(value) else { return nil }
            guard policy.isSealed else { return .string(policy.client) }
            note(kind)
            return nil
        case .unsealed(let shape, let kind):
            guard policy.isSealed else { return try rebuilt(value, as: shape) }
            if Self.isDemand(value) { note(kind) }
            return nil
        case .providerTool:
            // An empty object is a whole demand (`web_search_options`, Gemini's `googleSearch`).
            if case .object = value {} else if !Self.isDemand(value) { return nil }
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
    static func isDemand(_ value: JSONValue) -> Bool {
        switch value {
        case .null, .bool(false): false
        case .string(let text): !text.isEmpty
        case .array(let elements): !elements.isEmpty
        case .object(let members): !members.isEmpty
        case .bool, .integer, .number: true
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
    mutating func unknown(_ name: String) throws(RequestRefusal) {
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

    func kind(_ value: JSONValue, _ expected: String) -> RequestRefusal {
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
