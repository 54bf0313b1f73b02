/// What becomes of a provider-run tool that a request offers to the model.
public enum ToolRule: String, Sendable, CaseIterable {
    /// The tool is left out of what goes upstream, and the attempt is an event.
    case drop
    /// The request is refused.
    case refuse
}

/// The one way in which a sandbox reaches a model, whatever its requests say.
public struct ModelPin: Sendable, Equatable {
    /// The name by which requests choose this pin, or nothing where only the model's own name does.
    public let alias: String?
    /// The name of the upstream that the request goes to.
    public let upstream: String
    /// The dialects in which the upstream offers the model.
    public let dialects: [Dialect]
    /// The model's name upstream.
    public let model: String
    /// The reasoning effort, in the provider's own word.
    ///
    /// For Anthropic and Gemini a whole number is a thinking budget in tokens. Nothing means the
    /// provider's default: what a request asks is left out.
    public let effort: String?
    /// The sampling temperature.
    ///
    /// Nothing means the provider's default: what a request asks is left out.
    public let temperature: Double?
    /// The most tokens of one answer; a request may ask for fewer.
    public let maxOutputTokens: Int
    /// The most answers to one request.
    public let maximumChoices: Int
    /// What becomes of provider-run tools.
    public let toolRule: ToolRule
    /// What the model's requests may hold.
    public let form: ModelForm

    /// The same pin under another alias.
    ///
    /// - Parameter alias: the name by which requests choose it.
    /// - Returns: the pin.
    public func called(_ alias: String) -> ModelPin {
        ModelPin(
            alias: alias,
            upstream: upstream,
            dialects: dialects,
            model: model,
            effort: effort,
            temperature: temperature,
            maxOutputTokens: maxOutputTokens,
            maximumChoices: maximumChoices,
            toolRule: toolRule,
            form: form
        )
    }

    /// The same pin with other words on what the model's requests may hold.
    ///
    /// - Parameter form: what they may hold.
    /// - Returns: the pin.
    public func taking(_ form: ModelForm) -> ModelPin {
        ModelPin(
            alias: alias,
            upstream: upstream,
            dialects: dialects,
            model: model,
            effort: effort,
            temperature: temperature,
            maxOutputTokens: maxOutputTokens,
            maximumChoices: maximumChoices,
            toolRule: toolRule,
            form: form
        )
    }

    /// Makes a pin.
    ///
    /// - Parameters:
    ///   - alias: the name by which requests choose it, or nothing.
    ///   - upstream: the name of the upstream.
    ///   - dialects: the dialects in which the upstream offers the model.
    ///   - model: the model's name upstream.
    ///   - effort: the reasoning effort, or nothing for the provider's default.
    ///   - temperature: the sampling temperature, or nothing for the provider's default.
    ///   - maxOutputTokens: the most tokens of one answer; less than 1 counts as 1.
    ///   - maximumChoices: the most answers to one request; less than 1 counts as 1.
    ///   - toolRule: what becomes of provider-run tools.
    ///   - form: what the model's requests may hold.
    public init(
        alias: String? = nil,
        upstream: String,
        dialects: [Dialect],
        model: String,
        effort: String? = nil,
        temperature: Double? = nil,
        maxOutputTokens: Int,
        maximumChoices: Int = 1,
        toolRule: ToolRule = .drop,
        form: ModelForm = .any
    ) {
        self.alias = alias
        self.upstream = upstream
        self.dialects = dialects
        self.model = model
        self.effort = effort
        self.temperature = temperature
        self.maxOutputTokens = max(1, maxOutputTokens)
        self.maximumChoices = max(1, maximumChoices)
        self.toolRule = toolRule
        self.form = form
    }

    /// Whether a request that names this model means this pin.
    func isNamed(_ name: String) -> Bool {
        name.utf8.elementsEqual(model.utf8)
            || alias.map { name.utf8.elementsEqual($0.utf8) } ?? false
    }
}
