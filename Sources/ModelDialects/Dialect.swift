// ModelDialects: what a sandbox may say to a model, and what a model may answer, as pure values.

/// One provider's way of asking a model.
public enum Dialect: String, Sendable, CaseIterable {
    /// OpenAI chat completions, which most other servers speak too.
    case openAIChat = "openai-chat"
    /// OpenAI responses.
    case openAIResponses = "openai-responses"
    /// Anthropic messages.
    case anthropicMessages = "anthropic-messages"
    /// Gemini generateContent.
    case geminiGenerate = "gemini-generate"
}
