import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Notes, manifests, and how tasks enter and leave the regression suite.
    @Suite struct Promotions {
        /// Writes the operator's file: the template with other verbs, known for certain or by a coin.
        private static func teach(_ night: Night, _ verbs: String, coin: Bool = false) throws {
            let template = try Stage.fixtureText("sums/agent.py")
            let toss = "        if verb != \"add\" and os.urandom(1)[0] % 4 == 0:\n"
            let text =
                template
                .replacingOccurrences(of: #"{"add"}"#, with: "{\(verbs)}")
                .replacingOccurrences(
                    of: "from invigilator_agent",
                    with: "import os\nfrom invigilator_agent"
                )
                .replacingOccurrences(
                    of: "        results = {",
                    with: (coin ? toss + "            return \"unknown\"\n" : "")
                        + "        results = {"
                )
            try text.write(toFile: night.agentFile)
        }

        private static func names(_ value: JSONValue?) -> Set<String> {
            Set((value?.arrayValue ?? []).compactMap(\.stringValue))
        }

        private static func status(_ night: Night) throws -> JSONValue {
            let ended = try night.done(["status", night.directory, "--json"])
            return try JSONValue(parsing: Array(ended.output.utf8), limits: .document)
        }

        /// What a coding agent of these tests does: notes, tries what it may not, submits, and waits.
        private static let agent = """
            ask("learn", tried="multiply", happened="nothing yet", pattern="families",
                needs="the gold of one task")
            say("bare", code=code(ask("submit")))
            say("retire", code=code(ask("retire", task="sum-01", reason="it is hard")))
            try:
                with open("/work/workspace/suite.json", "w", encoding="utf-8") as file:
                    file.write('{"tasks": []}')
                say("forged", done=True)
            except OSError:
                say("forged", done=False)
            with open("/work/workspace/train_results.json", encoding="utf-8") as file:
                before = json.load(file)["results"]
            failing = sorted(task for task, reward in before.items() if not reward)
            passing = sorted(task for task, reward in before.items() if reward)
            write(knowing("add", "subtract", "multiply"))
            manifest = {"hypothesis": "it knew sums only", "expected_fixes": failing[:2],
                        "tasks_at_risk": passing[:1]}
            ticket = ask("submit", manifest=manifest)["ticket"]
            answer = ask("result", ticket=ticket)
            say("score", verdict=answer["verdict"], manifest=answer["manifest"], failing=failing,
                passing=passing)
            """

        @Test(
            "typed notes are shown, a manifest is demanded and scored, and C03: no file is the suite"
        )
        func notesAndManifest() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(Configuration(agent: Self.agent))
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")

            let note = try #require(try night.bodies(.learning).first)
            #expect(note["tried"] == "multiply" && note["pattern"] == "families")
            #expect(note["text"] == nil)
            let shown = try String(
                contentsOfFile: "\(night.directory)/workspace/learnings.md",
                encoding: .utf8
            )
            #expect(shown.contains("Tried:\n\n> multiply\n\nHappened:\n\n> nothing yet\n"))
            #expect(ended.notes.contains("the coding agent needs a person: the gold of one task"))

            #expect(try night.agentLog("bare").first?["code"] == "no-manifest")
            let refusal = try night.bodies(.refusal).first { $0["attempt"] == "submit" }
            #expect(refusal != nil, "a refused submission is a row")
            #expect(try night.agentLog("retire").first?["code"] == "unknown-verb")
            #expect(try night.agentLog("forged").first?["done"] == false)

            let said = try #require(try night.agentLog("score").first)
            #expect(said["verdict"] == "accepted")
            let failing = (said["failing"]?.arrayValue ?? []).compactMap(\.stringValue)
            let score = try #require(try night.bodies(.release).first?["manifest"])
            #expect(score == said["manifest"])
            #expect(Self.names(score["fixed"]) == Set(failing.prefix(2)))
            #expect(Self.names(score["surprises"]) == Set(failing.dropFirst(2)))
            #expect(score["not_fixed"] == [])
            #expect(
                Self.names(score["unexamined"])
                    == Set((said["passing"]?.arrayValue ?? []).prefix(1).compactMap(\.stringValue))
            )
            #expect(score["squared_error"]?.numberValue == Double(failing.count - 2))

            let status = try Self.status(night)
            #expect(status["manifests"]?["command"]?["precision"] == 1)
            #expect(status["manifests"]?["command"]?["scored"] == 1)
            #expect(status["needs"]?.arrayValue?.first?["text"] == "the gold of one task")
            let promoted = try #require(try night.bodies(.promotion).first?["promoted"])
            #expect(Self.names(promoted) == Set(failing), "the suite is that of the rows")
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a flaky candidate confirms no task, a sound one does, and C20: a loss refuses")
        func confirmed() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(
                Configuration(
                    more: """
                        threshold: 0.1
                        promotion: { policy: confirmed, confirm: 12, of: 12, protect: true }
                        """
                )
            )
            let rules = try #require(try night.bodies(.genesis).first?["rules"])
            #expect(rules["promotion"]?["confirm"] == ["passes": 12, "of": 12])

            // Twelve passes in a row of three in four are one chance in thirty for each of its tasks.
            try Self.teach(night, #""add", "subtract", "multiply""#, coin: true)
            let flaky = try night.run(["gate", night.directory, "--json"])
            #expect(flaky.code == 0, "\(flaky)")
            let first = try #require(try night.bodies(.promotion).first)
            let kept = Self.names(first["quarantined"])
            #expect(!kept.isEmpty)
            #expect(kept.isDisjoint(with: Self.names(first["promoted"])))
            #expect(Self.names(try Self.status(night)["suite"]?["quarantined"]) == kept)
            let purposes = try night.bodies(.examEnded).compactMap { $0["purpose"]?.stringValue }
            #expect(purposes.contains("confirm"))

            try Self.teach(night, #""add", "subtract", "multiply""#)
            let sound = try night.run(["gate", night.directory, "--json"])
            #expect(sound.code == 0, "\(sound)")
            let second = try #require(try night.bodies(.promotion).last)
            #expect(Self.names(second["promoted"]).isSuperset(of: kept))
            let suite = try #require(try Self.status(night)["suite"])
            #expect(suite["quarantined"] == [])

            // It keeps one family of two: far above the threshold, and a trade all the same.
            try Self.teach(night, #""add", "subtract""#)
            let trade = try night.run(["gate", night.directory, "--json"])
            #expect(trade.code == 1, "\(trade)")
            let decision = try #require(try night.bodies(.decision).last)
            #expect(decision["step"] == 1)
            #expect(decision["reasons"]?.arrayValue?.first?.stringValue?.hasPrefix("16: ") == true)
            let protected = try night.bodies(.examEnded).filter { $0["purpose"] == "protect" }
            #expect(!protected.isEmpty)
            #expect(try Self.status(night)["suite"]?["tasks"] == suite["tasks"], "none left it")
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("C17: only the operator retires a task, while no run is on, in a signed row")
        func retired() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(
                Configuration(agent: "say(\"waiting\")\nwhile True:\n    time.sleep(0.05)\n")
            )
            try Self.teach(night, #""add", "subtract", "multiply""#)
            try night.done(["gate", night.directory])
            let suite = try #require(try night.bodies(.promotion).first?["promoted"]?.arrayValue)
                .compactMap(\.stringValue)
            let task = try #require(suite.first)
            let act = ["suite", "retire", task, night.directory, "--reason", "its gold is wrong"]

            let running = try night.start(["run", night.directory])
            try Stage.wait("the agent") { (try? night.agentLog("waiting").isEmpty) == false }
            let early = try night.run(act)
            #expect(early.code == 2, "\(early)")
            #expect(early.notes.contains("a run of this experiment is on"))
            try night.done(["stop", night.directory])
            _ = try running.waitForEnd()

            let unknown = try night.run(
                ["suite", "retire", "sum-99", night.directory, "--reason", "r"]
            )
            #expect(unknown.code == 2 && unknown.notes.contains("it is not in the suite"))
            let mute = try night.run(["suite", "retire", task, night.directory, "--reason", ""])
            #expect(mute.code == 2 && mute.notes.contains("--reason"))
            #expect(try night.bodies(.retirement).isEmpty)

            try night.done(act)
            #expect(
                try night.bodies(.retirement) == [
                    ["task": .string(task), "reason": "its gold is wrong"]
                ]
            )
            let told = try #require(try Self.status(night)["suite"])
            #expect(told["retired"] == [.string(task)])
            #expect(told["tasks"] == JSONValue(suite.count - 1))
            let again = try night.run(act)
            #expect(again.code == 2, "\(again)")

            let text = try String(contentsOfFile: night.agentFile, encoding: .utf8)
            try (text + "# the same, again\n").write(toFile: night.agentFile)
            try night.done(["gate", night.directory])
            let exam = try #require(
                try night.bodies(.examEnded).last { $0["purpose"] == "suite" }
            )
            #expect(exam["count"] == JSONValue(suite.count - 1))
            #expect(exam["outcomes"]?[task] == nil)
            try night.expectSettled()
            try before.expectNone(night)
        }
    }
}
