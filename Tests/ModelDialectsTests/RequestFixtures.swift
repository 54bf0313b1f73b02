import ModelDialects
import StrictJSON

/// A pin that speaks every dialect.
func pin(
    effort: String? = "medium",
    temperature: Double? = nil,
    choices: Int = 1,
    rule: ToolRule = .drop
) -> ModelPin {
    ModelPin(
        alias: "exam-model",
        upstream: "main",
        dialects: Dialect.allCases,
        model: "small-1",
        effort: effort,
        temperature: temperature,
        maxOutputTokens: 8_000,
        maximumChoices: choices,
        toolRule: rule
    )
}

/// The route of a dialect under which something is generated.
func route(_ dialect: Dialect) -> Route {
    switch dialect {
    case .openAIChat, .openAIResponses, .anthropicMessages: .generate(dialect)
    case .geminiGenerate: .geminiGenerate(model: "small-1", isStreaming: false)
    }
}

/// Reads a request that is given as a value.
func parsed(
    _ body: JSONValue,
    _ route: Route,
    pin: ModelPin = pin(),
    sealed: Bool = false,
    unknown: RequestPolicy.UnknownFields = .drop
) throws(RequestRefusal) -> ModelRequest {
    try ModelRequest.parse(
        body.canonicalBytes,
        route: route,
        pins: [pin],
        policy: RequestPolicy(isSealed: sealed, unknownFields: unknown)
    )
}

/// The refusal of a request, or nothing where it passes.
func refusal(
    of body: JSONValue,
    _ route: Route,
    pin: ModelPin = pin(),
    sealed: Bool = false,
    unknown: RequestPolicy.UnknownFields = .drop
) -> RequestRefusal? {
    do throws(RequestRefusal) {
        _ = try parsed(body, route, pin: pin, sealed: sealed, unknown: unknown)
        return nil
    } catch {
        return error
    }
}

extension JSONValue {
    /// This object with these members in place of its own.
    func with(_ changes: [String: JSONValue]) -> JSONValue {
        .object((objectValue ?? [:]).merging(changes) { _, new in new })
    }
}

extension ModelRequest {
    /// What the events say, in their order.
    var kinds: [ModelEvent.Kind] { events.map(\.kind) }
}

/// The least request of each dialect.
func least(_ dialect: Dialect) -> JSONValue {
    switch dialect {
    case .openAIChat:
        ["model": "small-1", "messages": [["role": "user", "content": "hi"]]]
    case .openAIResponses: ["model": "small-1", "input": "hi"]
    case .anthropicMessages:
        [
            "model": "small-1", "max_tokens": 100,
            "messages": [["role": "user", "content": "hi"]],
        ]
    case .geminiGenerate: ["contents": [["role": "user", "parts": [["text": "hi"]]]]]
    }
}

/// A whole conversation in the manner of each dialect, in which nothing is asked that a pin denies.
func conversation(_ dialect: Dialect) -> JSONValue {
    switch dialect {
    case .openAIChat: chatConversation
    case .openAIResponses: responsesConversation
    case .anthropicMessages: messagesConversation
    case .geminiGenerate: geminiConversation
    }
}

private let schema: JSONValue = [
    "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
    "properties": ["command": ["type": "string"], "$ref": ["type": "string"]],
    "required": ["command"], "additionalProperties": false,
]

private let chatConversation: JSONValue = [
    "model": "exam-model", "stream": true, "stream_options": ["include_usage": true],
    "messages": [
        ["role": "system", "content": "You fix programs."],
        [
            "role": "user",
            "content": [
                ["type": "text", "text": "See the picture."],
                ["type": "image_url", "image_url": ["url": "data:image/png;base64,iVBORw0K"]],
            ],
        ],
        [
            "role": "assistant", "content": nil, "annotations": [],
            "provider_specific_fields": ["refusal": nil],
            "tool_calls": [
                [
                    "id": "call_1", "type": "function",
                    "function": ["name": "bash", "arguments": "{\"command\":\"ls\"}"],
                ]
            ],
        ],
        ["role": "tool", "tool_call_id": "call_1", "content": "agent.py"],
    ],
    "tools": [
        [
            "type": "function",
            "function": ["name": "bash", "description": "Runs.", "parameters": schema],
        ]
    ],
    "tool_choice": "auto", "seed": 7, "stop": ["END"], "reasoning_effort": "medium",
]

private let responsesConversation: JSONValue = [
    "model": "exam-model", "stream": true, "store": false, "instructions": "You fix programs.",
    "input": [
        [
            "type": "message", "id": "msg_1", "role": "developer",
            "content": [["type": "input_text", "text": "Rules."]],
        ],
        ["role": "user", "content": "Read the program."],
        [
            "type": "reasoning", "id": "rs_1", "summary": [["type": "summary_text", "text": "s"]],
            "content": nil, "encrypted_content": "gAAA",
        ],
        [
            "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "exec_command",
            "arguments": "{}", "status": "completed",
        ],
        ["type": "function_call_output", "call_id": "call_1", "output": "exit 0"],
        ["type": "custom_tool_call", "call_id": "call_2", "name": "apply_patch", "input": "***"],
        [
            "type": "custom_tool_call_output", "call_id": "call_2",
            "output": [["type": "input_text", "text": "done"]],
        ],
        [
            "type": "local_shell_call", "call_id": "call_3", "status": "completed",
            "action": ["type": "exec", "command": ["ls"], "env": [:], "timeout_ms": 1000],
        ],
        ["type": "local_shell_call_output", "call_id": "call_3", "output": "{}"],
        [
            "type": "message", "role": "assistant", "status": "completed",
            "content": [
                ["type": "output_text", "text": "Done.", "annotations": [], "logprobs": []]
            ],
        ],
    ],
    "tools": [
        [
            "type": "function", "name": "exec_command", "description": "Runs.", "strict": false,
            "parameters": schema,
        ],
        [
            "type": "custom", "name": "apply_patch", "description": "Patches.",
            "format": ["type": "grammar", "syntax": "lark", "definition": "start: \"x\""],
        ],
        [
            "type": "tool_search", "execution": "client", "description": "Finds.",
            "parameters": schema,
        ],
        ["type": "local_shell"],
    ],
    "tool_choice": "auto", "parallel_tool_calls": true, "include": ["reasoning.encrypted_content"],
    "reasoning": ["effort": "medium", "summary": "auto"], "text": ["verbosity": "low"],
    "client_metadata": ["session_id": "s-1"],
]

private let messagesConversation: JSONValue = [
    "model": "exam-model", "max_tokens": 4000, "stream": true,
    "system": [["type": "text", "text": "You fix programs."]],
    "messages": [
        ["role": "user", "content": [["type": "text", "text": "Read the program."]]],
        [
            "role": "system", "content": "The place is /work.",
            "output_config": ["effort": "medium"],
        ],
        [
            "role": "assistant",
            "content": [
                ["type": "thinking", "thinking": "So.", "signature": "c2ln"],
                ["type": "redacted_thinking", "data": "ZGF0YQ=="],
                ["type": "tool_use", "id": "toolu_1", "name": "Bash", "input": ["command": "ls"]],
            ],
        ],
        [
            "role": "user",
            "content": [
                [
                    "type": "tool_result", "tool_use_id": "toolu_1", "is_error": false,
                    "content": [
                        ["type": "text", "text": "agent.py"],
                        [
                            "type": "image",
                            "source": [
                                "type": "base64", "media_type": "image/png", "data": "iVBORw0K",
                            ],
                        ],
                    ],
                ]
            ],
        ],
    ],
    "tools": [
        ["name": "Bash", "description": "Runs.", "input_schema": schema],
        ["name": "Placeholder", "input_schema": ["type": "object"], "defer_loading": true],
        ["type": "bash_20250124", "name": "bash"],
    ],
    "tool_choice": ["type": "auto"],
    "thinking": ["type": "adaptive", "display": "updates"],
    "context_management": ["edits": [["type": "clear_thinking_20251015", "keep": "all"]]],
    "output_config": ["effort": "medium"],
]

private let geminiConversation: JSONValue = [
    "system_instruction": ["parts": [["text": "You fix programs."]]],
    "contents": [
        ["role": "user", "parts": [["text": "hi"], ["inline_data": inline]]],
        [
            "role": "model",
            "parts": [
                ["functionCall": ["name": "run", "args": ["x": 1]], "thoughtSignature": "c2"]
            ],
        ],
        [
            "role": "user",
            "parts": [["functionResponse": ["name": "run", "response": ["out": "ok"]]]],
        ],
    ],
    "tools": [["function_declarations": [["name": "run", "parameters": schema]]]],
    "toolConfig": ["functionCallingConfig": ["mode": "AUTO"]],
    "generationConfig": ["maxOutputTokens": 100, "thinkingConfig": ["thinkingLevel": "medium"]],
]
private let inline: JSONValue = ["mime_type": "image/png", "data": "iVBORw0K"]
