/// One thing that a sandbox may ask of its listener; anything else is refused.
public enum Route: Sendable, Equatable {
    /// An answer of a model, in a dialect that names the model in the body.
    case generate(Dialect)
    /// The number of tokens of a request (Anthropic).
    case countTokens(Dialect)
    /// An answer of a Gemini model, which the path names.
    case geminiGenerate(model: String, isStreaming: Bool)
    /// The number of tokens of a request to a Gemini model.
    case geminiCountTokens(model: String)
    /// The models that the listener has.
    case listModels
    /// Whether the listener is there (Claude Code asks before its first request).
    case reachability

    /// The dialect of the route, or nothing where the route has none of its own.
    public var dialect: Dialect? {
        switch self {
        case .generate(let dialect), .countTokens(let dialect): dialect
        case .geminiGenerate, .geminiCountTokens: .geminiGenerate
        case .listModels, .reachability: nil
        }
    }

    /// The route of a request line, exactly as written: no decoding, no case folding, no merging of
    /// slashes.
    ///
    /// A path without `/v1` means the same as with it, because a base URL may stand for it.
    ///
    /// - Parameters:
    ///   - method: the method, such as `POST`.
    ///   - path: the request target: path, and query where there is one.
    /// - Returns: the route, or nothing where it is not offered.
    public static func of(method: String, path: String) -> Route? {
        guard path.utf8.count <= 256, path.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
            return nil
        }
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.count == 2 ? String(parts[1]) : nil
        var name = String(parts[0])
        if name == "/v1" { return nil }
        if name.hasPrefix("/v1/") { name.removeFirst(3) }
        switch (method, name) {
        case ("POST", "/chat/completions"):
            return query == nil ? .generate(.openAIChat) : nil
        case ("POST", "/responses"):
            return query == nil ? .generate(.openAIResponses) : nil
        case ("POST", "/messages"):
            return isBetaFlag(query) ? .generate(.anthropicMessages) : nil
        case ("POST", "/messages/count_tokens"):
            return isBetaFlag(query) ? .countTokens(.anthropicMessages) : nil
        case ("GET", "/models"):
            return isListing(query) ? .listModels : nil
        case ("HEAD", "/"), ("GET", "/"):
            return query == nil && parts[0] == "/" ? .reachability : nil
        case ("POST", _):
            return gemini(path: parts[0], query: query)
        default: return nil
        }
    }

    private static func isBetaFlag(_ query: String?) -> Bool {
        query == nil || query == "beta=true"
    }

    private static func isListing(_ query: String?) -> Bool {
        guard let query else { return true }
        let version = "client_version="  // Codex tells its own.
        if query == "limit=1000" || query == "beta=true" { return true }
        guard query.hasPrefix(version), query.utf8.count <= version.utf8.count + 24 else {
            return false
        }
        return query.utf8.dropFirst(version.utf8.count).allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
        }
    }

    private static func gemini(path: Substring, query: String?) -> Route? {
        let version = "/v1beta/models/"
        guard path.hasPrefix(version) else { return nil }
        let name = path.dropFirst(version.count)
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, isModelName(parts[0]) else { return nil }
        let model = String(parts[0])
        switch (parts[1], query) {
        case ("generateContent", nil): return .geminiGenerate(model: model, isStreaming: false)
        case ("streamGenerateContent", "alt=sse"):
            return .geminiGenerate(model: model, isStreaming: true)
        case ("countTokens", nil): return .geminiCountTokens(model: model)
        default: return nil
        }
    }

    private static func isModelName(_ name: Substring) -> Bool {
        (1...100).contains(name.utf8.count) && !name.hasPrefix(".")
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
