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
        settings: BrokerSettings = BrokerSettings()
    ) async throws -> (detail: String, kinds: [ModelEvent.Kind], tokens: Int, cost: Int) {
        let provider = try await ScriptedProvider { _ in said }
        let bench = BrokerBench(settings: settings)
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open(isSealed: isSealed)
        _ = try await Talk.post(port, path, Asked.chat)
        let call = await bench.call()
        let events = bench.events
        await bench.end()
        return (
            events.last?.detail ?? "", events.map(\.kind), call.inputTokens + call.outputTokens,
            call.microdollars
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

    @Test("words are bounded")
    func bounded() async throws {
        let long = String(repeating: "x", count: 60_000)
        let found = try await told([.send(Said.whole(503, long))])
        #expect(found.detail.utf8.count == ModelEvent.detailLimit)
    }

    @Test("an answer of a wrong content type is told, and nothing is booked")
    func wrongType() async throws {
        let found = try await told([
            .send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n<html")
        ])
        #expect(found.detail.contains("text/html"), "\(found)")
        #expect(found.tokens == 0 && found.cost == 0)
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
