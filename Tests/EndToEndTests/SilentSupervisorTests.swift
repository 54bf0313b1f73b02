import Foundation
import Ledger
import LinuxKernel
import StrictJSON
import Testing

extension EndToEnd {
    /// Supervisors that cannot be reached, or do not answer.
    @Suite struct SilentSupervisors {
        private static let ticking = """
            say("ticking", at=int(time.time() * 1000))
            time.sleep(1000)
            """
        private static let honest = """
            write(knowing("add", "subtract"))
            judged()
            """

        private static func waitForTicks(_ night: Night) throws {
            try Stage.wait("the agent to tick") {
                (try? night.agentLog("ticking").isEmpty) == false
            }
        }

        @Test("a state directory of two hundred bytes is commanded and held like any other")
        func longPath() throws {
            let before = try Leftovers()
            let scratch = try Scratch()
            let deep = scratch.path + "/" + String(repeating: "d", count: 200 - scratch.path.count)
            let ticker = try Night(in: scratch, name: "one", state: deep)
            let judged = try Night(in: scratch, name: "two", state: deep)
            #expect(ticker.state.utf8.count > 200, "longer than a socket's own path may be")
            try ticker.prepare(Configuration(agent: Self.ticking))
            try judged.prepare(Configuration(agent: Self.honest))
            let running = try ticker.start(["run", ticker.directory])
            try Self.waitForTicks(ticker)
            for verb in ["pause", "resume"] { try ticker.done([verb, ticker.directory]) }
            let status = try ticker.done(["status", ticker.directory, "--json"])
            #expect(status.output.contains(#""running": true"#), "\(status)")
            try judged.done(["run", judged.directory])
            #expect(try judged.bodies(.decision).count == 1)
            try ticker.done(["stop", ticker.directory])
            #expect(try running.waitForEnd().code == 0)
            try ticker.expectSettled()
            try before.expectNone(ticker)
        }

        @Test("no sealed exam begins beside a supervisor that does not answer, and status says so")
        func stopped() throws {
            let before = try Leftovers()
            let scratch = try Scratch()
            let silent = try Night(in: scratch, name: "silent")
            let judged = try Night(in: scratch, name: "judged")
            try silent.prepare(Configuration(agent: Self.ticking))
            try judged.prepare(Configuration(agent: Self.honest))
            let running = try silent.start(["run", silent.directory])
            try Self.waitForTicks(silent)
            running.send(SIGSTOP)
            defer { running.send(SIGCONT) }
            let run = try judged.start(["run", judged.directory])
            let status = try silent.start(["status", silent.directory])
            for ended in [try run.waitForEnd(), try status.waitForEnd()] {
                #expect(ended.code == 3, "\(ended)")
                #expect(ended.notes.contains("\(try silent.folder())/control.sock"), "\(ended)")
                #expect(ended.notes.contains("kill -CONT \(running.pid)"), "\(ended)")
            }
            #expect(try judged.bodies(.intent).count == 1)
            #expect(
                try !judged.bodies(.examEnded).contains {
                    $0["purpose"] == "sealed" && $0["iteration"]?.integerValue == 1
                }
            )
            running.send(SIGCONT)
            // Judged by the next run, as the intent that was cut off; the agent's file is the same.
            try judged.done(["run", judged.directory])
            #expect(try judged.bodies(.decision).map { $0["verdict"]?.stringValue } == ["accepted"])
            try judged.expectSettled()
            try silent.done(["stop", silent.directory])
            #expect(try running.waitForEnd().code == 0)
            try silent.expectSettled()
            try before.expectNone(silent)
        }

        @Test("a process that was stopped in its sealed exam is named to those who wait for it")
        func stoppedHolder() throws {
            let before = try Leftovers()
            let scratch = try Scratch()
            let silent = try Night(in: scratch, name: "silent")
            let judged = try Night(in: scratch, name: "judged")
            try silent.prepare(
                Configuration(
                    agent: "write(\"while True: pass\\n\")\njudged()\n",
                    more: "per_task_timeout: 5"
                )
            )
            try judged.prepare(Configuration(agent: Self.honest))
            try Stage.fixtureText("sums/agent.py")
                .replacingOccurrences(of: #"{"add"}"#, with: #"{"add", "subtract"}"#)
                .write(toFile: judged.agentFile)
            let running = try silent.start(["run", silent.directory])
            try running.waitFor("sealed exam over")
            // The line is printed before the lock is taken.
            try Stage.wait("the turn to be taken") {
                let file = try FileManager.default.attributesOfItem(
                    atPath: "/run/invigilator/sealed-exam"
                )
                let number = (file[.systemFileNumber] as? Int).map { ":\($0) " } ?? "absent"
                return try String(contentsOfFile: "/proc/locks", encoding: .utf8)
                    .split(separator: "\n")
                    .contains { $0.contains("WRITE \(running.pid) ") && $0.contains(number) }
            }
            running.send(SIGSTOP)
            defer { running.send(SIGCONT) }
            // One waits with its sealed exam, the other with its coding agent.
            let waiting = try ["gate", "run"].map { try judged.run([$0, judged.directory]) }
            for ended in waiting {
                #expect(ended.code == 3, "\(ended)")
                #expect(ended.notes.contains("/run/invigilator/sealed-exam"), "\(ended)")
                #expect(ended.notes.contains("kill -CONT \(running.pid)"), "\(ended)")
            }
            running.send(SIGCONT)
            #expect(try running.waitForEnd().code == 0)
            #expect(try silent.bodies(.decision).map { $0["verdict"]?.stringValue } == ["rejected"])
            try judged.done(["run", judged.directory])
            try judged.expectSettled()
            try silent.expectSettled()
            try before.expectNone(silent)
        }

        @Test("no sealed exam begins beside a stopped supervisor of another state directory")
        func stoppedElsewhere() throws {
            let scratch = try Scratch()
            let silent = try Night(in: scratch, name: "silent")
            let other = "\(scratch.path)/other-state"
            let judged = try Night(in: scratch, name: "judged", state: other)
            try silent.prepare(Configuration(agent: Self.ticking))
            try judged.prepare(Configuration(agent: Self.honest))
            let running = try silent.start(["run", silent.directory])
            try Self.waitForTicks(silent)
            running.send(SIGSTOP)
            defer { running.send(SIGCONT) }
            let ended = try judged.run(["run", judged.directory])
            #expect(ended.code == 3, "\(ended)")
            #expect(ended.notes.contains("/run/invigilator/agents"), "\(ended)")
            #expect(ended.notes.contains("lslocks"), "\(ended)")
            #expect(
                try !judged.bodies(.examEnded).contains {
                    $0["purpose"] == "sealed" && $0["iteration"]?.integerValue == 1
                }
            )
            running.send(SIGCONT)
            try judged.done(["run", judged.directory])
            #expect(try judged.bodies(.decision).map { $0["verdict"]?.stringValue } == ["accepted"])
            try silent.done(["stop", silent.directory])
            #expect(try running.waitForEnd().code == 0)
            for night in [silent, judged] { try night.expectSettled() }
        }

        @Test("a run that begins during another's sealed exam starts its coding agent after it")
        func startedBeside() throws {
            let before = try Leftovers()
            let scratch = try Scratch()
            let slow = try Night(in: scratch, name: "slow")
            let late = try Night(in: scratch, name: "late")
            try slow.prepare(
                Configuration(
                    agent: "write(\"while True: pass\\n\")\njudged()\n",
                    more: "per_task_timeout: 20"
                )
            )
            try late.prepare(Configuration(agent: Self.ticking))
            let holder = try slow.start(["run", slow.directory])
            try holder.waitFor("sealed exam over")
            let running = try late.start(["run", late.directory])
            try running.waitFor("waits for another experiment's sealed exam")
            try slow.done(["stop", slow.directory])
            #expect(try holder.waitForEnd().code == 0)
            let exam = try #require(
                try slow.rows().last { $0.kind == .examStarted && $0.body["purpose"] == "sealed" }
            )
            let stop = try #require(try slow.rows().last { $0.kind == .stop })
            try Self.waitForTicks(late)
            let tick = try #require(try late.agentLog("ticking").first?["at"]?.integerValue)
            #expect(exam.time < stop.time && stop.time <= tick)
            try late.done(["stop", late.directory])
            #expect(try running.waitForEnd().code == 0)
            try late.expectSettled()
            try before.expectNone(slow)
        }

        @Test("two first preparations at the same time share one image")
        func preparedTogether() throws {
            let before = try Leftovers()
            let scratch = try Scratch()
            let nights = [
                try Night(in: scratch, name: "one"), try Night(in: scratch, name: "two"),
            ]
            for night in nights { try night.set(up: Configuration()) }
            let running = try nights.map { try $0.start(["prepare", $0.directory]) }
            for program in running {
                let ended = try program.waitForEnd()
                #expect(ended.code == 0, "\(ended)")
            }
            let images = try FileManager.default.contentsOfDirectory(
                atPath: "\(nights[0].state)/images"
            )
            #expect(images.filter { $0.count == 64 }.count == 1, "\(images)")
            for night in nights { try night.expectIntact() }
            try before.expectNone(nights[0])
        }
    }
}
