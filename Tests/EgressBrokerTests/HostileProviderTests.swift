import BrokerProtocol
import EgressBroker
import HTTPFront
import ModelDialects
import NIOCore
import Testing

// One after the other: floods share the event loop of all tests.
@Suite("A provider that is hostile", .serialized, .timeLimit(.minutes(1)))
struct HostileProviderTests {
    private let path = "/v1/chat/completions"

    // Short where a test waits for a limit; the others are those of a real run.
    private static var settings: BrokerSettings {
        var settings = BrokerSettings()
        settings.call = .milliseconds(500)
        settings.silent = .seconds(1)
        settings.eventBytes = 64 << 10
        return settings
    }

    /// Asks once; what the sandbox gets, and what the supervisor is told.
    private func asked(
        _ provider: HostileProvider,
        _ settings: BrokerSettings = settings,
        stream: Bool = false
    ) async throws -> (answer: Answer, call: CallRecord, events: [ModelEvent]) {
        let bench = BrokerBench(settings: settings)
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let answer =
            stream
            ? try await Talk.post(port, "/v1/messages", Asked.messagesStream)
            : try await Talk.post(port, path, Asked.chat)
        let call = await bench.call()
        await bench.end()
        // The broker has hung up: nothing of the talk goes on.
        let alarm = ContinuousClock.now + .seconds(10)
        while provider.endedConnections < provider.connections, ContinuousClock.now < alarm {
            await Task.yield()
        }
        return (answer, call, bench.events)
    }

    private static let ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    private static let hint = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"

    /// What never ends, however fast it comes.
    enum Endless: String, CaseIterable {
        case informational, informationalSlow, phrase, slowHead
        case slowBody, slowChunks, chunkExtension, trailers
    }

    @Test("a whole answer that never ends is given up in time", arguments: Endless.allCases)
    func endless(_ kind: Endless) async throws {
        let provider = try await HostileProvider { line in
            try await line.hear { _ in
                switch kind {
                case .informational:
                    try await line.sayForever(String(repeating: Self.hint, count: 100))
                case .informationalSlow:
                    try await line.sayForever(
                        "HTTP/1.1 100 Continue\r\n\r\n",
                        every: .milliseconds(50)
                    )
                case .phrase:
                    try await line.say("HTTP/1.1 200 ")
                    try await line.sayForever("OK and ")
                case .slowHead:
                    try await line.say("HTTP/1.1 200 OK\r\nX-A: ")
                    try await line.sayForever("a", every: .milliseconds(50))
                case .slowBody:
                    try await line.say(Self.ok + "Content-Length: 1000000\r\n\r\n")
                    try await line.sayForever(" ", every: .milliseconds(50))
                case .slowChunks:
                    try await line.say(Self.chunked)
                    try await line.sayForever("1\r\n \r\n", every: .milliseconds(50))
                case .chunkExtension:
                    try await line.say(Self.chunked + "1;a=")
                    try await line.sayForever("b", every: .milliseconds(50))
                case .trailers:
                    try await line.say(Self.chunked + "2\r\n{}\r\n0\r\n")
                    try await line.sayForever("X-A: b\r\n")
                }
                return false
            }
        }
        let started = ContinuousClock.now
        let found = try await asked(provider)
        #expect(found.answer.status == 502, "\(found.answer)")
        #expect(found.answer.body.contains("error"))
        #expect(!found.events.isEmpty && found.call.status == 502)
        #expect(provider.endedConnections == provider.connections)
        #expect(ContinuousClock.now - started < .seconds(8))
        try await provider.stop()
    }
}

// Streams, lengths that lie, and heads.
extension HostileProviderTests {
    private static let stream =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static func chunk(_ text: String) -> String {
        String(text.utf8.count, radix: 16) + "\r\n" + text + "\r\n"
    }

    enum EndlessStream: String, CaseIterable {
        case slowEvents, comments, blankLines, oneLine, oneEvent
    }

    @Test(
        "a stream that never ends is cut in time, and in the dialect's words",
        arguments: EndlessStream.allCases
    )
    func endlessStream(_ kind: EndlessStream) async throws {
        let words = String(repeating: "words ", count: 100)
        let lines = String(repeating: "\n", count: 600)
        let provider = try await HostileProvider { line in
            try await line.hear { _ in
                try await line.say(Self.stream + Said.messageStart)
                switch kind {
                case .slowEvents:
                    try await line.sayForever(Said.messageDelta, every: .milliseconds(50))
                case .comments: try await line.sayForever(Self.chunk(": \(words)\n"))
                case .blankLines: try await line.sayForever(Self.chunk(lines))
                case .oneLine: try await line.sayForever(Self.chunk("data: \(words)"))
                case .oneEvent: try await line.sayForever(Self.chunk("data: \(words)\n"))
                }
                return false
            }
        }
        let found = try await asked(provider, stream: true)
        #expect(found.answer.status == 200, "\(found.events)")
        #expect(found.answer.body.contains("event: error"))
        #expect(found.call.isCut && found.events.contains { $0.kind == .upstreamFailed })
        #expect(provider.endedConnections == provider.connections)
        try await provider.stop()
    }

    /// An endless stream in one dialect: where it is asked for, the request, what comes again and again, and
    /// what ends it for length.
    static let endlessTexts: [(path: String, request: String, event: String, end: [String])] = [
        (
            "/v1/messages", Asked.messagesStream,
            Said.event(
                "content_block_start",
                #"{"type":"content_block_start","index":3,"content_block":{"type":"text","text":""}}"#
            ) + Said.messageDelta,
            [
                #""index":3,"type":"content_block_stop""#, #""stop_reason":"max_tokens""#,
                "event: message_stop",
            ]
        ),
        (
            "/v1/chat/completions", Asked.chatStream,
            Said.event(
                nil,
                #"{"id":"c1","object":"chat.completion.chunk","created":5,"model":"pinned","#
                    + #""choices":[{"index":0,"delta":{"content":"words "},"finish_reason":null}]}"#
            ),
            [#""finish_reason":"length""#, "data: [DONE]"]
        ),
        (
            "/v1/responses", Asked.responsesStream,
            Said.event(
                "response.output_text.delta",
                #"{"type":"response.output_text.delta","sequence_number":7,"item_id":"m1","#
                    + #""output_index":0,"content_index":0,"delta":"words "}"#
            ),
            [
                "event: response.incomplete", #""reason":"max_output_tokens""#,
                #""sequence_number":8"#,
            ]
        ),
        (
            "/v1beta/models/fast:streamGenerateContent?alt=sse", Asked.gemini,
            Said.event(
                nil,
                #"{"candidates":[{"content":{"role":"model","parts":[{"text":"words "}]},"index":0}]}"#
            ),
            [#""finishReason":"MAX_TOKENS""#]
        ),
    ]

    @Test(
        "text without end is cut at the pinned length, as an end for length, or where a budget is spent",
        arguments: endlessTexts.indices,
        [false, true]
    )
    func overlong(_ dialect: Int, hasBudget: Bool) async throws {
        let (path, request, event, end) = Self.endlessTexts[dialect]
        let provider = try await HostileProvider { line in
            try await line.hear { _ in
                try await line.say(Self.stream)
                try await line.sayForever(event)
                return false
            }
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        // An input token costs 1 and an output token 2 millionths of a dollar.
        if hasBudget { bench.account("campaign", microdollars: 300) }
        let port = try await bench.open()
        let answer = try await Talk.post(port, path, request)
        let call = await bench.call()
        await bench.end()
        #expect(answer.status == 200 && call.isCut, "\(answer)")
        if hasBudget {
            #expect(bench.kinds.contains(.budgetSpent), "\(bench.events)")
            #expect((250...330).contains(call.microdollars), "\(call)")
            for words in end.dropFirst() { #expect(!answer.body.contains(words)) }
        } else {
            for words in end {
                #expect(answer.body.contains(words), "\(words): \(answer.body.suffix(600))")
            }
            // At most twice the 100 tokens of the pin, or the 50 of the request, and the margin.
            #expect(call.outputTokens > 350 && call.outputTokens < 700, "\(call)")
        }
        try await provider.stop()
    }

    @Test("a hundred thousand small events pass, one after the other, and are counted once")
    func manyEvents() async throws {
        let provider = try await HostileProvider { line in
            try await line.hear { _ in
                try await line.say(Self.stream + Said.messageStart)
                let hundred = String(repeating: "event: ping\ndata: {}\n\n", count: 100)
                for _ in 0..<1000 { try await line.say(Self.chunk(hundred)) }
                try await line.say(Said.messageEnd)
                return true
            }
        }
        let found = try await asked(provider, BrokerSettings(), stream: true)
        #expect(!found.call.isCut && found.call.outputTokens == 5)
        #expect(found.answer.body.contains("message_stop"))
        try await provider.stop()
    }

    enum Head: String, CaseIterable {
        case longField, manyFields, longName, twoLengths, twoFramings, negative, overflow, gzipped
        case nulInName, nulInValue

        var fields: String {
            switch self {
            case .longField: "X-A: " + String(repeating: "a", count: 1 << 20) + "\r\n"
            case .manyFields: String(repeating: "X-A: b\r\n", count: 10_000)
            case .longName: String(repeating: "a", count: 1 << 20)
            case .twoLengths: "Content-Length: 2\r\nContent-Length: 3\r\n"
            case .twoFramings: "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n"
            case .negative: "Content-Length: -2\r\n"
            case .overflow: "Content-Length: 99999999999999999999\r\n"
            case .gzipped: "Transfer-Encoding: chunked, gzip\r\n"
            case .nulInName: "X-A\u{0}: b\r\n"
            case .nulInValue: "X-A: b\u{0}c\r\n"
            }
        }
    }

    @Test("a head beyond every measure is an error, and is not kept", arguments: Head.allCases)
    func heads(_ kind: Head) async throws {
        let provider = try await HostileProvider.saying(Self.ok + kind.fields + "\r\n{}")
        let found = try await asked(provider)
        #expect(found.answer.status == 502, "\(found.answer)")
        #expect(found.answer.body.contains("error") && found.answer.head.utf8.count < 300)
        try await provider.stop()
    }

    @Test(
        "an encoding that was not offered is refused, and nothing is unpacked",
        arguments: ["gzip", "deflate", "br", "zstd", "GZIP", "identity, gzip"]
    )
    func encodings(_ encoding: String) async throws {
        let fields = "Content-Encoding: \(encoding)\r\n"
        let whole = try await HostileProvider.saying(
            Self.ok + fields + "Content-Length: 2\r\n\r\n{}"
        )
        #expect(try await asked(whole).answer.status == 502)
        try await whole.stop()
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + fields
        let stream = try await HostileProvider.saying(head + "\r\ndata: a\n\n", hangsUp: true)
        #expect(try await asked(stream, stream: true).answer.status == 502)
        try await stream.stop()
    }

    @Test("what is shorter than it announced is no answer")
    func short() async throws {
        let whole = try await HostileProvider.saying(
            Self.ok + "Content-Length: 20\r\n\r\n{}",
            hangsUp: true
        )
        #expect(try await asked(whole).answer.status == 502)
        try await whole.stop()
        let chunks = try await HostileProvider.saying(Self.chunked + "8\r\n{}", hangsUp: true)
        #expect(try await asked(chunks).answer.status == 502)
        try await chunks.stop()
        let huge = try await HostileProvider.saying(
            Self.chunked + "ffffffffffffffffff\r\n{}",
            hangsUp: true
        )
        #expect(try await asked(huge).answer.status == 502)
        try await huge.stop()
    }

    @Test("another protocol that a provider begins is no answer")
    func upgrade() async throws {
        let provider = try await HostileProvider.saying(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\nPRI * "
        )
        let found = try await asked(provider)
        #expect(found.answer.status == 502 && provider.requests.count == 1)
        try await provider.stop()
    }

    @Test("what comes after the last chunk is no part of the answer")
    func trailers() async throws {
        let body = #"{"choices":[]}"#
        let provider = try await HostileProvider.saying(
            Self.chunked + Self.chunk(body) + "0\r\nRetry-After: 9\r\nX-Key: secret\r\n\r\n"
        )
        let found = try await asked(provider)
        #expect(found.answer.status == 200 && found.answer.body == body)
        #expect(!found.answer.head.contains("secret"))
        try await provider.stop()
    }
}

// One connection, several requests.
extension HostileProviderTests {
    private static func said(_ text: String) -> String {
        let body = #"{"choices":[],"said":"\#(text)"}"#
        return ok + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
    }

    /// Asks twice at one listener, one after the other.
    private func askedTwice(_ provider: HostileProvider) async throws -> (Answer, Answer) {
        let bench = BrokerBench(settings: Self.settings)
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let first = try await Talk.post(port, path, Asked.chat)
        let second = try await Talk.post(port, path, Asked.chat)
        await bench.end()
        try await provider.stop()
        return (first, second)
    }

    @Test("a connection is used again, and one that ends under a request ends that request, once")
    func endsBetween() async throws {
        let provider = try await HostileProvider { line in
            try await line.hear { number in
                guard number == 0 else { return false }
                try await line.say(Self.said("one"))
                return true
            }
        }
        let (first, second) = try await askedTwice(provider)
        #expect(first.body.contains("one") && second.status == 502)
        #expect(provider.connections == 1)
        #expect(provider.requests.count == 2)
    }

    @Test("a connection that ended after an answer is not used, and the request goes out once")
    func endedBetween() async throws {
        let provider = try await HostileProvider.saying(Self.said("one"), hangsUp: true)
        let bench = BrokerBench(settings: Self.settings)
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        for count in 1...5 {
            #expect(try await Talk.post(port, path, Asked.chat).status == 200)
            while provider.endedConnections < count { await Task.yield() }
        }
        #expect(provider.requests.count == 5)
        await bench.end()
        try await provider.stop()
    }

    @Test("what a provider says unasked is the answer to no request")
    func unasked() async throws {
        let provider = try await HostileProvider.saying(Self.said("one") + Self.said("planted"))
        let (first, second) = try await askedTwice(provider)
        #expect(first.body.contains("one"))
        #expect(second.body.contains("one") && !second.body.contains("planted"))
        #expect(provider.connections == 2 && provider.requests.count == 2)
    }

    @Test("an answer that is longer than it announced is cut there, and its rest is no answer")
    func long() async throws {
        let body = #"{"choices":[]}"#
        let provider = try await HostileProvider.saying(
            Self.ok + "Content-Length: \(body.utf8.count)\r\n\r\n" + body + "and more\r\n\r\n"
        )
        let (first, second) = try await askedTwice(provider)
        #expect(first.body == body && second.body == body)
        #expect(provider.connections == 2)
    }

    @Test("an answer before the request is there answers one request, and none is sent twice")
    func early() async throws {
        let provider = try await HostileProvider { line in
            try await line.say(Self.said("early"))
            try await line.hear { _ in true }
        }
        let bench = BrokerBench(settings: Self.settings)
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let words = String(repeating: "words ", count: 1 << 20)
        let body = #"{"model":"fast","messages":[{"role":"user","content":"\#(words)"}]}"#
        let first = try await Talk.post(port, path, body)
        #expect([200, 502].contains(first.status) && provider.connections == 1)
        let second = try await Talk.post(port, path, body)
        #expect(second.status == 502 || provider.connections == 2)
        #expect(provider.requests.count <= 2)
        await bench.end()
        try await provider.stop()
    }

    @Test("a provider that does not take the request is given up in time")
    func deaf() async throws {
        let gate = ScriptedProvider.Gate()
        let provider = try await HostileProvider { _ in try await gate.pass() }
        let bench = BrokerBench(settings: Self.settings)
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let words = String(repeating: "words ", count: 2 << 20)
        let body = #"{"model":"fast","messages":[{"role":"user","content":"\#(words)"}]}"#
        #expect(try await Talk.post(port, path, body).status == 502)
        gate.open()
        await bench.end()
        try await provider.stop()
    }

    @Test(
        "no redirect is followed, of a whole answer or a stream, and the key goes nowhere else",
        arguments: [301, 302, 303, 307, 308],
        [false, true]
    )
    func redirects(_ status: Int, isStreaming: Bool) async throws {
        let other = try await HostileProvider.saying(Self.said("other"))
        let provider = try await HostileProvider.saying(
            "HTTP/1.1 \(status) Moved\r\nLocation: http://127.0.0.1:\(other.port)/v1/messages\r\n"
                + "Content-Length: 0\r\n\r\n"
        )
        let found = try await asked(provider, stream: isStreaming)
        #expect(found.answer.status == 502 && !found.answer.head.contains("location"))
        #expect(other.connections == 0 && provider.requests.count == 1)
        try await provider.stop()
        try await other.stop()
    }
}
