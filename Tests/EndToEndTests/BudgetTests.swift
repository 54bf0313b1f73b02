import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Bounds of one run, and what an operator allows beyond the configuration.
    @Suite struct Budgets {
        private static let diligent = """
            for verbs in [("add", "subtract"), ("add", "subtract", "multiply")]:
                write(knowing(*verbs, note="# %d\\n" % time.time_ns()))
                judged()
            while True:
                write(knowing("add", note="# %d\\n" % time.time_ns()))
                judged()
            """

        private static func end(_ night: Night) throws -> String? {
            try night.bodies(.runEnded).last?["reason"]?.stringValue
        }

        @Test("--max-hours and --max-iterations bind the run that they are given to, on the record")
        func bounds() throws {
            let night = try Night()
            try night.prepare(Configuration(agent: Self.diligent))
            for run in 1...2 {
                try night.done([
                    "run", night.directory, "--max-iterations", "1", "--max-hours", "1",
                ])
                #expect(try night.bodies(.decision).count == run)
                #expect(try Self.end(night) == "the bound of this run's iterations is reached")
            }
            let facts = try #require(try night.bodies(.runResumed).last?["facts"])
            #expect(facts["bounds"] == ["iterations": 1, "milliseconds": 3_600_000], "\(facts)")
            let idle = "say(\"idle\")\ntime.sleep(600)\n"
            try night.configure(Configuration(agent: idle))
            let ended = try night.run(["run", night.directory, "--max-hours", "0.0005"])
            #expect(ended.code == 0, "\(ended)")
            #expect(try Self.end(night) == "the bound of this run's hours is reached")
            try night.expectSettled()
            for words in [["--max-hours", "0"], ["--max-iterations", "0"], ["--max-cost", "1"]] {
                let refused = try night.run(["run", night.directory] + words)
                #expect(refused.code == 2, "\(words): \(refused)")
            }
        }

        @Test("--max-cost ends a run in order when models have cost so much")
        func cost() throws {
            let scratch = try Scratch()
            let server = try ModelServer(
                #"{"conversations": "one", "steps": [{"text": "more", "times": 1000}]}"#,
                scratch: scratch
            )
            try server.writeKey("sk-a-key-0123456789abcdef")
            let night = try Night(in: scratch)
            let agent =
                ModelClient.text + "while True:\n    model(question())\n    time.sleep(0.05)\n"
            let price = "\n  prices:\n    pinned-model: { input: 10000, output: 10000 }\n"
            try night.prepare(Configuration(agent: agent, more: server.models() + price))
            let ended = try night.run(["run", night.directory, "--max-cost", "0.5"])
            #expect(ended.code == 0, "\(ended)")
            #expect(try Self.end(night) == "the bound of this run's cost is reached", "\(ended)")
            let spent = try night.bodies(.modelUsage).compactMap {
                $0["roles"]?["coding-agent"]?["microdollars"]?.intValue
            }.reduce(0, +)
            #expect(spent >= 500_000, "\(spent)")
            try night.expectSettled()
        }

        @Test("extend lets a running night go on, by a signed row, and the genesis row stays")
        func running() throws {
            let before = try Leftovers()
            let night = try Night()
            let wait = """
                write(knowing("add", "subtract", note="# 1\\n"))
                judged()
                while True:
                    time.sleep(0.05)
                    say("tick")
                """
            try night.prepare(
                Configuration(agent: wait, more: "budget: { iterations: 2, hours: 0.01 }")
            )
            let genesis = try night.bodies(.genesis)
            let running = try night.start(["run", night.directory])
            try Stage.wait("the agent to tick") {
                (try? night.agentLog("tick").isEmpty) == false
            }
            let told = try night.done([
                "extend", night.directory, "--hours", "1", "--iterations", "3", "--reason", "good",
            ])
            #expect(told.output.contains("the running night goes on"), "\(told)")
            try running.waitFor("the budget is extended by 3 iterations, 1.0 hours")
            let refused = try night.run(["extend", night.directory, "--tokens", "5"])
            #expect(refused.code == 2 && refused.notes.contains("sets no limit"), "\(refused)")
            let status = try JSONValue(
                parsing: Array(try night.done(["status", night.directory, "--json"]).output.utf8),
                limits: .document
            )
            #expect(status["budgets"]?["iterations"]?["limit"] == 5, "\(status)")
            try night.done(["stop", night.directory])
            #expect(try running.waitForEnd().code == 0)
            let rows = try night.bodies(.extended)
            #expect(rows.count == 1)
            #expect(rows.first?["iterations"] == 3 && rows.first?["milliseconds"] == 3_600_000)
            #expect(rows.first?["by"] == "uid 0" && rows.first?["reason"] == "good")
            #expect(try night.bodies(.genesis) == genesis)
            try night.expectSettled()
            try night.done(["verify", night.directory])
            try before.expectNone(night)
        }

        @Test("whoever extends a night that ends in this moment hears of it what the record says")
        func ending() throws {
            let night = try Night()
            let agent = "while True:\n    time.sleep(0.05)\n    say(\"tick\")\n"
            try night.prepare(Configuration(agent: agent))
            let running = try night.start(["run", night.directory])
            try Stage.wait("the agent to tick") {
                (try? night.agentLog("tick").isEmpty) == false
            }
            // Both wait at the socket when the supervisor goes on.
            running.send(SIGSTOP)
            let stop = try night.start(["stop", night.directory])
            Thread.sleep(forTimeInterval: 0.5)
            let more = try night.start(["extend", night.directory, "--iterations", "3"])
            Thread.sleep(forTimeInterval: 0.5)
            running.send(SIGCONT)
            #expect(try stop.waitForEnd().code == 0)
            let told = try more.waitForEnd()
            #expect(try running.waitForEnd().code == 0)
            let rows = try night.bodies(.extended)
            #expect(rows.count == (told.code == 0 ? 1 : 0), "\(told)")
            if told.code != 0 {
                try night.done(["extend", night.directory, "--iterations", "3"])
                #expect(try night.bodies(.extended).count == 1)
            }
            try night.expectSettled()
        }

        @Test("extend lets an ended night begin again; what may leak is never extended")
        func ended() throws {
            let night = try Night()
            try night.prepare(
                Configuration(agent: Self.diligent, more: "budget: { iterations: 1 }")
            )
            try night.done(["run", night.directory])
            try night.done(["run", night.directory])
            #expect(try night.bodies(.decision).count == 1)
            try night.done(["extend", night.directory, "--iterations", "1"])
            try night.done(["run", night.directory])
            #expect(try night.bodies(.decision).count == 2)
            #expect(try Self.end(night) == "the budget of iterations is spent")
            let rows = try night.rows().count
            for words in [
                ["--bits", "8"], ["--tests", "5"], [], ["--iterations", "-1"], ["--hours", "nan"],
                ["--iterations", "1", "--bits", "8"],
            ] {
                let refused = try night.run(["extend", night.directory] + words)
                #expect(refused.code == 2, "\(words): \(refused)")
            }
            #expect(try night.rows().count == rows)
            try night.expectSettled()
        }
    }
}
