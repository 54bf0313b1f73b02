import HostKernel
import Foundation
import Ledger
import LinuxKernel
import StrictJSON
import Testing

extension EndToEnd {
    /// A running night and those who talk to it.
    @Suite struct Control {
        // Prints each span in which it did not run, and goes on until it is ended.
        private static let ticking = """
            say("ticking")
            last = time.time()
            while True:
                time.sleep(0.002)
                now = time.time()
                if now - last > 0.05:
                    say("gap", start=int(last * 1000), end=int(now * 1000))
                last = now
            """

        private static func ticks(_ night: Night) throws -> Program {
            let running = try night.start(["run", night.directory])
            try Stage.wait("the agent to tick") {
                (try? night.agentLog("ticking").isEmpty) == false
            }
            return running
        }

        private static func gaps(_ night: Night) throws -> [ClosedRange<Int64>] {
            try night.agentLog("gap").compactMap { line in
                guard let start = line["start"]?.integerValue, let end = line["end"]?.integerValue
                else { return nil }
                return start...end
            }
        }

        private static func endedReason(_ night: Night) throws -> String? {
            try night.bodies(.runEnded).last?["reason"]?.stringValue
        }

        @Test("pause freezes the coding agent and resume lets it go on")
        func pause() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(Configuration(agent: Self.ticking))
            let running = try Self.ticks(night)
            try night.done(["pause", night.directory])
            let paused = WallClock.milliseconds
            try Stage.wait("half a second") { WallClock.milliseconds > paused + 500 }
            let resumed = WallClock.milliseconds
            try night.done(["resume", night.directory])
            try Stage.wait("the agent to notice") {
                try Self.gaps(night).contains { $0.contains(paused) && $0.contains(resumed) }
            }
            try night.done(["stop", night.directory])
            let ended = try running.waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            #expect(try night.bodies(.pause).count == 1)
            #expect(try night.bodies(.resume).count == 1)
            #expect(try Self.endedReason(night) == "the operator asked for the end")
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("stop ends a sealed exam, voids its candidate, and the next run judges on")
        func stopWhileJudging() throws {
            let before = try Leftovers()
            let night = try Night()
            let honest = "write(knowing(\"add\", \"subtract\", \"multiply\"))\njudged()\n"
            try night.prepare(Configuration(agent: honest))
            let running = try night.start(["run", night.directory])
            try running.waitFor("sealed exam over")
            try night.done(["stop", night.directory])
            let ended = try running.waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            try night.expectSettled()
            try before.expectNone(night)
            try night.done(["run", night.directory])
            #expect(try night.bodies(.decision).map { $0["verdict"]?.stringValue } == ["accepted"])
            try night.expectSettled()
        }

        @Test("a signal ends a run in order", arguments: [SIGINT, SIGTERM])
        func signal(_ number: Int32) throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(Configuration(agent: Self.ticking))
            let running = try Self.ticks(night)
            running.send(number)
            let ended = try running.waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            #expect(try Self.endedReason(night) == "a signal asked for the end")
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a terminal's interrupt key, which reaches the launcher's group, ends a run in order")
        func interruptKey() throws {
            let night = try Night()
            try night.prepare(Configuration(agent: Self.ticking))
            // A session of its own, so that its group can be signalled as a terminal does.
            let running = try Program(
                "/usr/bin/setsid",
                [
                    "/usr/bin/unshare", "--mount", "--propagation", "private", "--",
                    Stage.invigilator, "run", night.directory, "--state-directory", night.state,
                ],
                temporary: "\(night.scratch.path)/tmp"
            )
            try Stage.wait("the agent to tick") {
                (try? night.agentLog("ticking").isEmpty) == false
            }
            kill(-running.pid, SIGINT)
            let ended = try running.waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            #expect(try Self.endedReason(night) == "a signal asked for the end")
        }

        @Test("a second run of one experiment is refused and told who holds it")
        func second() throws {
            let night = try Night()
            try night.prepare(Configuration(agent: Self.ticking))
            let running = try Self.ticks(night)
            for words in [["run"], ["gate"], ["prepare"], ["benchmark"]] {
                let refused = try night.run(words + [night.directory])
                #expect(refused.code == 3, "\(refused)")
                #expect(refused.notes.contains("process \(running.pid) holds it"), "\(refused)")
                #expect(refused.notes.contains("invigilator stop"), "\(refused)")
            }
            #expect(try night.bodies(.runEnded).isEmpty, "the first run goes on")
            let status = try night.done(["status", night.directory, "--json"])
            #expect(status.output.contains("\"schema\""))
            try night.done(["stop", night.directory])
            let ended = try running.waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            let nobody = try night.run(["stop", night.directory])
            #expect(nobody.code == 3)
            #expect(nobody.notes.contains("no run of this experiment is alive"))
            try night.expectSettled()
        }

        @Test("a coding agent that ends while its candidate is judged has it judged to the end")
        func endsEarly() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(
                Configuration(agent: "write(knowing(\"add\", \"subtract\"))\nsubmit()\n")
            )
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            #expect(try night.bodies(.decision).map { $0["verdict"]?.stringValue } == ["accepted"])
            try night.expectSettled()
            try before.expectNone(night)
        }
    }

    /// Two experiments of one host.
    @Suite struct TwoExperiments {
        private static let honest = """
            for verbs in (["add", "subtract"], ["add", "subtract", "multiply"]):
                write(knowing(*verbs))
                judged()
            """

        private static func pair(
            _ first: String,
            _ second: String,
            sharesState: Bool = true
        ) throws -> (Night, Night) {
            let scratch = try Scratch()
            let one = try Night(in: scratch, name: "one")
            let other = sharesState ? one.state : "\(scratch.path)/other-state"
            let two = try Night(in: scratch, name: "two", state: other)
            try one.prepare(Configuration(agent: first))
            try two.prepare(Configuration(agent: second))
            return (one, two)
        }

        @Test(
            "while one experiment runs a sealed exam, the other's coding agent is frozen",
            arguments: [true, false]
        )
        func frozen(sharesState: Bool) throws {
            let (ticker, judged) = try Self.pair(
                """
                say("ticking")
                last = time.time()
                while True:
                    time.sleep(0.002)
                    now = time.time()
                    if now - last > 0.02:
                        say("gap", start=int(last * 1000), end=int(now * 1000))
                    last = now
                """,
                Self.honest,
                sharesState: sharesState
            )
            let running = try ticker.start(["run", ticker.directory])
            try Stage.wait("the agent to tick") {
                (try? ticker.agentLog("ticking").isEmpty) == false
            }
            try judged.done(["run", judged.directory])
            try ticker.done(["stop", ticker.directory])
            let ended = try running.waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            let gaps = try ticker.agentLog("gap").compactMap { line -> ClosedRange<Int64>? in
                guard let start = line["start"]?.integerValue, let end = line["end"]?.integerValue
                else { return nil }
                return start...end
            }
            let exams = try judged.rows().filter {
                $0.kind == .examEnded && $0.body["purpose"]?.stringValue == "sealed"
            }
            #expect(exams.count == 2)
            for exam in exams {
                let length = try #require(exam.body["duration_ms"]?.integerValue)
                #expect(
                    gaps.contains {
                        $0.contains(exam.time - length + 2) && $0.contains(exam.time - 20)
                    },
                    "\(exam.time - length)...\(exam.time): \(gaps)"
                )
            }
            try ticker.expectSettled()
            try judged.expectSettled()
        }

        @Test("a run that waits for another's sealed exam can be stopped")
        func stoppedInLine() throws {
            let before = try Leftovers()
            let scratch = try Scratch()
            let slow = try Night(in: scratch, name: "slow")
            let waiting = try Night(in: scratch, name: "waiting")
            let endless = Configuration(
                agent: "write(\"while True: pass\\n\")\njudged()\n",
                more: "per_task_timeout: 10"
            )
            try slow.prepare(endless)
            try waiting.prepare(Configuration(agent: Self.honest))
            let better = try Stage.fixtureText("sums/agent.py")
                .replacingOccurrences(of: #"{"add"}"#, with: #"{"add", "subtract"}"#)
            try better.write(toFile: waiting.agentFile)
            let holder = try slow.start(["run", slow.directory])
            try holder.waitFor("sealed exam over")
            // One waits with its sealed exam, the other with its coding agent.
            for (verb, sign, code) in [
                ("gate", "sealed exam over", Int32(1)),
                ("run", "waits for another experiment's sealed exam", 0),
            ] {
                let running = try waiting.start([verb, waiting.directory])
                try running.waitFor(sign)
                try waiting.done(["stop", waiting.directory])
                let ended = try running.waitForEnd()
                #expect(ended.code == code, "\(ended)")
                try waiting.expectSettled()
            }
            #expect(try slow.bodies(.decision).isEmpty, "the other exam still ran")
            try slow.done(["stop", slow.directory])
            let last = try holder.waitForEnd()
            #expect(last.code == 0, "\(last)")
            try slow.expectSettled()
            try waiting.expectSettled()
            try before.expectNone(slow)
        }

        @Test(
            "two experiments that both run sealed exams both finish, one exam at a time",
            arguments: [true, false]
        )
        func both(sharesState: Bool) throws {
            let before = try Leftovers()
            let (one, two) = try Self.pair(Self.honest, Self.honest, sharesState: sharesState)
            let first = try one.start(["run", one.directory])
            let second = try two.start(["run", two.directory])
            for (night, running) in [(one, first), (two, second)] {
                let ended = try running.waitForEnd()
                #expect(ended.code == 0, "\(ended)")
                let verdicts = try night.bodies(.decision).map { $0["verdict"]?.stringValue }
                #expect(verdicts == ["accepted", "accepted"])
                try night.expectSettled()
            }
            let exams = try (one.rows() + two.rows()).filter {
                $0.kind == .examEnded && $0.body["purpose"]?.stringValue == "sealed"
            }.map { row in (row.time - (row.body["duration_ms"]?.integerValue ?? 0), row.time) }
                .sorted { $0.0 < $1.0 }
            for (earlier, later) in zip(exams, exams.dropFirst()) {
                #expect(earlier.1 <= later.0 + 20, "\(exams)")
            }
            try before.expectNone(one)
        }
    }
}
