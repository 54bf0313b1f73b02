extension RequestPolicy {
    /// The names of betas that may go upstream in `anthropic-beta`, without their dates: none that
    /// lets the provider run tools, keep files or containers, or charge another price.
    private static let betas: Set<String> = [
        "advanced-tool-use", "claude-code", "compact", "context-1m", "context-management",
        "effort", "extended-cache-ttl", "fine-grained-tool-streaming", "interleaved-thinking",
        "mid-conversation-system", "mid-conversation-tool-changes", "output-128k",
        "per-turn-control", "prompt-caching-scope", "redact-thinking", "structured-outputs",
        "thinking-display-updates", "thinking-token-count", "token-counting",
        "token-efficient-tools",
    ]

    /// What of an `anthropic-beta` header may go upstream.
    ///
    /// - Parameter header: the header's value: names with commas between them.
    /// - Returns: the value to send, or nothing where no name is left, and how many names are not
    ///   on the list.
    public func betas(of header: String) -> (kept: String?, removed: Int) {
        var kept: [String] = []
        var removed = 0
        for name in header.prefix(4_000).split(separator: ",") {
            let name = name.split(separator: " ").joined()
            let parts = name.split(separator: "-", omittingEmptySubsequences: false)
            let isDated = parts.last.map { Int($0) != nil } ?? false
            let word = isDated ? Self.undated(parts) : name
            if isDated, Self.betas.contains(word), name.utf8.count <= 80, !kept.contains(name) {
                kept.append(name)
            } else {
                removed += 1
            }
        }
        return (kept.isEmpty ? nil : kept.joined(separator: ","), removed)
    }

    /// A name without `-YYYY-MM-DD` or `-YYYYMMDD`.
    private static func undated(_ parts: [Substring]) -> String {
        let digits = parts.reversed().prefix { $0.utf8.allSatisfy { (0x30..<0x3A).contains($0) } }
        return parts.dropLast(digits.count).joined(separator: "-")
    }
}
