import BrokerProtocol
import EgressBroker
import ModelDialects
import NIOCore
import Testing

@Suite("A provider that refuses or fails")
struct ProviderFailureTests {
    private let path = "/v1/chat/completions"

    /// What was told of one call, and what was booked for it.
    private func told(
        _ said: [ScriptedProvider.Step],
        isSealed: Bool = false,
        settings: BrokerSettings = BrokerSettings(),
        key: String = "sk-very-secret-key"
    ) async throws -> (
        detail: String, kinds: [ModelEvent.Kind], tokens: Int, cost: Int, answer: String
    ) {
        let provider = try await ScriptedProvider { _ in said }
        let bench = BrokerBench(settings: settings)
        bench.configure([EgressBrokerTests.provider(provider.port, key: key)])
        let port = try await bench.open(isSealed: isSealed)
        let request = Talk.request(port, path, Asked.chat, isLast: true)
        let answer = try await Talk.raw(port, request)
        let call = await bench.call()
        let events = bench.events
        await bench.end()
        return (
            events.last?.detail ?? "", events.map(\.kind), call.inputTokens + call.outputTokens,
            call.microdollars, answer
        )
    }

    private static let answers: [(status: Int, body: String, words: String)] = [
        (
            400, #"{"type":"error","error":{"type":"x","message":"no effort\u001b[31m here"}}"#,
            "status 400: no effort?[31m here"
        ),
        (
            401, #"{"error":{"message":"a wrong key","code":"invalid_api_key"}}"#,
            "status 401: the key is refused: a wrong key"
        ),
        (429, #"{"error":{"message":"too many\n requests"}}"#, "status 429: too many requests"),
        (500, "<html>\r\n<b>bad\tgateway</b>", "status 500: <html> <b>bad gateway</b>"),
        (404, #"[{"error":{"code":404,"message":"no such model"}}]"#, "status 404: no such model"),
        (422, #"{"detail":[{"loc":["body"],"msg":"extra"}]}"#, "status 422: extra"),
    ]

    @Test("its own words are told, and nothing is booked", arguments: answers)
    func words(status: Int, body: String, words: String) async throws {
        let found = try await told([.send(Said.whole(status, body))])
        #expect(found.detail == words)
        #expect(found.kinds == [status == 429 ? .rateLimited : .upstreamFailed])
        #expect(found.tokens == 0 && found.cost == 0)
    }

    @Test("a call that succeeds is booked")
    func instrument() async throws {
        let found = try await told([.send(Said.chat)])
        #expect(found.tokens == 9 && found.cost > 0 && found.kinds.isEmpty)
    }

    @Test("words that repeat the key, and those of a sealed exam, are not told")
    func silence() async throws {
        let body = #"{"error":{"message":"wrong key sk-very-secret-key"}}"#
        let key = try await told([.send(Said.whole(400, body))])
        #expect(key.detail == "status 400")
        let sealed = try await told(
            [.send(Said.whole(400, #"{"error":{"message":"your text"}}"#))],
            isSealed: true
        )
        #expect(sealed.detail == "status 400" && sealed.tokens == 0)
    }

    @Test(
        "a key that is repeated in other letters of JSON is told to nobody",
        arguments: [
            ("sk-a/b+c", #"{"error":{"message":"wrong key sk-a\/b+c"}}"#),
            ("sk-a/b+c", #"{"error":{"message":"wrong key sk-a/b\u002Bc"}}"#),
            ("sk-a/b+c", #"{"other":"wrong key \u0073k-a/b+c","error":{"message":"wrong"}}"#),
            (#"sk-a"b"#, #"{"error":{"message":"wrong key \u0073k-a\"b"}}"#),
        ]
    )
    func escapedKey(key: String, body: String) async throws {
        let found = try await told([.send(Said.whole(400, body))], key: key)
        #expect(found.detail == "status 400")
        #expect(!found.answer.contains("wrong"), "\(found.answer)")
    }

    @Test("a wait that repeats the key is not told")
    func keyInField() async throws {
        let fields = ["Retry-After: sk-very-secret-key"]
        let found = try await told([.send(Said.whole(429, "{}", fields: fields))])
        #expect(!found.answer.contains("sk-very"), "\(found.answer)")
    }

    @Test("words are bounded")
    func bounded() async throws {
        let long = String(repeating: "x", count: 60_000)
        let found = try await told([.send(Said.whole(503, long))])
        #expect(found.detail.utf8.count == ModelEvent.detailLimit)
    }

    private static func answer(_ type: String, _ body: String) -> [ScriptedProvider.Step] {
        [
            .send(
                "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
            )
        ]
    }

    @Test("a page, and an answer with nothing in it, is told, and nothing is booked")
    func wrongType() async throws {
        let found = try await told(Self.answer("text/html; charset=utf-8", "<html"))
        #expect(found.detail.hasSuffix("(content type text/html)"), "\(found)")
        #expect(found.tokens == 0 && found.cost == 0)
        let nothing = try await told(Self.answer("application/json", ""))
        #expect(nothing.tokens == 0 && nothing.cost == 0)
    }

    @Test("of a content type nothing is told in a sealed exam, nor the key that it repeats")
    func typeWords() async throws {
        let sealed = try await told(Self.answer("your/words", "x"), isSealed: true)
        #expect(sealed.detail == "the answer is no JSON within the limits")
        let key = try await told(Self.answer("a/sk-very-secret-key", "x"))
        #expect(key.detail == "the answer is no JSON within the limits")
        let long = try await told(Self.answer("a/" + String(repeating: "b", count: 500), "x"))
        #expect(long.detail.utf8.count < 150, "\(long.detail)")
    }

    @Test("an answer that is too large to read is booked by its size")
    func unreadable() async throws {
        // Limits of the reader: so many values, so many levels.
        let wide = "[0" + String(repeating: ",0", count: 400_001) + "]"
        let found = try await told(Self.answer("application/json", wide))
        #expect(found.tokens >= wide.utf8.count / 4 && found.cost > 0, "\(found.tokens)")
        let deep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        let little = try await told(Self.answer("application/json", deep))
        #expect(little.tokens >= 100, "all that the call might use: \(little.tokens)")
        let other = try await told(Self.answer("application/octet-stream", "data: {}\n\n"))
        #expect(other.tokens >= 100, "\(other.tokens)")
    }

    @Test("an answer that is too long, or packed, is booked as all that its call might use")
    func unread() async throws {
        var settings = BrokerSettings()
        settings.answerBytes = 1_000
        let body = "[" + String(repeating: " ", count: 2_000) + "]"
        let long = try await told(Self.answer("application/json", body), settings: settings)
        #expect(long.tokens >= 100, "\(long)")
        let packed = Said.whole(200, "xx", fields: ["Content-Encoding: gzip"])
        let found = try await told([.send(packed)])
        #expect(found.tokens >= 100, "\(found)")
    }

    @Test("a head that does not come is told when the time of a call is over")
    func slowHead() async throws {
        var settings = BrokerSettings()
        settings.call = .milliseconds(300)
        let gate = ScriptedProvider.Gate()
        let found = try await told([.wait(gate)], settings: settings)
        gate.open()
        #expect(found.detail == "no answer began in the time that a call may take", "\(found)")
    }
}
