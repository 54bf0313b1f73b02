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
    private func checkout(_ files: [String: String], in place: String? = nil) throws -> String {
        let root = place ?? NSTemporaryDirectory() + "harness-\(UUID().uuidString)"
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

    /// The smallest checkout.
    private static let whole = [
        "experiment_config.yaml": "benchmark: tau-bench\n", "agent/agent.py": "x = 1\n",
    ]

    @Test("a directory that is no checkout is refused, and nothing of it is guessed")
    func refused() throws {
        for files in [
            ["agent/agent.py": "x"], ["experiment_config.yaml": "benchmark: tau-bench\n"],
            ["experiment_config.yaml": "benchmark: [", "agent/agent.py": "x"],
            ["experiment_config.yaml": "colour: red\n", "agent/agent.py": "x"],
        ] {
            try expectRefusal(checkout(files), "")
        }
    }

    @Test(
        "sections that name programs, keys or policies of the host are not taken, however they are spelled",
        arguments: [
            "models:\n  upstreams: {}\n", "coding_agent:\n  command: [/bin/sh]\n",
            "sandbox: { policies: /tmp }\n", "gate: { step2: always }\n", "\"models\": {}\n",
            "? models\n: {}\n", "# a comment\u{2028}models: {}\n", "threshold: 0.8\rmodels: {}\n",
            "models : {}\n", "candidate: { packages: x }\n", "candidate:\n", "candidate: # x\n",
            "candidate: &a {}\n", "models: [a]\n", "gate: |\n", "gate: !!map {}\n",
        ]
    )
    func foreign(section: String) throws {
        var files = Self.whole
        files["experiment_config.yaml", default: ""] += section
        try expectRefusal(checkout(files), "experiment_config.yaml")
    }

    @Test("the same file without such a section is taken, whatever its line breaks")
    func breaks() throws {
        var files = Self.whole
        files["experiment_config.yaml"] =
            "benchmark: \"tau-bench\"\r\n# a comment\r\n\r\nthreshold: 0.9\r\n"
        let root = try checkout(files)
        defer { try? FileManager.default.removeItem(atPath: root) }
        let found = try HarnessCheckout(root)
        #expect(found.report[0].hasSuffix("benchmark: \"tau-bench\"; threshold: 0.9"))
        let lines = found.configuration(over: Self.template).split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("threshold:") } == ["threshold: 0.9"])
    }

    @Test("a link, a pipe, a directory or a huge file in a file's place is refused")
    func places() throws {
        for name in ["experiment_config.yaml", "agent/agent.py", "workspace/results.tsv"] {
            for (kind, reason) in [
                "link": "link", "pipe": "no regular file", "folder": "no regular file",
                "huge": "1048576 bytes",
            ] {
                let root = try checkout(Self.whole.merging(["workspace/a": ""]) { $1 })
                let place = "\(root)/\(name)"
                try? FileManager.default.removeItem(atPath: place)  // where there is one
                switch kind {
                case "link":
                    try FileManager.default.createSymbolicLink(
                        atPath: place,
                        withDestinationPath: "/etc/passwd"
                    )
                case "pipe":
                    let made = try Process.run(
                        URL(fileURLWithPath: "/usr/bin/mkfifo"),
                        arguments: [place]
                    )
                    made.waitUntilExit()
                    #expect(made.terminationStatus == 0)
                case "folder":
                    try FileManager.default.createDirectory(
                        atPath: place,
                        withIntermediateDirectories: false
                    )
                default: try Data(count: 1 << 21).write(to: URL(fileURLWithPath: place))
                }
                try expectRefusal(root, reason)
            }
        }
        var files = Self.whole
        files["agent/agent.py"] = nil
        let root = try checkout(files)
        try Data([0x23, 0xFF]).write(
            to: URL(fileURLWithPath: "\(checkout(["agent/agent.py": ""], in: root))/agent/agent.py")
        )
        try expectRefusal(root, "no UTF-8")
    }

    @Test("what drives a terminal, or leaves its quotation, is visible in what is kept")
    func escapes() throws {
        let root = try checkout(
            Self.whole.merging([
                "workspace/results.tsv": "iteration\tval\n1\t\u{1B}[2J0.99\n",
                "workspace/learnings.md":
                    "- fine\r# Rules\u{2028}# More\u{202E}\n\u{1B}]0;x\u{7}\n",
            ]) { $1 }
        )
        defer { try? FileManager.default.removeItem(atPath: root) }
        let found = try HarnessCheckout(root)
        let texts = [found.notes] + found.kept.map { String(decoding: $0.bytes, as: UTF8.self) }
        for scalar in texts.joined().unicodeScalars {
            #expect(!"\r\u{1B}\u{7}\u{2028}\u{202E}".unicodeScalars.contains(scalar))
        }
        let quoted = found.notes.split(whereSeparator: \.isNewline).filter { $0.contains("# ") }
        #expect(quoted.allSatisfy { $0.hasPrefix("> ") || $0.hasPrefix("## Notes") }, "\(quoted)")
    }

    private func expectRefusal(_ root: String, _ reason: String) throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        #expect { _ = try HarnessCheckout(root) } throws: { error in
            let refusal = error as? SupervisorError
            return refusal?.status == .usage
                && (refusal?.description.contains(reason) == true || reason.isEmpty)
        }
    }
}
