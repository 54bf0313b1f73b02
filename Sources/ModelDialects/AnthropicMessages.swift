/// The allow-list of Anthropic messages (API reference, `POST /v1/messages` and `count_tokens`),
/// with what Claude Code 2.1 sends.
enum AnthropicMessages {
    static func request(of route: Route) -> Shape.Members {
        route == .countTokens(.anthropicMessages) ? counted : generated
    }

    static let cacheControl = Shape.unsealed(
        .object(
            [
                "type": .word(["ephemeral"]), "ttl": .word(["5m", "1h"]),
                "scope": .word(["global", "organization"]),
            ],
            required: ["type"]
        ),
        .cacheControl
    )

    /// What counts as input, and so stands in both requests.
    private static let counted = Shape.Members(
        [
            "model": .text,
            "messages": .list(.object(message), most: 100_000),
            "system": .kinds(text: .text, list: .list(.tagged(systemBlock), most: 1_000)),
            "tools": .list(tool, most: 1_000),
            "tool_choice": toolChoice,
            "thinking": .tagged(
                .init(
                    "type",
                    [
                        "enabled": .init(
                            ["budget_tokens": .count, "display": display],
                            required: ["budget_tokens"]
                        ),
                        "adaptive": .init(["display": display]),
                        "disabled": .init([:]),
                    ]
                )
            ),
            "output_config": .unlessEmpty(
                .object(["effort": .effort, "format": outputFormat])
            ),
            "output_format": outputFormat,
            "context_management": .object(["edits": .list(edit, most: 16)]),
            "cache_control": cacheControl,
            "mcp_servers": .providerTool,
        ],
        required: ["model", "messages"]
    )

    private static let generated = counted.and(
        [
            "max_tokens": .count,
            "stream": .truth,
            "temperature": .number(0...1),
            "top_p": .number(0...1),
            "top_k": .integer(0...1_000_000),
            "stop_sequences": .list(.text, most: 10_000),
            "metadata": .unlessEmpty(
                .object(["user_id": .client(.identity)])
            ),
            "service_tier": .removed(.serviceTier),
            "speed": .removed(.serviceTier),
            "inference_geo": .removed(.serviceTier),
            "container": .refused(.storedState, "a container that the provider keeps"),
            // Names of betas belong into a header.
            "betas": .removed(nil), "anthropic_beta": .removed(nil),
            "anthropic_version": .removed(nil),
        ],
        required: ["max_tokens"]
    )

    private static let display = Shape.word(["summarized", "omitted", "updates"])
    private static let outputFormat = Shape.tagged(
        .init(
            "type",
            ["json_schema": .init(["schema": .schema, "name": .text], required: ["schema"])]
        )
    )
    private static let amount = Shape.object(
        ["type": .word(["input_tokens", "tool_uses", "thinking_turns"]), "value": .count],
        required: ["type", "value"]
    )
    private static let edit = Shape.tagged(
        .init(
            "type",
            [
                "clear_thinking_20251015": .init([
                    "keep": .kinds(text: .word(["all"]), object: amount)
                ]),
                "clear_tool_uses_20250919": .init([
                    "trigger": amount, "keep": amount, "clear_at_least": amount,
                    "exclude_tools": .list(.text, most: 1_000), "clear_tool_inputs": .truth,
                ]),
                "compact_20260112": .init([
                    "trigger": amount, "pause_after_compaction": .truth, "instructions": .text,
                ]),
            ]
        )
    )
}

// MARK: - tools

extension AnthropicMessages {
    private static let toolCommon: [String: Shape] = [
        "name": .text, "cache_control": cacheControl, "defer_loading": .truth, "strict": .truth,
        "eager_input_streaming": .truth, "allowed_callers": .list(.word(["direct"]), most: 8),
    ]
    private static let function = Shape.Members(toolCommon, required: ["name", "input_schema"])
        .and([
            "description": .text, "input_schema": .schema,
            "input_examples": .list(.json, most: 1_000),
        ])
    private static let builtIn = Shape.Members(toolCommon, required: ["name"])
        .and(["max_characters": .count])

    private static let tool = Shape.tagged(
        .init(
            "type",
            ["custom": function],
            // The caller runs these; the provider knows only how the model was taught to use them.
            prefixes: ["bash_": builtIn, "text_editor_": builtIn, "memory_": builtIn],
            absent: function,
            otherwise: .providerTool
        )
    )
    private static let choice: [String: Shape] = ["disable_parallel_tool_use": .truth]
    private static let toolChoice = Shape.tagged(
        .init(
            "type",
            [
                "auto": .init(choice), "any": .init(choice), "none": .init([:]),
                "tool": .init(choice, required: ["name"]).and(["name": .text]),
            ]
        )
    )
}
