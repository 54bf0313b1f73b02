/// The allow-list of OpenAI chat completions (API reference, `POST /v1/chat/completions`), with the
/// members that litellm adds to messages it received.
enum OpenAIChat {
    static let imageTypes = ["image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"]
    static let cacheControl = Shape.unsealed(
        .object(["type": .word(["ephemeral"]), "ttl": .word(["5m", "1h"])], required: ["type"]),
        .cacheControl
    )
    /// Whom the request is from.
    static let identity = Shape.client(.identity)
    /// What the provider would keep with an answer; it takes it only where it keeps the answer.
    static let metadata = Shape.unsealed(.removed(nil), .identity)
    /// Which requests are alike, for the provider's cache: all of one experiment.
    static let cacheKey = Shape.client(.cacheControl)

    static let request = Shape.Members(
        [
            "model": .text,
            "messages": .list(message, most: 20_000),
            "stream": .truth,
            "stream_options": .object(["include_usage": .truth, "include_obfuscation": .truth]),
            "tools": .list(tool, most: 1_000),
            "tool_choice": toolChoice,
            "functions": .list(.object(function), most: 1_000),
            "function_call": .kinds(
                text: .word(["none", "auto"]),
                object: .object(["name": .text], required: ["name"])
            ),
            "parallel_tool_calls": .truth,
            "temperature": .number(0...2),
            "top_p": .number(0...1),
            "top_k": .integer(-1...1_000_000),
            "min_p": .number(0...1),
            "n": .integer(1...1_000_000),
            "best_of": .integer(1...1_000_000),
            "max_tokens": .count,
            "max_completion_tokens": .count,
            "reasoning_effort": .effort,
            "verbosity": .word(["low", "medium", "high"]),
            "stop": .kinds(text: .text, list: .list(.text, most: 16)),
            "presence_penalty": .number(-2...2),
            "frequency_penalty": .number(-2...2),
            "logit_bias": .kinds(object: .json),
            "logprobs": .truth,
            "top_logprobs": .integer(0...20),
            "seed": .integer(.min ... .max),
            "response_format": responseFormat,
            "prediction": .object(
                ["type": .word(["content"]), "content": textContent],
                required: ["type", "content"]
            ),
            "modalities": .list(.word(["text"]), most: 4),
            "user": identity,
            "safety_identifier": identity,
            "metadata": metadata,
            "prompt_cache_key": cacheKey,
            "prompt_cache_retention": .unsealed(.text, .cacheControl),
            "store": .removed(.storedState),
            "service_tier": .removed(.serviceTier),
            "web_search_options": .providerTool,
            "plugins": .providerTool,
            // Other servers' words for the effort.
            "reasoning": .removed(.effortChanged),
            "thinking": .removed(.effortChanged),
            "enable_thinking": .removed(.effortChanged),
            "thinking_budget": .removed(.effortChanged),
        ],
        required: ["model", "messages"]
    )
}

// MARK: - messages

extension OpenAIChat {
    private static let textPart: [String: Shape] = ["text": .text, "cache_control": cacheControl]
    private static let imagePart = Shape.Members(
        [
            "image_url": .kinds(
                text: .dataURL(imageTypes),
                object: .object(
                    [
                        "url": .dataURL(imageTypes), "detail": .word(["auto", "low", "high"]),
                        "format": .text,
                    ],
                    required: ["url"]
                )
            ),
            "cache_control": cacheControl,
        ],
        required: ["image_url"]
    )
    private static let audioPart = Shape.Members(
        [
            "input_audio": .object(
                ["data": .base64, "format": .word(["wav", "mp3"])],
                required: ["data", "format"]
            )
        ],
        required: ["input_audio"]
    )
    private static let filePart = Shape.Members(
        [
            "file": .object(
                [
                    "file_data": .dataURL(["application/pdf"]), "filename": .text,
                    "format": .text,
                    "file_id": .refused(.fileContent, "a file that the provider keeps"),
                    "file_url": .refused(.urlContent, "content that the provider would fetch"),
                ],
                required: ["file_data"]
            )
        ],
        required: ["file"]
    )

    static let textContent = Shape.kinds(
        text: .text,
        list: .list(
            .tagged(.init("type", ["text": .init(textPart, required: ["text"])])),
            most: 10_000
        )
    )
    private static let userContent = Shape.kinds(
        text: .text,
        list: .list(
            .tagged(
                .init(
                    "type",
                    [
                        "text": .init(textPart, required: ["text"]), "image_url": imagePart,
                        "input_audio": audioPart, "file": filePart,
                    ]
                )
            ),
            most: 10_000
        )
    )
    private static let assistantContent = Shape.kinds(
        text: .text,
        list: .list(
            .tagged(
                .init(
                    "type",
                    [
                        "text": .init(textPart, required: ["text"]),
                        "refusal": .init(["refusal": .text], required: ["refusal"]),
                    ],
                    // What litellm keeps of other providers' thinking.
                    special: ["thinking": .removed(nil), "redacted_thinking": .removed(nil)]
                )
            ),
            most: 10_000
        )
    )

    private static let common: [String: Shape] = ["name": .text, "cache_control": cacheControl]
    private static let message = Shape.tagged(
        .init(
            "role",
            [
                "developer": .init(common, required: ["content"]).and(["content": textContent]),
                "system": .init(common, required: ["content"]).and(["content": textContent]),
                "user": .init(common, required: ["content"]).and(["content": userContent]),
                "tool": .init(common, required: ["content", "tool_call_id"])
                    .and(["content": userContent, "tool_call_id": .text]),
                "function": .init(common, required: ["name"]).and(["content": .orNull(.text)]),
                "assistant": .init(common)
                    .and([
                        "content": .orNull(assistantContent),
                        "refusal": .text,
                        "reasoning_content": .text,
                        "tool_calls": .list(toolCall, most: 1_000),
                        "function_call": .object(called, required: ["name", "arguments"]),
                        "audio": .refused(.storedState, "an answer that the provider keeps"),
                        // litellm sends back what it received.
                        "annotations": .removed(nil), "provider_specific_fields": .removed(nil),
                        "thinking_blocks": .removed(nil), "reasoning": .removed(nil),
                        "reasoning_details": .removed(nil), "images": .removed(nil),
                    ]),
            ]
        )
    )
}
