// Messages and their blocks.
extension AnthropicMessages {
    static let message = Shape.Members(
        [
            "role": .word(["user", "assistant", "system"]),
            "content": .kinds(text: .text, list: .list(.tagged(block), most: 100_000)),
            // An effort for the rest of the conversation (beta per-turn-control).
            "output_config": .unlessEmpty(.object(["effort": .effort])),
        ],
        required: ["role", "content"]
    )

    private static let text = Shape.Members(
        [
            "text": .text, "cache_control": cacheControl,
            // What the provider found in documents; nobody has to send it back.
            "citations": .removed(nil),
        ],
        required: ["text"]
    )
    static let systemBlock = Shape.Tagged("type", ["text": text])

    private static let inline: [String: Shape] = [
        "url": .refused(.urlContent, "content that the provider would fetch"),
        "file": .refused(.fileContent, "a file that the provider keeps"),
    ]
    private static let image = Shape.Members(
        [
            "source": .tagged(
                .init(
                    "type",
                    [
                        "base64": .init(
                            [
                                "media_type": .word(OpenAIChat.imageTypes),
                                "data": .base64,
                            ],
                            required: ["media_type", "data"]
                        )
                    ],
                    special: inline
                )
            ),
            "cache_control": cacheControl,
        ],
        required: ["source"]
    )
    private static let document = Shape.Members(
        [
            "source": .tagged(
                .init(
                    "type",
                    [
                        "base64": .init(
                            ["media_type": .word(["application/pdf"]), "data": .base64],
                            required: ["media_type", "data"]
                        ),
                        "text": .init(
                            ["media_type": .word(["text/plain"]), "data": .text],
                            required: ["media_type", "data"]
                        ),
                        "content": .init(
                            [
                                "content": .kinds(
                                    text: .text,
                                    list: .list(
                                        .tagged(.init("type", ["text": text, "image": image])),
                                        most: 10_000
                                    )
                                )
                            ],
                            required: ["content"]
                        ),
                    ],
                    special: inline
                )
            ),
            "title": .text, "context": .text, "cache_control": cacheControl,
            "citations": .object(["enabled": .truth]),
        ],
        required: ["source"]
    )
    private static let found = Shape.Members(
        [
            "source": .text, "title": .text, "cache_control": cacheControl,
            "content": .list(.tagged(systemBlock), most: 10_000),
            "citations": .object(["enabled": .truth]),
        ],
        required: ["source", "title", "content"]
    )
    private static let reference = Shape.Members(
        ["tool_name": .text, "cache_control": cacheControl],
        required: ["tool_name"]
    )

    private static let result = Shape.Members(
        [
            "tool_use_id": .text, "is_error": .truth, "cache_control": cacheControl,
            "content": .kinds(
                text: .text,
                list: .list(
                    .tagged(
                        .init(
                            "type",
                            [
                                "text": text, "image": image, "document": document,
                                "search_result": found, "tool_reference": reference,
                            ]
                        )
                    ),
                    most: 10_000
                )
            ),
        ],
        required: ["tool_use_id"]
    )
    private static let use = Shape.Members(
        [
            "id": .text, "name": .text, "input": .kinds(object: .json),
            "cache_control": cacheControl,
            "caller": .tagged(.init("type", ["direct": .init([:])], otherwise: .providerTool)),
        ],
        required: ["id", "name", "input"]
    )

    private static let block = Shape.Tagged(
        "type",
        [
            "text": text, "image": image, "document": document, "search_result": found,
            "tool_use": use, "tool_result": result, "tool_reference": reference,
            "thinking": .init(
                ["thinking": .text, "signature": .text, "cache_control": cacheControl],
                required: ["thinking", "signature"]
            ),
            "redacted_thinking": .init(["data": .text], required: ["data"]),
            "compaction": .init(
                ["content": .orNull(.text), "cache_control": cacheControl],
                required: ["content"]
            ),
        ],
        special: [
            "container_upload": .refused(.fileContent, "a file that the provider keeps"),
            "server_tool_use": .providerTool, "web_search_tool_result": .providerTool,
            "web_fetch_tool_result": .providerTool, "code_execution_tool_result": .providerTool,
            "bash_code_execution_tool_result": .providerTool,
            "text_editor_code_execution_tool_result": .providerTool,
            "tool_search_tool_result": .providerTool, "mcp_tool_use": .providerTool,
            "mcp_tool_result": .providerTool,
        ]
    )
}
