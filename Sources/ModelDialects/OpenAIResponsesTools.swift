internal import StrictJSON

// The tools of responses: those that the caller runs pass, every other is the provider's.
extension OpenAIResponses {
    private static let function = Shape.Members(
        [
            "name": .text, "description": .text, "parameters": .schema, "strict": .truth,
            "defer_loading": .truth,
        ],
        required: ["name"]
    )
    private static let custom = Shape.Members(
        [
            "name": .text, "description": .text, "format": OpenAIChat.grammar,
            "defer_loading": .truth,
        ],
        required: ["name"]
    )
    private static let named = Shape.tagged(
        .init("type", ["function": function, "custom": custom], otherwise: .providerTool)
    )

    static let tool = Shape.tagged(
        .init(
            "type",
            [
                "function": function, "custom": custom,
                "local_shell": .init([:]), "apply_patch": .init([:]),
                "namespace": .init(
                    ["name": .text, "description": .text, "tools": .list(named, most: 1_000)],
                    required: ["name", "tools"]
                ),
            ],
            special: [
                "tool_search": ranByClient(
                    .init(["description": .text, "parameters": .schema])
                )
            ],
            otherwise: .providerTool
        )
    )

    /// What has these members where the caller runs it, and is the provider's where not.
    static func ranByClient(_ members: Shape.Members) -> Shape {
        .tagged(
            .init(
                "execution",
                ["client": members.and(["type": .text])],
                special: ["": .providerTool],
                otherwise: .providerTool
            )
        )
    }

    private static let choice = Shape.Members(["name": .text], required: ["name"])
    static let toolChoice = Shape.kinds(
        text: .word(["none", "auto", "required"]),
        object: .tagged(
            .init(
                "type",
                [
                    "function": choice, "custom": choice, "local_shell": .init([:]),
                    "apply_patch": .init([:]),
                    "allowed_tools": .init(
                        [
                            "mode": .word(["auto", "required"]),
                            "tools": .list(
                                .tagged(
                                    .init(
                                        "type",
                                        [
                                            "function": choice, "custom": choice,
                                            "local_shell": .init([:]), "apply_patch": .init([:]),
                                        ],
                                        otherwise: .providerTool
                                    )
                                ),
                                most: 1_000
                            ),
                        ],
                        required: ["mode", "tools"]
                    ),
                ],
                otherwise: .providerTool
            )
        )
    )
}

extension RequestDraft {
    mutating func pinOpenAIResponses() {
        members["model"] = .string(pin.model)
        members["store"] = false
        pinTemperature(undoing: ["top_p"])
        outputLimit = pinOutput(Dialect.openAIResponses.outputNames)
        if form.efforts == [] {
            dropReasoning()
        } else if let effort = pin.effort, form.takes(effort: effort) {
            var reasoning = members["reasoning"]?.objectValue ?? [:]
            reasoning["effort"] = .string(effort)
            members["reasoning"] = .object(reasoning)
        }
        isStreaming = members["stream"]?.boolValue == true
        if !isStreaming { members["stream_options"] = nil }
        dropEmptyTools()
    }

    /// A model that does not reason takes no word about it.
    private mutating func dropReasoning() {
        if members.removeValue(forKey: "reasoning") != nil {
            reader.note(.effortChanged, "reasoning")
        }
        guard let include = members["include"]?.arrayValue else { return }
        let kept = include.filter { $0 != "reasoning.encrypted_content" }
        members["include"] = kept.isEmpty ? nil : .array(kept)
    }
}
