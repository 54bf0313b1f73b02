import ModelDialects
import StrictJSON
import Testing

@Suite("A request from a sealed exam")
struct SealedRequestTests {
    static let marks: [(Dialect, String, JSONValue, ModelEvent.Kind)] = [
        (.openAIChat, "user", "u-1", .identity),
        (.openAIChat, "safety_identifier", "u-1", .identity),
        (.openAIChat, "metadata", ["k": "v"], .identity),
        (.openAIChat, "prompt_cache_key", "k", .cacheControl),
        (.openAIChat, "prompt_cache_retention", "24h", .cacheControl),
        (.openAIResponses, "user", "u-1", .identity),
        (.openAIResponses, "metadata", ["k": "v"], .identity),
        (.openAIResponses, "prompt_cache_key", "k", .cacheControl),
        (.anthropicMessages, "metadata", ["user_id": "u-1"], .identity),
        (.anthropicMessages, "cache_control", ["type": "ephemeral"], .cacheControl),
    ]

    @Test("carries no identity and no cache control, which others may carry", arguments: marks)
    func mark(dialect: Dialect, name: String, value: JSONValue, kind: ModelEvent.Kind) throws {
        let body = least(dialect).with([name: value])
        // The instrument: outside a sealed exam the member goes upstream, a name that the caller gives itself
        // as ours.
        let open = try parsed(body, route(dialect))
        let ours: JSONValue =
            switch name {
            case "metadata": dialect == .anthropicMessages ? ["user_id": "invigilator"] : .null
            case "cache_control", "prompt_cache_retention": value
            default: "invigilator"
            }
        #expect(open.body[name] ?? .null == ours)
        #expect(open.events.isEmpty)
        let sealed = try parsed(body, route(dialect), sealed: true)
        #expect(sealed.body[name] == nil)
        #expect(sealed.kinds == [kind])
    }

    @Test("carries no cache control in a block either")
    func blocks() throws {
        let text: JSONValue = [
            "type": "text", "text": "x", "cache_control": ["type": "ephemeral", "ttl": "1h"],
        ]
        let body = least(.anthropicMessages).with([
            "system": [text], "messages": [["role": "user", "content": [text]]],
        ])
        #expect(try parsed(body, route(.anthropicMessages)).body["system"] == [text])
        let sealed = try parsed(body, route(.anthropicMessages), sealed: true)
        #expect(sealed.body["system"] == [["type": "text", "text": "x"]])
        #expect(Set(sealed.kinds) == [.cacheControl])
    }

    @Test("may carry a seed")
    func seed() throws {
        let body = least(.openAIChat).with(["seed": 7])
        #expect(try parsed(body, route(.openAIChat), sealed: true).body["seed"] == 7)
    }

    @Test("chooses no class of service, nor does any other", arguments: [true, false])
    func service(isSealed: Bool) throws {
        for dialect in [Dialect.openAIChat, .openAIResponses, .anthropicMessages] {
            let body = least(dialect).with(["service_tier": "priority"])
            let request = try parsed(body, route(dialect), sealed: isSealed)
            #expect(request.body["service_tier"] == nil)
            #expect(request.kinds == [.serviceTier])
        }
    }

    @Test("puts none of its words into an event", arguments: Dialect.allCases)
    func words(dialect: Dialect) throws {
        let secret = "task-secret-answer"
        var changes: [String: JSONValue] = [
            secret: 1, "model": .string(secret), "tools": [["type": .string(secret), secret: 1]],
        ]
        if dialect == .geminiGenerate { changes["model"] = nil }
        let body = least(dialect).with(changes)
        let open = try parsed(body, route(dialect))
        // The instrument: outside a sealed exam the words are told.
        #expect(open.events.contains { $0.detail.contains(secret) })
        let sealed = try parsed(body, route(dialect), sealed: true)
        #expect(!sealed.events.isEmpty)
        #expect(!sealed.events.contains { $0.detail.contains("secret") })
    }
}
