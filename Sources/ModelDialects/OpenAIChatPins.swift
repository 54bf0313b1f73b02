internal import StrictJSON

extension RequestDraft {
    mutating func pinOpenAIChat() {
        members["model"] = .string(pin.model)
        members["store"] = false
        pinTemperature(undoing: ["top_p", "top_k", "min_p"])
        let limit = pinOutput(Dialect.openAIChat.outputNames)
        if let effort = pin.effort, form.takes(effort: effort) {
            members["reasoning_effort"] = .string(effort)
        }
        let choices = pinChoices()
        outputLimit = limit * choices
        isStreaming = members["stream"]?.boolValue == true
        if isStreaming {
            addsUsage = members["stream_options"]?["include_usage"]?.boolValue != true
            members["stream_options"] = ["include_usage": true]
        } else {
            members["stream_options"] = nil
        }
        dropEmptyTools()
    }

    private mutating func pinChoices() -> Int {
        for name in ["n", "best_of"] {
            guard let asked = members.removeValue(forKey: name)?.intValue else { continue }
            if asked > pin.maximumChoices { reader.note(.fanOutChanged, name) }
            let choices = min(asked, pin.maximumChoices)
            // The provider's default is one, and not every server knows the member.
            if name == "n", choices > 1 { members[name] = JSONValue(choices) }
        }
        return members["n"]?.intValue ?? 1
    }

    /// A list of tools of which none is left, and a choice among them, are errors upstream.
    mutating func dropEmptyTools() {
        guard members["tools"]?.arrayValue?.isEmpty ?? true else { return }
        members["tools"] = nil
        guard members["functions"] == nil else { return }
        members["tool_choice"] = nil
        members["parallel_tool_calls"] = nil
    }
}
