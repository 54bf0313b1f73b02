import BrokerProtocol
import EgressBroker
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
        var tape = try DescriptorPair.pipe()
        let reader = tape.takeFirst()
        let recorder = BrokerBench()
        recorder.configure(
            [EgressBrokerTests.provider(provider.port)],
            cassette: .record,
            file: HandedDescriptor(tape.takeSecond())
        )
        var port = try await recorder.open()
        let chat = try await Talk.post(port, "/v1/chat/completions", Asked.chat)
        let stream = try await Talk.post(port, "/v1/messages", Asked.messagesStream)
        await recorder.end()
        try await provider.stop()

        let recorded = try reader.read(atMost: 1 << 16)
        #expect(!String(decoding: recorded, as: UTF8.self).contains("sk-very-secret-key"))
        var copy = try DescriptorPair.pipe()
        let source = copy.takeFirst()
        do {
            let sink = copy.takeSecond()
            try sink.writeAll(recorded)
        }
        let player = BrokerBench(resolver: NameResolver { _ in throw BenchError.missing })
        player.configure(
            [EgressBrokerTests.provider(provider.port)],
            cassette: .replay,
            file: HandedDescriptor(source)
        )
        port = try await player.open()
        for _ in 0..<2 {
            let again = try await Talk.post(port, "/v1/chat/completions", Asked.chat)
            #expect(again.status == 200 && again.body == chat.body)
            let streamed = try await Talk.post(port, "/v1/messages", Asked.messagesStream)
            #expect(streamed.body == stream.body && streamed.body.contains("message_stop"))
        }
        let other = #"{"model":"fast","messages":[{"role":"user","content":"something else"}]}"#
        let missing = try await Talk.post(port, "/v1/chat/completions", other)
        #expect(missing.status == 400 && missing.body.contains("cassette"))
        #expect(player.kinds == [.cassetteMissing])
        #expect(await player.call().outputTokens == 2)
        await player.end()
    }

    @Test("what is said in a sealed exam goes onto no cassette, and no file for it is taken")
    func sealed() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        var tape = try DescriptorPair.pipe()
        let reader = tape.takeFirst()
        let bench = BrokerBench()
        bench.configure(
            [EgressBrokerTests.provider(provider.port)],
            cassette: .record,
            file: HandedDescriptor(tape.takeSecond())
        )
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
        let recorded = String(decoding: try reader.read(atMost: 1 << 16), as: UTF8.self)
        #expect(recorded.split(separator: "\n").count == 1)
    }

    @Test("a file that is no cassette is refused with the line")
    func broken() async throws {
        var tape = try DescriptorPair.pipe()
        let source = tape.takeFirst()
        do {
            let sink = tape.takeSecond()
            try sink.writeAll(Array("{\"key\":\"ab\"}\n".utf8))
        }
        let bench = BrokerBench()
        bench.configure([], cassette: .replay, file: HandedDescriptor(source))
        let failure = await bench.wait { report -> BrokerFailure? in
            if case .failed(nil, let failure) = report { failure } else { nil }
        }
        #expect(failure.reason.contains("line 1") && !failure.remedy.isEmpty)
        await bench.end()
    }
}
