import ModelDialects
import StrictJSON
import Testing

@Suite("What of an answer reaches a sandbox")
struct ResponseScrubTests {
    @Test("two headers, in few spellings")
    func headers() {
        let kept = ResponseScrub.headers(
            [
                ("Content-Type", "application/json; charset=utf-8; x=secret"),
                ("x-request-id", "req_1"), ("Set-Cookie", "a=b"), ("Date", "today"),
                ("x-ratelimit-remaining-tokens", "99"), ("openai-organization", "o"),
                ("Retry-After", "17"), ("Server", "x"), ("content-type", "text/html"),
            ],
            isSealed: false
        )
        #expect(kept.map(\.name) == ["content-type", "retry-after"])
        #expect(kept.map(\.value) == ["application/json", "30"])
        let sealed = ResponseScrub.headers([("Retry-After", "17")], isSealed: true)
        #expect(sealed.map(\.value) == ["10"])
    }

    private static let marks: [String: JSONValue] = [
        "system_fingerprint": "fp_secret", "service_tier": "secret", "x_secret": "secret",
    ]

    static let answers: [(Dialect, JSONValue, JSONValue)] = [
        (
            .openAIChat,
            [
                "id": "chatcmpl-secret", "object": "chat.completion", "created": 17,
                "model": "small-1",
                "choices": [
                    [
                        "index": 0, "finish_reason": "stop", "logprobs": nil,
                        "message": [
                            "role": "assistant", "content": "hi", "refusal": nil,
                            "annotations": ["secret"],
                        ],
                    ]
                ],
                "usage": [
                    "prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12,
                    "prompt_tokens_details": ["cached_tokens": 8],
                ],
            ],
            [
                "id": "chatcmpl-0", "object": "chat.completion", "created": 0, "model": "small-1",
                "choices": [
                    [
                        "index": 0, "finish_reason": "stop", "logprobs": nil,
                        "message": ["role": "assistant", "content": "hi", "refusal": nil],
                    ]
                ],
                "usage": ["prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12],
            ]
        ),
        (
            .openAIResponses,
            [
                "type": "response.output_item.done", "sequence_number": 4, "output_index": 2,
                "item": [
                    "id": "fc_secret", "type": "function_call", "call_id": "call_1",
                    "name": "run", "arguments": "{}", "status": "completed",
                ],
            ],
            [
                "type": "response.output_item.done", "sequence_number": 4, "output_index": 2,
                "item": [
                    "id": "item_2", "type": "function_call", "call_id": "call_1", "name": "run",
                    "arguments": "{}", "status": "completed",
                ],
            ]
        ),
        (
            .openAIResponses,
            [
                "id": "resp_secret", "object": "response", "created_at": 17, "model": "small-1",
                "status": "completed", "error": nil, "metadata": ["k": "secret"],
                "output": [
                    [
                        "id": "msg_secret", "type": "message", "role": "assistant",
                        "content": [["type": "output_text", "text": "hi", "logprobs": []]],
                    ]
                ],
            ],
            [
                "id": "resp_0", "object": "response", "created_at": 0, "model": "small-1",
                "status": "completed", "error": nil,
                "output": [
                    [
                        "id": "item_0", "type": "message", "role": "assistant",
                        "content": [["type": "output_text", "text": "hi"]],
                    ]
                ],
            ]
        ),
        (
            .anthropicMessages,
            [
                "type": "message_start", "request_id": "req_secret",
                "message": [
                    "id": "msg_secret", "type": "message", "role": "assistant", "content": [],
                    "model": "small-1", "stop_reason": nil,
                    "usage": ["input_tokens": 9, "output_tokens": 1, "service_tier": "secret"],
                ],
            ],
            [
                "type": "message_start",
                "message": [
                    "id": "msg_0", "type": "message", "role": "assistant", "content": [],
                    "model": "small-1", "stop_reason": nil,
                    "usage": ["input_tokens": 9, "output_tokens": 1],
                ],
            ]
        ),
        (
            .geminiGenerate,
            [
                "candidates": [
                    [
                        "content": ["role": "model", "parts": [["text": "hi"]]], "index": 0,
                        "groundingMetadata": "secret",
                    ]
                ],
                "responseId": "secret", "modelVersion": "secret",
            ],
            [
                "candidates": [
                    ["content": ["role": "model", "parts": [["text": "hi"]]], "index": 0]
                ]
            ]
        ),
    ]

    @Test("in a sealed exam: the allow-list alone", arguments: answers)
    func sealed(dialect: Dialect, answer: JSONValue, scrubbed: JSONValue) throws {
        let marked = answer.with(Self.marks)
        #expect(ResponseScrub.body(marked, dialect: dialect, isSealed: true) == scrubbed)
        #expect(ResponseScrub.body(marked, dialect: dialect, isSealed: false) == marked)
        let event = SSEEvent(name: "x", data: marked.canonicalBytes, raw: [])
        let wire = ResponseScrub.event(event, dialect: dialect, isSealed: true)
        let text = String(decoding: wire, as: UTF8.self)
        #expect(!text.contains("secret"))
        #expect(text.hasSuffix(String(decoding: scrubbed.canonicalBytes, as: UTF8.self) + "\n\n"))
    }

    @Test("nothing of an answer that is none")
    func none() {
        #expect(ResponseScrub.body(["choices": 5], dialect: .openAIChat, isSealed: true) == nil)
        let event = SSEEvent(name: nil, data: Array("{".utf8), raw: [])
        #expect(ResponseScrub.event(event, dialect: .openAIChat, isSealed: true).isEmpty)
    }

    @Test("the words of a provider's error stay away in a sealed exam")
    func fault() {
        let event: JSONValue = [
            "type": "error", "error": ["type": "overloaded_error", "message": "org secret"],
        ]
        let scrubbed = ResponseScrub.body(event, dialect: .anthropicMessages, isSealed: true)
        #expect(scrubbed?["error"]?["type"] == "overloaded_error")
        #expect(scrubbed?["error"]?["message"] == "the provider reported an error")
    }

    @Test("the end of a stream as it is")
    func done() {
        let event = SSEEvent(name: nil, data: Array("[DONE]".utf8), raw: [])
        let wire = ResponseScrub.event(event, dialect: .openAIChat, isSealed: true)
        #expect(wire == Array("data: [DONE]\n\n".utf8))
    }
}

@Suite("An error in a provider's form")
struct ProviderErrorTests {
    private static func value(_ bytes: [UInt8]) throws -> JSONValue {
        try JSONValue(parsing: bytes, limits: .frame)
    }

    @Test("says that a budget is spent so that programs stop", arguments: Dialect.allCases)
    func spent(dialect: Dialect) throws {
        let answer = ProviderError.budgetSpent(dialect, account: "campaign")
        // What each program was seen to end at, without another try.
        let statuses: [Dialect: Int] = [
            .anthropicMessages: 402, .openAIResponses: 400, .openAIChat: 401, .geminiGenerate: 402,
        ]
        #expect(answer.status == statuses[dialect])
        let error = try Self.value(answer.body)["error"]
        let message = try #require(error?["message"]?.stringValue)
        #expect(message.contains("'campaign'"))
        #expect(message.contains("insufficient credits") && message.contains("\"code\":402"))
        switch dialect {
        case .openAIChat, .openAIResponses:
            #expect(error?["code"] == "insufficient_quota")
            #expect(error?["type"] == "insufficient_quota")
        case .anthropicMessages: #expect(error?["type"] == "billing_error")
        case .geminiGenerate: #expect(error?["code"] == 402)
        }
    }

    @Test("has the form of its dialect for every condition", arguments: Dialect.allCases)
    func forms(dialect: Dialect) throws {
        for condition in ProviderError.Condition.allCases {
            let value = try Self.value(ProviderError.body(dialect, condition, message: "m\u{1}\n"))
            #expect(value["error"]?["message"]?.stringValue?.hasSuffix("m??") == true)
            #expect((value["type"] == "error") == (dialect == .anthropicMessages))
            var splitter = SSESplitter()
            let end = ProviderError.streamEnd(dialect, condition, message: "m")
            let events = try splitter.feed(end)
            #expect(events.count == 1)
            let event = try Self.value(events[0].data)
            switch dialect {
            case .openAIChat, .geminiGenerate: #expect(events[0].name == nil)
            case .openAIResponses:
                #expect(events[0].name == "response.failed")
                #expect(event["response"]?["error"]?["code"] != nil)
            case .anthropicMessages:
                #expect(events[0].name == "error" && event["type"] == "error")
            }
        }
    }

    @Test("answers a refusal with its status and its member")
    func refused() throws {
        let body = least(.openAIResponses).with(["background": true])
        let found = try #require(
            refusal(of: body, route(.openAIResponses))
        )
        let answer = ProviderError.answer(to: found, in: .openAIResponses)
        #expect(answer.status == 400)
        let message = try Self.value(answer.body)["error"]?["message"]?.stringValue
        #expect(message?.hasPrefix("background: ") == true)
        #expect(ProviderError.condition(ofUpstream: 401) == .upstreamFailed)
        #expect(ProviderError.condition(ofUpstream: 429) == .rateLimited)
    }

    @Test("names of betas pass by a list")
    func betas() {
        let policy = RequestPolicy(isSealed: false)
        let header = """
            claude-code-20250219, interleaved-thinking-2025-05-14,code-execution-2025-08-25,\
            mcp-client-2025-11-20,files-api-2025-04-14,skills-2025-10-02,effort-2025-11-24,\
            claude-code-20250219,effort,effort-x,-2025-11-24,web-fetch-2025-09-10
            """
        let (kept, removed) = policy.betas(of: header)
        #expect(
            kept == "claude-code-20250219,interleaved-thinking-2025-05-14,effort-2025-11-24"
        )
        #expect(removed == 9)
        #expect(policy.betas(of: "").kept == nil)
    }
}

@Suite("A list of models")
struct ModelListTests {
    @Test("names each pin once, by its alias where it has one", arguments: [true, false])
    func names(isAnthropic: Bool) throws {
        let other = ModelPin(upstream: "u", dialects: [], model: "big-1", maxOutputTokens: 1)
        let bytes = ModelList.body([pin(), pin(effort: nil), other], isAnthropic: isAnthropic)
        let list = try JSONValue(parsing: bytes, limits: .frame)
        let models = list["data"]?.arrayValue ?? []
        #expect(models.map { $0["id"] } == ["exam-model", "big-1"])
        #expect(list["object"] == (isAnthropic ? nil : "list"))
        #expect(list["last_id"] == (isAnthropic ? "big-1" : nil))
    }
}
