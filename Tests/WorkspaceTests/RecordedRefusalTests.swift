import Foundation
import ModelDialects
import StrictJSON
import Testing

@testable import Workspace

/// A refusal that somebody had from a provider and wrote down in public.
private struct RecordedRefusal: CustomTestStringConvertible, Sendable {
    /// The thread in which it stands.
    let thread: String
    let dialect: Dialect
    let model: String
    var effort: String?
    var temperature: Double?
    var maxOutputTokens = 16_384
    /// What the agent sends next to its question.
    var asks: JSONValue = [:]
    /// Members, by their path, any of which the provider refuses.
    let refused: [String]

    var testDescription: String { "\(thread) (\(model))" }
}

private let recorded: [RecordedRefusal] = [
    .init(
        thread: "anthropics/claude-code#30795",
        dialect: .anthropicMessages,
        model: "claude-sonnet-4-5",
        effort: "high",
        refused: ["output_config.effort"]
    ),
    .init(
        thread: "griffinmartin/opencode-claude-auth#125",
        dialect: .anthropicMessages,
        model: "claude-haiku-4-5-20251001",
        effort: "high",
        refused: ["output_config.effort"]
    ),
    .init(
        thread: "mnfst/llm-gateway#1928",
        dialect: .anthropicMessages,
        model: "claude-haiku-4-5",
        effort: "low",
        asks: ["thinking": ["type": "adaptive"]],
        refused: ["thinking=adaptive"]
    ),
    .init(
        thread: "vellum-ai/vellum-assistant#39635",
        dialect: .anthropicMessages,
        model: "claude-opus-4-5",
        effort: "medium",
        asks: ["thinking": ["type": "adaptive"]],
        refused: ["thinking=adaptive"]
    ),
    .init(
        thread: "anomalyco/opencode#22863",
        dialect: .anthropicMessages,
        model: "claude-opus-4-7",
        effort: "16000",
        refused: ["thinking=enabled"]
    ),
    .init(
        thread: "UKGovernmentBEIS/inspect_ai#3721",
        dialect: .anthropicMessages,
        model: "claude-opus-4-7",
        temperature: 0,
        refused: ["temperature", "top_p", "top_k"]
    ),
    .init(
        thread: "anthropics/claude-code#24451",
        dialect: .anthropicMessages,
        model: "claude-opus-4-5-20251101",
        maxOutputTokens: 128_001,
        asks: ["max_tokens": 128_001],
        refused: ["max_tokens>64000"]
    ),
    .init(
        thread: "tmc/langchaingo#1355",
        dialect: .openAIChat,
        model: "gpt-5",
        temperature: 0,
        refused: ["temperature"]
    ),
    .init(
        thread: "griptape-ai/ComfyUI-Griptape#312",
        dialect: .openAIChat,
        model: "gpt-5",
        asks: ["max_tokens": 1_000],
        refused: ["max_tokens"]
    ),
    .init(
        thread: "teilomillet/gollm#33",
        dialect: .openAIChat,
        model: "o3-mini",
        asks: ["max_tokens": 1_000],
        refused: ["max_tokens"]
    ),
    .init(
        thread: "umputun/tg-spam#304",
        dialect: .openAIChat,
        model: "gpt-4o-mini",
        effort: "low",
        refused: ["reasoning_effort"]
    ),
    .init(
        thread: "anomalyco/opencode#4451",
        dialect: .openAIChat,
        model: "gpt-5.1",
        effort: "minimal",
        refused: ["reasoning_effort"]
    ),
    .init(
        thread: "openai/codex#837",
        dialect: .openAIResponses,
        model: "gpt-4.1",
        effort: "medium",
        asks: ["reasoning": ["summary": "auto"], "include": ["reasoning.encrypted_content"]],
        refused: ["reasoning", "include"]
    ),
    .init(
        thread: "openai/codex#6647",
        dialect: .openAIResponses,
        model: "gpt-5.1-codex",
        effort: "none",
        refused: ["reasoning.effort"]
    ),
    .init(
        thread: "RooCodeInc/Roo-Code#10700",
        dialect: .geminiGenerate,
        model: "gemini-2.5-flash",
        effort: "low",
        refused: ["generationConfig.thinkingConfig.thinkingLevel"]
    ),
    .init(
        thread: "immersive-translate/immersive-translate#2976",
        dialect: .geminiGenerate,
        model: "gemini-2.0-flash",
        effort: "1024",
        asks: ["generationConfig": ["thinkingConfig": ["includeThoughts": true]]],
        refused: ["generationConfig.thinkingConfig"]
    ),
    .init(
        thread: "editor-code-assistant/eca#231",
        dialect: .openAIChat,
        model: "labs-devstral-small-2512",
        refused: ["max_completion_tokens"]
    ),
]

@Suite("Requests that providers refused, as people recorded them")
struct RecordedRefusalTests {
    private let table: ModelTable

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../\(ModelTable.file)")
        table = try ModelTable(parsing: Array(Data(contentsOf: file)))
    }

    private func body(_ refusal: RecordedRefusal, knowing table: ModelTable?) throws -> JSONValue {
        let role =
            "{upstream: main, model: \(refusal.model), max-output-tokens: \(refusal.maxOutputTokens)"
            + (refusal.effort.map { ", effort: \($0)" } ?? "")
            + (refusal.temperature.map { ", temperature: \($0)" } ?? "") + "}"
        let text = """
            benchmark: helpdesk
            models:
              upstreams: {main: {url: "https://provider.example", dialects: [\(refusal.dialect.rawValue)]}}
              roles:
                coding-agent: \(role)
            """
        let config = try ExperimentConfig(parsing: Array(text.utf8), file: "experiment_config.yaml")
        let found = table.map { config.models.pin(of: .codingAgent, knowing: $0) }
        let pin = try #require(found ?? config.models.pin(of: .codingAgent))
        var question: [String: JSONValue]
        var route = Route.generate(refusal.dialect)
        switch refusal.dialect {
        case .openAIChat: question = ["messages": [["role": "user", "content": "hi"]]]
        case .openAIResponses: question = ["input": "hi"]
        case .anthropicMessages:
            question = ["messages": [["role": "user", "content": "hi"]], "max_tokens": 2_000]
        case .geminiGenerate:
            question = ["contents": [["parts": [["text": "hi"]]]]]
            route = .geminiGenerate(model: refusal.model, isStreaming: false)
        }
        question["model"] = .string(refusal.model)
        for (name, value) in refusal.asks.objectValue ?? [:] { question[name] = value }
        return try ModelRequest.parse(
            JSONValue.object(question).canonicalBytes,
            route: route,
            pins: [pin],
            policy: RequestPolicy(isSealed: false)
        ).body
    }

    /// Whether the body holds what a path names: `a.b`, `thinking=KIND`, `a>NUMBER`.
    private func holds(_ body: JSONValue, _ path: String) -> Bool {
        if path.hasPrefix("thinking=") {
            return body["thinking"]?["type"]?.stringValue == String(path.dropFirst(9))
        }
        let parts = path.split(separator: ">")
        let value = parts[0].split(separator: ".").reduce(Optional(body)) { $0?[String($1)] }
        guard parts.count == 2, let limit = Int(parts[1]) else { return value != nil }
        return value?.intValue ?? 0 > limit
    }

    @Test(
        "what a provider refused goes out to a model of which nothing is asked, and not to one that is known",
        arguments: recorded
    )
    fileprivate func recordedRefusal(_ refusal: RecordedRefusal) throws {
        let before = try body(refusal, knowing: nil)
        #expect(refusal.refused.contains { holds(before, $0) }, "the instrument: \(before)")
        let after = try body(refusal, knowing: table)
        #expect(!refusal.refused.contains { holds(after, $0) }, "\(after)")
    }

    @Test("an effort that a model takes by a number goes out as one, where thinking is asked for")
    func effortAsBudget() throws {
        let asks: JSONValue = ["thinking": ["type": "adaptive"], "max_tokens": 16_000]
        let sonnet = RecordedRefusal(
            thread: "",
            dialect: .anthropicMessages,
            model: "claude-sonnet-4-5",
            effort: "high",
            asks: asks,
            refused: []
        )
        let thinking = try body(sonnet, knowing: table)["thinking"]
        #expect(thinking == ["type": "enabled", "budget_tokens": 4_096])
        let gemini = RecordedRefusal(
            thread: "",
            dialect: .geminiGenerate,
            model: "gemini-2.5-pro",
            effort: "medium",
            refused: []
        )
        let configuration = try body(gemini, knowing: table)["generationConfig"]
        #expect(configuration?["thinkingConfig"] == ["thinkingBudget": 2_048])
    }

    @Test("what a model takes still goes out")
    func kept() throws {
        let opus = RecordedRefusal(
            thread: "",
            dialect: .anthropicMessages,
            model: "claude-opus-4-6",
            effort: "max",
            asks: ["thinking": ["type": "enabled", "budget_tokens": 1_024]],
            refused: []
        )
        let body = try body(opus, knowing: table)
        #expect(body["output_config"] == ["effort": "max"])
        #expect(body["thinking"] == ["type": "adaptive"])
        let chat = RecordedRefusal(
            thread: "",
            dialect: .openAIChat,
            model: "gpt-5.1",
            effort: "none",
            temperature: 0,
            refused: []
        )
        let other = try self.body(chat, knowing: table)
        #expect(other["reasoning_effort"] == "none" && other["temperature"] == 0, "\(other)")
    }

    @Test("a member or a word of the table that nobody knows refuses the table")
    func unknownMembers() throws {
        func text(_ entry: String, more: String = "") -> [UInt8] {
            Array(
                """
                {"schema": "invigilator.model-capabilities/1", "package": "litellm", "version": "1", \
                "license": "MIT"\(more), "models": {"m": {\(entry)}}}
                """.utf8
            )
        }
        let good = """
            "provider": "openai", "context": 1, "output": 1, "efforts": [], "thinking": [], \
            "temperature": "never"
            """
        #expect(try ModelTable(parsing: text(good)).facts(of: "m-2026-01-31") != nil)
        #expect(try ModelTable(parsing: text(good)).facts(of: "m-20260131") != nil)
        #expect(table.facts(of: "claude-opus-4-5-20251101")?.form.mostOutput == 64_000)
        #expect(try ModelTable(parsing: text(good)).facts(of: "ft:m:ours::1") != nil)
        #expect(try ModelTable(parsing: text(good)).facts(of: "m-2") == nil)
        for bad in [
            text(good + #", "colour": 1"#), text(good, more: #", "colour": 1"#),
            text(good.replacing("never", with: "sometimes")),
            text(good.replacing(#""thinking": []"#, with: #""thinking": ["aloud"]"#)),
            text(good.replacing(#""output": 1, "#, with: "")), text(good + #", "price": [1]"#),
        ] {
            #expect(throws: WorkspaceError.self) { try ModelTable(parsing: bad) }
        }
    }

    @Test("what the configuration says that a model takes leaves OpenAI's own limit of an answer")
    func takesAtOpenAI() throws {
        func length(_ host: String, _ takes: String) throws -> ModelForm.Length? {
            let text = """
                benchmark: helpdesk
                models:
                  upstreams: {main: {url: "https://\(host)", dialects: [openai-chat]}}
                  roles: {coding-agent: {model: gpt-99\(takes)}}
                """
            return try ExperimentConfig(parsing: Array(text.utf8), file: "c.yaml").models
                .pin(of: .codingAgent, knowing: table)?.form.length
        }
        #expect(try length("api.openai.com", ", takes: [effort]") == .new)
        #expect(try length("api.openai.com", "") == .new)
        #expect(try length("provider.example", ", takes: [effort]") == .asked)
    }

    @Test("an unknown model and what is left out are named, with what to write")
    func notices() throws {
        func notices(_ role: String) throws -> [String] {
            let text = """
                benchmark: helpdesk
                models:
                  upstreams: {main: {url: "https://provider.example", dialects: [anthropic-messages]}}
                  roles: {coding-agent: {\(role)}}
                """
            return try ExperimentConfig(parsing: Array(text.utf8), file: "c.yaml").models
                .notices(knowing: table)
        }
        let unknown = try notices("model: local-1, effort: high, temperature: 0")
        #expect(unknown.count == 1 && unknown[0].contains("is not known (litellm "), "\(unknown)")
        #expect(unknown[0].contains("effort high is left out, temperature 0.0 is left out"))
        #expect(unknown[0].contains("write takes: [effort, temperature]"))
        #expect(try notices("model: local-1, effort: high, takes: [effort]").isEmpty)
        #expect(try notices("model: claude-opus-4-6, effort: high").isEmpty)
        let known = try notices("model: claude-sonnet-4-5, effort: high")
        #expect(known.count == 1 && known[0].contains("4096 tokens of thinking"), "\(known)")
    }
}
