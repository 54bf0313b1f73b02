import ModelDialects
import StrictJSON
import Testing

@Suite("A meter of usage")
struct UsageMeterTests {
    private static func meter(_ dialect: Dialect, _ events: [JSONValue]) -> UsageMeter {
        var meter = UsageMeter(dialect, estimatedInputTokens: 50)
        for event in events {
            meter.event(SSEEvent(name: nil, data: event.canonicalBytes, raw: []))
        }
        return meter
    }

    static let streams: [(Dialect, [JSONValue], TokenUsage)] = [
        (
            .openAIChat,
            [
                ["choices": [["delta": ["role": "assistant", "content": "hello"]]]],
                [
                    "choices": [],
                    "usage": [
                        "prompt_tokens": 9, "completion_tokens": 3,
                        "prompt_tokens_details": ["cached_tokens": 4],
                    ],
                ],
            ],
            TokenUsage(input: 9, output: 3, cachedInput: 4, source: .provider)
        ),
        (
            .openAIResponses,
            [
                ["type": "response.output_text.delta", "delta": "hello"],
                [
                    "type": "response.completed",
                    "response": ["usage": ["input_tokens": 9, "output_tokens": 3]],
                ],
            ],
            TokenUsage(input: 9, output: 3, source: .provider)
        ),
        (
            .anthropicMessages,
            [
                [
                    "type": "message_start",
                    "message": [
                        "usage": [
                            "input_tokens": 4, "cache_read_input_tokens": 3,
                            "cache_creation_input_tokens": 2, "output_tokens": 1,
                        ]
                    ],
                ],
                ["type": "content_block_delta", "delta": ["type": "text_delta", "text": "hello"]],
                ["type": "message_delta", "usage": ["output_tokens": 3]],
            ],
            TokenUsage(input: 9, output: 3, cachedInput: 3, source: .provider)
        ),
        (
            .geminiGenerate,
            [
                [
                    "candidates": [["content": ["parts": [["text": "hello"]]]]],
                    "usageMetadata": ["promptTokenCount": 9],
                ],
                [
                    "usageMetadata": [
                        "promptTokenCount": 9, "candidatesTokenCount": 1, "thoughtsTokenCount": 2,
                    ]
                ],
            ],
            TokenUsage(input: 9, output: 3, source: .provider)
        ),
    ]

    @Test("D04: takes the provider's numbers at the end of a stream", arguments: streams)
    func told(dialect: Dialect, events: [JSONValue], usage: TokenUsage) {
        #expect(Self.meter(dialect, events).usage == usage)
    }

    @Test("counts bytes while the provider has told nothing", arguments: streams)
    func counted(dialect: Dialect, events: [JSONValue], usage: TokenUsage) {
        let cut = Self.meter(dialect, events.dropLast()).usage
        #expect(cut.source == .count)
        #expect(cut.output >= 2)
        #expect(cut.input > 0)
    }

    @Test("reads a whole answer")
    func whole() {
        var meter = UsageMeter(.anthropicMessages)
        meter.response([
            "type": "message", "content": [["type": "text", "text": "hi"]],
            "usage": ["input_tokens": 9, "output_tokens": 3],
        ])
        #expect(meter.usage == TokenUsage(input: 9, output: 3, source: .provider))
        var counting = UsageMeter(.anthropicMessages)
        counting.response(["input_tokens": 12])
        #expect(counting.usage.input == 12)
    }

    @Test("D04: believes no number that cannot be, and counts what it cannot read")
    func hostile() {
        var meter = UsageMeter(.openAIChat)
        meter.response(["usage": ["prompt_tokens": -5, "completion_tokens": 9_000_000_000_000]])
        #expect(meter.usage.input == 0)
        #expect(meter.usage.output == 1_000_000_000)
        var broken = UsageMeter(.openAIChat)
        broken.event(SSEEvent(name: nil, data: Array("{not json".utf8), raw: []))
        #expect(broken.usage.output == 3)
        broken.event(SSEEvent(name: nil, data: Array("[DONE]".utf8), raw: []))
        #expect(broken.usage.output == 3)
    }
}
