import ModelDialects
import StrictJSON
import Testing

@Suite("What a pin makes of a request")
struct PinTests {
    @Test("a whole conversation passes with nothing to tell", arguments: Dialect.allCases)
    func conversationPasses(dialect: Dialect) throws {
        let request = try parsed(conversation(dialect), route(dialect))
        #expect(request.events.isEmpty)
        #expect(request.estimatedInputTokens > 10)
        #expect(request.bodyBytes == request.body.canonicalBytes)
    }

    @Test("a conversation passes where unknown members are refused", arguments: Dialect.allCases)
    func conversationIsKnown(dialect: Dialect) {
        #expect(refusal(of: conversation(dialect), route(dialect), unknown: .refuse) == nil)
    }

    @Test("D01: the model is the pin's, and an alias is no attempt", arguments: Dialect.allCases)
    func model(dialect: Dialect) throws {
        guard dialect != .geminiGenerate else { return }
        let named = try parsed(least(dialect).with(["model": "large-9"]), route(dialect))
        #expect(named.body["model"] == "small-1")
        #expect(named.events == [ModelEvent(.modelChanged, "large-9 was named")])
        let alias = try parsed(least(dialect).with(["model": "exam-model"]), route(dialect))
        #expect(alias.body["model"] == "small-1")
        #expect(alias.events.isEmpty)
    }

    @Test("a request chooses among the pins by alias or by model, and gets the first by any other")
    func choice() throws {
        let other = ModelPin(
            alias: "judge",
            upstream: "main",
            dialects: [.openAIChat],
            model: "big-1",
            maxOutputTokens: 10
        )
        for (name, model) in [("judge", "big-1"), ("big-1", "big-1"), ("x", "small-1")] {
            let request = try ModelRequest.parse(
                least(.openAIChat).with(["model": .string(name)]).canonicalBytes,
                route: .generate(.openAIChat),
                pins: [pin(), other],
                policy: RequestPolicy(isSealed: false)
            )
            #expect(request.pin.model == model)
        }
    }

    @Test("a dialect that no pin speaks is refused")
    func dialect() throws {
        let chat = ModelPin(
            upstream: "main",
            dialects: [.openAIChat],
            model: "m",
            maxOutputTokens: 10
        )
        let found = refusal(of: least(.anthropicMessages), route(.anthropicMessages), pin: chat)
        #expect(found?.status == 404)
    }

    @Test("temperature, length and number of answers are the pin's")
    func numbers() throws {
        let asked: JSONValue = [
            "temperature": 1.5, "n": 9, "best_of": 9, "max_tokens": 90_000, "top_p": 0.1,
        ]
        let body = least(.openAIChat).with(asked.objectValue ?? [:])
        let request = try parsed(
            body,
            .generate(.openAIChat),
            pin: pin(effort: nil, temperature: 0.25, choices: 2)
        )
        #expect(request.body["temperature"] == 0.25)
        #expect(request.body["n"] == 2)
        #expect(request.body["best_of"] == nil)
        #expect(request.body["top_p"] == nil)
        #expect(request.body["max_tokens"] == 8_000)
        #expect(request.outputLimit == 16_000)
        #expect(
            Set(request.kinds) == [.temperatureChanged, .fanOutChanged, .maxTokensChanged]
        )
    }

    @Test("a request may ask for a shorter answer, and gets the pin's limit where it asks for none")
    func length() throws {
        let short = try parsed(
            least(.openAIResponses).with(["max_output_tokens": 50]),
            route(.openAIResponses)
        )
        #expect(short.body["max_output_tokens"] == 50)
        let silent = try parsed(least(.openAIResponses), route(.openAIResponses))
        #expect(silent.body["max_output_tokens"] == 8_000)
        #expect(short.events.isEmpty && silent.events.isEmpty)
    }

    @Test("D02: an effort is the pin's in every dialect's own place")
    func effort() throws {
        let chat = try parsed(
            least(.openAIChat).with(["reasoning_effort": "high"]),
            route(.openAIChat)
        )
        #expect(chat.body["reasoning_effort"] == "medium")
        let responses = try parsed(
            least(.openAIResponses).with(["reasoning": ["effort": "high"]]),
            route(.openAIResponses)
        )
        #expect(responses.body["reasoning"] == ["effort": "medium"])
        let messages = try parsed(
            least(.anthropicMessages).with([
                "output_config": ["effort": "max"],
                "messages": [
                    ["role": "user", "content": "x", "output_config": ["effort": "max"]]
                ],
            ]),
            route(.anthropicMessages)
        )
        #expect(messages.body["output_config"] == ["effort": "medium"])
        #expect(messages.body["messages"] == [["role": "user", "content": "x"]])
        let gemini = try parsed(
            least(.geminiGenerate).with([
                "generationConfig": ["thinking_config": ["thinkingLevel": "high"]]
            ]),
            route(.geminiGenerate)
        )
        let configuration = gemini.body["generationConfig"]
        #expect(configuration?["thinkingConfig"] == ["thinkingLevel": "medium"])
        for request in [chat, responses, messages, gemini] {
            #expect(Set(request.kinds) == [.effortChanged])
        }
    }

    @Test("no pinned effort means the provider's, not the request's")
    func noEffort() throws {
        let request = try parsed(
            conversation(.anthropicMessages),
            route(.anthropicMessages),
            pin: pin(effort: nil)
        )
        #expect(request.body["thinking"] == nil)
        #expect(request.body["output_config"] == nil)
        // The provider refuses to clear thinking where there is none.
        #expect(request.body["context_management"] == nil)
        #expect(Set(request.kinds) == [.effortChanged])
    }

    @Test("a number is a budget of thinking that lies below the limit of the answer")
    func budget() throws {
        let body = least(.anthropicMessages).with([
            "max_tokens": 3_000,
            "thinking": ["type": "enabled", "budget_tokens": 50_000],
        ])
        let request = try parsed(body, route(.anthropicMessages), pin: pin(effort: "6000"))
        #expect(request.body["thinking"] == ["type": "enabled", "budget_tokens": 2_999])
        #expect(request.kinds == [.effortChanged])
    }

    @Test("what keeps state at the provider is forced off", arguments: Dialect.allCases)
    func stateless(dialect: Dialect) throws {
        guard dialect != .anthropicMessages else { return }
        let request = try parsed(least(dialect).with(["store": true]), route(dialect))
        #expect(request.body["store"] == (dialect == .geminiGenerate ? nil : false))
        #expect(request.kinds == [.storedState])
    }

    @Test("usage is asked for in a stream, and the answer tells who asked")
    func usage() throws {
        let asked = try parsed(least(.openAIChat).with(["stream": true]), route(.openAIChat))
        #expect(asked.body["stream_options"] == ["include_usage": true])
        #expect(asked.addsUsage && asked.isStreaming)
        #expect(try !parsed(conversation(.openAIChat), route(.openAIChat)).addsUsage)
    }

    @Test("what is left of a budget shortens an answer", arguments: Dialect.allCases)
    func limited(dialect: Dialect) throws {
        let request = try parsed(least(dialect), route(dialect))
        let limited = request.limitingOutput(to: 17)
        #expect(limited.outputLimit == 17)
        #expect(limited.bodyBytes == limited.body.canonicalBytes)
        #expect(
            try ModelRequest.parse(
                limited.bodyBytes,
                route: route(dialect),
                pins: [pin()],
                policy: RequestPolicy(isSealed: false)
            ).outputLimit == 17
        )
        #expect(limited.limitingOutput(to: 18) == limited)
    }

    @Test("tokens are counted without a limit of output")
    func counted() throws {
        let body = conversation(.anthropicMessages)
        let request = try parsed(body, .countTokens(.anthropicMessages))
        #expect(request.body["max_tokens"] == nil)
        #expect(request.outputLimit == 0)
        #expect(!request.isStreaming)
        let gemini = try parsed(
            ["generateContentRequest": ["model": "models/x", "contents": []]],
            .geminiCountTokens(model: "small-1")
        )
        #expect(gemini.body["generateContentRequest"]?["model"] == "models/small-1")
    }

    @Test(
        "no name that a caller gives itself reaches a provider",
        arguments: Dialect.allCases
    )
    func names(dialect: Dialect) throws {
        let chosen: [String: JSONValue] =
            switch dialect {
            case .openAIChat, .openAIResponses:
                [
                    "user": "chosen", "safety_identifier": "chosen", "prompt_cache_key": "chosen",
                    "metadata": ["k": "chosen"],
                ]
            case .anthropicMessages: ["metadata": ["user_id": "chosen"]]
            case .geminiGenerate: ["labels": ["k": "chosen"]]
            }
        func text(_ body: JSONValue) throws -> String {
            let asked = try ModelRequest.parse(
                body.canonicalBytes,
                route: route(dialect),
                pins: [pin()],
                policy: RequestPolicy(isSealed: false, client: "ours")
            )
            return String(decoding: asked.bodyBytes, as: UTF8.self)
        }
        // The instrument: what is no name goes out as it was written.
        #expect(try text(least(dialect)).contains("hi"))
        let sent = try text(least(dialect).with(chosen))
        #expect(!sent.contains("chosen"), "\(sent)")
        #expect(dialect == .geminiGenerate || sent.contains("ours"), "\(sent)")
    }

    @Test("a cassette's key hangs on what is asked, not on who asks")
    func cassette() throws {
        let one = least(.openAIResponses).with(["prompt_cache_key": "a", "metadata": ["k": "1"]])
        let other = least(.openAIResponses).with(["prompt_cache_key": "b"])
        let key = try parsed(one, route(.openAIResponses)).cassetteKey
        #expect(try parsed(other, route(.openAIResponses)).cassetteKey == key)
        let different = least(.openAIResponses).with(["input": "ho"])
        #expect(try parsed(different, route(.openAIResponses)).cassetteKey != key)
        #expect(try parsed(least(.openAIChat), route(.openAIChat)).cassetteKey != key)
    }
}
