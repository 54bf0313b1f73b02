internal import StrictJSON

/// The allow-lists of answers in sealed exams: what the model said and how much it was.
///
/// Ids of calls, times, fingerprints, and whether a cache was hit stay away; ids of tool calls stay, since
/// a conversation must not have one twice.
enum ResponseShapes {
    static func scrubbed(_ value: JSONValue, _ dialect: Dialect) -> JSONValue? {
        var reader = ShapeReader.ofAnswers
        do throws(RequestRefusal) {
            let rebuilt = try reader.rebuilt(value, as: shape(dialect))
            return dialect == .openAIResponses ? rebuilt.map(numbered) : rebuilt
        } catch {
            // Not an answer of the dialect; the caller says so to the sandbox.
            return nil
        }
    }

    private static func shape(_ dialect: Dialect) -> Shape {
        switch dialect {
        case .openAIChat: chat
        case .openAIResponses: responses
        case .anthropicMessages: messages
        case .geminiGenerate: gemini
        }
    }

    static let fault = Shape.orNull(
        .kinds(
            text: .constant("the provider reported an error"),
            object: .object([
                "type": .text, "code": .kinds(text: .text), "status": .text,
                "message": .constant("the provider reported an error"),
            ])
        )
    )
    static let index = Shape.integer(0...1_000_000)
}

// MARK: - chat completions

extension ResponseShapes {
    private static let toolCall = Shape.object([
        "id": .text, "index": index, "type": .text,
        "function": .object(["name": .text, "arguments": .text]),
        "custom": .object(["name": .text, "input": .text]),
    ])
    private static let message = Shape.object([
        "role": .text, "content": .orNull(.text), "refusal": .orNull(.text),
        "reasoning_content": .text, "reasoning": .text,
        "tool_calls": .list(toolCall, most: 1_000),
        "function_call": .object(["name": .text, "arguments": .text]),
    ])
    private static let chat = Shape.object([
        "id": .constant("chatcmpl-0"), "object": .text, "created": .constant(0), "model": .text,
        "choices": .list(
            .object([
                "index": index, "message": message, "delta": message,
                "finish_reason": .orNull(.text), "logprobs": .orNull(.json),
            ]),
            most: 1_000
        ),
        "usage": .orNull(
            .object([
                "prompt_tokens": .count, "completion_tokens": .count, "total_tokens": .count,
                "completion_tokens_details": .object(["reasoning_tokens": .count]),
            ])
        ),
        "error": fault,
    ])
}

// MARK: - messages

extension ResponseShapes {
    private static let usage = Shape.object(["input_tokens": .count, "output_tokens": .count])
    private static let block = Shape.tagged(
        .init(
            "type",
            [
                "text": .init(["text": .text]),
                "thinking": .init(["thinking": .text, "signature": .text]),
                "redacted_thinking": .init(["data": .text]),
                "tool_use": .init(["id": .text, "name": .text, "input": .json]),
                "compaction": .init(["content": .orNull(.text)]),
            ]
        )
    )
    private static let stop: [String: Shape] = [
        "stop_reason": .orNull(.text), "stop_sequence": .orNull(.text),
    ]
    private static let wholeMessage = Shape.Members(stop)
        .and([
            "id": .constant("msg_0"), "role": .text, "model": .text, "type": .text,
            "content": .list(block, most: 10_000), "usage": usage,
        ])
    private static let delta = Shape.tagged(
        .init(
            "type",
            [
                "text_delta": .init(["text": .text]),
                "input_json_delta": .init(["partial_json": .text]),
                "thinking_delta": .init(["thinking": .text]),
                "signature_delta": .init(["signature": .text]),
                "compaction_delta": .init(["content": .orNull(.text)]),
            ]
        )
    )
    private static let messages = Shape.tagged(
        .init(
            "type",
            [
                "message": wholeMessage,
                "message_start": .init(["message": .object(wholeMessage)]),
                "content_block_start": .init(["index": index, "content_block": block]),
                "content_block_delta": .init(["index": index, "delta": delta]),
                "content_block_stop": .init(["index": index]),
                "message_delta": .init(["delta": .object(.init(stop)), "usage": usage]),
                "message_stop": .init([:]), "ping": .init([:]),
                "error": .init(["error": fault]),
            ],
            absent: .init(["input_tokens": .count], required: ["input_tokens"])
        )
    )
}

// MARK: - generateContent

extension ResponseShapes {
    private static let part = Shape.object([
        "text": .text, "thought": .truth, "thoughtSignature": .text,
        "functionCall": .object(["id": .text, "name": .text, "args": .json]),
    ])
    private static let gemini = Shape.object([
        "candidates": .list(
            .object([
                "content": .object(["role": .text, "parts": .list(part, most: 10_000)]),
                "finishReason": .text, "index": index,
            ]),
            most: 1_000
        ),
        "promptFeedback": .object(["blockReason": .text]),
        "usageMetadata": .object([
            "promptTokenCount": .count, "candidatesTokenCount": .count, "totalTokenCount": .count,
            "thoughtsTokenCount": .count,
        ]),
        "totalTokens": .count,
        "error": fault,
    ])
}
