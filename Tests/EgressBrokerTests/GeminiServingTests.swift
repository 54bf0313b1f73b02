import BrokerProtocol
import EgressBroker
import HTTPFront
import ModelDialects
import NIOCore
import StrictJSON
import Testing

@Suite("Gemini behind a listener", .timeLimit(.minutes(1)))
struct GeminiServingTests {
    private static let path = "/v1beta/models/a-better-one"
    private static let question = #"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#

    /// A broker whose one listener speaks Gemini to a provider.
    private static func serve(
        _ provider: ScriptedProvider,
        settings: BrokerSettings = BrokerSettings(),
        isSealed: Bool = false
    ) async throws -> (BrokerBench, Int) {
        let bench = BrokerBench(settings: settings)
        let upstream = UpstreamTerms(
            name: "provider",
            url: "http://127.0.0.1:\(provider.port)",
            dialects: [.geminiGenerate],
            key: SecretText("sk-very-secret-key"),
            trust: nil,
            allowsAnyAddress: true,
            allowsPlainHTTP: true
        )
        bench.configure([upstream])
        let pin = ModelPin(
            upstream: "provider",
            dialects: [.geminiGenerate],
            model: "pinned",
            effort: "low",
            temperature: 0.25,
            maxOutputTokens: 100,
            toolRule: .refuse
        )
        let socket = try LoopbackSocket()
        let terms = ListenerTerms(
            listener: 1,
            roles: [PinnedRole(role: .candidate, pin: pin, accounts: ["campaign"])],
            isSealed: isSealed
        )
        bench.order(.open(terms), [socket.descriptor])
        _ = await bench.wait { if case .opened = $0 { true } else { nil } }
        return (bench, socket.port)
    }

    private static func object(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8), limits: .document)
    }

    /// One response, as the provider says it, with what only the provider should know.
    private static func said(_ parts: String, reason: String?, usage: String) -> String {
        let end = reason.map { #","finishReason":"\#($0)""# } ?? ""
        return
            #"{"candidates":[{"content":{"role":"model","parts":[\#(parts)]},"index":0\#(end)}],"#
            + #""usageMetadata":{\#(usage)},"modelVersion":"pinned-007","responseId":"resp-123"}"#
    }

    private static let stop = said(
        #"{"text":"hi"}"#,
        reason: "STOP",
        usage: #""promptTokenCount":7,"candidatesTokenCount":2,"totalTokenCount":9"#
    )
    private static let begin = said(
        #"{"text":"one"}"#,
        reason: nil,
        usage: #""promptTokenCount":11,"totalTokenCount":11"#
    )
    private static let call = said(
        #"{"functionCall":{"name":"look","args":{"at":[1,2]}}}"#,
        reason: nil,
        usage: #""promptTokenCount":11,"totalTokenCount":11"#
    )
    private static let end = said(
        #"{"text":"two"}"#,
        reason: "STOP",
        usage: #""promptTokenCount":11,"candidatesTokenCount":3,"thoughtsTokenCount":2"#
    )

    @Test("a request goes out pinned, with the key, to the pinned model's path, and is metered")
    func whole() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.whole(200, Self.stop))] }
        let (bench, port) = try await Self.serve(provider)
        let body = """
            {"contents":[{"role":"user","parts":[{"text":"hello"}]}],"generationConfig":\
            {"temperature":1.5,"topP":0.1,"candidateCount":4,"maxOutputTokens":90000,\
            "thinkingConfig":{"thinkingLevel":"high"}}}
            """
        let answer = try await Talk.post(port, "\(Self.path):generateContent", body)
        #expect(answer.status == 200 && answer.body.contains(#""text":"hi""#), "\(answer)")
        for word in ["req-123", "set-cookie", "ratelimit", "server"] {
            #expect(!answer.head.contains(word), "\(word)")
        }
        let sent = try #require(provider.requests.first)
        #expect(sent.target == "/v1beta/models/pinned:generateContent")
        #expect(sent.value(of: "x-goog-api-key") == "sk-very-secret-key")
        let configuration = try Self.object(String(decoding: sent.body, as: UTF8.self))[
            "generationConfig"
        ]
        #expect(
            configuration == [
                "temperature": 0.25, "maxOutputTokens": 100,
                "thinkingConfig": ["thinkingLevel": "low"],
            ],
            "\(configuration ?? .null)"
        )
        #expect(
            Set(bench.kinds) == [
                .modelChanged, .temperatureChanged, .fanOutChanged, .maxTokensChanged,
                .effortChanged,
            ]
        )
        let call = await bench.call()
        #expect(call.dialect == .geminiGenerate && call.role == .candidate)
        #expect(call.inputTokens == 7 && call.outputTokens == 2 && call.isProvidersCount)
        #expect(call.microdollars == 11 && !call.isStreamed)
        await bench.end()
    }

    @Test("a stream arrives event by event, function calls too, and thoughts are paid for")
    func streaming() async throws {
        let gate = ScriptedProvider.Gate()
        let provider = try await ScriptedProvider { _ in
            [
                .send(Said.streamHead + Said.event(nil, Self.begin) + Said.event(nil, Self.call)),
                .wait(gate), .send(Said.event(nil, Self.end) + Said.end),
            ]
        }
        let (bench, port) = try await Self.serve(provider)
        let path = "\(Self.path):streamGenerateContent?alt=sse"
        // The provider goes on only when the sandbox has what came before.
        let text = try await Talk.raw(
            port,
            Talk.request(port, path, Self.question, isLast: true)
        ) { text in
            if text.contains("functionCall") { gate.open() }
            return false
        }
        let answer = Answer(text)
        #expect(answer.head.contains("text/event-stream"), "\(answer.head)")
        let events = answer.body.split(separator: "\n\n").map { $0.dropFirst("data: ".count) }
        let parts = try events.map {
            try Self.object(String($0))["candidates"]?.arrayValue?.first?["content"]?["parts"]
        }
        #expect(
            parts == [
                [["text": "one"]],
                [["functionCall": ["name": "look", "args": ["at": [1, 2]]]]],
                [["text": "two"]],
            ],
            "\(answer.body)"
        )
        #expect(answer.body.contains("STOP"))
        let sent = try #require(provider.requests.first)
        #expect(sent.target == "/v1beta/models/pinned:streamGenerateContent?alt=sse")
        let call = await bench.call()
        #expect(call.inputTokens == 11 && call.outputTokens == 5 && call.isProvidersCount)
        #expect(call.isStreamed && !call.isCut)
        await bench.end()
    }

    @Test("tokens are counted by the provider, for the pinned model")
    func count() async throws {
        let provider = try await ScriptedProvider { _ in
            [.send(Said.whole(200, #"{"totalTokens":31}"#))]
        }
        let (bench, port) = try await Self.serve(provider)
        let body = """
            {"generateContentRequest":{"model":"models/a-better-one",\
            "contents":[{"role":"user","parts":[{"text":"hello"}]}]}}
            """
        let answer = try await Talk.post(port, "\(Self.path):countTokens", body)
        #expect(answer.status == 200 && answer.body == #"{"totalTokens":31}"#, "\(answer)")
        let sent = try #require(provider.requests.first)
        #expect(sent.target == "/v1beta/models/pinned:countTokens")
        let text = String(decoding: sent.body, as: UTF8.self)
        #expect(text.contains(#""model":"models/pinned""#) && !text.contains("better"), "\(text)")
        let call = await bench.call()
        #expect(call.inputTokens == 31 && call.outputTokens == 0)
        await bench.end()
    }

    /// Requests for what the provider would run, keep or fetch, in both spellings.
    private static let refused: [(String, ModelEvent.Kind)] = [
        (#""tools":[{"googleSearch":{}}]"#, .providerTool),
        (#""tools":[{"google_search":{}}]"#, .providerTool),
        (#""tools":[{"urlContext":{}}]"#, .providerTool),
        (#""tools":[{"url_context":{}}]"#, .providerTool),
        (#""tools":[{"codeExecution":{}}]"#, .providerTool),
        (#""tools":[{"code_execution":{}}]"#, .providerTool),
        (#""cachedContent":"cachedContents/1""#, .storedState),
        (#""cached_content":"cachedContents/1""#, .storedState),
        (#""systemInstruction":{"parts":[{"fileData":{"fileUri":"https://x/"}}]}"#, .fileContent),
        (#""systemInstruction":{"parts":[{"file_data":{"file_uri":"https://x/"}}]}"#, .fileContent),
    ]

    @Test("what the provider would run, keep or fetch is refused in Google's words, and not sent")
    func refusals() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.whole(200, Self.stop))] }
        let (bench, port) = try await Self.serve(provider)
        for action in ["generateContent", "streamGenerateContent?alt=sse"] {
            for (member, kind) in Self.refused {
                let before = bench.events.count
                let body = Self.question.dropLast() + ",\(member)}"
                let answer = try await Talk.post(port, "\(Self.path):\(action)", String(body))
                let error = try Self.object(answer.body)["error"]
                #expect(answer.status == 400 && error?["code"] == 400, "\(member): \(answer)")
                #expect(error?["status"] == "INVALID_ARGUMENT", "\(member): \(answer)")
                let kinds = bench.kinds.dropFirst(before)
                #expect(kinds.contains(kind), "\(member): \(kinds)")
            }
        }
        #expect(provider.requests.isEmpty)
        await bench.end()
    }

    @Test(
        "errors of the provider are told in its form, with its time to wait and none of its words"
    )
    func errors() async throws {
        let fault = #"{"error":{"code":429,"message":"project 4711","status":"X","details":[{}]}}"#
        let provider = try await ScriptedProvider { number in
            number == 0
                ? [.send(Said.whole(429, fault, fields: ["Retry-After: 7"]))]
                : [.send(Said.whole(403, fault))]
        }
        let (bench, port) = try await Self.serve(provider)
        let path = "\(Self.path):streamGenerateContent?alt=sse"
        let limited = try await Talk.post(port, path, Self.question)
        #expect(limited.status == 429 && limited.head.contains("retry-after:"), "\(limited)")
        #expect(try Self.object(limited.body)["error"]?["status"] == "RESOURCE_EXHAUSTED")
        // A matter of keys is the operator's, and nothing to try again for.
        let denied = try await Talk.post(port, path, Self.question)
        let error = try Self.object(denied.body)["error"]
        #expect(denied.status == 400 && error?["code"] == 400, "\(denied)")
        #expect(error?["status"] == "INVALID_ARGUMENT")
        for answer in [limited, denied] { #expect(!answer.body.contains("4711")) }
        await bench.end()
    }

    @Test("a stream that is cut, falls silent or lacks its reason ends with an error of its form")
    func cut() async throws {
        let gate = ScriptedProvider.Gate()
        let head = Said.streamHead + Said.event(nil, Self.begin)
        let provider = try await ScriptedProvider { number in
            switch number {
            case 0: [.send(head), .hangUp]
            case 1: [.send(head + Said.end)]
            default: [.send(head), .wait(gate)]
            }
        }
        var settings = BrokerSettings()
        // Longer than a busy host keeps what was sent waiting.
        settings.silent = .milliseconds(2000)
        let (bench, port) = try await Self.serve(provider, settings: settings)
        for number in 0..<3 {
            let path = "\(Self.path):streamGenerateContent?alt=sse"
            let answer = try await Talk.post(port, path, Self.question)
            let events = answer.body.split(separator: "\n\n").map { $0.dropFirst("data: ".count) }
            #expect(answer.status == 200 && events.first?.contains("one") == true, "\(answer)")
            let error = try Self.object(String(events.last ?? ""))["error"]
            #expect(error?["code"] == 502 && error?["status"] == "UNAVAILABLE", "\(answer)")
            #expect(await bench.call(number).isCut)
        }
        #expect(bench.kinds.filter { $0 == .upstreamFailed }.count == 3)
        gate.open()
        await bench.end()
    }

    @Test("a spent budget is told in Google's words")
    func budget() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.whole(200, Self.stop))] }
        let (bench, port) = try await Self.serve(provider)
        bench.account("campaign", requests: 1)
        let path = "\(Self.path):generateContent"
        #expect(try await Talk.post(port, path, Self.question).status == 200)
        let answer = try await Talk.post(port, path, Self.question)
        let error = try Self.object(answer.body)["error"]
        #expect(answer.status == 402 && error?["code"] == 402, "\(answer)")
        #expect(error?["status"] == "FAILED_PRECONDITION")
        #expect(provider.requests.count == 1 && bench.kinds.contains(.budgetSpent))
        await bench.end()
    }

    @Test("of a sealed exam no identifier of the provider's comes back, and no content is told")
    func sealed() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.whole(200, Self.stop))] }
        let (bench, port) = try await Self.serve(provider, isSealed: true)
        let answer = try await Talk.post(port, "\(Self.path):generateContent", Self.question)
        #expect(answer.status == 200 && answer.body.contains(#""text":"hi""#), "\(answer)")
        for word in ["resp-123", "pinned-007"] { #expect(!answer.body.contains(word), "\(word)") }
        #expect(bench.events.allSatisfy { !$0.detail.contains("better") }, "\(bench.events)")
        await bench.end()
    }
}
