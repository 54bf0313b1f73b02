import BrokerProtocol
import EgressBroker
import Foundation
import HostKernel
import LinuxKernel
import ModelDialects
import Testing

@Suite("A cassette", .timeLimit(.minutes(1)))
struct CassetteTests {
    @Test("what was recorded is played without a provider, streams too; what was not is refused")
    func replay() async throws {
        let provider = try await ScriptedProvider { number in
            number == 0
                ? [.send(Said.chat)]
                : [.send(Said.streamHead + Said.messageStart + Said.messageDelta + Said.messageEnd)]
        }
        let tape = try Tape()
        let recorder = BrokerBench()
        try recorder.configure(provider, .record, tape)
        var port = try await recorder.open()
        let chat = try await Talk.post(port, "/v1/chat/completions", Asked.chat)
        let stream = try await Talk.post(port, "/v1/messages", Asked.messagesStream)
        await recorder.end()
        try await provider.stop()
        #expect(try !tape.text().contains("sk-very-secret-key"))

        let other = #"{"model":"fast","messages":[{"role":"user","content":"something else"}]}"#
        // The second is what takes the first one's place, with the same open file.
        for _ in 0..<2 {
            let player = BrokerBench(resolver: NameResolver { _ in throw BenchError.missing })
            try player.configure(provider, .replay, tape)
            port = try await player.open()
            for _ in 0..<2 {
                let again = try await Talk.post(port, "/v1/chat/completions", Asked.chat)
                #expect(again.status == 200 && again.body == chat.body)
                let streamed = try await Talk.post(port, "/v1/messages", Asked.messagesStream)
                #expect(streamed.body == stream.body && streamed.body.contains("message_stop"))
            }
            let missing = try await Talk.post(port, "/v1/chat/completions", other)
            #expect(missing.status == 400 && missing.body.contains("cassette"))
            #expect(player.kinds == [.cassetteMissing])
            // Its name is told to both sides, so that what was asked can be found.
            let name = try #require(player.events.first?.detail.split(separator: " ").last)
            #expect(name.count == 64 && missing.body.contains(name))
            #expect(await player.call().outputTokens == 2)
            await player.end()
        }
    }

    @Test("the same request again gets the next answer, and the last one from then on")
    func turns() async throws {
        let provider = try await ScriptedProvider { number in
            [.send(Said.chat.replacing("hi", with: number == 0 ? "h1" : "h2"))]
        }
        let tape = try Tape()
        let recorder = BrokerBench()
        try recorder.configure(provider, .record, tape)
        var port = try await recorder.open()
        for _ in 0..<2 { _ = try await Talk.post(port, "/v1/chat/completions", Asked.chat) }
        await recorder.end()
        try await provider.stop()
        let player = BrokerBench()
        try player.configure(provider, .replay, tape)
        port = try await player.open()
        for expected in ["h1", "h2", "h2"] {
            let answer = try await Talk.post(port, "/v1/chat/completions", Asked.chat)
            #expect(answer.body.contains(expected))
        }
        await player.end()
    }

    @Test("what a provider says about a request is played; its own faults are not recorded")
    func refusals() async throws {
        let words = #"{"error":{"message":"prompt is too long","type":"invalid_request_error"}}"#
        let statuses = [429, 503, 401, 400]
        let provider = try await ScriptedProvider { number in
            [.send(Said.whole(statuses[number % 4], words))]
        }
        let tape = try Tape()
        let recorder = BrokerBench()
        try recorder.configure(provider, .record, tape)
        var port = try await recorder.open()
        for status in statuses {
            let answer = try await Talk.post(port, "/v1/chat/completions", Asked.chat)
            #expect(answer.status == status || status == 401)
        }
        await recorder.end()
        try await provider.stop()
        #expect(try tape.text().split(separator: "\n").count == 1)
        let player = BrokerBench()
        try player.configure(provider, .replay, tape)
        port = try await player.open()
        let answer = try await Talk.post(port, "/v1/chat/completions", Asked.chat)
        #expect(answer.status == 400 && answer.body.contains("prompt is too long"))
        await player.end()
    }

    @Test("a provider that repeats the key in a refusal is recorded no more than it is passed on")
    func repeatedKey() async throws {
        let provider = try await ScriptedProvider { _ in
            [.send(Said.whole(400, #"{"error":{"message":"sk-very-secret-key"}}"#))]
        }
        let tape = try Tape()
        let recorder = BrokerBench()
        try recorder.configure(provider, .record, tape)
        let port = try await recorder.open()
        let answer = try await Talk.post(port, "/v1/chat/completions", Asked.chat)
        #expect(answer.status == 400 && !answer.body.contains("secret"))
        await recorder.end()
        try await provider.stop()
        #expect(try tape.text().isEmpty)
    }

    @Test("what is said in a sealed exam goes onto no cassette, and no file for it is taken")
    func sealed() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        let tape = try Tape()
        let bench = BrokerBench()
        try bench.configure(provider, .record, tape)
        let sealed = try await bench.open(1, isSealed: true)
        let open = try await bench.open(2)
        for port in [sealed, open] {
            #expect(try await Talk.post(port, "/v1/chat/completions", Asked.chat).status == 200)
        }
        var file = try DescriptorPair.pipe()
        let socket = try LoopbackSocket()
        let terms = ListenerTerms(
            listener: 3,
            roles: [PinnedRole(role: .candidate, pin: BrokerBench.pin, accounts: [])],
            isSealed: true
        )
        bench.order(.open(terms), [socket.descriptor, HandedDescriptor(file.takeSecond())])
        let failure = await bench.wait { report -> BrokerFailure? in
            if case .failed(3, let failure) = report { failure } else { nil }
        }
        #expect(failure.reason.contains("sealed"))
        await bench.end()
        try await provider.stop()
        #expect(try tape.text().split(separator: "\n").count == 1)
    }

    @Test("whoever speaks in exams is neither recorded nor played to: the provider is asked")
    func exams() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        let tape = try Tape()
        let roles = ModelRole.allCases.filter { $0 != .codingAgent }
        for mode in [CassetteMode.record, .replay] {
            let bench = BrokerBench()
            try bench.configure(provider, mode, tape)
            for (number, role) in roles.enumerated() {
                let port = try await bench.open(number + 1, role: role)
                let answer = try await Talk.post(port, "/v1/chat/completions", Asked.chat)
                #expect(answer.status == 200, "\(mode) \(role)")
            }
            await bench.end()
            #expect(bench.kinds.isEmpty)
        }
        #expect(provider.requests.count == 6)
        try await provider.stop()
        #expect(try tape.text().isEmpty)
    }

    @Test("the longest request and answer that are recorded can be read again")
    func long() async throws {
        let deep = String(repeating: "[", count: 62) + String(repeating: "]", count: 62)
        let text = String(repeating: "a", count: 9 << 20)
        let line =
            #"{"key":"ab","status":200,"content_type":"t","body":"\#(text)","request":{"a":\#(deep)}}"#
        let tape = try Tape(#"{"schema":"invigilator.cassette/1"}"# + "\n" + line + "\n")
        let bench = BrokerBench()
        bench.configure([], cassette: .replay, file: try tape.handed())
        await bench.wait { if case .configured = $0 { () } else { nil } }
        await bench.end()
    }

    @Test(
        "a file that is no cassette is refused with the line",
        arguments: [
            ("{\"key\":\"ab\"}\n", 1), ("{\"schema\":\"s\"}\n{\"schema\":\"s\"}\n", 2),
            ("{\"schema\":\"s\"}\n\n{\"key\":\"ab\",\"sta", 3), ("\u{0}\u{1}", 1),
        ]
    )
    func broken(text: String, line: Int) async throws {
        let tape = try Tape(text)
        let bench = BrokerBench()
        bench.configure([], cassette: .replay, file: try tape.handed())
        let failure = await bench.wait { report -> BrokerFailure? in
            if case .failed(nil, let failure) = report { failure } else { nil }
        }
        #expect(failure.reason.contains("line \(line) "), "\(failure)")
        #expect(failure.remedy.contains("cut off"))
        await bench.end()
    }
}

/// A file without a name, whose open file several brokers are handed one after the other.
private final class Tape {
    private let file: Descriptor

    init(_ text: String = "") throws {
        let path = NSTemporaryDirectory() + "cassette-\(UUID().uuidString)"
        file = try Descriptor.open(path, [.readWrite, .createNew, .append])
        try FileManager.default.removeItem(atPath: path)
        try file.writeAll(Array(text.utf8))
    }

    func handed() throws -> HandedDescriptor { HandedDescriptor(try file.duplicate()) }

    func text() throws -> String {
        String(decoding: try file.contents(limit: 1 << 20), as: UTF8.self)
    }
}

extension BrokerBench {
    fileprivate func configure(
        _ provider: ScriptedProvider,
        _ mode: CassetteMode,
        _ tape: Tape
    ) throws {
        configure(
            [EgressBrokerTests.provider(provider.port)],
            cassette: mode,
            file: try tape.handed()
        )
    }
}
