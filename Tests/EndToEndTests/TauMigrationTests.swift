import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// A checkout of auto-harness, in which a loop was run, becomes an experiment.
    @Suite struct TauMigration {
        private static let agent = "tau_harness_agent.py"

        @Test(
            "its agent runs unchanged and earns what it earns in plain tau2; its scores are not taken"
        )
        func migrated() throws {
            let scratch = try Scratch()
            let checkout = try Self.checkout(scratch)
            let stage = try TauStage(domain: "mock", in: scratch, from: checkout)
            let night = stage.night
            for line in [
                "took experiment_config.yaml: benchmark: \"tau-bench\"; agent_model: \"gpt-5.4\"; domain",
                "took agent/agent.py", "took workspace/learnings.md",
                "kept workspace/suite.json, 2 tasks",
                "kept workspace/results.tsv, 2 rows", "left the rest", "now enforced",
            ] { #expect(stage.made.contains(line), "\(line): \(stage.made)") }
            try configure(stage)
            let prepared = try night.run(["prepare", night.directory], seconds: 200)
            try #require(prepared.code == 0, "\(prepared)")
            // Which six of mock's nine tasks are train is drawn, and not each of them is solved by its gold.
            let passed = try expectSameRewards(stage)
            #expect(passed > 0, "an agent that earns nothing would compare nothing")
            #expect(
                try night.bodies(.decision).isEmpty,
                "no score of the checkout is on the record"
            )
            // The template gets no second look, and says so: the broker ends after the loop.
            let same = try night.run(["gate", night.directory])
            #expect(same.code == 1 && same.output.contains("judged-before"), "\(same)")
            let text = try String(contentsOfFile: night.agentFile, encoding: .utf8)
            try text.replacing("Help.", with: "Help politely.").write(toFile: night.agentFile)
            let changed = try night.run(["gate", night.directory], seconds: 120)
            #expect(changed.code == 0, "\(changed)")
            try night.expectSettled()
        }

        @Test("what would run, or be read, on the host is not taken from a checkout")
        func hostile() throws {
            let scratch = try Scratch()
            let checkout = try Self.checkout(scratch)
            let config = "\(checkout)/experiment_config.yaml"
            let night = try Night(in: scratch)
            let over = try night.run(["init", checkout, "--from", checkout])
            #expect(over.code == 2 && over.notes.contains("written over it"), "\(over)")
            let text = try String(contentsOfFile: config, encoding: .utf8)
            try (text + "models: { upstreams: {} }\n").write(toFile: config)
            let models = try night.run(["init", night.directory, "--from", checkout])
            #expect(models.code == 2 && models.notes.contains("has no sections"), "\(models)")
            #expect(!FileManager.default.fileExists(atPath: night.directory))
        }

        private static func checkout(_ scratch: Scratch) throws -> String {
            let root = try scratch.directory("auto-harness")
            _ = try scratch.directory("auto-harness/agent")
            _ = try scratch.directory("auto-harness/workspace")
            for (name, text) in [
                "experiment_config.yaml":
                    "benchmark: \"tau-bench\"\nagent_model: \"gpt-5.4\"\ndomain: \"mock\"   # retail\nsplit: \"train\"\n"
                    + "gate_split: \"test\"\nmax_concurrency: 3\nthreshold: 0.8\n",
                "agent/agent.py": try Stage.fixtureText(Self.agent),
                "workspace/learnings.md": "# Learnings\n- confirm before writing\n",
                "workspace/suite.json": "{\"tasks\": [\"a\", \"b\"], \"threshold\": 0.0}",
                "workspace/results.tsv":
                    "iteration\tval_score\tcommit\tevals_passed\tevals_total\ttimestamp\n"
                    + "0\t0.5600\tabc\t0\t0\tx\n1\t0.9999\tdef\t2\t2\tx\n",
            ] { try text.write(toFile: "\(root)/\(name)") }
            return root
        }

        /// Leaves what was taken as it is, and leads the models to the cast.
        private func configure(_ stage: TauStage) throws {
            let file = "\(stage.night.directory)/experiment_config.yaml"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let models = try #require(text.range(of: "\nmodels:"))
            try (text[..<models.lowerBound] + "\n" + stage.models())
                .replacing("grid: 30s", with: "grid: 100ms")
                .replacing("  step2:", with: "  rule: ratchet\n  step2:")
                .replacing(/(agent|user)_model: .*/, with: "").write(toFile: file)
        }

        /// Expects the baseline's rewards of an unchanged agent in tau2's own loop; how many tasks passed.
        private func expectSameRewards(_ stage: TauStage) throws -> Int {
            let night = stage.night
            let exam = try #require(
                try night.bodies(.examEnded).first {
                    $0["purpose"]?.stringValue == "baseline" && $0["split"]?.stringValue == "train"
                }
            )
            let here = try #require(exam["outcomes"]?.objectValue)
                .compactMapValues { $0["reward"]?.numberValue }
            let vault = "\(night.seenState)/vault/\(try night.id())/train/tasks.json"
            let ran = try stage.inOneProcess([Stage.fixture(Self.agent)], tasks: vault)
            let plain = try #require(ran["tau_harness_agent"]?["rewards"]?.objectValue, "\(ran)")
                .compactMapValues(\.numberValue)
            #expect(here == plain, "\(here) \(plain)")
            return here.values.filter { $0 == 1 }.count
        }
    }
}
