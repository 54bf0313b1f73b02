import BrokerProtocol
import EgressBroker
import Foundation
import HostKernel
import LinuxKernel
import ModelDialects
import NIOCore
import NIOPosix
import Testing

@Suite("Sandboxes that take more than their share", .timeLimit(.minutes(1)))
struct ExhaustionTests {
    private let path = "/v1/chat/completions"

    // The head of a request and all of its body but the last byte.
    private func unfinished(_ port: Int, bytes: Int) -> [UInt8] {
        Array(
            ("POST \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(bytes)\r\n\r\n").utf8
        ) + [UInt8](repeating: 0x20, count: bytes - 1)
    }

    @Test("bodies that are not whole take a bounded memory, of their own listener alone")
    func bodies() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        var settings = BrokerSettings()
        settings.listenerBodies = 1 << 20
        settings.roleBodies = 4 << 20
        let bench = BrokerBench(settings: settings)
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open(1)
        let other = try await bench.open(2)
        let answers = await withTaskGroup(of: String.self) { group in
            for _ in 0..<4 {
                // Two fit and three do not, even without the part of each that is not counted.
                group.addTask { [bytes = unfinished(port, bytes: 480 << 10)] in
                    do {
                        return try await Talk.raw(port, bytes) { $0.contains("503") }
                    } catch { return "\(error)" }
                }
            }
            var refused: [String] = []
            while refused.count < 2, let answer = await group.next() { refused.append(answer) }
            // While the listener is full, another one serves.
            do {
                refused.append(try await Talk.post(other, path, Asked.chat).head)
            } catch { refused.append("\(error)") }
            group.cancelAll()
            return refused
        }
        #expect(answers.prefix(2).allSatisfy { $0.contains("HTTP/1.1 503") }, "\(answers)")
        #expect(answers.last?.contains("200") == true, "\(answers)")
        #expect(bench.kinds.allSatisfy { $0 == .rateLimited })
        // What ended gave its part back.
        #expect(try await Talk.post(port, path, Asked.chat).status == 200)
        await bench.end()
    }

    @Test("who hangs up before the usage is told pays for all that the call was allowed to do")
    func hangUp() async throws {
        let gate = ScriptedProvider.Gate()
        let provider = try await ScriptedProvider { number in
            number == 0
                ? [.send(Said.streamHead + Said.messageStart + Said.messageDelta), .wait(gate)]
                : [.wait(gate)]
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        bench.account("campaign", tokens: 280)
        let port = try await bench.open()
        let stream = Talk.request(port, "/v1/messages", Asked.messagesStream)
        _ = try await Talk.raw(port, stream) { $0.contains("text_delta") }
        let streamed = await bench.call()
        #expect(streamed.isCut && streamed.outputTokens == 50 && !streamed.isProvidersCount)

        let talk = Task { [bytes = Talk.request(port, path, Asked.chat)] in
            try await ClientBootstrap(group: BrokerBench.group)
                .connect(host: "127.0.0.1", port: port).get()
                .writeAndFlush(ByteBuffer(bytes: bytes))
        }
        try await talk.value
        while provider.requests.count < 2 { await Task.yield() }
        await bench.end()
        let whole = await bench.call(1)
        #expect(whole.isCut && whole.outputTokens == 100, "\(whole)")
        gate.open()
    }

    @Test("a file for bodies that an earlier listener filled is not written beyond its limit")
    func fullFile() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        var settings = BrokerSettings()
        settings.traceBytes = 1000
        let bench = BrokerBench(settings: settings)
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let path = "/tmp/exhaustion-\(UUID().uuidString)"
        let file = try Descriptor.open(path, [.readWrite, .createNew, .append])
        try file.writeAll([UInt8](repeating: 0x20, count: 990))
        let port = try await bench.open(
            trace: HandedDescriptor(try Descriptor.open(path, [.write, .append]))
        )
        #expect(try await Talk.post(port, self.path, Asked.chat).status == 200)
        _ = await bench.call()
        await bench.end()
        #expect(try file.status().size == 990)
        try FileManager.default.removeItem(atPath: path)
    }
}
