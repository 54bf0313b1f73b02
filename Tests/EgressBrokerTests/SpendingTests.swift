import BrokerProtocol
import EgressBroker
import ModelDialects
import Testing

@Suite("What a stream has used so far")
struct SpendingTests {
    private func usage(_ tokens: Int) -> TokenUsage {
        TokenUsage(input: 0, output: tokens, source: .count)
    }

    @Test("is told with the first part, after a second, and when it has grown by a thirtieth")
    func pace() {
        var pace = SpendingPace()
        let start = ContinuousClock.now
        func isDue(_ tokens: Int, _ milliseconds: Int) -> Bool {
            pace.isDue(usage(tokens), at: start + .milliseconds(milliseconds))
        }
        #expect(isDue(10, 0))
        #expect(!isDue(20, 10) && !isDue(10, 2000))
        #expect(isDue(20, 2000) && isDue(85, 2001))
        #expect(isDue(100_000, 2002) && !isDue(103_000, 2003) && isDue(103_200, 2004))
        // However long and fast a stream is, it is told in few reports.
        var burst = SpendingPace()
        let told = (1...10_000_000 / 16).count { burst.isDue(usage($0 * 16), at: start) }
        #expect(told < 400, "\(told)")
    }

    @Test("is within a few per cent of what came, before the stream has an end")
    func burst() async throws {
        let gate = ScriptedProvider.Gate()
        let deltas = String(repeating: Said.messageDelta, count: 500)
        let provider = try await ScriptedProvider { _ in
            [.send(Said.streamHead + Said.messageStart + deltas), .wait(gate), .hangUp]
        }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let talk = Task { [bytes = Talk.request(port, "/v1/messages", Asked.messagesStream)] in
            try await Talk.raw(port, bytes) { _ in false }
        }
        _ = talk
        // What is told does not wait for the stream's end.
        _ = await bench.wait { report -> Bool? in
            guard case .spending(let spending) = report else { return nil }
            return spending.outputTokens > 50 ? true : nil
        }
        gate.open()
        let record = await bench.call()
        let told = bench.all.compactMap { report -> CallSpending? in
            if case .spending(let spending) = report { spending } else { nil }
        }
        let last = try #require(told.last)
        #expect(record.isCut && record.outputTokens > 100, "\(record)")
        #expect(last.number == record.number && last.inputTokens == record.inputTokens)
        #expect(last.outputTokens * 20 >= record.outputTokens * 19 - 64 * 20, "\(told) \(record)")
        #expect(last.microdollars > 0)
        await bench.end()
    }

    @Test(
        "what was asked is told before anything is answered",
        arguments: [
            ("/v1/chat/completions", Asked.chat), ("/v1/messages", Asked.messagesStream),
        ]
    )
    func asked(path: String, body: String) async throws {
        let gate = ScriptedProvider.Gate()
        let provider = try await ScriptedProvider { _ in [.wait(gate), .hangUp] }
        let bench = BrokerBench()
        bench.configure([EgressBrokerTests.provider(provider.port)])
        let port = try await bench.open()
        let talk = Task { try await Talk.post(port, path, body) }
        _ = talk
        let told = await bench.wait { report -> CallSpending? in
            if case .spending(let spending) = report { spending } else { nil }
        }
        gate.open()
        let record = await bench.call()
        #expect(told.number == record.number && told.inputTokens > 0 && told.microdollars > 0)
        await bench.end()
    }
}
