internal import StrictJSON

/// What identifies a call, taken out of answers wherever it stands.
enum ResponseShapes {
    private static let dropped: Set<String> = [
        "system_fingerprint", "service_tier", "request_id", "safety_identifier", "user",
        "prompt_cache_key", "metadata", "billing", "obfuscation", "modelVersion", "responseId",
        "provider", "x_groq", "timings", "inference_geo",
    ]
    private static let zeroed: Set<String> = [
        "created", "created_at", "completed_at", "createTime",
    ]

    static func scrubbed(_ value: JSONValue, _ dialect: Dialect) -> JSONValue {
        guard case .object(var members) = value else { return value }
        for name in dropped { members[name] = nil }
        for name in zeroed where members[name] != nil { members[name] = 0 }
        let constants = ["chat.completion": "chatcmpl-0", "chat.completion.chunk": "chatcmpl-0"]
        switch members["object"]?.stringValue ?? members["type"]?.stringValue {
        case "response"?: members["id"] = "resp_0"
        case "message"?: members["id"] = "msg_0"
        case let kind?: if let id = constants[kind] { members["id"] = .string(id) }
        case nil: break
        }
        for name in ["response", "message"] {
            if let inner = members[name], inner.objectValue?["id"] != nil {
                members[name] = scrubbed(inner, dialect)
            }
        }
        return .object(members)
    }
}
