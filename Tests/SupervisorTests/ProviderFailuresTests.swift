import BrokerProtocol
import ModelDialects
import StrictJSON
import Testing

@testable import Supervisor

@Suite("Calls that a provider fails one after the other")
struct ProviderFailuresTests {
    private func call(_ status: Int) -> BrokerReport {
        .call(
            CallRecord(
                listener: 1,
                number: 1,
                role: .codingAgent,
                dialect: .openAIChat,
                model: "m",
                status: status,
                inputTokens: 0,
                outputTokens: 0,
                isProvidersCount: false,
                microdollars: 0,
                milliseconds: 1,
                isStreamed: false,
                isCut: false
            )
        )
    }

    private func claims() -> BrokerClaims {
        var claims = BrokerClaims(campaign: ModelUsage())
        claims.open(1, roles: [.codingAgent], atMost: 8)
        return claims
    }

    private func fail(_ claims: inout BrokerClaims, _ words: String) throws -> BrokerClaims.Notice?
    {
        let event = ModelEvent(.upstreamFailed, words)
        let first = try claims.take(.event(listener: 1, role: .codingAgent, event))
        let then = try claims.take(call(400))
        #expect(first == nil || then == nil)
        return first ?? then
    }

    @Test("the second is told with its words, and after it every doubling")
    func second() throws {
        var claims = claims()
        let first = try fail(&claims, "status 400: one")
        #expect(first == .event(.codingAgent, ModelEvent(.upstreamFailed, "status 400: one")))
        let second = try fail(&claims, "status 400: two")
        let failures = ProviderFailures(times: 2, words: "status 400: two")
        #expect(second == .failure(.codingAgent, failures))
        #expect(failures.text == "2 calls ended by status 400: two")
        let third = try fail(&claims, "status 400: three")
        let fourth = try fail(&claims, "status 400: four")
        #expect(third == nil && fourth != nil)
    }

    @Test("a row of failures is told of once, however often a call succeeds in between")
    func bounded() throws {
        var claims = claims()
        var told = 0
        _ = try fail(&claims, "status 400")
        for _ in 0..<50 {
            let success = try claims.take(call(200))
            let first = try fail(&claims, "status 400")
            let second = try fail(&claims, "status 400")
            #expect(success == nil && first == nil)
            if second != nil { told += 1 }
        }
        #expect(told == 1)
        // A longer one is.
        let third = try fail(&claims, "status 500")
        let fourth = try fail(&claims, "status 500")
        let failures = ProviderFailures(times: 4, words: "status 500")
        #expect(third == nil && fourth == .failure(.codingAgent, failures))
    }

    @Test("an event without a call is no failure, nor is a call that fails without a reason")
    func noCall() throws {
        var claims = claims()
        let event = ModelEvent(.rateLimited, "more than 8 requests at a time")
        for _ in 0..<4 {
            let notice = try claims.take(.event(listener: 1, role: .codingAgent, event))
            #expect(notice == nil || notice == .event(.codingAgent, event))
        }
        #expect(claims.failing.isEmpty)
        // What was tried again succeeds.
        let said = try claims.take(call(200))
        #expect(said == nil && claims.failing.isEmpty)
        let refused = try claims.take(call(400))
        #expect(refused == nil && claims.failing.isEmpty)
        // The instrument: with a reason, it is one.
        _ = try fail(&claims, "status 500")
        #expect(claims.failing[.codingAgent] == ProviderFailures(times: 1, words: "status 500"))
    }

    @Test("a call that succeeds ends the row of failures, in the record too")
    func recovered() throws {
        var claims = claims()
        _ = try fail(&claims, "status 500")
        _ = try fail(&claims, "status 500")
        let rows = claims.takeUnwritten()
        let failing = try #require(rows).body(iteration: 1)
        #expect(failing["failing"] == ["coding-agent": ["times": 2, "words": "status 500"]])
        let said = try claims.take(call(200))
        #expect(said == nil)
        #expect(claims.failing.isEmpty)
        let later = claims.takeUnwritten()
        let after = try #require(later).body(iteration: 1)
        #expect(ModelUsage(adding: [failing]).failing[.codingAgent]?.times == 2)
        #expect(ModelUsage(adding: [failing, after]).failing.isEmpty)
        // Rows from before there was such a member say nothing of it.
        #expect(ModelUsage(adding: [["gaps": 1]]).failing.isEmpty)
    }
}
