import BrokerProtocol
import EgressBroker
import HTTPFront
import ModelDialects
import NIOCore
import Testing

@Suite("A listener that is served", .timeLimit(.minutes(1)))
struct ServingTests {
    @Test(
        "a chat completion goes out pinned, with the key, and comes back without the provider's state"
    )
    func whole() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let answer = try await Talk.post(port, "/v1/chat/completions", Asked.chat)
        #expect(answer.status == 200)
        #expect(answer.body.contains(#""content":"hi""#))
        for word in ["req-123", "set-cookie", "ratelimit", "server", "date"] {
            #expect(!answer.head.contains(word), "\(word)")
        }
        let sent = try #require(provider.requests.first)
        #expect(sent.target == "/v1/chat/completions")
        #expect(sent.value(of: "authorization") == "Bearer sk-very-secret-key")
        let body = String(decoding: sent.body, as: UTF8.self)
        #expect(body.contains(#""model":"pinned""#) && body.contains(#""store":false"#))
        let call = await bench.call()
        #expect(call.status == 200 && call.inputTokens == 7 && call.outputTokens == 2)
        #expect(call.isProvidersCount && call.microdollars == 11)
        await bench.end()
    }

    @Test("no header of the sandbox reaches the provider but what the allow-list has")
    func headers() async throws {
        let provider = try await ScriptedProvider { _ in
            [.send(Said.streamHead + Said.messageStart + Said.messageEnd)]
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let fields = [
            "anthropic-beta: files-api-2025-04-14, interleaved-thinking-2025-05-14",
            "anthropic-version: 2099-01-01", "X-Api-Key: mine", "Cookie: a=b", "X-Session: 17",
            "X-Forwarded-For: 10.0.0.1", "User-Agent: mine",
        ]
        let bytes = Talk.request(
            port,
            "/v1/messages?beta=true",
            Asked.messagesStream,
            fields: fields,
            isLast: true
        )
        _ = try await Talk.raw(port, bytes)
        let sent = try #require(provider.requests.first)
        #expect(
            Set(sent.headers.map(\.name)) == [
                "host", "content-type", "content-length", "accept", "accept-encoding",
                "user-agent", "anthropic-version", "anthropic-beta", "x-api-key",
            ]
        )
        #expect(sent.value(of: "anthropic-beta") == "interleaved-thinking-2025-05-14")
        #expect(sent.value(of: "anthropic-version") == "2023-06-01")
        #expect(sent.value(of: "x-api-key") == "sk-very-secret-key")
        await bench.end()
    }

    @Test("a stream arrives event by event, before the provider has said the rest")
    func streaming() async throws {
        let gate = ScriptedProvider.Gate()
        let provider = try await ScriptedProvider { _ in
            [
                .send(Said.streamHead + Said.messageStart + Said.messageDelta), .wait(gate),
                .send(Said.messageEnd),
            ]
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let bytes = Talk.request(port, "/v1/messages", Asked.messagesStream, isLast: true)
        // The provider goes on only when the sandbox has the first events: a broker that waited for
        // the whole would wait here for ever.
        let text = try await Talk.raw(port, bytes) { text in
            if text.contains("text_delta") { gate.open() }
            return false
        }
        let answer = Answer(text)
        #expect(
            answer.body.contains("event: message_start") && answer.body.contains("message_stop")
        )
        let call = await bench.call()
        #expect(call.inputTokens == 11 && call.outputTokens == 5 && call.isStreamed && !call.isCut)
        await bench.end()
    }

    @Test("the usage that only we asked for stays with us")
    func addedUsage() async throws {
        let chunk = #"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":"#
        let provider = try await ScriptedProvider { _ in
            [
                .send(Said.streamHead + Said.event(nil, chunk + #"{"content":"hi"}}]}"#)),
                .send(
                    Said.event(
                        nil,
                        #"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#
                    )
                ),
                .send(Said.event(nil, "[DONE]") + Said.end),
            ]
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let answer = try await Talk.post(port, "/v1/chat/completions", Asked.chatStream)
        #expect(answer.body.contains("hi") && answer.body.contains("[DONE]"))
        #expect(!answer.body.contains("usage"))
        let call = await bench.call()
        #expect(call.inputTokens == 3 && call.outputTokens == 4)
        await bench.end()
    }

    @Test("a stream that the provider cuts ends with an error of its dialect, and says so")
    func cut() async throws {
        let provider = try await ScriptedProvider { _ in
            [.send(Said.streamHead + Said.messageStart + Said.messageDelta), .hangUp]
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let answer = try await Talk.post(port, "/v1/messages", Asked.messagesStream)
        #expect(answer.body.contains("text_delta") && answer.body.contains("event: error"))
        #expect(await bench.call().isCut)
        #expect(bench.kinds.contains(.upstreamFailed))
        await bench.end()
    }

    @Test("a stream that ends without its last event is a cut one")
    func unfinished() async throws {
        let provider = try await ScriptedProvider { _ in
            [.send(Said.streamHead + Said.messageStart + Said.end)]
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let answer = try await Talk.post(port, "/v1/messages", Asked.messagesStream)
        #expect(answer.body.contains("event: error"))
        #expect(await bench.call().isCut)
        await bench.end()
    }

    @Test("a provider that is silent for too long is given up")
    func silent() async throws {
        let gate = ScriptedProvider.Gate()
        let provider = try await ScriptedProvider { _ in
            [.send(Said.streamHead + Said.messageStart), .wait(gate)]
        }
        var settings = BrokerSettings()
        settings.silent = .seconds(1)
        let bench = BrokerBench(settings: settings)
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let answer = try await Talk.post(port, "/v1/messages", Asked.messagesStream)
        #expect(answer.body.contains("event: error"))
        #expect(await bench.call().isCut)
        gate.open()
        await bench.end()
    }

    @Test("a sandbox that hangs up ends its call at the provider")
    func hangUp() async throws {
        let gate = ScriptedProvider.Gate()
        let provider = try await ScriptedProvider { _ in
            [.send(Said.streamHead + Said.messageStart), .wait(gate)]
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let bytes = Talk.request(port, "/v1/messages", Asked.messagesStream)
        _ = try await Talk.raw(port, bytes) { $0.contains("message_start") }
        let call = await bench.call()
        #expect(call.isCut && call.status == 200)
        gate.open()
        await bench.end()
    }

    @Test("two requests on one connection are answered in their order, also when they come at once")
    func pipelined() async throws {
        let provider = try await ScriptedProvider { number in
            [.send(Said.whole(200, #"{"choices":[],"number":\#(number)}"#))]
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let one = Talk.request(port, "/v1/chat/completions", Asked.chat)
        let two = Talk.request(port, "/v1/chat/completions", Asked.chat, isLast: true)
        let text = try await Talk.raw(port, one + two)
        let first = try #require(text.ranges(of: #""number":0"#).first)
        let second = try #require(text.ranges(of: #""number":1"#).first)
        #expect(first.lowerBound < second.lowerBound)
        await bench.end()
    }

    @Test("the models of a listener are told by the broker itself")
    func models() async throws {
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(1)])
        let port = try await bench.open()
        let text = "GET /v1/models HTTP/1.1\r\nHost: localhost:\(port)\r\nConnection: close\r\n\r\n"
        let answer = Answer(try await Talk.raw(port, Array(text.utf8)))
        #expect(answer.status == 200 && answer.body.contains(#""id":"fast""#))
        await bench.end()
    }

    @Test("a body of 10 MB is read, and one beyond the limit is refused before it is taken in")
    func large() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let words = String(repeating: "words ", count: 10_000_000 / 6)
        let body = #"{"model":"fast","messages":[{"role":"user","content":"\#(words)"}]}"#
        let answer = try await Talk.post(port, "/v1/chat/completions", body)
        #expect(answer.status == 200)
        #expect((provider.requests.first?.body.count ?? 0) > 9_900_000)
        let head =
            "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
            + "Content-Length: \(17 << 20)\r\n\r\n"
        let refused = Answer(try await Talk.raw(port, Array(head.utf8)))
        #expect(refused.status == 413)
        await bench.end()
    }

    @Test("every hostile request is refused on the wire, and the supervisor hears of it")
    func hostile() async throws {
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(1)])
        let port = try await bench.open()
        for request in HostileRequest.all {
            let before = bench.events.count
            let bytes = request.bytes(toPort: port)
            let answer = Answer(try await Talk.raw(port, bytes) { $0.hasSuffix("}}") })
            #expect(answer.status == request.status, "\(request.name)")
            #expect(answer.head.contains("connection: close"), "\(request.name)")
            #expect(bench.events.count == before + 1, "\(request.name)")
        }
        await bench.end()
    }
}
