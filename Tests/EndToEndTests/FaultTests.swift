import Foundation
import Ledger
import LinuxKernel
import StrictJSON
import Testing

extension EndToEnd {
    /// What is killed at every row of an iteration, and a state directory that fails.
    @Suite struct Faults {
        /// A row, or a row of one exam.
        struct Point: Sendable, CustomTestStringConvertible {
            let kind: EventKind
            let purpose: String?

            init(_ kind: EventKind, _ purpose: String? = nil) {
                self.kind = kind
                self.purpose = purpose
            }

            var testDescription: String {
                [kind.rawValue, purpose].compactMap(\.self).joined(separator: " ")
            }

            func isReached(by row: LedgerEntry) -> Bool {
                row.kind == kind && (purpose == nil || row.body["purpose"]?.stringValue == purpose)
            }
        }

        /// Every row that an iteration of the agent below leaves, in its order.
        private static let iteration = [
            Point(.runResumed), Point(.learning), Point(.refusal), Point(.snapshot),
            Point(.examStarted, "train"), Point(.examEnded, "train"), Point(.revert),
            Point(.intent), Point(.examStarted, "suite"), Point(.examEnded, "suite"),
            Point(.examStarted, "sealed"), Point(.examEnded, "sealed"), Point(.decision),
            Point(.examStarted, "recheck"), Point(.examEnded, "recheck"), Point(.promotion),
            Point(.release),
        ]
        private static let exams = ["train", "suite", "sealed", "recheck"]

        // One verb stays unknown, so that every accepted candidate is rechecked; other bytes in every
        // run, because the same ones get no second try; a candidate that lives long enough to be found,
        // and an end that lets a run be killed after its last row.
        private static let agent = """
            ask("learn", text="one note")
            ask("test")
            task = sorted(json.load(open("/work/workspace/train_results.json"))["results"])[0]
            ask("train", task_ids=[task])
            write(source() + "# to be reverted\\n")
            ask("revert")
            write(knowing("add", "subtract", note="# %d\\nimport time\\ntime.sleep(0.15)\\n" % time.time_ns()))
            judged()
            time.sleep(2)
            """
        private static let budget =
            "budget: { iterations: 900, no-improvement: 900, submissions: 900, train-runs: 900 }"

        // A night with an accepted candidate, so that every kind of exam is run.
        private static func begun() throws -> Night {
            let night = try Night()
            try night.prepare(Configuration(agent: agent, more: budget))
            try night.done(["run", night.directory])
            return night
        }

        /// Starts a run and waits for a row that was not there before.
        private static func run(_ night: Night, until point: Point) throws -> Program {
            let reader = try LedgerReader.open(at: "\(night.folder())/ledger.sqlite")
            var last = try reader.verify().count
            let running = try night.start(["run", night.directory])
            var seen: [String] = []
            do {
                try Stage.wait("a row \(point.testDescription)") {
                    let rows = try reader.entries(after: last)
                    last += rows.count
                    seen += rows.map(\.kind.rawValue)
                    return rows.contains(where: point.isReached)
                }
            } catch {
                running.send(SIGTERM)
                throw Stage.TimedOut(
                    description: "\(error), came \(seen); \(try running.waitForEnd())"
                )
            }
            return running
        }

        // Waits for a process that this run started.
        private static func descendant(
            _ what: String,
            of running: Program,
            where isMeant: (Int32) -> Bool
        ) throws -> Int32 {
            var found: Int32?
            try Stage.wait(what) {
                found = try Leftovers.descendants(of: running.pid).first(where: isMeant)
                return found != nil
            }
            return try #require(found)
        }

        // A process that a launcher of this run started, by a part of its command line.
        private static func find(_ part: String, below running: Program) throws -> Int32 {
            try descendant("a process \(part)", of: running) { pid in
                FileManager.default.contents(atPath: "/proc/\(pid)/cmdline")
                    .map { String(decoding: $0, as: UTF8.self).contains(part) } ?? false
            }
        }

        private static func expectKept(_ rows: [LedgerEntry], _ night: Night) throws {
            try night.expectIntact()
            #expect(try Array(night.rows().prefix(rows.count)) == rows)
        }

        @Test("a supervisor or launcher killed after any row loses none, and the next run goes on")
        func killedAtEveryRow() throws {
            let before = try Leftovers()
            let night = try Self.begun()
            for point in Self.iteration {
                for target in ["supervisor", "launcher"] {
                    // The run that reaches the row is the one that goes on after the kill before.
                    let running = try Self.run(night, until: point)
                    let rows = try night.rows()
                    // The first row is written before the launcher is there.
                    let launcher = try Self.descendant(
                        "a launcher",
                        of: running,
                        where: Leftovers.isLauncher
                    )
                    let family = try Leftovers.descendants(of: running.pid)
                    if target == "supervisor" {
                        running.send(SIGKILL)
                        #expect(try running.waitForEnd().signal == SIGKILL)
                    } else {
                        kill(launcher, SIGKILL)
                        let ended = try running.waitForEnd()
                        #expect(ended.code == 3, "\(point.testDescription): \(ended)")
                    }
                    try Stage.wait("everything it started to be gone", seconds: 10) {
                        Leftovers.living(family).isEmpty
                    }
                    try Self.expectKept(rows, night)
                }
            }
            try night.done(["run", night.directory])
            try night.expectSettled()
            // Every sealed exam that ended has its outcomes, whatever was killed when.
            let folder = "\(night.scratch.path)/revealed"
            try night.done(["ledger", "reveal", night.directory, "--to", folder])
            try night.done(["verify", night.directory, "--reveal", "\(folder)/reveal.key"])
            let verdicts = try night.bodies(.decision).map { $0["verdict"]?.stringValue }
            #expect(
                Set(verdicts) == ["accepted"],
                "the same candidate, judged to its end every time"
            )
            try before.expectNone(night)
        }

        @Test("a candidate killed in any exam costs rollouts, and the run goes on")
        func killedCandidate() throws {
            let before = try Leftovers()
            let night = try Self.begun()
            for exam in Self.exams {
                let running = try Self.run(night, until: Point(.examStarted, exam))
                kill(try Self.find("/candidate/run.py", below: running), SIGKILL)
                let ended = try running.waitForEnd()
                #expect(ended.code == 0, "\(exam): \(ended)")
                let last = try #require(
                    try night.bodies(.examEnded).last { $0["purpose"]?.stringValue == exam }
                )
                #expect(last["faults"]?["signalled"]?.integerValue == 1, "\(last.prettyText())")
                #expect(
                    last["count"] != nil && last["mean"] != nil,
                    "nothing drops out of the mean"
                )
            }
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("an examiner killed in any exam voids it, and the run goes on")
        func killedExaminer() throws {
            let before = try Leftovers()
            let night = try Self.begun()
            for exam in Self.exams {
                let running = try Self.run(night, until: Point(.examStarted, exam))
                let count = try night.rows().count
                kill(try Self.find("/examiner/examiner.py", below: running), SIGKILL)
                let ended = try running.waitForEnd()
                #expect(ended.code == 0, "\(exam): \(ended)")
                let row = try #require(
                    try night.rows().dropFirst(count - 1).first { $0.kind == .examEnded }
                )
                #expect(row.body["mean"] == nil, "void: \(row.body.prettyText())")
                // A void suite or sealed exam is run again, and the candidate gets its verdict.
                #expect(try night.bodies(.decision).last?["verdict"] == "accepted")
            }
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a coding agent killed at any moment ends the run in order, its candidate judged")
        func killedAgent() throws {
            let before = try Leftovers()
            let night = try Self.begun()
            for point in [
                Point(.runResumed), Point(.learning), Point(.examStarted, "train"), Point(.intent),
                Point(.examStarted, "sealed"), Point(.decision),
            ] {
                let running = try Self.run(night, until: point)
                kill(try Self.find("/work/PROGRAM.md", below: running), SIGKILL)
                let ended = try running.waitForEnd()
                #expect(ended.code == 0, "\(point.testDescription): \(ended)")
                let reason = try night.bodies(.runEnded).last?["reason"]?.stringValue
                #expect(reason == "the coding agent ended with 137", "\(reason ?? "none")")
                try night.expectSettled()
            }
            try night.done(["run", night.directory])
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a ledger that another process holds locked ends the run with 3, and no row is lost")
        func lockedDatabase() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(
                Configuration(
                    agent: """
                        for number in range(100):
                            ask("learn", text="note %d" % number)
                            time.sleep(0.1)
                        """
                )
            )
            let running = try Self.run(night, until: Point(.learning))
            let holder = try Program(
                "/usr/bin/python3",
                [
                    "-c",
                    """
                    import sqlite3, sys, time
                    file = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
                    file.execute("BEGIN EXCLUSIVE")
                    print("held", file=sys.stderr, flush=True)
                    time.sleep(1000)
                    """,
                    "\(night.folder())/ledger.sqlite",
                ],
                temporary: "\(night.scratch.path)/tmp"
            )
            try holder.waitFor("held")
            let rows = try night.rows()
            let ended = try running.waitForEnd()
            #expect(ended.code == 3, "\(ended)")
            #expect(ended.notes.contains("append a row: "), "\(ended)")
            #expect(ended.notes.contains("/ledger.sqlite: "), "\(ended)")
            #expect(ended.notes.contains("locked"), "\(ended)")
            holder.send(SIGKILL)
            _ = try holder.waitForEnd()
            try Self.expectKept(rows, night)
            try night.configure(Configuration(agent: "ask(\"learn\", text=\"again\")\n"))
            try night.done(["run", night.directory])
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a state directory that becomes read-only ends the run with 3, and no row is lost")
        func readOnlyState() throws {
            let before = try Leftovers()
            let scratch = try Scratch()
            let night = try Night(in: scratch)
            _ = try scratch.directory("state")
            let room = try MountRoom(
                "mount -t tmpfs -o size=160m tmpfs '\(night.state)'",
                scratch: scratch
            )
            night.room = room
            try night.prepare(
                Configuration(
                    agent: """
                        for number in range(100):
                            ask("learn", text="note %d" % number)
                            time.sleep(0.1)
                        """
                )
            )
            func remount(_ mode: String) throws {
                // Between runs: a mount is not made read-only while files on it are open for writing.
                let ended = try Program(
                    "/usr/bin/nsenter",
                    [
                        "--mount", "--target", "\(room.pid)", "--", "/bin/mount", "-o",
                        "remount,bind,\(mode)", night.state,
                    ],
                    temporary: "\(scratch.path)/tmp"
                ).waitForEnd()
                try #require(ended.code == 0, "\(ended)")
            }
            try remount("ro")
            for words in [["run"], ["gate"], ["prepare"]] {
                let ended = try night.run(words + [night.directory])
                #expect(ended.code == 3, "\(ended)")
                #expect(ended.notes.contains("EROFS"), "\(ended)")
                #expect(ended.notes.contains(night.state), "\(ended)")
            }
            let rows = try night.rows()
            try remount("rw")
            let running = try night.start(["run", night.directory])
            try Stage.wait("a note") { try night.bodies(.learning).count > 1 }
            running.send(SIGTERM)
            #expect(try running.waitForEnd().code == 0)
            try Self.expectKept(rows, night)
            try night.expectSettled()
            try before.expectNone(night)
        }
    }
}
