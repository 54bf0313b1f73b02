public import StrictJSON

/// Counts what a call uses while its answer passes: the provider's own numbers where they come, a
/// count of bytes until then and where they never come.
public struct UsageMeter: Sendable {
    private let dialect: Dialect
    private var outputBytes = 0
    private var counted: Int
    private var told: TokenUsage?
    /// The largest number that a provider is believed.
    private static let ceiling = 1_000_000_000

    /// Begins a call.
    ///
    /// - Parameters:
    ///   - dialect: the dialect of the answer.
    ///   - estimatedInputTokens: the input as the request estimates it, until the provider tells.
    public init(_ dialect: Dialect, estimatedInputTokens: Int = 0) {
        self.dialect = dialect
        counted = estimatedInputTokens
    }

    /// What was used so far.
    public var usage: TokenUsage {
        let count = TokenUsage(input: counted, output: (outputBytes + 3) / 4, source: .count)
        guard let told else { return count }
        // Anthropic tells the input first: until the output is told, the bytes are the better count.
        guard told.source == .provider else {
            return TokenUsage(
                input: told.input,
                output: max(told.output, count.output),
                cachedInput: told.cachedInput,
                source: .count
            )
        }
        return told
    }

    /// Takes an event of a stream.
    ///
    /// - Parameter event: the event.
    public mutating func event(_ event: SSEEvent) {
        guard !event.data.elementsEqual("[DONE]".utf8) else { return }
        do throws(JSONError) {
            let value = try JSONValue(parsing: event.data, limits: ModelRequest.limits)
            response(value, isStreamed: true)
        } catch {
            // What cannot be read was answered all the same, so it counts by its bytes.
            outputBytes += event.data.count
        }
    }

    /// Takes a whole answer.
    ///
    /// - Parameter body: the answer.
    public mutating func response(_ body: JSONValue) {
        response(body, isStreamed: false)
    }

    private mutating func response(_ value: JSONValue, isStreamed: Bool) {
        switch dialect {
        case .openAIChat: openAIChat(value)
        case .openAIResponses: openAIResponses(value, isStreamed: isStreamed)
        case .anthropicMessages: anthropic(value)
        case .geminiGenerate: gemini(value)
        }
    }

    private static func number(_ value: JSONValue?, _ name: String) -> Int? {
        value?[name]?.intValue.map { min(max(0, $0), ceiling) }
    }

    /// Whether a member of this name is the provider's and not the model's: where every token comes in an
    /// event of its own, these words would count for more than the text.
    private static func isAroundText(_ name: String) -> Bool {
        ["type", "role", "id", "status", "signature", "thoughtSignature"].contains(name)
    }

    /// Counts every text below a value that the model wrote.
    private mutating func count(_ value: JSONValue?) {
        switch value {
        case .string(let text)?: outputBytes += text.utf8.count
        case .array(let elements)?: for element in elements { count(element) }
        case .object(let members)?:
            for (name, member) in members where !Self.isAroundText(name) { count(member) }
        case .null?, .bool?, .integer?, .number?, nil: break
        }
    }
}

// MARK: - dialects

extension UsageMeter {
    private mutating func openAIChat(_ value: JSONValue) {
        for choice in value["choices"]?.arrayValue ?? [] {
            count(choice["delta"])
            count(choice["message"])
        }
        guard let usage = value["usage"], let input = Self.number(usage, "prompt_tokens"),
            let output = Self.number(usage, "completion_tokens")
        else { return }
        let cached = Self.number(usage["prompt_tokens_details"], "cached_tokens") ?? 0
        told = TokenUsage(input: input, output: output, cachedInput: cached, source: .provider)
    }

    private mutating func openAIResponses(_ value: JSONValue, isStreamed: Bool) {
        if case .string? = value["delta"] { count(value["delta"]) }
        let response = isStreamed ? value["response"] : value
        if !isStreamed { count(response?["output"]) }
        guard let usage = response?["usage"], let input = Self.number(usage, "input_tokens"),
            let output = Self.number(usage, "output_tokens")
        else { return }
        let cached = Self.number(usage["input_tokens_details"], "cached_tokens") ?? 0
        told = TokenUsage(input: input, output: output, cachedInput: cached, source: .provider)
    }

    private mutating func anthropic(_ value: JSONValue) {
        switch value["type"]?.stringValue {
        case "content_block_start": count(value["content_block"])
        case "content_block_delta": count(value["delta"])
        case "message_start": anthropic(usage: value["message"]?["usage"], isFinal: false)
        case "message_delta": anthropic(usage: value["usage"], isFinal: true)
        case "message":
            count(value["content"])
            anthropic(usage: value["usage"], isFinal: true)
        default:
            if let input = Self.number(value, "input_tokens") {
                told = TokenUsage(input: input, output: 0, source: .provider)
            }
        }
    }

    /// The numbers of a message grow: a later one replaces what it tells, and keeps the rest.
    private mutating func anthropic(usage: JSONValue?, isFinal: Bool) {
        guard let usage else { return }
        let parts = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
        let told = parts.compactMap { Self.number(usage, $0) }
        let cached = Self.number(usage, "cache_read_input_tokens")
        self.told = TokenUsage(
            input: told.isEmpty ? self.told?.input ?? counted : told.reduce(0, +),
            output: Self.number(usage, "output_tokens") ?? self.told?.output ?? 0,
            cachedInput: cached ?? self.told?.cachedInput ?? 0,
            source: isFinal ? .provider : .count
        )
    }

    private mutating func gemini(_ value: JSONValue) {
        for candidate in value["candidates"]?.arrayValue ?? [] { count(candidate["content"]) }
        if let total = Self.number(value, "totalTokens") {
            told = TokenUsage(input: total, output: 0, source: .provider)
        }
        guard let usage = value["usageMetadata"],
            let input = Self.number(usage, "promptTokenCount")
        else { return }
        let output = ["candidatesTokenCount", "thoughtsTokenCount"]
            .compactMap { Self.number(usage, $0) }
        let cached = Self.number(usage, "cachedContentTokenCount") ?? 0
        // A chunk in the middle of a stream tells the input alone.
        told = TokenUsage(
            input: input,
            output: output.reduce(0, +),
            cachedInput: cached,
            source: output.isEmpty ? .count : .provider
        )
    }
}
