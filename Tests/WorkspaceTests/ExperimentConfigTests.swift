import StrictJSON
import StrictYAML
import Testing
import Workspace

@Suite("The experiment's configuration")
struct ExperimentConfigTests {
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

    @Test("a benchmark's name is enough, and the defaults are auto-harness's")
    func minimal() throws {
        let config = try read("benchmark: helpdesk\n")
        #expect(config.gate == GateSettings(threshold: 0.8, step2: .afterStep1))
        #expect(config.release.score == .bucket)
        #expect(config.release.bucket == 0.05)
        #expect(config.release.grid == .seconds(30))
        #expect(config.budget.noImprovement == 5)
        #expect(config.codingAgent.program == .profile("scripted"))
    }

    @Test("every key of auto-harness's three examples is accepted")
    func autoHarness() throws {
        let config = try read(
            """
            benchmark: "bird-interact"
            mode: "a-interact"
            dataset: "lite"
            split: "train"
            gate_split: "test"
            max_concurrency: 3
            threshold: 0.75
            patience: 3
            per_task_timeout: 1800
            system_agent_port: 6100
            user_sim_port: 6101
            db_env_port: 6102
            agent_model: "anthropic/claude-sonnet-4-20250514"
            user_model: "anthropic/claude-haiku-4-5-20251001"
            bird_repo: "/srv/BIRD-Interact"
            bird_python_bin: "/srv/venv/bin/python"
            bird_data_path: "/srv/data.jsonl"
            pg_host: "127.0.0.1"
            pg_port: 5432
            pg_user: "root"
            pg_password: "123123"
            env_provider: "e2b"
            domain: "retail"
            reasoning_effort: "medium"
            """
        )
        #expect(config.gate.threshold == 0.75)
        #expect(config.perTaskTimeout == .seconds(1800))
        #expect(config.adapter["domain"] == "retail")
        #expect(config.adapter["pg_port"] == 5432)
        #expect(config.reasoningEffort == .medium)
    }

    @Test("every section of our own is read")
    func sections() throws {
        let config = try read(
            """
            benchmark: helpdesk
            gate: {step2: always, threshold: 0.9}
            release: {score: verdict, grid: 500ms}
            budget: {iterations: 7, hours: 1.5, train-runs: 9, no-improvement: 3, submissions: 8}
            sandbox: {policies: my-policies, python: /usr/bin/python3, agents: /srv/agents}
            coding_agent: {command: [/usr/bin/python3, agent.py], wall: 90m, idle: 5m, restarts: 2}
            """
        )
        #expect(config.gate == GateSettings(threshold: 0.9, step2: .always))
        #expect(config.release.grid == .milliseconds(500))
        #expect(config.budget.hours == 1.5)
        #expect(config.budget.trainRuns == 9)
        #expect(config.codingAgent.program == .command(["/usr/bin/python3", "agent.py"]))
        #expect(config.codingAgent.wall == .seconds(5400))
        #expect(config.codingAgent.idle == .seconds(300))
        #expect(config.codingAgent.restarts == 2)
        #expect(config.sandbox.agents == "/srv/agents")
    }

    @Test(
        "anchors and aliases are refused with their line",
        arguments: [
            "benchmark: x\nsplit: &here train\n",
            "benchmark: &a helpdesk\nagent_model: *a\n",
            "benchmark: x\nrelease: &r {score: verdict}\n",
            "benchmark: x\n&key split: train\n",
            "benchmark: x\nbudget:\n  iterations: &n 7\n",
        ]
    )
    func anchors(text: String) {
        let found = problems(text)
        #expect(!found.isEmpty)
        #expect(found.allSatisfy { $0.reason == "anchors and aliases are refused" })
        let line = 1 + text.prefix { $0 != "&" }.count { $0 == "\n" }
        #expect(found.first?.line == line)
    }

    @Test("all problems are listed, in the order of their lines")
    func allProblems() {
        let found = problems(
            """
            benchmark: helpdesk
            treshold: 0.8
            max_concurrency: many
            release:
              bucket: 3
              colour: red
            """
        )
        #expect(found.map(\.line) == [2, 3, 5, 6])
        #expect(
            found.map(\.key) == ["treshold", "max_concurrency", "release.bucket", "release.colour"]
        )
        #expect(found.first?.remedy == "write «threshold»")
    }

    @Test(
        "keys that contradict each other or the boundary are refused",
        arguments: [
            ("benchmark: x\nsplit: test\ngate_split: test\n", "gate_split"),
            ("benchmark: x\ngate_split: train\n", "gate_split"),
            ("benchmark: x\nsplit: test\n", "split"),
            ("benchmark: x\nthreshold: 0.8\ngate: {threshold: 0.7}\n", "gate.threshold"),
            ("benchmark: x\nrelease: {score: verdict, bucket: 0.1}\n", "release.bucket"),
            ("benchmark: x\nfile_guard: false\n", "file_guard"),
            (
                "benchmark: x\ncoding_agent: {profile: a, command: [/bin/sh]}\n",
                "coding_agent.command"
            ),
            ("benchmark: x\ncoding_agent: {command: [sh]}\n", "coding_agent.command"),
            ("benchmark: x\ncoding_agent: {profile: ./mine}\n", "coding_agent.profile"),
            ("benchmark: x\nsandbox: {python: python3}\n", "sandbox.python"),
            ("benchmark: x\nsandbox: {agents: agents}\n", "sandbox.agents"),
            ("benchmark: x\ncandidate: {packages: ../list.txt}\n", "candidate.packages"),
            ("benchmark: x\ncandidate: {packages: /etc/list.txt}\n", "candidate.packages"),
            ("benchmark: x\ncandidate: {package: list.txt}\n", "candidate.package"),
            ("benchmark: x\ncoding_agent: {wall: 1h, idle: 2h}\n", "coding_agent.idle"),
        ]
    )
    func contradictions(text: String, key: String) {
        #expect(problems(text).map(\.key) == [key])
    }

    @Test("the same threshold twice is no contradiction")
    func sameThreshold() throws {
        #expect(
            try read("benchmark: x\nthreshold: 0.7\ngate: {threshold: 0.7}").gate.threshold == 0.7
        )
    }

    @Test(
        "values of another kind or out of range are refused with their key",
        arguments: [
            ("threshold: yes", "threshold"), ("threshold: 1.5", "threshold"),
            ("threshold: \"0.8\"", "threshold"), ("threshold: .nan", "threshold"),
            ("max_concurrency: 0", "max_concurrency"), ("max_concurrency: 2.5", "max_concurrency"),
            ("agent_model: 5", "agent_model"), ("agent_model: [a]", "agent_model"),
            ("agent_model:", "agent_model"), ("domain: true", "domain"),
            ("gate: 3", "gate"), ("release: {grid: 2}", "release.grid"),
            ("release: {grid: 2 days}", "release.grid"), ("budget: {hours: -1}", "budget.hours"),
            ("gate: {step2: sometimes}", "gate.step2"), ("pg_port: 70000", "pg_port"),
        ]
    )
    func wrongValues(line: String, key: String) {
        #expect(problems("benchmark: x\n\(line)\n").map(\.key) == [key])
    }

    @Test("a document that is no mapping, broken, or has a key twice is refused with its line")
    func brokenDocuments() {
        #expect(problems("- a\n- b\n").count == 1)
        #expect(problems("").count == 1)
        #expect(problems("benchmark: x\n  bad: [\n").count == 1)
        let twice = problems("benchmark: x\nthreshold: 0.8\nthreshold: 0.7\n")
        #expect(twice.count == 1)
        #expect(twice.first?.reason.contains("threshold") == true)
    }

    @Test("a missing benchmark and a malformed name are refused")
    func benchmarkName() {
        #expect(problems("threshold: 0.8\n").map(\.key) == ["benchmark"])
        #expect(problems("benchmark: ../etc\n").map(\.key) == ["benchmark"])
    }

    @Test("the digest covers resolved values, not their spelling")
    func digest() throws {
        let plain = try read("benchmark: helpdesk\n")
        let spelled = try read("threshold: 0.8\nbenchmark: 'helpdesk'\nrelease: {bucket: 0.05}\n")
        let other = try read("benchmark: helpdesk\nthreshold: 0.81\n")
        #expect(plain.digest == spelled.digest)
        #expect(plain.digest != other.digest)
        #expect(plain.digest.utf8.count == 64)
    }

    @Test("a password is neither in the resolved form nor in what the coding agent reads")
    func password() throws {
        let config = try read("benchmark: bird-interact\npg_password: \"hunter2 secret\"\n")
        let shown = config.resolved.prettyText() + config.agentText()
        #expect(!shown.contains("hunter2"))
        #expect(config.adapter["pg_password"] == "hunter2 secret")
    }

    @Test("what the coding agent reads is again a configuration")
    func agentText() throws {
        let config = try read("benchmark: tau-bench\ndomain: retail\nagent_model: \"a: b\"\n")
        let copy = try read(config.agentText())
        #expect(copy.agentModel == "a: b")
        #expect(copy.adapter["domain"] == "retail")
        let told = config.agentText(packages: ["openai==2.54.0"])
        #expect(told.contains("openai==2.54.0"))
        #expect(try read(told) == copy)
    }

    @Test("manifests are demanded unless a word takes that back, which the digest shows")
    func manifests() throws {
        let plain = try read("benchmark: helpdesk")
        #expect(plain.manifest.missing == .refuse)
        let same = try read("benchmark: helpdesk\nmanifest: { missing: refuse }")
        #expect(same.digest == plain.digest)
        let lenient = try read("benchmark: helpdesk\nmanifest: { missing: warn }")
        #expect(lenient.manifest.missing == .warn)
        #expect(lenient.digest != plain.digest)
        #expect(problems("benchmark: helpdesk\nmanifest: { missing: maybe }").count == 1)
        #expect(problems("benchmark: helpdesk\nmanifest: { absent: warn }").count == 1)
    }

    @Test("how candidates are audited is read, part of the digest, and left alone changes nothing")
    func audit() throws {
        let plain = try read("benchmark: helpdesk\n")
        #expect(plain.audit == .standard && plain.audit.policy == .warn)
        #expect(plain.resolved["audit"] == nil)
        let said = try read(
            "benchmark: x\naudit: { policy: refuse, growth: 4KiB, lines: 90, entropy: 4.9 }\n"
        )
        #expect(said.audit.policy == .refuse && said.audit.growth == 4096)
        #expect(said.audit.lines == 90 && said.audit.entropy == 4.9)
        #expect(said.resolved["audit"]?["policy"] == "refuse")
        for bad in ["{policy: forgive}", "{growth: 0B}", "{lines: 0}", "{entropy: 9}", "{size: 1}"]
        {
            #expect(problems("benchmark: x\naudit: \(bad)\n").count == 1, "\(bad)")
        }
    }

    @Test("promotion is auto-harness's unless the section says more")
    func promotion() throws {
        let plain = try read("benchmark: helpdesk")
        #expect(plain.promotion.policy == .once && !plain.promotion.protects)
        let all = try read(
            """
            benchmark: helpdesk
            promotion: { policy: confirmed, confirm: 2, of: 4, protect: true, quarantine: false, cap: 9 }
            """
        )
        #expect(all.promotion.policy == .confirmed)
        #expect(all.promotion.confirm == 2 && all.promotion.of == 4)
        #expect(all.promotion.protects && !all.promotion.quarantines && all.promotion.cap == 9)
        #expect(all.digest != plain.digest)
        let short = try read("benchmark: helpdesk\npromotion: { policy: confirmed, of: 2 }")
        #expect(short.promotion.confirm == 2)
        let long = try read("benchmark: helpdesk\npromotion: { policy: confirmed, confirm: 9 }")
        #expect(long.promotion.of == 9)
    }

    @Test(
        "promotion refuses keys that mean nothing together",
        arguments: [
            "{ confirm: 2 }", "{ of: 4 }", "{ quarantine: true }",
            "{ policy: confirmed, confirm: 5, of: 4 }", "{ policy: always }", "{ cap: 0 }",
            "{ policy: confirmed, of: 51 }", "{ retire: t1 }",
        ]
    )
    func promotionContradictions(section: String) {
        #expect(!problems("benchmark: helpdesk\npromotion: \(section)").isEmpty)
    }

    @Test("a list of packages is part of the digest, and none leaves the digest as it was")
    func packages() throws {
        let plain = try read("benchmark: helpdesk\n")
        let listed = try read("benchmark: helpdesk\ncandidate: { packages: lists/a.txt }\n")
        #expect(listed.candidate.packages?.text == "lists/a.txt")
        #expect(plain.candidate.packages == nil && plain.resolved["candidate"] == nil)
        #expect(plain.digest != listed.digest)
    }
}
