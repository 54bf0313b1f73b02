// The tools of chat completions, and the choice among them.

extension OpenAIChat {
    static let function = Shape.Members(
        ["name": .text, "description": .text, "parameters": .schema, "strict": .truth],
        required: ["name"]
    )
    static let called: [String: Shape] = ["name": .text, "arguments": .text]
    private static let callCommon: [String: Shape] = [
        "id": .text, "index": .integer(0...10_000), "provider_specific_fields": .removed(nil),
    ]
    static let toolCall = Shape.tagged(
        .init(
            "type",
            [
                "function": .init(callCommon, required: ["id", "function"])
                    .and(["function": .object(called, required: ["name", "arguments"])]),
                "custom": .init(callCommon, required: ["id", "custom"])
                    .and([
                        "custom": .object(
                            ["name": .text, "input": .text],
                            required: ["name", "input"]
                        )
                    ]),
            ],
            absent: .init(callCommon, required: ["id", "function"])
                .and(["function": .object(called, required: ["name", "arguments"])])
        )
    )

    static let grammar = Shape.tagged(
        .init(
            "type",
            [
                "text": .init([:]),
                "grammar": .init([
                    "syntax": .word(["lark", "regex"]), "definition": .text,
                    "grammar": .object(["syntax": .word(["lark", "regex"]), "definition": .text]),
                ]),
            ]
        )
    )
    static let tool = Shape.tagged(
        .init(
            "type",
            [
                "function": .init(["cache_control": cacheControl], required: ["function"])
                    .and(["function": .object(function.and(["cache_control": cacheControl]))]),
                "custom": .init(
                    [
                        "custom": .object(
                            ["name": .text, "description": .text, "format": grammar],
                            required: ["name"]
                        )
                    ],
                    required: ["custom"]
                ),
            ],
            otherwise: .providerTool
        )
    )

    private static let named = Shape.object(["name": .text], required: ["name"])
    static let toolChoice = Shape.kinds(
        text: .word(["none", "auto", "required", "any"]),
        object: .tagged(
            .init(
                "type",
                [
                    "function": .init(["function": named], required: ["function"]),
                    "custom": .init(["custom": named], required: ["custom"]),
                ],
                otherwise: .providerTool
            )
        )
    )
    static let responseFormat = Shape.tagged(
        .init(
            "type",
            [
                "text": .init([:]), "json_object": .init([:]),
                "json_schema": .init(
                    [
                        "json_schema": .object(
                            [
                                "name": .text, "description": .text, "schema": .schema,
                                "strict": .truth,
                            ],
                            required: ["name"]
                        )
                    ],
                    required: ["json_schema"]
                ),
            ]
        )
    )
}
