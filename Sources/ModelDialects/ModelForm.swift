/// What a model's requests may hold.
///
/// A provider answers 400 to a member that its model does not take, so each is sent only to a model that is
/// known to take it. What is known is a table of facts (`templates/models/capabilities.json`), or the
/// configuration's own word.
public struct ModelForm: Sendable, Equatable {
    /// The providers whose dialects the broker speaks.
    public enum Provider: String, Sendable, CaseIterable {
        /// Those of `claude-…`.
        case anthropic
        /// Those of `gemini-…`.
        case gemini
        /// Those of `gpt-…` and `o…`.
        case openai
    }

    /// When a request may hold a temperature, and what works like one.
    public enum Sampling: String, Sendable, CaseIterable {
        /// In every request.
        case always
        /// Where the effort is `none`.
        case unthinking
        /// In no request.
        case never
    }

    /// The member that limits the length of an answer of chat completions.
    public enum Length: String, Sendable, CaseIterable {
        /// The one that the caller chose; `max_completion_tokens` where it chose none.
        case asked
        /// The one that the caller chose; `max_tokens` where it chose none, which every server knows.
        case old
        /// `max_completion_tokens`, whatever the caller chose.
        case new
    }

    /// The provider whose dialects these facts are about; nil for every dialect.
    public let provider: Provider?
    /// The words of effort that the model takes; nil for any.
    public let efforts: [String]?
    /// Whether it takes thinking of which it chooses the amount itself.
    public let thinksAdaptively: Bool
    /// Whether it takes a number of tokens for thinking.
    public let thinksByBudget: Bool
    /// When it takes a temperature.
    public let sampling: Sampling
    /// The most tokens of one answer; nil where that is not known.
    public let mostOutput: Int?
    /// How the length of an answer is limited.
    public let length: Length

    /// Makes a form.
    public init(
        provider: Provider? = nil,
        efforts: [String]?,
        thinksAdaptively: Bool,
        thinksByBudget: Bool,
        sampling: Sampling,
        mostOutput: Int? = nil,
        length: Length
    ) {
        self.provider = provider
        self.efforts = efforts
        self.thinksAdaptively = thinksAdaptively
        self.thinksByBudget = thinksByBudget
        self.sampling = sampling
        self.mostOutput = mostOutput
        self.length = length
    }

    /// A model that takes whatever is pinned.
    public static let any = ModelForm(
        efforts: nil,
        thinksAdaptively: true,
        thinksByBudget: true,
        sampling: .always,
        length: .asked
    )

    /// A model of which nothing is known: neither effort nor thinking nor temperature.
    public static let bare = ModelForm(
        efforts: [],
        thinksAdaptively: false,
        thinksByBudget: false,
        sampling: .never,
        length: .old
    )

    /// The same at OpenAI itself, whose newer models take only the newer limit of an answer.
    public static let bareOfOpenAI = ModelForm(
        efforts: [],
        thinksAdaptively: false,
        thinksByBudget: false,
        sampling: .never,
        length: .new
    )

    /// What these facts say in a dialect.
    func seen(in dialect: Dialect) -> ModelForm {
        provider == nil || provider == dialect.provider ? self : .bare
    }

    /// Whether the model takes this word of effort.
    public func takes(effort word: String) -> Bool { efforts?.contains(word) ?? true }

    /// Whether it takes an effort or a form of thinking at all.
    public var thinks: Bool { efforts != [] || thinksAdaptively || thinksByBudget }

    /// The tokens of thinking that stand for a word of effort, as LiteLLM has them: for a model that takes
    /// a number and no word.
    static func budget(of word: String) -> Int? {
        switch word {
        case "minimal", "low": 1_024
        case "medium": 2_048
        case "high", "xhigh", "max": 4_096
        default: nil
        }
    }
}

extension Dialect {
    /// The provider whose dialect it is.
    public var provider: ModelForm.Provider {
        switch self {
        case .openAIChat, .openAIResponses: .openai
        case .anthropicMessages: .anthropic
        case .geminiGenerate: .gemini
        }
    }
}

extension ModelPin {
    /// What of the pin does not go out in a dialect because the model does not take it, in words.
    public func leftOut(in dialect: Dialect) -> [String] {
        let form = form.seen(in: dialect)
        var said: [String] = []
        if let effort {
            let isNumber = Int(effort) != nil
            let isSent = isNumber ? form.thinksByBudget : form.takes(effort: effort)
            let tokens = !isNumber && form.thinksByBudget ? ModelForm.budget(of: effort) : nil
            if let tokens, !isSent {
                let condition =
                    dialect == .anthropicMessages ? " where a request asks for thinking" : ""
                said.append("effort \(effort) goes out as \(tokens) tokens of thinking\(condition)")
            } else if !isSent, effort != "none" {
                said.append("effort \(effort) is left out")
            }
        }
        if let temperature, form.sampling != .always, !form.samples(effort: effort) {
            said.append("temperature \(temperature) is left out")
        }
        if let most = form.mostOutput, most < maxOutputTokens {
            said.append("max-output-tokens is \(most), the model's most")
        }
        return said
    }
}

extension ModelForm {
    /// Whether a request of this effort may hold a temperature.
    func samples(effort: String?) -> Bool {
        switch sampling {
        case .always: true
        case .unthinking: effort == "none" && takes(effort: "none")
        case .never: false
        }
    }
}
