import Foundation
import Supervisor
import Testing

@Suite("A checkout of auto-harness")
struct HarnessCheckoutTests {
    private static let template = """
        # The experiment's configuration.
        benchmark: tau-bench
        domain: airline # retail
        agent_model: gpt-5.4
        user_model: gpt-5.4
        threshold: 0.8

        gate:
          step2: after-step-1

        # Who may call a model.
        models:
          upstreams:
            openai: { url: "https://api.openai.com", dialects: [openai-chat], key: { file: /etc/k } }
          roles:
            candidate: { upstream: openai } # agent_model
            user-simulator: { upstream: openai }

        """

    /// A directory with these files.
    private func checkout(_ files: [String: String]) throws -> String {
        let root = NSTemporaryDirectory() + "harness-\(UUID().uuidString)"
        for (name, text) in files {
            let url = URL(fileURLWithPath: "\(root)/\(name)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: url)
        }
        return root
    }

    @Test("configuration, agent and notes are taken; scores and suites are kept and not believed")
    func taken() throws {
        let root = try checkout([
            "experiment_config.yaml":
                "benchmark: \"tau-bench\"\nagent_model: \"gpt-5\"\ndomain: \"retail\"\nthreshold: 0.9\n",
            "agent/agent.py": "class HarnessAgent: pass\n",
            "workspace/learnings.md": "- check the date\n## not a heading of ours\n",
            "workspace/suite.json": "[\"1\", \"2\"]",
            "workspace/results.tsv": "iteration\tval\n1\t0.99\n", "PROGRAM.md": "read everything",
        ])
        defer { try? FileManager.default.removeItem(atPath: root) }
        let found = try HarnessCheckout(root)
        #expect(found.benchmark == "tau-bench")
        #expect(String(decoding: found.agent, as: UTF8.self).contains("HarnessAgent"))
        #expect(found.notes.contains("> - check the date"))
        #expect(found.notes.contains("> ## not a heading of ours"))
        #expect(
            found.kept.map(\.name) == ["learnings.md", "suite.json", "results.tsv", "PROGRAM.md"]
        )
        let report = found.report.joined(separator: "\n")
        #expect(report.contains("2 tasks") && report.contains("1 rows"))
        #expect(found.report.filter { $0.hasPrefix("now enforced") }.count == 3)
        let text = found.configuration(over: Self.template)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.filter { $0.hasPrefix("domain:") } == ["domain: \"retail\""])
        #expect(lines.filter { $0.hasPrefix("threshold:") } == ["threshold: 0.9"])
        #expect(lines.contains("user_model: \"gpt-5\""))
        #expect(lines.contains("gate:") && lines.contains("models:"))
        #expect(lines.filter { $0.hasPrefix("agent_model:") }.count == 1)
    }

    @Test("a directory that is no checkout is refused, and nothing of it is guessed")
    func refused() throws {
        for files in [
            ["agent/agent.py": "x"], ["experiment_config.yaml": "benchmark: tau-bench\n"],
            ["experiment_config.yaml": "benchmark: [", "agent/agent.py": "x"],
            ["experiment_config.yaml": "colour: red\n", "agent/agent.py": "x"],
        ] {
            let root = try checkout(files)
            defer { try? FileManager.default.removeItem(atPath: root) }
            #expect { _ = try HarnessCheckout(root) } throws: { error in
                (error as? SupervisorError)?.status == .usage
            }
        }
    }
}
