import ModelDialects
import StrictJSON
import Testing

@Suite("Hostile requests")
struct HostileRequestTests {
    typealias Case = (Dialect, [String: JSONValue], ModelEvent.Kind)

    private static func chat(_ content: JSONValue) -> [String: JSONValue] {
        ["messages": [["role": "user", "content": content]]]
    }

    private static func item(_ item: JSONValue) -> [String: JSONValue] {
        ["input": [item]]
    }

    private static func block(_ block: JSONValue) -> [String: JSONValue] {
        ["messages": [["role": "user", "content": [block]]]]
    }

    private static func part(_ part: JSONValue) -> [String: JSONValue] {
        ["contents": [["role": "user", "parts": [part]]]]
    }

    private static let url: JSONValue = "https://x.example/a.png"

    static let fetches: [Case] = [
        (.openAIChat, chat([["type": "image_url", "image_url": ["url": url]]]), .urlContent),
        (.openAIChat, chat([["type": "image_url", "image_url": url]]), .urlContent),
        (
            .openAIChat,
            chat([["type": "image_url", "image_url": ["url": "data:text/html;base64,AA=="]]]),
            .urlContent
        ),
        (
            .openAIChat,
            chat([["type": "image_url", "image_url": ["url": "data:image/png;base64,http://x"]]]),
            .urlContent
        ),
        (
            .openAIChat,
            chat([["type": "image_url", "image_url": ["url": "DATA:image/png;base64,AA=="]]]),
            .urlContent
        ),
        (
            .openAIChat,
            chat([["type": "image_url", "image_url": ["url": " data:image/png;base64,AA=="]]]),
            .urlContent
        ),
        (.openAIChat, chat([["type": "file", "file": ["file_id": "file-1"]]]), .fileContent),
        (.openAIChat, chat([["type": "file", "file": ["file_data": url]]]), .urlContent),
        (
            .openAIResponses,
            item(["role": "user", "content": [["type": "input_image", "image_url": url]]]),
            .urlContent
        ),
        (
            .openAIResponses,
            item(["role": "user", "content": [["type": "input_image", "file_id": "file-1"]]]),
            .fileContent
        ),
        (
            .openAIResponses,
            item(["role": "user", "content": [["type": "input_file", "file_url": url]]]),
            .urlContent
        ),
        (
            .openAIResponses,
            item([
                "type": "function_call_output", "call_id": "c",
                "output": [["type": "input_image", "image_url": url]],
            ]),
            .urlContent
        ),
        (
            .anthropicMessages,
            block(["type": "image", "source": ["type": "url", "url": url]]),
            .urlContent
        ),
        (
            .anthropicMessages,
            block(["type": "image", "source": ["type": "file", "file_id": "f"]]),
            .fileContent
        ),
        (
            .anthropicMessages,
            block(["type": "document", "source": ["type": "url", "url": url]]),
            .urlContent
        ),
        (
            .anthropicMessages,
            block([
                "type": "tool_result", "tool_use_id": "t",
                "content": [["type": "image", "source": ["type": "url", "url": url]]],
            ]),
            .urlContent
        ),
        (.anthropicMessages, block(["type": "container_upload", "file_id": "f"]), .fileContent),
        (.geminiGenerate, part(["fileData": ["fileUri": url]]), .fileContent),
        (.geminiGenerate, part(["file_data": ["file_uri": url]]), .fileContent),
        (
            .openAIChat,
            [
                "tools": [
                    [
                        "type": "function",
                        "function": ["name": "f", "parameters": ["$ref": url]],
                    ]
                ]
            ],
            .urlContent
        ),
    ]

    static let states: [Case] = [
        (.openAIResponses, ["previous_response_id": "resp_1"], .storedState),
        (.openAIResponses, ["conversation": "conv_1"], .storedState),
        (.openAIResponses, ["conversation": ["id": "conv_1"]], .storedState),
        (.openAIResponses, ["background": true], .storedState),
        (.openAIResponses, ["prompt": ["id": "pmpt_1"]], .storedState),
        (.openAIResponses, item(["type": "item_reference", "id": "msg_1"]), .storedState),
        (.anthropicMessages, ["container": "container_1"], .storedState),
        (.anthropicMessages, ["container": ["skills": [["skill_id": "x"]]]], .storedState),
        (.geminiGenerate, ["cachedContent": "cachedContents/1"], .storedState),
        (.geminiGenerate, ["cached_content": "cachedContents/1"], .storedState),
        (
            .openAIChat,
            ["messages": [["role": "assistant", "audio": ["id": "audio_1"]]]],
            .storedState
        ),
    ]

    static let malformed: [Case] = [
        (.openAIChat, ["messages": "hi"], .badRequest),
        (.openAIChat, ["messages": [1]], .badRequest),
        (.openAIChat, ["messages": [["content": "no role"]]], .badRequest),
        (.openAIChat, ["messages": [["role": ["user"], "content": "x"]]], .badRequest),
        (.openAIChat, ["messages": [["role": "user"]]], .badRequest),
        (.openAIChat, ["messages": nil], .badRequest),
        (.openAIChat, ["model": nil], .badRequest),
        (.openAIChat, ["model": ["small-1"]], .badRequest),
        (.openAIChat, ["temperature": "0"], .badRequest),
        (.openAIChat, ["temperature": 1e300], .badRequest),
        (.openAIChat, ["n": -1], .badRequest),
        (.openAIChat, ["n": 1.5], .badRequest),
        (.openAIChat, ["max_tokens": -5], .badRequest),
        (.openAIChat, ["stream": "true"], .badRequest),
        (.openAIChat, ["tools": [["type": "function", "function": [:]]]], .badRequest),
        (.openAIResponses, ["input": 5], .badRequest),
        (.openAIResponses, item(["type": "function_call", "call_id": "c"]), .badRequest),
        (.anthropicMessages, ["max_tokens": nil], .badRequest),
        (.anthropicMessages, ["max_tokens": "9"], .badRequest),
        (.anthropicMessages, block(["type": "text"]), .badRequest),
        (
            .anthropicMessages,
            block([
                "type": "image",
                "source": ["type": "base64", "media_type": "image/png", "data": "a b"],
            ]),
            .badRequest
        ),
        (
            .anthropicMessages,
            block(["type": "tool_use", "id": "t", "name": "n", "input": "x"]),
            .badRequest
        ),
        (.geminiGenerate, ["contents": ["parts": []]], .badRequest),
        (
            .geminiGenerate,
            ["generationConfig": ["candidateCount": 1, "candidate_count": 9]],
            .badRequest
        ),
    ]

    @Test("are refused, saying which member", arguments: fetches + states + malformed)
    func refused(dialect: Dialect, changes: [String: JSONValue], kind: ModelEvent.Kind) throws {
        // The instrument: without these members the same request passes.
        #expect(refusal(of: least(dialect), route(dialect)) == nil)
        let found = try #require(refusal(of: least(dialect).with(changes), route(dialect)))
        #expect(found.kind == kind)
        #expect(found.status == 400)
        #expect(found.field?.isEmpty == false)
        #expect(!found.reason.isEmpty && !found.remedy.isEmpty)
    }

    @Test("are refused in a sealed exam too, without a word of theirs")
    func sealed() throws {
        let body = least(.openAIChat).with(["messages": [["role": "user", "secret-name": "x"]]])
        let found = try #require(
            refusal(of: body, route(.openAIChat), sealed: true, unknown: .refuse)
        )
        #expect(!found.event.detail.contains("secret"))
        #expect(!found.message.contains("secret"))
    }

    @Test(
        "are refused by their bytes",
        arguments: [
            ("", ModelEvent.Kind.badRequest), ("{", .badRequest), ("[]", .badRequest),
            ("null", .badRequest), ("{\"model\":\"a\",\"model\":\"b\"}", .badRequest),
            ("{\"model\":\"a\",\"m\\u006fdel\":\"b\"}", .badRequest),
            ("\u{FEFF}{}", .badRequest), ("{} {}", .badRequest), ("{\"n\":NaN}", .badRequest),
            ("{\"n\":1e999}", .badRequest), ("{\"a\":\"\\ud800\"}", .badRequest),
            (String(repeating: "[", count: 100_000), .tooLarge),
            ("[" + String(repeating: "0,", count: 400_000) + "0]", .tooLarge),
        ]
    )
    func bytes(text: String, kind: ModelEvent.Kind) throws {
        let found = #expect(throws: RequestRefusal.self) {
            try ModelRequest.parse(
                Array(text.utf8),
                route: .generate(.openAIChat),
                pins: [pin()],
                policy: RequestPolicy(isSealed: false)
            )
        }
        #expect(found?.kind == kind)
        #expect(found?.status == (kind == .tooLarge ? 413 : 400))
    }

    @Test("nested too deeply inside a function's input are refused")
    func nesting() throws {
        var value: JSONValue = 1
        for _ in 0..<40 { value = ["x": value] }
        let deep = Self.block(["type": "tool_use", "id": "t", "name": "n", "input": value])
        let found = refusal(of: least(.anthropicMessages).with(deep), route(.anthropicMessages))
        #expect(found?.kind == .tooLarge)
    }
}
