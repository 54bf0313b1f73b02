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
        let notice = try claims.take(.event(listener: 1, role: .codingAgent, event))
        let said = try claims.take(call(400))
        #expect(said == nil)
        return notice
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
