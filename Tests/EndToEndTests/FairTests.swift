import Foundation
import HostKernel
import Ledger
import LinuxKernel
import StrictJSON
import Testing

extension EndToEnd {
    /// Runs of one host that take turns.
    @Suite struct FairTurns {
        private static let ticking = """
            say("ticking")
            while True:
                time.sleep(0.01)
            """

        /// An agent whose candidates take their time, so that a sealed exam lasts longer than a second.
        private static func judging(_ count: Int) -> String {
            """
            for number in range(\(count)):
                sleep = "# %d\\nimport time\\ntime.sleep(1.2)\\n" % time.time_ns()
                write(knowing("add", "subtract", note=sleep))
                judged()
            """
        }

        private static func events(_ path: String) throws -> [JSONValue] {
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
                try JSONValue(parsing: Array($0.utf8), limits: .document)
            }
        }

        private static func sealedExams(of night: Night) throws -> [(from: Int64, to: Int64)] {
            try night.rows().compactMap { row in
                guard row.kind == .examEnded, row.body["purpose"]?.stringValue == "sealed",
                    let length = row.body["duration_ms"]?.integerValue
                else { return nil }
                return (from: row.time - length, to: row.time)
            }
        }

        private static func status(_ night: Night) throws -> JSONValue {
            let output = try night.done(["status", night.directory, "--json"]).output
            return try JSONValue(parsing: Array(output.utf8), limits: .document)
        }

        @Test(
            "beside runs that judge one candidate after another, an agent has half of each exam's time"
        )
        func shares() throws {
            let before = try Leftovers()
            let scratch = try Scratch()
            let ticker = try Night(in: scratch, name: "ticker")
            let judges = try (1...3).map { try Night(in: scratch, name: "judge-\($0)") }
            try ticker.prepare(Configuration(agent: Self.ticking))
            for judge in judges { try judge.prepare(Configuration(agent: Self.judging(2))) }
            let told = "\(scratch.path)/events"
            let running = try ticker.start(["run", ticker.directory, "--events", told])
            try Stage.wait("the agent to tick") {
                (try? ticker.agentLog("ticking").isEmpty) == false
            }
            let others = try judges.map { try $0.start(["run", $0.directory]) }
            try running.waitFor("the coding agent is waiting for a sealed exam of experiment ")
            let ids = Set(try judges.map { try $0.id() })
            var waiting = JSONValue.null
            try Stage.wait("the status to say who waits") {
                let status = try Self.status(ticker)
                waiting = status["waiting"] ?? .null
                guard waiting["who"] == "coding-agent" else { return false }
                #expect(status["frozen"] == true, "\(status["frozen"] ?? .null)")
                return true
            }
            #expect(ids.contains(waiting["for"]?.stringValue ?? ""), "\(waiting)")
            #expect(waiting["why"] == "sealed-exam")
            let since = try #require(waiting["since"]?.integerValue)
            #expect(since <= WallClock.milliseconds && since > WallClock.milliseconds - 600_000)
            for other in others {
                let ended = try other.waitForEnd(seconds: 300)
                #expect(ended.code == 0, "\(ended)")
            }
            let time = try #require(try Self.status(ticker)["agent_time"])
            #expect(try #require(time["waited_ms"]?.integerValue) > 1200 * 6, "\(time)")
            try ticker.done(["stop", ticker.directory])
            #expect(try running.waitForEnd().code == 0)

            // Between two sealed exams of anybody, the agent that waited had half of the first one's time.
            let exams = try judges.flatMap { try Self.sealedExams(of: $0) }.sorted {
                $0.from < $1.from
            }
            // One that other programs of a busy host void is run again.
            #expect(exams.count >= 6)
            for (earlier, later) in zip(exams, exams.dropFirst()) {
                let length: Int64 = earlier.to - earlier.from
                let pause: Int64 = later.from - earlier.to
                #expect(pause >= length / 2 - 100, "\(exams)")
            }
            for judge in judges {
                #expect(try judge.bodies(.decision).count == 2)
                try judge.expectSettled()
            }

            let events = try Self.events(told)
            let own = try ticker.id()
            let waits = events.filter { $0["kind"]?.stringValue == "waiting" }
            #expect(!waits.isEmpty)
            for wait in waits {
                #expect(wait["experiment"]?.stringValue == own, "\(wait)")
                #expect(ids.contains(wait["for"]?.stringValue ?? ""), "\(wait)")
            }
            let ends = events.filter { $0["kind"]?.stringValue == "waited" }
            #expect(!ends.isEmpty)
            for end in ends {
                let span: Int64 = end["milliseconds"]?.integerValue ?? 0
                #expect(span >= 1000, "\(end)")
            }
            try before.expectNone(ticker)
        }

        @Test("a supervisor that is killed in the line leaves it, and no exam waits for it")
        func killedInLine() throws {
            let before = try Leftovers()
            let scratch = try Scratch()
            let names = ["holder", "killed", "last"]
            let nights = try names.map { try Night(in: scratch, name: $0) }
            let endless = Configuration(
                agent: "write(\"while True: pass\\n\")\njudged()\n",
                more: "per_task_timeout: 10"
            )
            try nights[0].prepare(endless)
            for night in nights.dropFirst() {
                try night.prepare(Configuration())
                try Stage.fixtureText("sums/agent.py")
                    .replacingOccurrences(of: #"{"add"}"#, with: #"{"add", "subtract"}"#)
                    .write(toFile: night.agentFile)
            }
            let holder = try nights[0].start(["run", nights[0].directory])
            try holder.waitFor("sealed exam over")
            let killed = try nights[1].start(["gate", nights[1].directory])
            try killed.waitFor(
                "the sealed exam is waiting for a sealed exam of experiment \(nights[0].id())"
            )
            let last = try nights[2].start(["gate", nights[2].directory])
            try last.waitFor("the sealed exam is waiting for")
            let waiting = try Self.status(nights[2])["waiting"]
            #expect(waiting?["who"] == "sealed-exam", "\(waiting ?? .null)")
            killed.send(SIGKILL)
            #expect(try killed.waitForEnd().signal == SIGKILL)
            try nights[0].done(["stop", nights[0].directory])
            #expect(try holder.waitForEnd().code == 0)
            let ended = try last.waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            #expect(
                try nights[2].bodies(.decision).map { $0["verdict"]?.stringValue } == ["accepted"]
            )
            try before.expectNone(nights[2])
        }

        @Test(
            "under isolation: experiment others run beside sealed exams, and every row of them says so"
        )
        func isolation() throws {
            let before = try Leftovers()
            let scratch = try Scratch()
            let ticker = try Night(in: scratch, name: "ticker")
            let judged = try Night(in: scratch, name: "judged")
            try ticker.prepare(Configuration(agent: Self.ticking))
            try judged.prepare(
                Configuration(agent: Self.judging(1), more: "isolation: experiment")
            )
            let running = try ticker.start(["run", ticker.directory])
            try Stage.wait("the agent to tick") {
                (try? ticker.agentLog("ticking").isEmpty) == false
            }
            let ended = try judged.done(["run", judged.directory])
            #expect(ended.notes.contains("ISOLATION experiment"), "\(ended)")
            let time = try Self.status(ticker)["agent_time"]
            #expect(time?["waited_ms"] == 0, "\(time ?? .null)")
            try ticker.done(["stop", ticker.directory])
            #expect(try running.waitForEnd().code == 0)
            #expect(try judged.bodies(.genesis).first?["isolation"] == "experiment")
            for kind in [EventKind.examStarted, .examEnded, .release] {
                for body in try judged.bodies(kind) {
                    let isSealed = kind == .release || body["split"]?.stringValue == "test"
                    let channels: String? = body["live_channels"]?.stringValue
                    #expect(channels == (isSealed ? "unbounded" : nil), "\(body)")
                }
            }
            let released = try judged.bodies(.release)
            #expect(!released.isEmpty)
            for row in released {
                #expect(row["open_channels"]?["running-agents"] == "unbounded", "\(row)")
            }
            #expect(try ticker.bodies(.genesis).first?["isolation"] == nil)
            let status = try judged.done(["status", judged.directory])
            #expect(status.output.contains("live channels are not bounded"), "\(status)")
            try judged.expectSettled()

            // The other one's split becomes the same.
            let vault = "\(judged.state)/vault"
            let key = try Data(
                contentsOf: URL(fileURLWithPath: "\(vault)/\(judged.id())/split.key")
            )
            let place = try "\(vault)/\(ticker.id())/split.key"
            let own = try Data(contentsOf: URL(fileURLWithPath: place))
            try key.write(to: URL(fileURLWithPath: place))
            let refused = try judged.run(["run", judged.directory])
            #expect(refused.code == 2, "\(refused)")
            #expect(refused.notes.contains("drawn from the same split"), "\(refused)")
            // What cannot be told is refused as well.
            try own.write(to: URL(fileURLWithPath: place))
            try FileManager.default.removeItem(atPath: "\(vault)/\(ticker.id())/test/tasks.json")
            let closed = try judged.run(["run", judged.directory])
            #expect(closed.code == 2, "\(closed)")
            #expect(closed.notes.contains("cannot be told"), "\(closed)")
            try before.expectNone(judged)
        }
    }
}
