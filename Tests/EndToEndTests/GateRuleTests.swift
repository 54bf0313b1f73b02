import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// What the sealed exam must show, from the configuration to the verdict.
    @Suite struct GateRule {
        private static let paired = "gate: { rule: paired, trials: 2, error: 0.5, tests: 2 }\n"

        private static func teach(_ night: Night, _ verbs: String) throws {
            let text = try Stage.fixtureText("sums/agent.py")
                .replacingOccurrences(of: #"{"add"}"#, with: "{\(verbs)}")
            try text.write(toFile: night.agentFile)
        }

        /// The small benchmark with rewards that no two runs give alike.
        private static func varying(_ night: Night, claiming isDeterministic: Bool) throws -> String
        {
            let copy = "\(night.scratch.path)/sums"
            try FileManager.default.copyItem(atPath: Stage.fixture("sums"), toPath: copy)
            for (name, old, new) in [
                (
                    "examiner.py", "reward = 1.0 if",
                    "reward = int.from_bytes(os.urandom(2)) / 65536 if"
                ),
                ("examiner.py", "import sys", "import os\nimport sys"),
                ("benchmark.yaml", "deterministic: true", "deterministic: \(isDeterministic)"),
            ] {
                let text = try String(contentsOfFile: "\(copy)/\(name)", encoding: .utf8)
                try text.replacingOccurrences(of: old, with: new).write(toFile: "\(copy)/\(name)")
            }
            return copy
        }

        private static func set(
            _ night: Night,
            claiming isDeterministic: Bool,
            _ more: String = ""
        ) throws {
            let benchmark = try varying(night, claiming: isDeterministic)
            try night.done(["init", night.directory, "--benchmark", benchmark])
            try night.configure(Configuration(more: more))
        }

        @Test("paired accepts what the incumbent's own run shows to be better, and no equal file")
        func paired() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(Configuration(more: Self.paired))
            let rules = try #require(night.bodies(.genesis).first?["rules"])
            #expect(rules["rule"] == "paired" && rules["tests"] == 2 && rules["trials"] == 2)
            let baseline = try #require(
                night.bodies(.examEnded).first { $0["split"] == "test" }
            )
            #expect(baseline["trials"] == 2)

            try Self.teach(night, #""add", "subtract", "multiply""#)
            let better = try night.run(["gate", night.directory, "--json"])
            #expect(better.code == 0, "\(better)")
            try Self.teach(night, #""multiply", "subtract", "add""#)
            let same = try night.run(["gate", night.directory, "--json"])
            #expect(same.code == 1, "\(same)")
            #expect(same.output.contains("28:") && !same.output.contains("level"))

            let exams = try night.bodies(.examEnded).filter { $0["purpose"] == "sealed" }
            #expect(exams.map { $0["mean"] } == [1, 1])
            #expect(exams[1]["incumbent_mean"] == 1)
            let started = try night.bodies(.examStarted).filter { $0["purpose"] == "sealed" }
            #expect(started[1]["incumbent"] == started[0]["digest"], "the accepted one")
            let decisions = try night.bodies(.decision)
            // The template passes one or two of the four sealed tasks, by the draw.
            #expect(try #require(decisions[0]["paired"]?["p"]?.numberValue) <= 0.25)
            #expect(decisions[1]["paired"]?["p"] == 1)
            let examined = try night.bodies(.examStarted).count

            try Self.teach(night, #""subtract", "multiply", "add""#)
            let spent = try night.run(["gate", night.directory])
            #expect(spent.code == 1, "\(spent)")
            #expect(spent.output.contains("error-budget"))
            #expect(try night.bodies(.examStarted).count == examined, "nothing was run for it")
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a benchmark that says it is deterministic and is not is found by prepare")
        func notDeterministic() throws {
            let night = try Night()
            try Self.set(night, claiming: true)
            let ended = try night.run(["prepare", night.directory])
            #expect(ended.code == 2, "\(ended)")
            #expect(ended.notes.contains("earned another reward"))
            #expect(ended.notes.contains("gate.rule: paired"))
            #expect(try night.bodies(.baseline).isEmpty)
        }

        @Test("rewards that vary are judged by the paired rule unless somebody says otherwise")
        func usual() throws {
            let night = try Night()
            try Self.set(night, claiming: false)
            try night.done(["prepare", night.directory])
            let rules = try #require(night.bodies(.genesis).first?["rules"])
            #expect(rules["rule"] == "paired" && rules["error"] == 0.05 && rules["tests"] == 50)
            #expect(rules["trials"] == 3)
            let chosen = try Night(in: night.scratch, name: "chosen", state: night.state)
            try FileManager.default.removeItem(atPath: "\(night.scratch.path)/sums")
            try Self.set(chosen, claiming: false, "gate: { rule: ratchet }\n")
            try chosen.done(["prepare", chosen.directory])
            #expect(try chosen.bodies(.genesis).first?["rules"]?["rule"] == nil)
        }

        /// Sets up the small benchmark with another template.
        private static func set(_ night: Night, template: String) throws {
            try night.set(up: Configuration())
            try template.write(toFile: night.agentFile)
        }

        @Test("a template that never replies is refused with its own error, unless that is meant")
        func brokenTemplate() throws {
            let night = try Night()
            try Self.set(night, template: "class HarnessAgent(:\n    pass\n")
            let refused = try night.run(["prepare", night.directory])
            #expect(refused.code == 2, "\(refused)")
            for words in ["as far as a reply", "SyntaxError", "--allow-failing-baseline"] {
                #expect(refused.notes.contains(words), "\(words): \(refused)")
            }
            #expect(try night.bodies(.baseline).isEmpty)
            try night.done(["prepare", night.directory, "--allow-failing-baseline"])
            #expect(try night.bodies(.baseline).first?["sealed_mean"] == 0)
            // With the rule of older records this is accepted: 0 against 0.
            try "print('PASS')\nraise SystemExit(0)\n".write(toFile: night.agentFile)
            let cheat = try night.run(["gate", night.directory, "--json"])
            #expect(cheat.code == 1 && cheat.output.contains("20:"), "\(cheat)")
            #expect(try night.bodies(.decision).map { $0["verdict"] } == ["rejected"])
            #expect(try night.run(["attest", night.directory]).code != 0)
        }

        @Test("a template that honestly scores 0 is a baseline, and what scores more is accepted")
        func honestZero() throws {
            let night = try Night()
            let text = try Stage.fixtureText("sums/agent.py")
            try Self.set(
                night,
                template: text.replacingOccurrences(of: #"{"add"}"#, with: "set()")
            )
            try night.done(["prepare", night.directory])
            #expect(try night.bodies(.baseline).first?["sealed_mean"] == 0)
            #expect(try night.run(["gate", night.directory]).code == 1, "as bad as before")
            try Self.teach(night, #""add", "subtract", "multiply""#)
            #expect(try night.run(["gate", night.directory]).code == 0)
        }

        @Test("when the release budget is spent, a submission is refused before anything runs")
        func released() throws {
            let night = try Night()
            var configuration = Configuration()
            // The baseline's score tells 4.4 bits; an answer 2.33, 4.4 and the moment's at the most.
            configuration.release = "{ grid: 100ms, bits: 25, counter-bits: 0.5 }"
            try night.prepare(configuration)
            try Self.teach(night, #""add", "subtract", "multiply""#)
            #expect(try night.run(["gate", night.directory]).code == 0)
            let exams = try night.bodies(.examStarted).count
            try Self.teach(night, #""add", "multiply", "subtract""#)
            let refused = try night.run(["gate", night.directory])
            #expect(refused.code == 1, "\(refused)")
            #expect(refused.output.contains("release-budget"))
            #expect(try night.bodies(.examStarted).count == exams)
            let status = try night.done(["status", night.directory, "--json"])
            let told = try JSONValue(parsing: Array(status.output.utf8), limits: .document)
            #expect(told["released_bits"]?["budget"] == 25)
            #expect(told["released_bits"]?["unbounded"] == [] as JSONValue)
            #expect(told["released_bits"]?["unlooked"] == 0)
            let row = try #require(night.bodies(.release).first)
            #expect(row["open_channels"] == ["object-counters": 0.5, "launches": 1], "\(row)")
            #expect(told["released_bits"]?["vacuous"] == true, "four tasks certify nothing")
        }

        @Test("the final tier is touched by nothing until it is opened, once")
        func finalTier() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(Configuration(more: "gate: { final: 0.5 }\n"))
            let split = try #require(night.bodies(.genesis).first?["split"])
            #expect(split["final_count"] == 2 && split["test_count"] == 2)
            let early = try night.run(["final", night.directory])
            #expect(early.code == 2, "\(early)")
            #expect(early.notes.contains("no candidate was accepted"))

            try Self.teach(night, #""add", "subtract", "multiply""#)
            try night.done(["gate", night.directory])
            let sealed = try night.bodies(.examEnded).filter { $0["split"] == "test" }
            #expect(sealed.allSatisfy { $0["count"] == 2 }, "the gate runs its own tier alone")
            #expect(sealed.last?["interval"]?["upper"] == 1)

            let opened = try night.done(["final", night.directory, "--json"])
            let result = try JSONValue(parsing: Array(opened.output.utf8), limits: .document)
            #expect(result["new"] == true && result["mean"] == 1 && result["tasks"] == 2)
            let rows = try night.rows().count
            let again = try night.done(["final", night.directory, "--json"])
            let same = try JSONValue(parsing: Array(again.output.utf8), limits: .document)
            #expect(same["new"] == false && same["mean"] == result["mean"])
            #expect(try night.rows().count == rows, "nothing was run again")
            // The night goes on after it, and verify checks split and tiers against the vault.
            try Self.teach(night, #""add", "multiply", "subtract""#)
            _ = try night.run(["gate", night.directory])
            try night.done(["verify", night.directory])
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test(
            "without tasks that were held back there is no final tier, and too many leave no gate"
        )
        func noFinalTier() throws {
            let night = try Night()
            try night.prepare(Configuration())
            let none = try night.run(["final", night.directory])
            #expect(none.code == 2, "\(none)")
            #expect(none.notes.contains("gate.final"))
        }
    }
}
