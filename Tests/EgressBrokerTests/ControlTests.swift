import BrokerProtocol
import EgressBroker
import HTTPFront
import Foundation
import HostKernel
import LinuxKernel
import ModelDialects
import NIOCore
import Testing

@Suite("What the supervisor orders", .timeLimit(.minutes(1)))
struct ControlTests {
    private let path = "/v1/chat/completions"

    @Test("a spent account refuses the call in the dialect, and no provider is asked")
    func spent() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        bench.account("campaign", requests: 1)
        let port = try await bench.open()
        #expect(try await Talk.post(port, path, Asked.chat).status == 200)
        let refused = try await Talk.post(port, path, Asked.chat)
        #expect(refused.status == 401 && refused.body.contains("campaign"))
        bench.account("campaign", tokens: 1)
        #expect(try await Talk.post(port, path, Asked.chat).status == 401)
        #expect(provider.requests.count == 1)
        #expect(bench.kinds == [.budgetSpent, .budgetSpent])
        await bench.end()
    }

    @Test("D04: a call is limited to what is left, and what it used is charged")
    func charged() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        bench.account("campaign", tokens: 60)
        let port = try await bench.open()
        #expect(try await Talk.post(port, path, Asked.chat).status == 200)
        let first = String(decoding: provider.requests[0].body, as: UTF8.self)
        #expect(!first.contains(#""max_completion_tokens":100"#))
        // 9 of the 60 are used: a second call still fits, and fewer tokens are left for it.
        #expect(try await Talk.post(port, path, Asked.chat).status == 200)
        let second = String(decoding: provider.requests[1].body, as: UTF8.self)
        #expect(first != second)
        await bench.end()
    }

    @Test("what a request asks for and the pin forbids is an event, and does not go out")
    func pinned() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let body = """
            {"model":"gpt-9-ultra","n":5,"max_tokens":5000,"temperature":1.9,\
            "reasoning_effort":"high","messages":[{"role":"user","content":"hi"}]}
            """
        #expect(try await Talk.post(port, path, body).status == 200)
        let sent = String(decoding: provider.requests[0].body, as: UTF8.self)
        #expect(sent.contains(#""model":"pinned""#) && !sent.contains("ultra"))
        #expect(!sent.contains("5000") && !sent.contains("1.9") && !sent.contains("high"))
        let kinds = Set(bench.kinds)
        #expect(
            kinds.isSuperset(of: [
                .modelChanged, .fanOutChanged, .maxTokensChanged, .temperatureChanged,
                .effortChanged,
            ])
        )
        await bench.end()
    }

    @Test("a held listener keeps a request unanswered until it is released, and says so once")
    func held() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        bench.order(.hold(listener: 1))
        // An order that is answered shows that the hold before it was carried out.
        _ = try await bench.open(2)
        async let one = Talk.post(port, path, Asked.chat)
        async let two = Talk.post(port, path, Asked.chat)
        _ = await bench.wait { if case .arrived(1) = $0 { true } else { nil } }
        #expect(provider.requests.isEmpty)
        bench.order(.release(listener: 1))
        #expect(try await one.status == 200)
        #expect(try await two.status == 200)
        let arrivals = bench.all.filter { if case .arrived = $0 { true } else { false } }
        #expect(arrivals.count == 1)
        await bench.end()
    }

    @Test("a close cuts what is held and what streams, and is told when nothing is open any more")
    func closed() async throws {
        let gate = ScriptedProvider.Gate()
        let provider = try await ScriptedProvider { _ in
            [.send(Said.streamHead + Said.messageStart), .wait(gate)]
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        async let stream = Talk.post(port, "/v1/messages", Asked.messagesStream)
        async let idle = Talk.raw(port, Array("POST".utf8))
        while provider.requests.isEmpty { await Task.yield() }
        bench.order(.hold(listener: 1))
        async let held = Talk.post(port, "/v1/messages", Asked.messagesStream)
        _ = await bench.wait { if case .arrived(1) = $0 { true } else { nil } }
        let before = try Self.sockets(at: port)
        #expect(before > 0)
        bench.order(.close(listener: 1))
        let totals = await bench.wait { report -> ListenerTotals? in
            if case .closed(1, let totals) = report { totals } else { nil }
        }
        #expect(try Self.sockets(at: port) == 0)
        #expect(totals.requests == 2)
        _ = try await (stream, idle, held)
        #expect(provider.requests.count == 1)
        await #expect(throws: (any Error).self) { try await Talk.raw(port, []) }
        gate.open()
        await bench.end()
    }

    // How many sockets of the broker are at a port: those whose local port it is and that listen or
    // are connected (proc(5), /proc/net/tcp, columns 2 and 4).
    private static func sockets(at port: Int) throws -> Int {
        let file = try #require(FileHandle(forReadingAtPath: "/proc/net/tcp"))
        let table = try file.readToEnd() ?? Data()
        let digits = String(port, radix: 16, uppercase: true)
        let name = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        return String(decoding: table, as: UTF8.self).split(separator: "\n").dropFirst().filter {
            let columns = $0.split(separator: " ")
            return columns[1].hasSuffix(name) && ["01", "08", "0A"].contains(columns[3])
        }.count
    }

    @Test("more requests at a time than a listener may have are put off, more in all are refused")
    func limits() async throws {
        let gate = ScriptedProvider.Gate()
        let provider = try await ScriptedProvider { number in
            number == 0 ? [.wait(gate), .send(Said.chat)] : [.send(Said.chat)]
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open(requests: 3, concurrency: 1)
        async let first = Talk.post(port, path, Asked.chat)
        while provider.requests.isEmpty { await Task.yield() }
        #expect(try await Talk.post(port, path, Asked.chat).status == 429)
        gate.open()
        #expect(try await first.status == 200)
        #expect(try await Talk.post(port, path, Asked.chat).status == 200)
        #expect(try await Talk.post(port, path, Asked.chat).status == 401)
        #expect(bench.kinds == [.rateLimited, .budgetSpent])
        await bench.end()
    }

    @Test("a sandbox that sends its request too slowly is cut off")
    func slow() async throws {
        func answer(
            _ limit: WritableKeyPath<BrokerSettings, TimeAmount>,
            to bytes: (Int) -> [UInt8]
        ) async throws -> String {
            // The others stay long: on a busy host each could be the first to pass.
            var settings = BrokerSettings()
            settings[keyPath: limit] = .milliseconds(100)
            let bench = BrokerBench(settings: settings)
            bench.configure([EgressBrokerTests.provider(1)])
            let port = try await bench.open()
            let answer = try await Talk.raw(port, bytes(port))
            await bench.end()
            return answer
        }
        let head = try await answer(\.head) { _ in Array("POST /v1".utf8) }
        #expect(Answer(head).status == 408)
        let body = try await answer(\.body) { port in
            Array(Talk.request(port, path, Asked.chat).dropLast(5))
        }
        #expect(Answer(body).status == 408)
        #expect(try await answer(\.idle) { _ in [] }.isEmpty)
    }

    @Test("bodies are kept as lines of JSON where a file came along")
    func traced() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        var pair = try DescriptorPair.pipe()
        let reader = pair.takeFirst()
        let port = try await bench.open(trace: HandedDescriptor(pair.takeSecond()))
        #expect(try await Talk.post(port, path, Asked.chat).status == 200)
        bench.order(.close(listener: 1))
        _ = await bench.wait { if case .closed = $0 { true } else { nil } }
        // The end of the file shows that the broker has closed it.
        let text = String(decoding: try reader.readAll(limit: 1 << 20), as: UTF8.self)
        #expect(text.contains("hello there") && text.hasSuffix("}\n"))
        #expect(!text.contains("sk-very-secret-key"))
        await bench.end()
    }

    @Test("a sealed listener puts no text into events, and no id of the provider into answers")
    func sealed() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open(isSealed: true)
        let body = #"{"model":"the-secret-answer","messages":[{"role":"user","content":"hi"}]}"#
        let answer = try await Talk.post(port, path, body)
        #expect(answer.status == 200 && !answer.body.contains("chatcmpl-77"))
        _ = try await Talk.post(port, path, #"{"the-secret-answer":1}"#)
        bench.order(.close(listener: 1))
        _ = await bench.wait { if case .closed = $0 { true } else { nil } }
        #expect(!bench.events.isEmpty)
        #expect(!bench.events.contains { $0.detail.contains("secret-answer") })
        await bench.end()
    }

    @Test("an order that cannot be carried out is told with its reason, and nothing is left open")
    func impossible() async throws {
        let bench = BrokerBench()
        let socket = try LoopbackSocket()
        let terms = ListenerTerms(
            listener: 5,
            roles: [PinnedRole(role: .judge, pin: BrokerBench.pin, accounts: [])],
            isSealed: true
        )
        bench.order(.open(terms), [socket.descriptor])
        let early = await bench.wait { report -> String? in
            if case .failed(5, let failure) = report { failure.reason } else { nil }
        }
        #expect(early.contains("nothing is configured"))
        bench.configure([])
        bench.order(.open(terms), [])
        _ = await bench.wait { report -> Bool? in
            guard case .failed(5, let failure) = report else { return nil }
            return failure.reason.contains("no descriptor") ? true : nil
        }
        var pair = try DescriptorPair.pipe()
        bench.order(.open(terms), [HandedDescriptor(pair.takeFirst())])
        _ = await bench.wait { report -> Bool? in
            guard case .failed(5, let failure) = report else { return nil }
            return failure.reason.contains("no descriptor") || failure.reason.contains("configured")
                ? nil : true
        }
        await bench.end()
    }

    @Test("what was said is kept although the sandbox hangs up as soon as it is answered")
    func hangsUp() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        var pair = try DescriptorPair.pipe()
        let reader = pair.takeFirst()
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open(trace: HandedDescriptor(pair.takeSecond()))
        let request = Talk.request(port, "/v1/chat/completions", Asked.chat)
        for _ in 0..<20 {
            // Closed by the client with the last byte of the answer, on a connection that goes on.
            _ = try await Talk.raw(port, request) {
                $0.contains("\"choices\"") && $0.contains("}]")
            }
        }
        bench.order(.close(listener: 1))
        _ = await bench.wait { if case .closed = $0 { true } else { nil } }
        let lines = String(decoding: try reader.read(atMost: 1 << 20), as: UTF8.self)
        #expect(lines.split(separator: "\n").count == 20)
        await bench.end()
        try await provider.stop()
    }
}
