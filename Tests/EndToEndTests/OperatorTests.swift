import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// What an operator asks for at a terminal.
    @Suite struct Operator {
        private static func prepared() throws -> Night {
            let night = try Night()
            try night.prepare(Configuration())
            return night
        }

        private static func teach(_ night: Night, _ verbs: String) throws {
            let text = try Stage.fixtureText("sums/agent.py")
                .replacingOccurrences(of: #"{"add"}"#, with: "{\(verbs)}")
            try text.write(toFile: night.agentFile)
        }

        @Test("gate accepts a better file with 0 and refuses a worse one with 1")
        func gate() throws {
            let before = try Leftovers()
            let night = try Self.prepared()
            try Self.teach(night, #""add", "subtract", "multiply""#)
            let better = try night.run(["gate", night.directory, "--json"])
            #expect(better.code == 0, "\(better)")
            #expect(better.output.contains(#""verdict":"accepted""#))
            try Self.teach(night, #""multiply""#)
            let worse = try night.run(["gate", night.directory, "--json"])
            #expect(worse.code == 1, "\(worse)")
            #expect(worse.output.contains(#""verdict":"rejected""#))
            #expect(worse.output.contains(#""step":1"#), "the suite comes first")
            let decisions = try night.bodies(.decision).map { $0["verdict"]?.stringValue }
            #expect(decisions == ["accepted", "rejected"])
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("gate ends in order where candidates have a model, whose broker ends after the loop")
        func gateWithModels() throws {
            let scratch = try Scratch()
            let server = try ModelServer(
                #"{"conversations": "one", "steps": [{"text": "7", "times": 1000}]}"#,
                scratch: scratch
            )
            try server.writeKey("sk-operator-0123456789abcdef")
            let night = try Night(in: scratch)
            try night.prepare(Configuration(more: server.models("candidate")))
            try Self.teach(night, #""add", "subtract", "multiply""#)
            let better = try night.run(["gate", night.directory, "--json"])
            #expect(better.code == 0, "\(better)")
            #expect(better.output.contains(#""verdict":"accepted""#))
        }

        @Test(
            "single commands are run without a state directory of before",
            arguments: ["coding-agent", "candidate"],
            [["exec"], ["repeat", "--count", "2"]]
        )
        func single(_ policy: String, _ verb: [String]) throws {
            let night = try Night()
            let words = ["sandbox"] + verb + ["--policy", policy]
            let ended = try night.run(words, after: ["--", "/usr/bin/true"])
            #expect(ended.code == 0, "\(ended)")
        }

        @Test("the same bytes get no second try")
        func sameBytes() throws {
            let night = try Self.prepared()
            let template = try night.run(["gate", night.directory])
            #expect(template.code == 1, "\(template)")
            #expect(template.output.contains("judged-before"))
            #expect(try night.bodies(.intent).isEmpty)
        }

        @Test("A01, A02: benchmark runs train tasks with detail and nothing else")
        func benchmark() throws {
            let before = try Leftovers()
            let night = try Self.prepared()
            let genesis = try #require(try night.bodies(.genesis).first)
            let train = try #require(genesis["split"]?["train"]?.arrayValue)
                .compactMap(\.stringValue)
            let all = try night.run(["benchmark", night.directory, "--json"])
            #expect(all.code == 0, "\(all)")
            for task in train { #expect(all.output.contains("\"\(task)\"")) }
            let one = try night.run(["benchmark", night.directory, "--task-ids", train[0]])
            #expect(one.code == 0, "\(one)")

            let test = try night.run(["benchmark", night.directory, "--split", "test"])
            #expect(test.code == 2)
            #expect(test.notes.contains("the test split is run by the gate alone"))

            let sealed = try #require(
                (1...12).map { "sum-" + ($0 < 10 ? "0\($0)" : "\($0)") }
                    .first { !train.contains($0) }
            )
            let asked = try night.run(["benchmark", night.directory, "--task-ids", sealed])
            #expect(asked.code == 1, "\(asked)")
            let refusals = try night.bodies(.refusal)
            #expect(refusals.map { $0["layer"]?.stringValue } == ["vault"])
            #expect(refusals.map { $0["by"]?.stringValue } == ["operator"])
            let exams = try night.bodies(.examStarted).filter {
                $0["purpose"]?.stringValue == "train"
            }
            #expect(exams.map { $0["count"]?.integerValue } == [Int64(train.count), 1])
            try night.expectIntact()
            try before.expectNone(night)
        }

        @Test("a program that is not root says so, and does nothing with what is root's")
        func notRoot() throws {
            let night = try Self.prepared()
            for words in [
                ["init", "\(night.directory)-2"], ["prepare", night.directory],
                ["run", night.directory], ["gate", night.directory],
            ] {
                let line = [
                    "--reuid", "65534", "--regid", "65534", "--clear-groups", "--",
                    Stage.invigilator,
                ]
                let ended = try Program(
                    "/usr/bin/setpriv",
                    line + words + ["--state-directory", night.state],
                    temporary: "\(night.scratch.path)/tmp"
                ).waitForEnd()
                #expect(ended.code == 2 || ended.code == 3, "\(words): \(ended)")
                #expect(ended.notes.contains("user 65534 is not root"), "\(ended)")
            }
        }
    }

    /// When a run ends by itself.
    @Suite struct StopRules {
        // Hands in files that are all different and equally good.
        static let diligent = """
            for number in range(20):
                write(knowing("add", note="# %d\\n" % number))
                judged("number %d" % number)
            """

        private static func ended(_ more: String, _ agent: String) throws -> (Night, String?) {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(Configuration(agent: agent, more: more))
            try night.done(["run", night.directory])
            try night.expectSettled()
            try before.expectNone(night)
            return (night, try night.bodies(.runEnded).last?["reason"]?.stringValue)
        }

        @Test("a run ends after the iterations of its budget, and a next one does nothing")
        func iterations() throws {
            let (night, reason) = try Self.ended(
                "budget: { iterations: 2, no-improvement: 9 }",
                Self.diligent
            )
            #expect(reason == "the budget of iterations is spent")
            #expect(try night.bodies(.decision).count == 2)
            try night.done(["run", night.directory])
            #expect(try night.bodies(.decision).count == 2)
        }

        @Test("--max-iterations ends a run earlier, and the next one goes on")
        func maximum() throws {
            let night = try Night()
            try night.prepare(Configuration(agent: Self.diligent))
            try night.done(["run", night.directory, "--max-iterations", "1"])
            #expect(try night.bodies(.decision).count == 1)
            try night.done(["run", night.directory, "--max-iterations", "1"])
            #expect(try night.bodies(.decision).count == 2)
            #expect(try night.bodies(.runResumed).count == 1)
            try night.expectSettled()
        }

        @Test("a score that does not rise ends a run")
        func noImprovement() throws {
            let (night, reason) = try Self.ended(
                "budget: { iterations: 9, no-improvement: 2 }",
                Self.diligent
            )
            #expect(reason == "the score did not rise for as long as the budget allows")
            #expect(try night.bodies(.decision).count == 2)
        }

        @Test("C21: the budgets of submissions and train exams hold")
        func submissions() throws {
            let (night, reason) = try Self.ended(
                "budget: { submissions: 1, train-runs: 1, no-improvement: 9 }",
                """
                say("train", code=code(ask("train")))
                say("train", code=code(ask("train")))
                """ + "\n" + Self.diligent
            )
            #expect(reason == "the budget of submissions is spent")
            #expect(try night.bodies(.intent).count == 1)
            let codes = try night.agentLog("train").map { $0["code"]?.stringValue }
            #expect(codes == ["ok", "train-budget"])
        }
    }
}
