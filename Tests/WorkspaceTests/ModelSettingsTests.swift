import ModelDialects
import StrictJSON
import StrictYAML
import Testing
import Workspace

@Suite("The section models of an experiment's configuration")
struct ModelSettingsTests {
    private func read(_ text: String) throws -> ExperimentConfig {
        try ExperimentConfig(parsing: Array(text.utf8), file: "experiment_config.yaml")
    }

    private func problems(_ text: String) -> [DocumentProblem] {
        do {
            _ = try read(text)
            return []
        } catch WorkspaceError.document(let found) {
            return found
        } catch {
            Issue.record("another error: \(error)")
            return []
        }
    }

    private let everything = """
        benchmark: helpdesk
        models:
          upstreams:
            anthropic:
              url: https://api.anthropic.com
              dialects: [anthropic-messages]
              key: {file: /etc/invigilator/anthropic.key}
            local:
              url: http://127.0.0.1:8000
              dialects: [openai-chat, openai-responses]
              plain-http: true
              addresses: any
          roles:
            coding-agent:
              upstream: anthropic
              model: claude-sonnet-4-5
              alias: default
              effort: high
              max-output-tokens: 32000
              choices: 1
              concurrent: 4
              unknown-fields: refuse
              provider-tools: drop
              key: {credential: coding-agent}
              budget:
                sandbox: {requests: 400, tokens: 2000000}
                iteration: {tokens: 3000000, cost: 5}
                campaign: {cost: 12.5}
            candidate: {upstream: local, model: small, temperature: 0.2}
            judge: {upstream: anthropic, model: claude-haiku-4-5, effort: 2048}
          budget: {campaign: {tokens: 9000000}}
          prices:
            claude-sonnet-4-5: {input: 3, output: 15, cached-input: 0.3}
          cassette: {record: night.cassette, exams: live}
        """

    @Test("every key is read")
    func sections() throws {
        let models = try read(everything).models
        let local = try #require(models.upstreams["local"])
        #expect(local.isPlainHTTP)
        #expect(local.addresses == .any)
        #expect(local.key == nil)
        #expect(local.dialects == [.openAIChat, .openAIResponses])
        let agent = try #require(models.roles[.codingAgent])
        #expect(agent.effort == "high")
        #expect(agent.maximumConcurrency == 4)
        #expect(agent.unknownFields == .refuse)
        #expect(agent.providerTools == .drop)
        #expect(agent.budget.sandbox.requests == 400)
        #expect(agent.budget.iteration.costMicrodollars == 5_000_000)
        #expect(agent.budget.campaign.costMicrodollars == 12_500_000)
        #expect(agent.budget.campaign.tokens == nil)
        #expect(models.roles[.judge]?.effort == "2048")
        #expect(models.roles[.userSimulator] == nil)
        #expect(models.budget.campaign.tokens == 9_000_000)
        let price = try #require(models.prices["claude-sonnet-4-5"])
        #expect(price.input == 3_000_000 && price.output == 15_000_000)
        #expect(price.cachedInput == 300_000)
        #expect(models.cassette == .record("night.cassette"))
    }

    @Test("D05: a role's own key makes an endpoint of its own, and pins name it")
    func endpoints() throws {
        let models = try read(everything).models
        #expect(models.endpoints.map(\.name) == ["anthropic", "anthropic.coding-agent", "local"])
        #expect(models.endpoint(of: .codingAgent)?.key == .credential("coding-agent"))
        #expect(models.endpoint(of: .judge)?.key == .file("/etc/invigilator/anthropic.key"))
        let pin = try #require(models.pin(of: .codingAgent))
        #expect(pin.upstream == "anthropic.coding-agent")
        #expect(pin.model == "claude-sonnet-4-5")
        #expect(pin.alias == "default")
        #expect(pin.maxOutputTokens == 32_000)
        #expect(models.pin(of: .userSimulator) == nil)
    }

    @Test("without the section, and with no upstream in it, there is no model")
    func nothing() throws {
        #expect(try read("benchmark: x\n").models == .none)
        #expect(try read("benchmark: x\nmodels: {upstreams: {}}\n").models == .none)
        #expect(try read("benchmark: x\nagent_model: gpt\n").models.roles.isEmpty)
    }

    @Test("defaults are those that refuse what nobody asked for")
    func defaults() throws {
        let text = """
            benchmark: x
            models:
              upstreams: {one: {url: "https://model.example", dialects: [openai-chat]}}
              roles: {coding-agent: {model: m}}
            """
        let role = try #require(try read(text).models.roles[.codingAgent])
        #expect(role.upstream == "one")
        #expect(role.maximumChoices == 1)
        #expect(role.maximumOutputTokens == 16_384)
        #expect(role.unknownFields == .drop)
        #expect(role.providerTools == .refuse)
        #expect(role.budget == .unlimited)
        #expect(role.effort == nil && role.temperature == nil && role.alias == nil)
    }

    // MARK: - auto-harness's keys

    private func harness(_ keys: String, dialect: String, roles: String) -> String {
        """
        benchmark: x
        \(keys)
        models:
          upstreams: {one: {url: "https://model.example", dialects: [\(dialect)]}}
          roles: \(roles)
        """
    }

    @Test("agent_model, reasoning_effort and user_model fill candidate and user-simulator")
    func filled() throws {
        let keys = """
            agent_model: anthropic/claude-sonnet-4
            reasoning_effort: low
            user_model: openai/gpt-x
            """
        let models = try read(
            harness(keys, dialect: "anthropic-messages", roles: "{candidate: {upstream: one}}")
        ).models
        #expect(models.roles[.candidate]?.model == "claude-sonnet-4")
        #expect(models.roles[.candidate]?.alias == "anthropic/claude-sonnet-4")
        #expect(models.roles[.candidate]?.effort == "low")
        // Another provider's name in front is part of the name, as resellers have it.
        #expect(models.roles[.userSimulator]?.model == "openai/gpt-x")
        #expect(models.roles[.userSimulator]?.effort == nil)
        #expect(models.roles[.codingAgent] == nil)
    }

    @Test("the same model twice is no contradiction, in either spelling")
    func sameModel() throws {
        for model in ["claude", "anthropic/claude"] {
            let text = harness(
                "agent_model: anthropic/claude",
                dialect: "anthropic-messages",
                roles: "{candidate: {model: \(model)}}"
            )
            #expect(try read(text).models.roles[.candidate]?.model == model)
        }
    }

    @Test("with several upstreams, auto-harness's keys need a role that names one")
    func ambiguous() {
        let upstream = "{url: \"https://model.example\", dialects: [openai-chat]}"
        let text = """
            benchmark: x
            agent_model: m
            models: {upstreams: {one: \(upstream), two: \(upstream)}}
            """
        let found = problems(text)
        #expect(found.map(\.key) == ["agent_model"])
        #expect(found.map(\.line) == [2])
        #expect(found.first?.remedy == "write models.roles.candidate: {upstream: NAME}")
    }

    @Test(
        "other models and efforts than auto-harness's keys name are refused",
        arguments: [
            ("agent_model: a", "{candidate: {model: b}}", "models.roles.candidate.model"),
            (
                "reasoning_effort: low", "{candidate: {model: b, effort: high}}",
                "models.roles.candidate.effort"
            ),
            ("user_model: a", "{user-simulator: {model: b}}", "models.roles.user-simulator.model"),
        ]
    )
    func contradictingHarness(keys: String, roles: String, key: String) {
        #expect(problems(harness(keys, dialect: "openai-chat", roles: roles)).map(\.key) == [key])
    }
}
