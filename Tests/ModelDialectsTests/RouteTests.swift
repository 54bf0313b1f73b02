import ModelDialects
import Testing

@Suite("A route")
struct RouteTests {
    @Test(
        "is one of these",
        arguments: [
            ("POST", "/v1/chat/completions", Route.generate(.openAIChat)),
            ("POST", "/chat/completions", .generate(.openAIChat)),
            ("POST", "/v1/responses", .generate(.openAIResponses)),
            ("POST", "/v1/messages", .generate(.anthropicMessages)),
            ("POST", "/v1/messages?beta=true", .generate(.anthropicMessages)),
            ("POST", "/v1/messages/count_tokens?beta=true", .countTokens(.anthropicMessages)),
            ("GET", "/v1/models", .listModels),
            ("GET", "/v1/models?client_version=0.163.0", .listModels),
            ("HEAD", "/", .reachability),
            (
                "POST", "/v1beta/models/gemini-3.0-pro:generateContent",
                .geminiGenerate(model: "gemini-3.0-pro", isStreaming: false)
            ),
            (
                "POST", "/v1beta/models/g:streamGenerateContent?alt=sse",
                .geminiGenerate(model: "g", isStreaming: true)
            ),
            ("POST", "/v1beta/models/g:countTokens", .geminiCountTokens(model: "g")),
        ]
    )
    func known(method: String, path: String, route: Route) {
        #expect(Route.of(method: method, path: path) == route)
    }

    @Test(
        "is no other spelling and no other door",
        arguments: [
            "GET /v1/chat/completions", "POST /v1/chat/completions/", "POST //v1/chat/completions",
            "POST /v1//chat/completions", "POST /V1/chat/completions", "post /v1/messages",
            "POST /v1/v1/messages", "POST /v1/chat%2Fcompletions", "POST /v1/./messages",
            "POST /v1/../v1/messages", "POST /v1/messages?", "POST /v1/messages?beta=1",
            "POST /v1/messages?beta=true&x=1", "POST /v1/messages#x", "POST /v1/messages;x",
            "POST http://x.example/v1/messages", "POST /v1/messages/batches", "POST /v1/files",
            "GET /v1/files/file-1/content", "POST /v1/responses/resp_1/cancel",
            "GET /v1/responses/resp_1", "DELETE /v1/responses/resp_1", "POST /v1/batches",
            "POST /v1/vector_stores", "POST /v1/conversations", "POST /v1/embeddings",
            "POST /v1/images/generations", "POST /v1/assistants", "POST /v1/responses/compact",
            "POST /v1/realtime/sessions", "POST /v1/containers", "POST /v1/skills",
            "POST /v1beta/models/g:generateContent?alt=sse", "POST /v1beta/models/:countTokens",
            "POST /v1beta/models/g:streamGenerateContent", "POST /v1beta/models/g:batchEmbed",
            "POST /v1beta/models/a/b:generateContent", "POST /v1beta/models/..:generateContent",
            "POST /v1beta/models/g:x:generateContent", "POST /v1beta/cachedContents",
            "POST /v1beta/models/g:generateContent?key=AIza", "GET /v1/models?after=x",
            "GET /v1/models?client_version=../..", "CONNECT x.example:443", "POST *", "GET /v1",
            "POST /v1/messages\u{7F}", "POST /v1/mess\u{430}ges", "GET /?x", "HEAD /v1",
        ]
    )
    func unknown(line: String) {
        let parts = line.split(separator: " ", maxSplits: 1)
        #expect(Route.of(method: String(parts[0]), path: String(parts[1])) == nil)
    }
}
