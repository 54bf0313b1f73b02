/// The allow-list of OpenAI responses (API reference, `POST /v1/responses`), with what Codex 0.163
/// sends.
///
/// Item ids stay away: they name what the provider would have stored.
enum OpenAIResponses {
    static let request = Shape.Members(
        [
            "model": .text,
            "input": .kinds(text: .text, list: .list(item, most: 20_000)),
            "instructions": .text,
            "stream": .truth,
            "stream_options": .object(["include_obfuscation": .truth]),
            "include": .list(
                .word(["reasoning.encrypted_content", "message.output_text.logprobs"]),
                most: 16
            ),
            "tools": .list(tool, most: 1_000),
            "tool_choice": toolChoice,
            "parallel_tool_calls": .truth,
            "max_tool_calls": .integer(1...10_000),
            "reasoning": .unlessEmpty(
                .object([
                    "effort": .effort,
                    "summary": .word(["auto", "concise", "detailed", "none"]),
                    "generate_summary": .word(["auto", "concise", "detailed"]),
                ])
            ),
            "text": .object([
                "verbosity": .word(["low", "medium", "high"]), "format": format,
            ]),
            "temperature": .number(0...2),
            "top_p": .number(0...1),
            "top_logprobs": .integer(0...20),
            "max_output_tokens": .count,
            "truncation": .word(["auto", "disabled"]),
            "user": OpenAIChat.identity,
            "safety_identifier": OpenAIChat.identity,
            "metadata": OpenAIChat.metadata,
            "client_metadata": .removed(nil),
            "prompt_cache_key": OpenAIChat.cacheKey,
            "prompt_cache_retention": .unsealed(.text, .cacheControl),
            "service_tier": .removed(.serviceTier),
            "store": .removed(.storedState),
            "background": .refused(.storedState, "an answer that the provider keeps"),
            "previous_response_id": .refused(.storedState, "an answer that the provider keeps"),
            "conversation": .refused(.storedState, "a conversation that the provider keeps"),
            "prompt": .refused(.storedState, "a prompt that the provider keeps"),
        ],
        required: ["model", "input"]
    )

    private static let format = Shape.tagged(
        .init(
            "type",
            [
                "text": .init([:]), "json_object": .init([:]),
                "json_schema": .init(
                    ["name": .text, "description": .text, "schema": .schema, "strict": .truth],
                    required: ["name", "schema"]
                ),
            ]
        )
    )
}

// MARK: - items

extension OpenAIResponses {
    private static let imagePart = Shape.Members(
        [
            "image_url": .dataURL(OpenAIChat.imageTypes),
            "detail": .word(["auto", "low", "high", "original"]),
            "file_id": .refused(.fileContent, "a file that the provider keeps"),
        ],
        required: ["image_url"]
    )
    private static let filePart = Shape.Members(
        [
            "file_data": .dataURL(["application/pdf"]), "filename": .text,
            "file_id": .refused(.fileContent, "a file that the provider keeps"),
            "file_url": .refused(.urlContent, "content that the provider would fetch"),
        ],
        required: ["file_data"]
    )
    private static let text = Shape.Members(["text": .text], required: ["text"])

    private static let content = Shape.kinds(
        text: .text,
        list: .list(
            .tagged(
                .init(
                    "type",
                    [
                        "input_text": text, "text": text, "summary_text": text,
                        "output_text": text.and([
                            // What the provider found by its own tools, and what nobody reads back.
                            "annotations": .list(.removed(.urlContent), most: 10_000),
                            "logprobs": .removed(nil),
                        ]),
                        "refusal": .init(["refusal": .text], required: ["refusal"]),
                        "input_image": imagePart, "input_file": filePart,
                    ]
                )
            ),
            most: 10_000
        )
    )

    private static let common: [String: Shape] = [
        "id": .removed(nil), "status": .word(["in_progress", "completed", "incomplete", "failed"]),
        "created_by": .removed(nil), "internal_chat_message_metadata_passthrough": .removed(nil),
    ]
    private static let message = Shape.Members(common, required: ["role", "content"])
        .and([
            "role": .word(["user", "assistant", "system", "developer"]), "content": content,
            "phase": .word(["commentary", "final_answer"]),
        ])
    private static let call = Shape.Members(common, required: ["call_id"]).and(["call_id": .text])
    private static let output = call.and(["output": content], required: ["output"])

    private static let reasoning = Shape.Members(common)
        .and([
            "summary": content,
            "content": .orNull(
                .list(
                    .tagged(.init("type", ["reasoning_text": text, "text": text])),
                    most: 10_000
                )
            ),
            "encrypted_content": .text,
        ])
    private static let localShell = Shape.object(
        [
            "type": .word(["exec"]), "command": .list(.text, most: 10_000), "env": .json,
            "timeout_ms": .count, "user": .text, "working_directory": .text,
        ],
        required: ["type", "command"]
    )
    private static let patch = Shape.object(
        [
            "type": .word(["create_file", "update_file", "delete_file"]), "path": .text,
            "diff": .text,
        ],
        required: ["type", "path"]
    )
    private static let compacted = Shape.Members(common).and(["encrypted_content": .text])

    private static let item = Shape.tagged(
        .init(
            "type",
            [
                "message": message,
                "function_call": call.and(
                    ["name": .text, "arguments": .text, "namespace": .text],
                    required: ["name", "arguments"]
                ),
                "function_call_output": output,
                "custom_tool_call": call.and(
                    ["name": .text, "input": .text, "namespace": .text],
                    required: ["name", "input"]
                ),
                "custom_tool_call_output": output.and(["name": .text]),
                "reasoning": reasoning,
                "local_shell_call": .init(common, required: ["action"])
                    .and(["call_id": .text, "action": localShell]),
                "local_shell_call_output": output,
                "apply_patch_call": call.and(["operation": patch], required: ["operation"]),
                "apply_patch_call_output": call.and(["output": .text]),
                "compaction": compacted, "compaction_summary": compacted,
                "context_compaction": compacted, "compaction_trigger": .init([:]),
            ],
            special: [
                "item_reference": .refused(.storedState, "an item that the provider keeps"),
                "tool_search_call": ranByClient(call.and(["arguments": .json])),
                "tool_search_output": ranByClient(call.and(["tools": .list(tool, most: 1_000)])),
                "web_search_call": .providerTool, "file_search_call": .providerTool,
                "computer_call": .providerTool, "computer_call_output": .providerTool,
                "code_interpreter_call": .providerTool, "image_generation_call": .providerTool,
                "mcp_call": .providerTool, "mcp_list_tools": .providerTool,
                "mcp_approval_request": .providerTool, "mcp_approval_response": .providerTool,
                "shell_call": .providerTool, "shell_call_output": .providerTool,
            ],
            absent: message
        )
    )
}
