internal import StrictJSON

extension RequestDraft {
    mutating func pinAnthropicMessages() {
        members["model"] = .string(pin.model)
        let isCounted = route == .countTokens(.anthropicMessages)
        if !isCounted { outputLimit = pinOutput(Dialect.anthropicMessages.outputNames) }
        pinThinking()
        AnthropicMessages.fitThinking(in: &members)
        if !isCounted {
            if AnthropicMessages.thinks(members) {
                // A model that thinks takes no temperature but its own (API reference, thinking).
                for name in ["temperature", "top_p", "top_k"] {
                    guard let asked = members.removeValue(forKey: name)?.numberValue else {
                        continue
                    }
                    if asked != 1 { reader.note(.temperatureChanged, name) }
                }
            } else {
                pinTemperature(undoing: ["top_p", "top_k"])
            }
            isStreaming = members["stream"]?.boolValue == true
        }
        dropEmptyTools()
    }

    /// Puts the pinned effort in place: a word is an effort, a whole number a budget of thinking.
    private mutating func pinThinking() {
        let asked = members["thinking"]
        let kind = asked?["type"]?.stringValue
        let isAsked = kind == "enabled" || kind == "adaptive"
        guard let effort = pin.effort, effort != "none" else {
            members["thinking"] = nil
            if isAsked { reader.note(.effortChanged, "thinking") }
            return
        }
        let display = asked?["display"]
        if let budget = Int(effort) {
            putThinking(isAsked || form.thinksByBudget, budget: budget, prefersBudget: true)
        } else {
            if form.takes(effort: effort) {
                var configuration = members["output_config"]?.objectValue ?? [:]
                configuration["effort"] = .string(effort)
                members["output_config"] = .object(configuration)
            }
            let isOff = asked != nil && !isAsked
            if isOff, form.thinks { return }
            putThinking(isAsked, budget: ModelForm.budget(of: effort), prefersBudget: false)
        }
        let pinned = members["thinking"]
        let isChanged = ["type", "budget_tokens"].contains { asked?[$0] != pinned?[$0] }
        if asked != nil, isChanged { reader.note(.effortChanged, "thinking") }
        if let display, case .object(var thinking)? = members["thinking"] {
            thinking["display"] = display
            members["thinking"] = .object(thinking)
        }
    }

    /// Puts thinking into the one form that the model takes, if it takes one.
    private mutating func putThinking(_ isWanted: Bool, budget: Int?, prefersBudget: Bool) {
        members["thinking"] = nil
        guard isWanted else { return }
        if form.thinksAdaptively, !(prefersBudget && form.thinksByBudget) {
            members["thinking"] = ["type": "adaptive"]
        } else if form.thinksByBudget, let budget {
            members["thinking"] = ["type": "enabled", "budget_tokens": JSONValue(budget)]
            AnthropicMessages.fitThinking(in: &members)
        }
    }
}

extension AnthropicMessages {
    /// The least budget of thinking that the provider takes.
    private static let leastBudget = 1_024

    /// Makes thinking, the limit of the answer and the editing of the context agree: a budget lies
    /// below the limit, and thinking is only cleared where there is any.
    static func fitThinking(in members: inout [String: JSONValue]) {
        if let budget = members["thinking"]?["budget_tokens"]?.intValue,
            case .object(var thinking)? = members["thinking"]
        {
            let most = (members["max_tokens"]?.intValue ?? .max) - 1
            if most < leastBudget {
                members["thinking"] = nil
            } else {
                thinking["budget_tokens"] = JSONValue(min(max(budget, leastBudget), most))
                members["thinking"] = .object(thinking)
            }
        }
        guard !thinks(members), let edits = members["context_management"]?["edits"]?.arrayValue
        else { return }
        let kept = edits.filter { $0["type"]?.stringValue != "clear_thinking_20251015" }
        members["context_management"] = kept.isEmpty ? nil : ["edits": .array(kept)]
    }

    static func thinks(_ members: [String: JSONValue]) -> Bool {
        let kind = members["thinking"]?["type"]?.stringValue
        return kind == "enabled" || kind == "adaptive"
    }
}
