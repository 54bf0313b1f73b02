import BrokerProtocol
import EgressBroker
import HTTPFront
import ModelDialects
import NIOCore
import NIOSSL
import Synchronization
import Testing

@Suite("The way to a provider", .timeLimit(.minutes(1)))
struct UpstreamTests {
    private let path = "/v1/chat/completions"
    private let name = "api.provider.example"

    /// A resolver that answers from a list, one answer a question, and the last from then on.
    private final class ScriptedResolver: Sendable {
        private let answers: [[[UInt8]]]
        private let asked = Mutex(0)

        init(_ answers: [[[UInt8]]]) {
            self.answers = answers
        }

        var count: Int { asked.withLock(\.self) }

        var resolver: NameResolver {
            NameResolver { [self] _ in
                let turn = asked.withLock { asked in
                    asked += 1
                    return asked - 1
                }
                return answers[min(turn, answers.count - 1)]
            }
        }
    }

    private static let loopback: [UInt8] = [127, 0, 0, 1]

    /// Asks a provider with TLS once; what the sandbox gets and what the provider saw.
    private func overTLS(
        _ tls: TLSConfiguration,
        trust: String?
    ) async throws -> (answer: Answer, seen: Int, events: [ModelEvent]) {
        let provider = try await ScriptedProvider(host: name, tls: tls) { _ in [.send(Said.chat)] }
        let bench = BrokerBench(resolver: ScriptedResolver([[Self.loopback]]).resolver)
        bench.configure([
            EgressBrokerTests.provider(provider.port, host: name, scheme: "https", trust: trust)
        ])
        let port = try await bench.open()
        let answer = try await Talk.post(port, path, Asked.chat)
        await bench.end()
        try await provider.stop()
        return (answer, provider.requests.count, bench.events)
    }

    @Test("a provider is asked over TLS under its name, and with its authority's certificate")
    func trusted() async throws {
        let authority = try TestAuthority()
        let found = try await overTLS(authority.server(name), trust: authority.certificate)
        #expect(found.answer.status == 200 && found.seen == 1)
        try authority.remove()
    }

    @Test("a wrong name, a strange authority and an expired certificate get no request and no key")
    func untrusted() async throws {
        let authority = try TestAuthority()
        let stranger = try TestAuthority()
        let cases: [(String, TLSConfiguration, String?)] = [
            ("wrong name", try authority.server("other.example"), authority.certificate),
            ("strange authority", try stranger.server(name), authority.certificate),
            ("the host's authorities", try authority.server(name), nil),
            ("expired", try authority.server(name, days: -1), authority.certificate),
        ]
        for (title, tls, trust) in cases {
            let found = try await overTLS(tls, trust: trust)
            #expect(found.answer.status == 502 && found.seen == 0, "\(title)")
            #expect(found.events.map(\.kind) == [.upstreamFailed], "\(title)")
            #expect(!found.answer.body.contains("sk-very"), "\(title)")
        }
        try authority.remove()
        try stranger.remove()
    }

    @Test(
        "a name that leads to an address that is not public is not followed, mixed with public ones either"
    )
    func privateAddress() async throws {
        let provider = try await ScriptedProvider(host: name) { _ in [.send(Said.chat)] }
        for answer in [[Self.loopback], [[8, 8, 8, 8], Self.loopback], [[10, 0, 0, 1]]] {
            let bench = BrokerBench(resolver: ScriptedResolver([answer]).resolver)
            bench.configure([
                EgressBrokerTests.provider(provider.port, host: name, allowsAnyAddress: false)
            ])
            let port = try await bench.open()
            #expect(try await Talk.post(port, path, Asked.chat).status == 502)
            #expect(bench.events.first?.detail.contains("not public") == true)
            await bench.end()
        }
        #expect(provider.requests.isEmpty)
    }

    @Test("a name is resolved once, and a later answer moves no connection")
    func rebinding() async throws {
        let provider = try await ScriptedProvider(host: name) { _ in [.send(Said.chat)] }
        let resolver = ScriptedResolver([[Self.loopback], [[10, 0, 0, 1]]])
        let bench = BrokerBench(resolver: resolver.resolver)
        bench.configure([EgressBrokerTests.provider(provider.port, host: name)])
        let port = try await bench.open()
        for _ in 0..<3 { #expect(try await Talk.post(port, path, Asked.chat).status == 200) }
        #expect(resolver.count == 1)
        #expect(provider.requests.first?.value(of: "host") == "\(name):\(provider.port)")
        await bench.end()
    }

    @Test("where one address refuses the connection the next is tried, and this is told")
    func secondAddress() async throws {
        let provider = try await ScriptedProvider(host: name) { _ in [.send(Said.chat)] }
        let resolver = ScriptedResolver([[[127, 0, 0, 9], Self.loopback]])
        let bench = BrokerBench(resolver: resolver.resolver)
        bench.configure([EgressBrokerTests.provider(provider.port, host: name)])
        let port = try await bench.open()
        #expect(try await Talk.post(port, path, Asked.chat).status == 200)
        #expect(bench.events.map(\.kind) == [.upstreamFailed])
        await bench.end()
    }

    @Test("a provider that is gone is an error of the dialect, and costs nothing")
    func gone() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        try await provider.stop()
        let answer = try await Talk.post(port, path, Asked.chat)
        #expect(answer.status == 502 && answer.body.contains("error"))
        let call = await bench.call()
        #expect(call.status == 502 && call.inputTokens == 0 && call.microdollars == 0)
        await bench.end()
    }

    @Test("a request whose connection ends after it was sent is not sent again")
    func noHiddenRetry() async throws {
        let provider = try await ScriptedProvider { _ in [.hangUp] }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        #expect(try await Talk.post(port, path, Asked.chat).status == 502)
        #expect(provider.requests.count == 1)
        await bench.end()
    }

    @Test("a redirect is not followed")
    func redirect() async throws {
        let other = try await ScriptedProvider { _ in [.send(Said.chat)] }
        let target = other.port
        let provider = try await ScriptedProvider { _ in
            [.send(Said.whole(307, "{}", fields: ["Location: http://127.0.0.1:\(target)/v1/x"]))]
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        #expect(try await Talk.post(port, path, Asked.chat).status == 502)
        #expect(other.requests.isEmpty)
        await bench.end()
    }

    @Test(
        "what the provider says of its key, its state and its faults stays with us",
        arguments: [
            (401, 400), (403, 400), (402, 401), (429, 429), (500, 500), (529, 529), (418, 418),
        ]
    )
    func statuses(_ provided: Int, _ given: Int) async throws {
        let said = #"{"error":{"message":"Incorrect API key sk-very-secret-key, org-123"}}"#
        let provider = try await ScriptedProvider { _ in
            [.send(Said.whole(provided, said, fields: ["Retry-After: 7"]))]
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let answer = try await Talk.post(port, path, Asked.chat)
        #expect(answer.status == given)
        #expect(!answer.body.contains("sk-very") && !answer.body.contains("org-123"))
        #expect(answer.head.contains("retry-after") == [429, 529].contains(provided))
        #expect(!answer.head.contains("req-123"))
        await bench.end()
    }

    @Test("what the provider says of a request that is too long is passed on, but never a key")
    func passedOn() async throws {
        let said =
            #"{"error":{"message":"maximum context length is 8192","code":"context_length"}}"#
        let leak = #"{"error":{"message":"bad request with sk-very-secret-key"}}"#
        let provider = try await ScriptedProvider { number in
            [.send(Said.whole(400, number == 0 ? said : leak))]
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let first = try await Talk.post(port, path, Asked.chat)
        #expect(first.status == 400 && first.body.contains("context_length"))
        let second = try await Talk.post(port, path, Asked.chat)
        #expect(second.status == 400 && !second.body.contains("sk-very"))
        await bench.end()
    }

    @Test("an answer that is no JSON, is compressed or is too long is not passed on")
    func unreadable() async throws {
        let provider = try await ScriptedProvider { number in
            switch number {
            case 0: [.send(Said.whole(200, "<html>"))]
            case 1: [.send(Said.whole(200, "{}", fields: ["Content-Encoding: gzip"]))]
            default:
                [.send(Said.whole(200, "{\"a\":\"" + String(repeating: "b", count: 5000) + "\"}"))]
            }
        }
        var settings = BrokerSettings()
        settings.answerBytes = 4000
        let bench = BrokerBench(settings: settings)
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        for _ in 0..<3 { #expect(try await Talk.post(port, path, Asked.chat).status == 502) }
        await bench.end()
    }

    @Test("an address without TLS is refused where the terms do not allow it")
    func plain() async throws {
        let bench = BrokerBench()
        let terms = UpstreamTerms(
            name: "provider",
            url: "http://api.provider.example",
            dialects: [.openAIChat],
            key: SecretText("sk-very-secret-key"),
            trust: nil,
            allowsAnyAddress: false,
            allowsPlainHTTP: false
        )
        bench.configure([terms])
        let failure = await bench.wait { report -> BrokerFailure? in
            if case .failed(nil, let failure) = report { failure } else { nil }
        }
        #expect(failure.location.contains("provider") && failure.reason.contains("TLS"))
        #expect(!"\(failure)".contains("sk-very"))
        await bench.end()
    }
}
