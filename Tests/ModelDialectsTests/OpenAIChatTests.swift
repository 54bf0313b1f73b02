import ModelDialects
import StrictJSON
import Testing

@Suite("A request for a chat completion")
struct OpenAIChatTests {
    private static let pin = ModelPin(
        upstream: "main",
        dialects: [.openAIChat],
        model: "small-1",
        temperature: 0,
        maxOutputTokens: 1_000
    )

    private static func parse(_ text: String) throws -> ModelRequest {
        try ModelRequest.parse(
            Array(text.utf8),
            route: .generate(.openAIChat),
            pins: [pin],
            policy: RequestPolicy(isSealed: false)
        )
    }

    @Test("runs under its pin, whatever it asks")
    func pinned() throws {
        let request = try Self.parse(
            """
            {"model":"large-9","messages":[{"role":"user","content":"hi"}],"temperature":1.5,
             "n":40,"max_tokens":90000,"reasoning_effort":"high","store":true}
            """
        )
        let body: JSONValue = [
            "model": "small-1", "messages": [["role": "user", "content": "hi"]],
            "temperature": 0, "max_tokens": 1000, "store": false,
        ]
        #expect(request.body == body)
        #expect(
            Set(request.events.map(\.kind)) == [
                .modelChanged, .temperatureChanged, .fanOutChanged, .maxTokensChanged,
                .effortChanged, .storedState,
            ]
        )
    }
}
