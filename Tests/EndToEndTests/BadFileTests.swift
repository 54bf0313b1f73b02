import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// What may stand where the judged file should be.
    @Suite struct BadFiles {
        // What the agent puts there, the code of the refusal, and whether it is refused at all.
        private static let notFiles: [(name: String, make: String, code: String)] = [
            ("missing", "pass", "missing"),
            ("directory", "os.mkdir(AGENT)", "not-regular"),
            ("FIFO", "os.mkfifo(AGENT)", "not-regular"),
            ("socket", "socket.socket(socket.AF_UNIX).bind(AGENT)", "not-regular"),
            ("symbolic link", "os.symlink('/etc/passwd', AGENT)", "symbolic-link"),
            ("link to nothing", "os.symlink('nothing', AGENT)", "symbolic-link"),
            ("hard link", "write('x = 1'); os.link(AGENT, AGENT + '2')", "hard-linked"),
            ("50 MB", "fill(50_000_000)", "too-large"),
            ("empty", "write('')", "empty"),
            ("not UTF-8", "write(b'x = \"\\xff\\xfe\"')", "not-utf8"),
            ("zero bytes", "write(b'x = 1\\0')", "zero-byte"),
            ("not readable", "write('x = 1'); os.chmod(AGENT, 0)", "unreadable"),
        ]

        private static let agent = """
            template = source()


            def fill(size):
                # The directory holds less than this, which is the first thing that stops it.
                try:
                    write(b"#" * size)
                except OSError:
                    say("full")
                    with open(AGENT, "wb") as file:
                        file.write(b"#" * 2_000_000)


            def attempt(name, make):
                clear()
                make()
                say("train", name=name, code=code(ask("train")))
                say("submit", name=name, code=code(submit(name)))
                if os.path.exists(AGENT + "2"):
                    os.unlink(AGENT + "2")
                answer = ask("revert")
                say("revert", name=name, code=code(answer), same=source() == template)

            """

        @Test("what is no plain text file is refused, recorded, and reverted")
        func refused() throws {
            let before = try Leftovers()
            let night = try Night()
            let attempts = Self.notFiles.map {
                "attempt(\"\($0.name)\", lambda: (\(made($0.make))))"
            }
            try night.prepare(
                Configuration(agent: Self.agent + "\n" + attempts.joined(separator: "\n"))
            )
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            for verb in ["train", "submit"] {
                let lines = try night.agentLog(verb)
                for (line, wanted) in zip(lines, Self.notFiles) {
                    #expect(line["code"]?.stringValue == wanted.code, "\(verb) \(wanted.name)")
                }
                #expect(lines.count == Self.notFiles.count)
            }
            let reverts = try night.agentLog("revert")
            #expect(reverts.allSatisfy { $0["same"]?.boolValue == true }, "\(reverts)")
            let refusals = try night.bodies(.refusal)
            #expect(refusals.count == 2 * Self.notFiles.count)
            #expect(refusals.allSatisfy { $0["layer"]?.stringValue == "snapshot" })
            #expect(try night.bodies(.intent).isEmpty)
            try night.expectSettled()
            try before.expectNone(night)
        }

        // `pass` is no expression.
        private func made(_ text: String) -> String {
            text == "pass" ? "None" : text.replacingOccurrences(of: "; ", with: ", ")
        }

        @Test("a file that is no program is judged and scores nothing")
        func scored() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(
                Configuration(
                    agent: """
                        write("def broken(:\\n")
                        judged("no Python")
                        write("raise SystemExit(0)\\n")
                        judged("leaves early")
                        ask("revert")
                        write(knowing("add", "subtract"))
                        judged("honest")
                        """
                )
            )
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let decisions = try night.bodies(.decision)
            let verdicts = decisions.map { $0["verdict"]?.stringValue }
            #expect(verdicts == ["rejected", "rejected", "accepted"])
            #expect(decisions.dropLast().allSatisfy { $0["sealed_mean"]?.numberValue == 0 })
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("the operator's own bad file gives a clear error and exit code 1")
        func operatorsFile() throws {
            let night = try Night()
            try night.prepare(Configuration())
            let manager = FileManager.default
            func judged(_ what: String, _ make: () throws -> Void) throws {
                try manager.removeItem(atPath: night.agentFile)
                try make()
                let ended = try night.run(["gate", night.directory], seconds: 20)
                #expect(ended.code == 1, "\(what): \(ended)")
                #expect(ended.notes.contains("agent.py"), "\(what): \(ended)")
                #expect(ended.notes.split(separator: "\n").count == 1, "\(what): \(ended)")
            }
            try judged("missing") {}
            try Data().write(to: URL(fileURLWithPath: night.agentFile))
            try judged("a directory") {
                try manager.createDirectory(
                    atPath: night.agentFile,
                    withIntermediateDirectories: false
                )
            }
            try judged("a symbolic link") {
                try manager.createSymbolicLink(
                    atPath: night.agentFile,
                    withDestinationPath: "/etc/passwd"
                )
            }
            try judged("50 MB") {
                try Data(count: 50_000_000).write(to: URL(fileURLWithPath: night.agentFile))
            }
            try judged("not UTF-8") {
                try Data([0xff, 0xfe, 0x00]).write(to: URL(fileURLWithPath: night.agentFile))
            }
            try judged("a pipe") {
                _ = try Program(
                    "/usr/bin/mkfifo",
                    [night.agentFile],
                    temporary: night.scratch.path
                ).waitForEnd()
            }
        }
    }
}
