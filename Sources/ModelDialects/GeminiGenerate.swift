internal import StrictJSON

/// The allow-list of Gemini generateContent and countTokens (API reference, v1beta).
///
/// Names in snake case mean the same as in camel case and go upstream in camel case.
enum GeminiGenerate {
    static func request(of route: Route) -> Shape.Members {
        guard case .geminiCountTokens = route else { return generated }
        return .init(
            [
                "contents": contents,
                "generateContentRequest": .object(generated),
                "model": .removed(nil),
            ]
        )
    }

    private static let generated = Shape.Members(
        [
            "contents": contents,
            "systemInstruction": .object(content),
            "tools": .list(tool, most: 100),
            "toolConfig": .object([
                "functionCallingConfig": .object([
                    "mode": .word(["AUTO", "ANY", "NONE", "VALIDATED"]),
                    "allowedFunctionNames": .list(.text, most: 1_000),
                ]),
                "retrievalConfig": .removed(.providerTool),
            ]),
            "safetySettings": .list(
                .object(["category": .text, "threshold": .text], required: ["category"]),
                most: 32
            ),
            "generationConfig": generationConfig,
            "cachedContent": .refused(.storedState, "a context that the provider keeps"),
            "labels": .removed(.identity),
            "serviceTier": .removed(.serviceTier),
            "store": .removed(.storedState),
            "model": .removed(nil),
        ],
        required: ["contents"]
    )

    private static let contents = Shape.list(.object(content), most: 20_000)
    private static let content = Shape.Members(
        ["role": .word(["user", "model", "function"]), "parts": .list(part, most: 10_000)],
        required: ["parts"]
    )
    private static let part = Shape.object([
        "text": .text,
        "thought": .truth,
        "thoughtSignature": .text,
        "inlineData": .object(
            [
                "mimeType": .word(OpenAIChat.imageTypes + ["application/pdf", "text/plain"]),
                "data": .base64, "displayName": .text,
            ],
            required: ["mimeType", "data"]
        ),
        "functionCall": .object(
            ["id": .text, "name": .text, "args": .kinds(object: .json)],
            required: ["name"]
        ),
        "functionResponse": .object(
            ["id": .text, "name": .text, "response": .kinds(object: .json)],
            required: ["name", "response"]
        ),
        "fileData": .refused(.fileContent, "a file that the provider keeps or would fetch"),
        "executableCode": .providerTool,
        "codeExecutionResult": .providerTool,
        "toolCall": .providerTool,
        "toolResponse": .providerTool,
    ])

    private static let declaration = Shape.object(
        [
            "name": .text, "description": .text, "parameters": .schema,
            "parametersJsonSchema": .schema, "response": .schema, "responseJsonSchema": .schema,
            "behavior": .word(["BLOCKING", "NON_BLOCKING"]),
        ],
        required: ["name"]
    )
    private static let tool = Shape.unlessEmpty(
        .object([
            "functionDeclarations": .list(declaration, most: 1_000),
            "googleSearch": .providerTool, "googleSearchRetrieval": .providerTool,
            "urlContext": .providerTool, "codeExecution": .providerTool,
            "googleMaps": .providerTool, "fileSearch": .providerTool,
            "computerUse": .providerTool, "mcpServers": .providerTool,
            "enterpriseWebSearch": .providerTool, "retrieval": .providerTool,
        ])
    )
    private static let generationConfig = Shape.object([
        "temperature": .number(0...2), "topP": .number(0...1), "topK": .integer(0...1_000_000),
        "candidateCount": .integer(1...1_000_000), "maxOutputTokens": .count,
        "stopSequences": .list(.text, most: 16),
        "responseMimeType": .word(["text/plain", "application/json", "text/x.enum"]),
        "responseSchema": .schema, "responseJsonSchema": .schema,
        "seed": .integer(.min ... .max), "presencePenalty": .number(-2...2),
        "frequencyPenalty": .number(-2...2), "responseLogprobs": .truth,
        "logprobs": .integer(0...20), "responseModalities": .list(.word(["TEXT"]), most: 4),
        "mediaResolution": .text,
        "thinkingConfig": .object([
            "thinkingBudget": .integer(-1...1_000_000), "thinkingLevel": .text,
            "includeThoughts": .truth,
        ]),
    ])
}

extension RequestDraft {
    mutating func pinGemini() {
        guard case .geminiGenerate(_, let isStreaming) = route else {
            if case .object(var request)? = members["generateContentRequest"] {
                request["model"] = .string("models/\(pin.model)")
                members["generateContentRequest"] = .object(request)
            }
            return
        }
        self.isStreaming = isStreaming
        let request = members
        members = request["generationConfig"]?.objectValue ?? [:]
        pinTemperature(undoing: ["topP", "topK"])
        let limit = pinOutput(Dialect.geminiGenerate.outputNames)
        if let asked = members.removeValue(forKey: "candidateCount")?.intValue {
            if asked > pin.maximumChoices { reader.note(.fanOutChanged, "candidateCount") }
            let choices = min(asked, pin.maximumChoices)
            if choices > 1 { members["candidateCount"] = JSONValue(choices) }
        }
        outputLimit = limit * (members["candidateCount"]?.intValue ?? 1)
        pinThinkingConfig()
        let configuration = members
        members = request
        members["generationConfig"] = .object(configuration)
        dropEmptyTools()
        if members["tools"] == nil { members["toolConfig"] = nil }
    }

    private mutating func pinThinkingConfig() {
        let asked = members.removeValue(forKey: "thinkingConfig")
        var pinned: [String: JSONValue] = [:]
        if let effort = pin.effort {
            if let budget = Int(effort) {
                if form.thinksByBudget { pinned["thinkingBudget"] = JSONValue(budget) }
            } else if form.takes(effort: effort) {
                pinned["thinkingLevel"] = .string(effort)
            } else if form.thinksByBudget, let budget = ModelForm.budget(of: effort) {
                pinned["thinkingBudget"] = JSONValue(budget)
            }
        }
        for name in ["thinkingBudget", "thinkingLevel"] {
            guard let value = asked?[name], value != pinned[name] else { continue }
            reader.note(.effortChanged, name)
        }
        if form.thinks, let shown = asked?["includeThoughts"] { pinned["includeThoughts"] = shown }
        if !pinned.isEmpty { members["thinkingConfig"] = .object(pinned) }
    }
}
