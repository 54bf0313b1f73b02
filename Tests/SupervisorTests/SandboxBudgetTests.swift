import BrokerProtocol
import ModelDialects
import Supervisor
import Testing

@Suite("The budget of one sandbox")
struct SandboxBudgetTests {
    private func left(_ broker: LyingBroker, _ name: String) -> [Int?] {
        broker.requests.compactMap { request in
            if case .account(let terms) = request, terms.name == name { terms.tokens } else { nil }
        }
    }

    @Test("a coding agent that is started again goes on with what is left, a rollout begins whole")
    func startedAgain() throws {
        let broker = LyingBroker { run in
            try run.serve { request in
                guard case .close(let listener) = request else { return false }
                let role: ModelRole = listener <= 2 ? .codingAgent : .candidate
                try run.say(call(listener, role: role, tokens: 60))
                return false
            }
        }
        let bench = try LiedTo(broker, budget: "{sandbox: {tokens: 100}}")
        for role in [ModelRole.codingAgent, .codingAgent, .candidate, .candidate] {
            #expect(!bench.service.isSpent(for: .codingAgent) || role == .candidate)
            try bench.service.close(try bench.serve([role]))
        }
        #expect(left(broker, "sandbox:coding-agent:coding-agent") == [100, 40])
        // Nothing is left to ask for: it is not started again.
        #expect(bench.service.isSpent(for: .codingAgent))
        #expect(left(broker, "sandbox:3:candidate") == [100])
        #expect(left(broker, "sandbox:4:candidate") == [100])
        #expect(bench.gaps.isEmpty)
    }
}
