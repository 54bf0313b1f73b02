import StrictJSON
import StrictYAML
import Testing
import Workspace

@Suite("What the section models refuses")
struct ModelRefusalTests {
    private func problems(_ text: String) -> [DocumentProblem] {
        do {
            _ = try ExperimentConfig(parsing: Array(text.utf8), file: "experiment_config.yaml")
            return []
        } catch WorkspaceError.document(let found) {
            return found
        } catch {
            Issue.record("another error: \(error)")
            return []
        }
    }

    private func config(
        upstream: String = "",
        role: String = "model: m",
        rest: String = ""
    ) -> String {
        """
        benchmark: x
        models:
          upstreams:
            one:
              dialects: [openai-chat]
              \(upstream.isEmpty ? "url: https://model.example" : upstream)
          roles:
            judge: {\(role)}
          \(rest)
        """
    }

    @Test("what the refusals below begin with is accepted")
    func accepted() {
        #expect(problems(config()).isEmpty)
    }

    @Test(
        "an upstream that contradicts itself or the boundary is refused",
        arguments: [
            ("url: model.example", "url"), ("url: https://", "url"),
            ("url: http://model.example", "url"),
            ("{url: \"https://model.example\"}", ""),
            ("url: https://model.example\n      plain-http: true", "plain-http"),
            ("url: https://127.0.0.1:8000", "url"),
            (
                "url: http://model.example\n      plain-http: true\n      key: {environment: A_KEY}",
                "key"
            ),
            (
                "url: http://model.example\n      plain-http: true\n      trust: /etc/ca.pem",
                "trust"
            ),
            ("url: https://model.example\n      trust: ca.pem", "trust"),
            ("url: https://model.example\n      addresses: private", "addresses"),
            ("url: https://model.example\n      proxy: yes", "proxy"),
        ]
    )
    func upstreams(lines: String, key: String) {
        let found = problems(config(upstream: lines))
        guard !key.isEmpty else { return #expect(!found.isEmpty) }
        #expect(found.map(\.key) == ["models.upstreams.one.\(key)"])
    }

    @Test(
        "a key has one source, and is never written out",
        arguments: [
            ("key: {file: key.txt}", "key.file"),
            ("key: {environment: my-key}", "key.environment"),
            ("key: {environment: 1KEY}", "key.environment"),
            ("key: {credential: ../key}", "key.credential"),
            ("key: {credential: a/b}", "key.credential"),
            ("key: {file: /k, environment: K}", "key"), ("key: {}", "key"),
            ("key: sk-very-secret", "key"),
        ]
    )
    func keys(line: String, key: String) {
        let found = problems(config(upstream: "url: https://model.example\n      \(line)"))
        #expect(found.map(\.key) == ["models.upstreams.one.\(key)"])
        #expect(!found.map(\.description).joined().contains("very-secret"))
    }

    @Test(
        "a role that contradicts itself or out of range is refused",
        arguments: [
            ("upstream: two, model: m", "upstream"), ("effort: low", "model"),
            ("model: m, temperature: 3", "temperature"), ("model: m, choices: 0", "choices"),
            ("model: m, effort: 2048", "effort"), ("model: m, effort: hard", "effort"),
            ("model: m, max-output-tokens: 0", "max-output-tokens"),
            ("model: m, unknown-fields: pass", "unknown-fields"),
            ("model: m, provider-tools: pass", "provider-tools"),
            ("model: m, budget: {sandbox: {tokens: 0}}", "budget.sandbox.tokens"),
            ("model: m, budget: {sandbox: {dollars: 1}}", "budget.sandbox.dollars"),
            (
                "model: m, budget: {sandbox: {tokens: 9}, campaign: {tokens: 8}}",
                "budget.sandbox"
            ),
            (
                "model: m, budget: {iteration: {requests: 9}, campaign: {requests: 8}}",
                "budget.iteration"
            ),
        ]
    )
    func roles(role: String, key: String) {
        #expect(problems(config(role: role)).map(\.key) == ["models.roles.judge.\(key)"])
    }

    @Test("a cost is limited only where the model has a price")
    func prices() {
        let limited = "model: m, budget: {campaign: {cost: 5}}"
        #expect(problems(config(role: limited)).map(\.key) == ["models.roles.judge"])
        let total = "budget: {campaign: {cost: 5}}"
        #expect(problems(config(rest: total)).map(\.key) == ["models.roles.judge"])
        let priced = "prices: {m: {input: 1, output: 2}}"
        #expect(problems(config(role: limited, rest: priced)).isEmpty)
        let half = "prices: {m: {input: 1}}"
        #expect(problems(config(rest: half)).map(\.key) == ["models.prices.m.output"])
    }

    @Test(
        "other contradictions of the section are refused",
        arguments: [
            ("cassette: {record: a, replay: b}", "cassette.replay"), ("cassette: {}", "cassette"),
            ("budget: {sandbox: {tokens: 1}}", "budget.sandbox"),
            ("keys: {}", "keys"),
        ]
    )
    func sections(rest: String, key: String) {
        #expect(problems(config(rest: rest)).map(\.key) == ["models.\(key)"])
    }

    @Test("an upstream that no role uses, a role without upstream, an unknown role are refused")
    func unused() {
        let upstream = "{url: \"https://model.example\", dialects: [openai-chat]}"
        let lonely = problems("benchmark: x\nmodels: {upstreams: {one: \(upstream)}}")
        #expect(lonely.map(\.key) == ["models.upstreams.one"])
        let nowhere = problems("benchmark: x\nmodels: {roles: {judge: {model: m}}}")
        #expect(nowhere.map(\.key) == ["models.roles.judge.upstream"])
        #expect(nowhere.first?.remedy == "add models.upstreams, or remove the role")
        let unknown = problems(
            "benchmark: x\nmodels: {upstreams: {one: \(upstream)}, roles: {examiner: {model: m}}}"
        )
        #expect(unknown.contains { $0.key == "models.roles.examiner" })
    }

    @Test("a cassette is the coding agent's; beside models of exams its user says that he knows")
    func cassettes() {
        func problems(_ cassette: String, _ roles: String) -> [DocumentProblem] {
            let upstream = "{url: \"https://model.example\", dialects: [openai-chat]}"
            return self.problems(
                """
                benchmark: x
                models: {upstreams: {one: \(upstream)}, roles: {\(roles)}, cassette: {\(cassette)}}
                """
            )
        }
        let (coding, judge) = ("coding-agent: {model: m}", "judge: {model: m}")
        for mode in ["record", "replay"] {
            #expect(problems("\(mode): a", coding).isEmpty)
            #expect(problems("\(mode): a, exams: live", "\(coding), \(judge)").isEmpty)
            let silent = problems("\(mode): a", "\(coding), \(judge), candidate: {model: m}")
            #expect(silent.map(\.key) == ["models.cassette"])
            let reason = silent.first?.reason
            #expect(reason?.contains("to candidate, judge: what is said in sealed") == true)
            #expect(silent.first?.remedy.contains("add exams: live") == true)
            let idle = problems("\(mode): a, exams: live", judge)
            #expect(idle.map(\.key) == ["models.cassette"])
            #expect(idle.first?.reason.contains("the coding agent has no model") == true)
            let wrong = problems("\(mode): a, exams: dead", coding)
            #expect(wrong.map(\.key) == ["models.cassette.exams"])
        }
        let alone = self.problems("benchmark: x\nmodels: {cassette: {replay: a}}")
        #expect(alone.map(\.key) == ["models.cassette"])
    }

    @Test("the digest covers models, and not where a key is read")
    func digest() throws {
        func digest(_ text: String) throws -> String {
            try ExperimentConfig(parsing: Array(text.utf8), file: "c").digest
        }
        let plain = try digest(config())
        let url = "url: https://model.example\n      key: "
        let file = try digest(config(upstream: url + "{file: /etc/secret-place}"))
        let variable = try digest(config(upstream: url + "{environment: A_KEY}"))
        #expect(file == variable)
        #expect(plain != file)
        #expect(try digest(config(role: "model: other")) != plain)
        #expect(try digest(config(role: "model: m, choices: 1")) == plain)
        let shown = try ExperimentConfig(
            parsing: Array(config(upstream: url + "{file: /etc/secret-place}").utf8),
            file: "c"
        )
        let text = shown.resolved.prettyText() + shown.agentText()
        #expect(!text.contains("secret-place"))
    }
}
