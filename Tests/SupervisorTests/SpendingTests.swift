import BrokerProtocol
import ModelDialects
import Supervisor
import Testing

@Suite("What calls that still stream have used", .timeLimit(.minutes(1)))
struct SpendingTests {
    /// A broker that says something of each listener of its first run, and then may be gone.
    private func broker(
        isGone: Bool = false,
        _ reports: @escaping @Sendable (Int) -> [BrokerReport]
    ) -> LyingBroker {
        LyingBroker { run in
            try run.serve { request in
                guard run.number == 0, case .open(let terms) = request else { return false }
                try run.say(.opened(listener: terms.listener))
                for report in reports(terms.listener) { try run.say(report) }
                if isGone { throw CancellationError() }
                return true
            }
        }
    }

    private func left(_ broker: LyingBroker, _ name: String) -> [Int?] {
        broker.requests.compactMap { request in
            if case .account(let terms) = request, terms.name == name { terms.tokens } else { nil }
        }
    }

    @Test("it is known while they stream, and is not on the record yet")
    func live() throws {
        let bench = try LiedTo(
            broker { [spending($0, tokens: 10), spending($0, tokens: 40)] }
        )
        _ = try bench.serve()
        try bench.turn { bench.service.unbooked?.shares[.candidate]?.inputTokens == 40 }
        let share = try #require(bench.service.unbooked?.shares[.candidate])
        #expect(share.inputTokens == 40 && share.microdollars == 40 && share.calls == 1)
        #expect(bench.service.takeUsage() == nil)
    }

    @Test("the record of a call that ended takes its place")
    func ended() throws {
        let bench = try LiedTo(
            broker { [spending($0, tokens: 40, number: 7), call($0, tokens: 55, number: 7)] }
        )
        _ = try bench.serve()
        try bench.turn { bench.service.unbooked?.shares[.candidate]?.inputTokens == 55 }
        let share = try #require(bench.service.takeUsage()?.shares[.candidate])
        #expect(share.inputTokens == 55 && share.calls == 1 && share.failures == 0)
        #expect(bench.service.unbooked == nil)
    }

    @Test("of a broker that is killed in the middle it is booked, and the next has less to give")
    func killed() throws {
        let broker = broker(isGone: true) { [spending($0, tokens: 40)] }
        let bench = try LiedTo(broker, budget: "{campaign: {tokens: 100}}")
        _ = try bench.serve()
        try bench.turn { !bench.gaps.isEmpty }
        let usage = try #require(bench.service.takeUsage())
        let share = try #require(usage.shares[.candidate])
        #expect(usage.gaps == 1 && share.inputTokens == 40 && share.calls == 1)
        #expect(share.failures == 1, "nobody got the end of the answer")
        #expect(left(broker, "campaign:candidate").contains(60))
    }

    @Test("of a listener that is closed it is booked where no record came")
    func closed() throws {
        let bench = try LiedTo(broker { [spending($0, tokens: 40)] })
        try bench.service.close(try bench.serve())
        #expect(bench.service.takeUsage()?.shares[.candidate]?.inputTokens == 40)
        #expect(bench.service.unbooked == nil)
    }

    @Test("a broker that tells of more calls than may be open is replaced")
    func tooMany() throws {
        let bench = try LiedTo(
            broker { listener in (0...8).map { spending(listener, number: $0) } }
        )
        _ = try bench.serve()
        try bench.turn { !bench.gaps.isEmpty }
        #expect(bench.gaps.first?.contains("more calls are open") == true, "\(bench.gaps)")
        #expect(bench.service.takeUsage()?.shares[.candidate]?.calls == 8)
    }
}
