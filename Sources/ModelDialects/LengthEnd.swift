internal import StrictJSON

/// Ends a stream that grew longer than it may in the way in which its provider ends one for length.
///
/// It follows the stream, so that the end fits what was said before; it keeps three events at the most.
public struct LengthEnd: Sendable {
    private let dialect: Dialect
    private let choices: Int
    // The event that began the answer, the last one, and that of the block that is open.
    private var first: SSEEvent?
    private var last: SSEEvent?
    private var block: SSEEvent?

    /// Begins with a stream.
    ///
    /// - Parameters:
    ///   - dialect: its dialect.
    ///   - choices: how many answers were asked for; at least 1.
    public init(_ dialect: Dialect, choices: Int = 1) {
        self.dialect = dialect
        self.choices = max(1, choices)
    }

    /// Takes the next event of the stream.
    ///
    /// - Parameter event: the event.
    public mutating func follow(_ event: SSEEvent) {
        if first == nil { first = event }
        last = event
        switch event.name {
        case "content_block_start": block = event
        case "content_block_stop": block = nil
        default: break
        }
    }

    /// The events that end the stream.
    ///
    /// - Parameter usage: what the call used.
    /// - Returns: one or more events, the last of which is the dialect's end.
    public func events(_ usage: TokenUsage) -> [SSEEvent] {
        switch dialect {
        case .openAIChat: chat(usage)
        case .openAIResponses: responses(usage)
        case .anthropicMessages: messages(usage)
        case .geminiGenerate: gemini(usage)
        }
    }

    private func event(_ name: String?, _ value: JSONValue) -> SSEEvent {
        SSEEvent(name: name, data: value.canonicalBytes, raw: [])
    }

    private func read(_ event: SSEEvent?) -> JSONValue {
        guard let event else { return .null }
        do throws(JSONError) {
            return try JSONValue(parsing: event.data, limits: ModelRequest.limits)
        } catch {
            // Then the end has nothing to go by, and is made of constants.
            return .null
        }
    }

    // https://platform.openai.com/docs/api-reference/chat-streaming
    private func chat(_ usage: TokenUsage) -> [SSEEvent] {
        let before = read(last)
        func chunk(_ choices: [JSONValue], _ usage: JSONValue) -> SSEEvent {
            event(
                nil,
                [
                    "id": before["id"] ?? "chatcmpl-0", "object": "chat.completion.chunk",
                    "created": before["created"] ?? 0, "model": before["model"] ?? "",
                    "choices": .array(choices), "usage": usage,
                ]
            )
        }
        let ends = (0..<choices).map { index -> JSONValue in
            ["index": JSONValue(index), "delta": [:], "finish_reason": "length"]
        }
        let used: JSONValue = [
            "prompt_tokens": JSONValue(usage.input), "completion_tokens": JSONValue(usage.output),
            "total_tokens": JSONValue(usage.total),
        ]
        return [
            chunk(ends, .null), chunk([], used),
            SSEEvent(name: nil, data: Array("[DONE]".utf8), raw: []),
        ]
    }

    // https://platform.openai.com/docs/api-reference/responses-streaming
    private func responses(_ usage: TokenUsage) -> [SSEEvent] {
        var response = read(first)["response"]?.objectValue ?? [:]
        for (name, value) in ["id": "resp_0", "object": "response", "created_at": 0, "output": []]
            as [String: JSONValue] where response[name] == nil
        {
            response[name] = value
        }
        response["status"] = "incomplete"
        response["incomplete_details"] = ["reason": "max_output_tokens"]
        response["usage"] = [
            "input_tokens": JSONValue(usage.input), "output_tokens": JSONValue(usage.output),
            "total_tokens": JSONValue(usage.total),
            "input_tokens_details": ["cached_tokens": JSONValue(usage.cachedInput)],
            "output_tokens_details": ["reasoning_tokens": 0],
        ]
        let number = read(last)["sequence_number"]?.intValue ?? 0
        return [
            event(
                "response.incomplete",
                [
                    "type": "response.incomplete", "sequence_number": JSONValue(number + 1),
                    "response": .object(response),
                ]
            )
        ]
    }

    // https://docs.claude.com/en/api/messages-streaming
    private func messages(_ usage: TokenUsage) -> [SSEEvent] {
        var ends: [SSEEvent] = []
        if block != nil {
            let index = read(block)["index"] ?? 0
            ends.append(
                event("content_block_stop", ["type": "content_block_stop", "index": index])
            )
        }
        ends.append(
            event(
                "message_delta",
                [
                    "type": "message_delta",
                    "delta": ["stop_reason": "max_tokens", "stop_sequence": .null],
                    "usage": ["output_tokens": JSONValue(usage.output)],
                ]
            )
        )
        ends.append(event("message_stop", ["type": "message_stop"]))
        return ends
    }

    // https://ai.google.dev/api/generate-content
    private func gemini(_ usage: TokenUsage) -> [SSEEvent] {
        let ends = (0..<choices).map { index -> JSONValue in
            [
                "content": ["role": "model", "parts": [["text": ""]]],
                "finishReason": "MAX_TOKENS", "index": JSONValue(index),
            ]
        }
        return [
            event(
                nil,
                [
                    "candidates": .array(ends),
                    "usageMetadata": [
                        "promptTokenCount": JSONValue(usage.input),
                        "candidatesTokenCount": JSONValue(usage.output),
                        "totalTokenCount": JSONValue(usage.total),
                    ],
                    "modelVersion": read(last)["modelVersion"] ?? "",
                ]
            )
        ]
    }
}
