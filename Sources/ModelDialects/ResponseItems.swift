internal import StrictJSON

// The answers of OpenAI responses.
extension ResponseShapes {
    private static let content = Shape.list(
        .tagged(
            .init(
                "type",
                [
                    "output_text": .init(["text": .text, "annotations": .constant([])]),
                    "refusal": .init(["refusal": .text]),
                    "summary_text": .init(["text": .text]),
                    "reasoning_text": .init(["text": .text]),
                ]
            )
        ),
        most: 10_000
    )
    private static let common: [String: Shape] = [
        "id": .text, "status": .text, "call_id": .text, "name": .text, "namespace": .text,
    ]
    private static let item = Shape.tagged(
        .init(
            "type",
            [
                "message": .init(common)
                    .and(["role": .text, "content": content, "phase": .text]),
                "function_call": .init(common).and(["arguments": .text]),
                "custom_tool_call": .init(common).and(["input": .text]),
                "reasoning": .init(common)
                    .and([
                        "summary": content, "content": .orNull(content),
                        "encrypted_content": .orNull(.text),
                    ]),
                "local_shell_call": .init(common).and(["action": .json]),
                "apply_patch_call": .init(common).and(["operation": .json]),
                "tool_search_call": .init(common).and(["execution": .text, "arguments": .json]),
                "compaction": .init(common).and(["encrypted_content": .text]),
            ]
        )
    )
    private static let response: [String: Shape] = [
        "id": .constant("resp_0"), "object": .text, "created_at": .constant(0), "status": .text,
        "model": .text, "output": .list(item, most: 10_000), "error": fault,
        "incomplete_details": .orNull(.object(["reason": .text])),
        "parallel_tool_calls": .truth, "tool_choice": .constant("auto"), "tools": .constant([]),
        "usage": .orNull(
            .object([
                "input_tokens": .count, "output_tokens": .count, "total_tokens": .count,
                "output_tokens_details": .object(["reasoning_tokens": .count]),
            ])
        ),
    ]
    private static let part = Shape.object([
        "type": .text, "text": .text, "refusal": .text, "annotations": .constant([]),
    ])
    /// An event has a type, a whole answer has none.
    static let responses = Shape.tagged(
        .init(
            "type",
            ["error": .init(["message": .constant("the provider reported an error")])],
            special: ["": .object(.init(response))],
            otherwise: .object([
                "type": .text, "sequence_number": .count, "output_index": index,
                "content_index": index, "summary_index": index, "item_id": .text,
                "delta": .text, "text": .text, "refusal": .text, "arguments": .text,
                "input": .text, "name": .text, "item": item, "part": part,
                "response": .object(.init(response)),
            ])
        )
    )

    /// The answer with ids that say only which item is meant: `item_` and its place.
    static func numbered(_ value: JSONValue) -> JSONValue {
        guard case .object(var members) = value else { return value }
        let place = members["output_index"]?.intValue ?? 0
        if members["item_id"] != nil { members["item_id"] = .string("item_\(place)") }
        if let item = members["item"] { members["item"] = numbered(item, place) }
        if let response = members["response"] { members["response"] = numbered(response) }
        if let output = members["output"]?.arrayValue {
            members["output"] = .array(output.enumerated().map { numbered($1, $0) })
        }
        return .object(members)
    }

    private static func numbered(_ item: JSONValue, _ place: Int) -> JSONValue {
        guard case .object(var members) = item, members["id"] != nil else { return item }
        members["id"] = .string("item_\(place)")
        return .object(members)
    }
}
