import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Candidates that attack the machine they run on.
    @Suite struct HostileCandidates {
        // The name, the program's text, and the faults that it may be scored as.
        private static let programs: [(name: String, text: String, faults: Set<String>)] = [
            ("loops for ever", "while True: pass", ["wall-clock", "cpu-time"]),
            (
                "forks without end",
                "import os\\nwhile True:\\n try: os.fork()\\n except OSError: pass",
                ["processes", "wall-clock", "cpu-time"]
            ),
            (
                "fills memory",
                "kept = []\\nwhile True: kept.append(bytearray(1 << 24))",
                ["out-of-memory", "exited"]
            ),
            (
                "fills its disk",
                "for n in range(10 ** 9): open('/tmp/%d' % n, 'wb').write(bytes(1 << 20))",
                ["exited", "out-of-memory", "signalled"]
            ),
            (
                "prints gigabytes",
                "import os\\nwhile True: os.write(1, bytes(1 << 20))",
                ["output", "wall-clock", "cpu-time"]
            ),
            (
                "swallows SIGTERM",
                "import signal\\nfor n in range(1, 32):\\n try: signal.signal(n, signal.SIG_IGN)"
                    + "\\n except OSError: pass\\nimport time\\ntime.sleep(1000)",
                ["wall-clock", "idle"]
            ),
            (
                "leaves daemons",
                "import os, time\\nfor n in range(8):\\n if os.fork() == 0:\\n  os.setsid()"
                    + "\\n  time.sleep(1000)\\nraise SystemExit(0)",
                ["exited"]
            ),
        ]

        @Test("B19: hostile candidates score nothing, and nothing of them is left")
        func scored() throws {
            let before = try Leftovers()
            let night = try Night()
            let attempts = Self.programs.map {
                """
                write("\($0.text)")
                answer = ask("train", task_ids=[task])
                say("train", code=code(answer), results=answer.get("results"))
                """
            }
            try night.prepare(
                Configuration(
                    agent: """
                        with open("/work/workspace/train_results.json") as file:
                            task = sorted(json.load(file)["results"])[0]

                        """ + attempts.joined(separator: "\n"),
                    more: "per_task_timeout: 2"
                )
            )
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let lines = try night.agentLog("train")
            #expect(lines.count == Self.programs.count)
            for (line, program) in zip(lines, Self.programs) {
                let rewards = line["results"]?.objectValue.map { Array($0.values) } ?? []
                #expect(rewards.map(\.numberValue) == [0], "\(program.name): \(line)")
            }
            let exams = try night.bodies(.examEnded).filter {
                $0["purpose"]?.stringValue == "train"
            }
            for (exam, program) in zip(exams, Self.programs) {
                let faults = exam["faults"]?.objectValue ?? [:]
                #expect(faults.count == 1, "\(program.name): \(faults)")
                #expect(
                    Set(faults.keys).isSubset(of: program.faults),
                    "\(program.name): \(faults.keys)"
                )
            }
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a forbidden call and a burst limit stand in the record with the layer that answered")
        func recorded() throws {
            let night = try Night()
            // 0x40000000 is the bit of the x32 system calls, which no program of ours may use.
            let forbidden = "import ctypes\\nctypes.CDLL(None).syscall(0x40000000 | 39)"
            let forking = "import os\\nwhile True:\\n try: os.fork()\\n except OSError: pass"
            let attempts = [forbidden, forking].map { "write(\"\($0)\")\nask(\"train\")\n" }
            try night.prepare(
                Configuration(
                    agent: attempts.joined() + "write(source() + \"# more\\n\")\n",
                    more: "per_task_timeout: 2"
                )
            )
            try night.done(["run", night.directory])
            let tasks = try #require(try night.bodies(.examEnded).last?["count"]?.integerValue)
            let refusals = try night.bodies(.refusal)
            #expect(refusals.map { $0["layer"]?.stringValue } == ["filter", "limits"])
            let lines = ["", "; the line that would allow it: limits: wall, or per_task_timeout"]
            for (refusal, line) in zip(refusals, lines) {
                #expect(refusal["by"] == "candidate")
                let detail = "\(tasks) of \(tasks) rollouts, scored 0" + line
                #expect(refusal["detail"]?.stringValue == detail, "\(refusal.prettyText())")
            }
            try night.expectIntact()
        }

        @Test("B18: a sealed exam of a candidate that never answers ends and scores nothing")
        func sealed() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(
                Configuration(
                    agent: """
                        write("while True: pass\\n")
                        judged("waits for ever")
                        """,
                    more: "per_task_timeout: 1"
                )
            )
            try night.done(["run", night.directory])
            let decision = try #require(try night.bodies(.decision).first)
            #expect(decision["verdict"]?.stringValue == "rejected")
            #expect(decision["sealed_mean"]?.numberValue == 0)
            try night.expectSettled()
            try before.expectNone(night)
        }
    }

    /// Coding agents that attack the machine they run on.
    @Suite struct HostileCodingAgents {
        @Test(
            "a coding agent that leaves daemons, forks, fills and swallows signals leaves nothing"
        )
        func leaves() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(
                Configuration(
                    agent: """
                        import signal

                        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                            signal.signal(number, signal.SIG_IGN)
                        for number in range(40):
                            if os.fork() == 0:
                                os.setsid()
                                time.sleep(1000)
                        for place in ("/tmp", "/home/agent", "/work/agent"):
                            try:
                                with open(place + "/filler", "wb") as file:
                                    while True:
                                        file.write(bytes(1 << 20))
                            except OSError as error:
                                say("full", place=place, error=error.errno)
                        os.unlink("/work/agent/filler")
                        sys.stdout.flush()
                        for _ in range(300):
                            os.write(1, b"." * (1 << 20))
                        write(knowing("add", "subtract"))
                        judged("honest all the same")
                        """
                )
            )
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            #expect(try night.bodies(.decision).map { $0["verdict"]?.stringValue } == ["accepted"])
            #expect(try night.agentLog("full").count == 3)
            let log = try FileManager.default.attributesOfItem(
                atPath: "\(night.folder())/agent.log"
            )
            #expect((log[.size] as? Int ?? .max) <= 257 << 20)
            try night.expectSettled()
            try before.expectNone(night)
        }
    }
}
