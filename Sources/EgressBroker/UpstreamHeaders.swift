internal import BrokerProtocol
internal import HTTPFront
internal import ModelDialects
internal import NIOHTTP1

/// The headers of a request to a provider: built anew, so that nothing of the sandbox passes but
/// what stands here.
enum UpstreamHeaders {
    // Flags that change only how this one request is read. Those of files, of provider-run tools
    // and of connectors are left out.
    private static let betas: Set<String> = [
        "claude-code-20250219", "context-management-2025-06-27", "effort-2025-11-24",
        "fine-grained-tool-streaming-2025-05-14", "interleaved-thinking-2025-05-14",
        "mid-conversation-tool-changes-2026-07-01", "output-128k-2025-02-19",
        "per-turn-control-2026-07-01", "thinking-token-count-2026-05-13",
        "token-efficient-tools-2025-02-19",
    ]

    /// The headers for one request.
    ///
    /// - Parameters:
    ///   - request: what the sandbox asked.
    ///   - dialect: the dialect.
    ///   - key: the provider's key; empty where it wants none.
    ///   - isStreaming: whether a stream of events is expected.
    /// - Returns: the headers; the client adds `Host` and `Content-Length`.
    static func of(
        _ request: HTTPRequest,
        _ dialect: Dialect,
        key: SecretText,
        isStreaming: Bool
    ) -> HTTPHeaders {
        var headers = HTTPHeaders([
            ("content-type", "application/json"),
            ("accept", isStreaming ? "text/event-stream" : "application/json"),
            ("accept-encoding", "identity"),
            ("user-agent", "invigilator"),
        ])
        if dialect == .anthropicMessages {
            headers.add(name: "anthropic-version", value: "2023-06-01")
            let asked = request.headers.filter { $0.name == "anthropic-beta" }
                .map(\.value).joined(separator: ",")
                .split(separator: ",").map { String($0.drop { $0 == " " }) }
            let kept = betas.intersection(asked).sorted()
            if !kept.isEmpty {
                headers.add(name: "anthropic-beta", value: kept.joined(separator: ","))
            }
        }
        guard !key.exposed.isEmpty else { return headers }
        switch dialect {
        case .openAIChat, .openAIResponses:
            headers.add(name: "authorization", value: "Bearer \(key.exposed)")
        case .anthropicMessages: headers.add(name: "x-api-key", value: key.exposed)
        case .geminiGenerate: headers.add(name: "x-goog-api-key", value: key.exposed)
        }
        return headers
    }
}
