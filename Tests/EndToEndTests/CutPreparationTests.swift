import Foundation
import HostKernel
import Ledger
import LinuxKernel
import StrictJSON
import Testing

extension EndToEnd {
    /// A preparation that is cut off, or that others break.
    @Suite struct CutPreparation {
        /// Every row that preparing leaves, in its order.
        private static let rows: [(kind: EventKind, purpose: String?, split: String?)] = [
            (.genesis, nil, nil), (.examStarted, "baseline", "train"),
            (.examEnded, "baseline", "train"), (.examStarted, "baseline", "test"),
            (.examEnded, "baseline", "test"), (.baseline, nil, nil), (.examStarted, "floor", nil),
            (.examEnded, "floor", nil),
        ]

        private static func isPrepared(_ night: Night) throws -> Bool {
            try night.bodies(.baseline).count == 1 && night.bodies(.floor).count == 1
        }

        @Test("prepare killed after any row is completed by run, or by prepare")
        func killed() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.set(up: Configuration(agent: "ask(\"status\")\n"))
            // Before its first row there is nothing to complete.
            let refused = try night.run(["run", night.directory])
            #expect(
                refused.code == 2 && refused.notes.contains("invigilator prepare"),
                "\(refused)"
            )
            for (number, row) in Self.rows.enumerated() {
                // Whoever goes on is cut off again: `run` may write no row of a run before the last floor.
                let verb = number.isMultiple(of: 2) ? "prepare" : "run"
                let seen = try LedgerReader.open(at: "\(night.folder())/ledger.sqlite").verify()
                    .count
                let running = try night.start([verb, night.directory])
                try Stage.wait("\(row.kind) \(row.purpose ?? "")") {
                    // The baseline's row comes once, and may have come before the last kill.
                    try night.rows().dropFirst(row.kind == .baseline ? 0 : seen).contains { other in
                        guard other.kind == row.kind else { return false }
                        for (name, text) in [("purpose", row.purpose), ("split", row.split)] {
                            if let text, other.body[name]?.stringValue != text { return false }
                        }
                        return true
                    }
                }
                let family = try Leftovers.descendants(of: running.pid)
                running.send(number % 3 == 0 ? SIGTERM : SIGKILL)
                _ = try running.waitForEnd()
                try Stage.wait("everything it started to be gone", seconds: 10) {
                    Leftovers.living(family).isEmpty
                }
                try night.expectIntact()
            }
            let ended = try night.done(["run", night.directory])
            try #require(try Self.isPrepared(night))
            let rows = try night.rows()
            let first = try #require(rows.firstIndex { $0.kind == .runStarted })
            let last = try #require(rows.lastIndex { [.baseline, .floor].contains($0.kind) })
            #expect(last < first, "no run begins without baseline and floors: \(ended)")
            let again = try night.done(["prepare", night.directory])
            #expect(!again.notes.contains("exam over"), "nothing is left to do: \(again)")
            try night.done(["verify", night.directory])
            try before.expectNone(night)
        }

        @Test(
            "run says that it completes a preparation, and so does a judgement",
            arguments: ["run", "gate"]
        )
        func completing(verb: String) throws {
            let night = try Night()
            try night.set(up: Configuration(agent: "ask(\"status\")\n"))
            let running = try night.start(["prepare", night.directory])
            try running.waitFor("floor exam over")
            running.send(SIGTERM)
            #expect(try running.waitForEnd().signal == SIGTERM)
            try #require(try !Self.isPrepared(night))
            let ended = try night.run([verb, night.directory])
            #expect(ended.notes.contains("it is completed first"), "\(ended)")
            #expect(try Self.isPrepared(night))
        }

        private static func find(_ part: String, below running: Program) throws -> Int32 {
            var found: Int32?
            try Stage.wait("a process \(part)") {
                found = try Leftovers.descendants(of: running.pid).first { pid in
                    FileManager.default.contents(atPath: "/proc/\(pid)/cmdline")
                        .map { String(decoding: $0, as: UTF8.self).contains(part) } ?? false
                }
                return found != nil
            }
            return try #require(found)
        }

        private static let exams = [
            "baseline exam over 8 train", "baseline exam over 4 test", "floor exam over",
        ]

        // A template that lives long enough to be found, and each part of it killed once.
        private static func prepared(killing part: String) throws -> Night {
            let night = try Night()
            try night.set(up: Configuration())
            let text = try Stage.fixtureText("sums/agent.py")
            try (text + "\nimport time\ntime.sleep(0.2)\n").write(toFile: night.agentFile)
            let running = try night.start(["prepare", night.directory])
            for exam in exams where exam != exams[2] || part.contains("examiner") {
                try running.waitFor(exam)
                kill(try find(part, below: running), SIGKILL)
            }
            let ended = try running.waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            try #require(try isPrepared(night))
            return night
        }

        @Test(
            "status says what prepare does and how far it is, and no run can be stopped meanwhile"
        )
        func standing() throws {
            let night = try Night()
            try night.set(up: Configuration())
            let text = try Stage.fixtureText("sums/agent.py")
            try (text + "\nimport time\ntime.sleep(0.5)\n").write(toFile: night.agentFile)
            let running = try night.start(["prepare", night.directory])
            try running.waitFor(Self.exams[0])
            let told = try night.done(["status", night.directory, "--json"])
            let status = try JSONValue(parsing: Array(told.output.utf8), limits: .document)
            #expect(status["phase"] == "preparing" && status["running"] == false, "\(told)")
            let exam = try #require(status["exam"])
            #expect(exam["purpose"] == "baseline" && exam["split"] == "train" && exam["count"] == 8)
            #expect((0...8).contains(exam["done"]?.intValue ?? -1), "\(exam)")
            try running.waitFor(Self.exams[1])
            let words = try night.done(["status", night.directory]).output
            #expect(words.contains("baseline exam over the test split, "), "\(words)")
            #expect(words.contains(" of 4 rollouts done") && !words.contains("cut off"), "\(words)")
            for verb in [["stop"], ["pause"], ["extend", "--iterations", "1"]] {
                let ended = try night.run([verb[0], night.directory] + verb.dropFirst())
                #expect(ended.code != 0, "\(ended)")
                #expect(ended.notes.contains("the experiment is being prepared"), "\(ended)")
                #expect(ended.output.isEmpty, "\(ended)")
            }
            #expect(try running.waitForEnd().code == 0)
            let after = try night.done(["status", night.directory, "--json"])
            let done = try JSONValue(parsing: Array(after.output.utf8), limits: .document)
            #expect(done["phase"] == "prepared" && done["exam"] == .null)
            #expect(!FileManager.default.fileExists(atPath: "\(try night.folder())/prepare.sock"))
        }

        @Test(
            "an examiner killed in any exam of prepare voids it, and it is run again, on the record"
        )
        func killedExaminer() throws {
            let before = try Leftovers()
            let night = try Self.prepared(killing: "/examiner/examiner.py")
            let voids = try night.bodies(.void).compactMap { $0["reason"]?.stringValue }
            #expect(voids.count == 3, "\(voids)")
            #expect(
                voids.allSatisfy { $0.contains("examiner-died") && $0.contains("it is run again") }
            )
            #expect(try night.bodies(.examEnded).count { $0["mean"] == nil } == 3)
            try night.expectIntact()
            try night.done(["verify", night.directory])
            try before.expectNone(night)
        }

        @Test(
            "a rollout of prepare killed from outside is no benchmark whose rewards vary, and costs no score"
        )
        func killedRollout() throws {
            let before = try Leftovers()
            let quiet = try Night()
            try quiet.prepare(Configuration())
            let night = try Self.prepared(killing: "/candidate/run.py")
            let voids = try night.bodies(.void).compactMap { $0["reason"]?.stringValue }
            #expect(
                voids.count == 2 && voids.allSatisfy { $0.contains("a signal ended 1 rollouts") },
                "\(voids)"
            )
            let baseline = try #require(try night.bodies(.baseline).first)
            // Four tasks of each verb, and the template knows one verb.
            let train = try #require(baseline["train"]?.objectValue)
            let passed: Int = train.values.count { $0.numberValue == 1 }
            let exams = try night.bodies(.examEnded).filter {
                $0["split"]?.stringValue == "test" && $0["purpose"]?.stringValue == "baseline"
            }
            let sealed: Int = try #require(exams.last?["passed"]?.intValue)
            #expect(passed + sealed == 4, "\(baseline)")
            try night.done(["verify", night.directory])
            try before.expectNone(night)
        }
    }
}
