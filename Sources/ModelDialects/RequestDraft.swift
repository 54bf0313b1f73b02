internal import StrictJSON

/// A request between its rebuilding and its way upstream: what the pin says is put in place here.
struct RequestDraft {
    var members: [String: JSONValue]
    var reader: ShapeReader
    let pin: ModelPin
    /// What the pin's model takes in this dialect.
    let form: ModelForm
    let route: Route
    var isStreaming = false
    var outputLimit = 0
    var addsUsage = false

    init(members: [String: JSONValue], reader: ShapeReader, pin: ModelPin, route: Route) {
        self.members = members
        self.reader = reader
        self.pin = pin
        form = route.dialect.map(pin.form.seen) ?? .bare
        self.route = route
    }

    mutating func pinAll(_ dialect: Dialect) {
        switch dialect {
        case .openAIChat: pinOpenAIChat()
        case .openAIResponses: pinOpenAIResponses()
        case .anthropicMessages: pinAnthropicMessages()
        case .geminiGenerate: pinGemini()
        }
    }

    func request(dialect: Dialect) -> ModelRequest {
        let body = JSONValue.object(members)
        return ModelRequest(
            dialect: dialect,
            route: route,
            pin: pin,
            body: body,
            bodyBytes: body.canonicalBytes,
            isStreaming: isStreaming,
            // Members have no order, and a report is the same twice.
            events: reader.events.sorted {
                ($0.kind.rawValue, $0.detail) < ($1.kind.rawValue, $1.detail)
            },
            estimatedInputTokens: (reader.textBytes + 3) / 4
                + reader.attachments * ModelRequest.tokensOfAttachment,
            outputLimit: outputLimit,
            addsUsage: addsUsage
        )
    }
}

// MARK: - the same in several dialects

extension RequestDraft {
    /// Puts the pinned temperature in place, and takes away what would undo it.
    mutating func pinTemperature(_ name: String = "temperature", undoing others: [String]) {
        let asked = members.removeValue(forKey: name)?.numberValue
        if let asked, asked != pin.temperature { reader.note(.temperatureChanged, name) }
        let isTaken = form.samples(effort: pin.effort)
        guard pin.temperature != nil || !isTaken else { return }
        if isTaken { members[name] = pin.temperature.map(JSONValue.init(number:)) }
        for other in others where members.removeValue(forKey: other) != nil {
            reader.note(.temperatureChanged, other)
        }
    }

    /// Puts the least of what is asked, what is pinned and what the model can in place.
    mutating func pinOutput(_ names: [String]) -> Int {
        let asked = names.compactMap { members[$0]?.intValue }.min()
        let name = names.first { members[$0] != nil } ?? names[0]
        for other in names { members[other] = nil }
        let most = min(pin.maxOutputTokens, form.mostOutput ?? .max)
        if let asked, asked > most { reader.note(.maxTokensChanged, name) }
        let limit = min(asked ?? most, most)
        members[outputName(asked: asked == nil ? nil : name, names)] = JSONValue(limit)
        return limit
    }

    private func outputName(asked: String?, _ names: [String]) -> String {
        switch form.length {
        case .asked: asked ?? names[0]
        case .old: asked ?? names[names.count - 1]
        case .new: names[0]
        }
    }

    /// Puts a member in place that always has this value, and notes a request for another.
    mutating func force(_ name: String, _ value: JSONValue, _ kind: ModelEvent.Kind) {
        let asked = members.updateValue(value, forKey: name)
        if let asked, asked != value { reader.note(kind, name) }
    }
}

extension JSONValue {
    /// A number in the one form that the parser would give it.
    init(number: Double) {
        if let integer = Int64(exactly: number) {
            self = .integer(integer)
        } else {
            self = .number(number)
        }
    }
}

// MARK: - by dialect

extension Dialect {
    /// The allow-list of a request by this route.
    func shape(of route: Route) -> Shape.Members {
        switch self {
        case .openAIChat: OpenAIChat.request
        case .openAIResponses: OpenAIResponses.request
        case .anthropicMessages: AnthropicMessages.request(of: route)
        case .geminiGenerate: GeminiGenerate.request(of: route)
        }
    }

    /// The limit of one answer that stands in a request.
    func outputLimit(in members: [String: JSONValue]) -> Int? {
        switch self {
        case .openAIChat, .openAIResponses, .anthropicMessages:
            outputNames.lazy.compactMap { members[$0]?.intValue }.first
        case .geminiGenerate: members["generationConfig"]?[outputNames[0]]?.intValue
        }
    }

    /// Puts a limit of one answer in place.
    func setOutputLimit(_ limit: Int, in members: inout [String: JSONValue]) {
        let name = outputNames.first { members[$0] != nil } ?? outputNames[0]
        switch self {
        case .openAIChat, .openAIResponses: members[name] = JSONValue(limit)
        case .anthropicMessages:
            members[name] = JSONValue(limit)
            AnthropicMessages.fitThinking(in: &members)
        case .geminiGenerate:
            var configuration = members["generationConfig"]?.objectValue ?? [:]
            configuration[outputNames[0]] = JSONValue(limit)
            members["generationConfig"] = .object(configuration)
        }
    }

    /// The members that may hold the limit of one answer; the first where a request has none.
    var outputNames: [String] {
        switch self {
        case .openAIChat: ["max_completion_tokens", "max_tokens"]
        case .openAIResponses: ["max_output_tokens"]
        case .anthropicMessages: ["max_tokens"]
        case .geminiGenerate: ["maxOutputTokens"]
        }
    }
}
