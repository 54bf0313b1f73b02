import ModelDialects
import StrictJSON
import Testing

@Suite("Tools that a provider would run")
struct ProviderToolTests {
    static let offers: [(Dialect, JSONValue)] = [
        (.openAIChat, ["type": "web_search"]),
        (.openAIChat, ["type": "code_interpreter"]),
        (.openAIResponses, ["type": "web_search", "external_web_access": true]),
        (.openAIResponses, ["type": "web_search_preview_2025_03_11"]),
        (.openAIResponses, ["type": "file_search", "vector_store_ids": ["vs_1"]]),
        (.openAIResponses, ["type": "code_interpreter", "container": ["type": "auto"]]),
        (.openAIResponses, ["type": "image_generation"]),
        (.openAIResponses, ["type": "computer_use_preview"]),
        (.openAIResponses, ["type": "mcp", "server_url": "https://x.example/mcp"]),
        (.openAIResponses, ["type": "shell", "environment": ["type": "container_auto"]]),
        (.openAIResponses, ["type": "tool_search", "execution": "server"]),
        (.openAIResponses, ["type": "tool_search"]),
        (.anthropicMessages, ["type": "web_search_20250305", "name": "web_search"]),
        (.anthropicMessages, ["type": "web_fetch_20250910", "name": "web_fetch"]),
        (.anthropicMessages, ["type": "code_execution_20250825", "name": "code_execution"]),
        (.anthropicMessages, ["type": "computer_20250124", "name": "computer"]),
        (.anthropicMessages, ["type": "mcp_toolset", "mcp_server_name": "x"]),
        (.anthropicMessages, ["type": "tool_search_tool_regex_20251119", "name": "t"]),
        (.anthropicMessages, ["type": "bash_20250124_web_search", "name": "t"]),
        (.geminiGenerate, ["googleSearch": [:]]),
        (.geminiGenerate, ["google_search": [:]]),
        (.geminiGenerate, ["urlContext": [:]]),
        (.geminiGenerate, ["codeExecution": [:]]),
        (.geminiGenerate, ["file_search": ["x": 1]]),
    ]

    @Test("are left out, and the attempt is told", arguments: offers)
    func dropped(dialect: Dialect, tool: JSONValue) throws {
        let request = try parsed(least(dialect).with(["tools": [tool]]), route(dialect))
        #expect(request.body["tools"] == nil)
        #expect(request.kinds == [.providerTool])
    }

    @Test("refuse the request where the pin says so", arguments: offers)
    func refused(dialect: Dialect, tool: JSONValue) {
        let found = refusal(
            of: least(dialect).with(["tools": [tool]]),
            route(dialect),
            pin: pin(rule: .refuse)
        )
        #expect(found?.kind == .providerTool)
        #expect(found?.status == 400)
        #expect(found?.field?.hasPrefix("tools[0]") == true)
    }

    @Test("stand beside functions, which stay", arguments: Dialect.allCases)
    func functionsStay(dialect: Dialect) throws {
        let tools = conversation(dialect)["tools"]?.arrayValue ?? []
        let offer = try #require(Self.offers.first { $0.0 == dialect })
        let body = conversation(dialect).with(["tools": .array(tools + [offer.1])])
        let request = try parsed(body, route(dialect))
        #expect(request.body["tools"]?.arrayValue?.count == tools.count)
    }

    static let members: [(Dialect, String, JSONValue)] = [
        (.openAIChat, "web_search_options", [:]),
        (.openAIChat, "plugins", [["id": "web"]]),
        (.anthropicMessages, "mcp_servers", [["type": "url", "url": "https://x.example"]]),
    ]

    @Test("are not asked for by another member", arguments: members)
    func otherMembers(dialect: Dialect, name: String, value: JSONValue) throws {
        let request = try parsed(least(dialect).with([name: value]), route(dialect))
        #expect(request.body[name] == nil)
        #expect(request.kinds == [.providerTool])
    }
}
