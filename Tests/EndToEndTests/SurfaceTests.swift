import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Candidates of several files, and files that are bound by themselves.
    @Suite struct Surfaces {
        /// A prepared experiment; see ``night(_:agent:sharing:)``.
        private static func prepared(_ lines: String, agent: String) throws -> Night {
            let night = try night(lines, agent: agent)
            try night.done(["prepare", night.directory])
            return night
        }

        /// An experiment under the shipped policies with more lines for the coding agent, and a file
        /// more that the benchmark gives to every candidate.
        private static func night(
            _ lines: String,
            agent: String = "",
            sharing name: String? = nil
        ) throws -> Night {
            let night = try Night()
            let policies = "\(night.scratch.path)/policies"
            try FileManager.default.copyItem(
                atPath: Stage.repository + "/policies",
                toPath: policies
            )
            let file = policies + "/coding-agent.yaml"
            let text = try String(contentsOfFile: file, encoding: .utf8)
                .replacingOccurrences(of: "save: replace\n", with: lines)
            try text.write(toFile: file)
            let more = "sandbox: { policies: \(policies) }"
            try night.done([
                "init", night.directory, "--benchmark", try benchmark(night, sharing: name),
            ])
            try night.configure(Configuration(agent: agent, more: more))
            let folder = "\(night.directory)/agent/prompts"
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true
            )
            try "add\n".write(toFile: folder + "/known.md")
            let program = try String(contentsOfFile: night.agentFile, encoding: .utf8)
                .replacingOccurrences(of: #"KNOWN = {"add"}"#, with: reading)
            try program.write(toFile: night.agentFile)
            return night
        }

        private static func benchmark(_ night: Night, sharing name: String?) throws -> String {
            guard let name else { return Stage.fixture("sums") }
            let copy = "\(night.scratch.path)/sums"
            try FileManager.default.copyItem(atPath: Stage.fixture("sums"), toPath: copy)
            let file = URL(fileURLWithPath: "\(copy)/\(name)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try "x = 1\n".write(toFile: file.path)
            let manifest = "\(copy)/benchmark.yaml"
            let text = try String(contentsOfFile: manifest, encoding: .utf8)
            try text.replacingOccurrences(of: "files: []", with: "files: [\(name)]")
                .write(toFile: manifest)
            return copy
        }

        /// What the agent's program knows is what lies beside it.
        private static let reading = """
            import glob
            KNOWN = {word for name in sorted(glob.glob("/candidate/agent/prompts/*.md"))
                     for word in open(name).read().split()}
            """

        private static let shared = """
            HERE = "/work/agent/prompts/"
            def note(name, text):
                with open(HERE + name, "w") as file:
                    file.write(text)
            def names():
                return sorted(os.listdir(HERE))

            """

        @Test("a candidate of several files is judged, kept, restored and handed out as one")
        func several() throws {
            let before = try Leftovers()
            let night = try Self.prepared(
                "save: replace\nsurface: [agent/agent.py, \"agent/prompts/*.md\"]\n",
                agent: Self.shared + """
                    say("surface", **ask("status")["surface"])
                    note("more.md", "subtract\\nmultiply\\n")
                    note("scratch.txt", "of no use to anybody")
                    judged("a second file")
                    os.remove(HERE + "more.md")
                    say("diff", text=ask("diff")["diff"])
                    note("known.md", "subtract\\n")
                    judged("without it, and worse")
                    note("three.md", "x\\n")
                    say("revert", code=code(ask("revert")), names=names(),
                        known=open(HERE + "known.md").read())
                    note("bad name.md", "x\\n")
                    judged("a name that is none")
                    os.remove(HERE + "bad name.md")
                    os.symlink("/work/PROGRAM.md", HERE + "link.md")
                    judged("a link")
                    os.remove(HERE + "link.md")
                    os.rename(HERE, "/work/agent/away")
                    os.symlink("/work/workspace", "/work/agent/prompts")
                    say("blocked", code=code(ask("revert")))
                    judged("a directory that is a link")
                    """
            )
            try night.done(["run", night.directory])
            let surface = try #require(try night.agentLog("surface").first)
            #expect(surface["files"] == ["agent/agent.py", "agent/prompts/*.md"])
            #expect(surface["save"] == "replace")
            let codes = try night.agentLog("judged").map { $0["code"]?.stringValue }
            #expect(codes == ["ok", "ok", "bad-name", "symbolic-link", "not-a-directory"])
            let verdicts = try night.bodies(.decision).map { $0["verdict"]?.stringValue }
            #expect(verdicts == ["accepted", "rejected"])
            let difference = try #require(
                try night.agentLog("diff").first?["text"]?.stringValue
            )
            #expect(difference.contains("--- a/agent/prompts/more.md\n+++ /dev/null\n"))
            let revert = try #require(try night.agentLog("revert").first)
            #expect(revert["code"] == "ok" && revert["known"] == "add\n")
            #expect(revert["names"] == ["known.md", "more.md", "scratch.txt"])
            #expect(try night.agentLog("blocked").first?["code"] == "not-replaceable")

            // What comes out of it.
            let best = try night.done(["best", night.directory, "--file", "agent/prompts/more.md"])
            #expect(best.output == "subtract\nmultiply\n")
            let none = try night.run([
                "best", night.directory, "--file", "agent/prompts/scratch.txt",
            ])
            #expect(none.code == 2 && none.notes.contains("agent/prompts/more.md"), "\(none)")
            let all = try night.done(["diff", night.directory])
            #expect(all.output.contains("--- /dev/null\n+++ b/agent/prompts/more.md\n"))
            try "x\n".write(toFile: "\(night.directory)/agent/prompts/mine.md")
            let kept = try night.run(["apply", night.directory])
            #expect(kept.code == 2, "somebody's unsaved work: \(kept)")
            try FileManager.default.removeItem(atPath: "\(night.directory)/agent/prompts/mine.md")
            try night.done(["apply", night.directory])
            let applied = try String(
                contentsOfFile: "\(night.directory)/agent/prompts/more.md",
                encoding: .utf8
            )
            #expect(applied == best.output)
            let git = """
                cd '\(night.directory)'
                export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x
                git init -q && mv agent/prompts/more.md agent/prompts/old.md
                git add agent && git commit -qm one
                """
            let show = "git -C '\(night.directory)' ls-tree -r --name-only"
            func shell(_ line: String) throws -> Ended {
                try Program("/bin/sh", ["-ec", line], temporary: "\(night.scratch.path)/tmp")
                    .waitForEnd()
            }
            try #require(try shell(git).code == 0)
            try night.done(["apply", night.directory, "--branch", "taken"])
            let taken = try shell(show + " taken").output
            #expect(
                taken.contains("agent/prompts/more.md") && !taken.contains("old.md"),
                "\(taken)"
            )
            #expect(try shell(show + " HEAD").output.contains("agent/prompts/old.md"))
            #expect(try night.run(["apply", night.directory, "--branch", "taken"]).code == 2)
            let report = try night.done(["report", night.directory, "-o", "-"])
            #expect(report.output.contains("agent/prompts/more.md"))
            try night.done(["verify", night.directory])
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a surface that changed since the experiment was prepared is refused by name")
        func changed() throws {
            let night = try Self.prepared("save: replace\n", agent: "judged()")
            let file = "\(night.scratch.path)/policies/coding-agent.yaml"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try text.replacingOccurrences(
                of: "save: replace\n",
                with: "save: replace\nsurface: [agent/agent.py, agent/prompts/known.md]\n"
            ).write(toFile: file)
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 2 && ended.notes.contains("surface of coding-agent"), "\(ended)")
        }

        @Test("in place, the files are written where they lie, judged, and put back where they lie")
        func inPlace() throws {
            let before = try Leftovers()
            let night = try Self.prepared(
                "save: in-place\nsurface: [agent/agent.py, agent/prompts/known.md]\n",
                agent: Self.shared + """
                    def refused(name, act):
                        try:
                            act()
                            say("tried", name=name, refused=False)
                        except OSError as error:
                            say("tried", name=name, refused=True, errno=error.errno)
                    refused("beside", lambda: note("more.md", "x"))
                    refused("rename", lambda: os.rename(HERE + "known.md", HERE + "k.md"))
                    refused("remove", lambda: os.remove(AGENT))
                    note("known.md", "add subtract\\n")
                    judged("written in place")
                    note("known.md", "subtract\\n")
                    judged("worse")
                    say("revert", code=code(ask("revert")), text=open(HERE + "known.md").read())
                    os.chmod(HERE + "known.md", 0)
                    judged("nobody may read it")
                    os.chmod(HERE + "known.md", 0o644)
                    import fcntl
                    held = open(HERE + "known.md", "r+")
                    refused("lease", lambda: fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK))
                    held.close()
                    note("known.md", "add subtract multiply\\n")
                    judged("better still")
                    """
            )
            try night.done(["run", night.directory])
            for tried in try night.agentLog("tried") {
                #expect(tried["refused"] == true, "\(tried)")
            }
            #expect(try night.agentLog("tried").count == 4)
            let codes = try night.agentLog("judged").map { $0["code"]?.stringValue }
            #expect(codes == ["ok", "ok", "unreadable", "ok"])
            let verdicts = try night.bodies(.decision).map { $0["verdict"]?.stringValue }
            #expect(verdicts == ["accepted", "rejected", "accepted"])
            let revert = try #require(try night.agentLog("revert").first)
            #expect(revert["code"] == "ok" && revert["text"] == "add subtract\n")
            try night.done(["verify", night.directory])
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("in place, a revert needs no room, and loses nothing where it is refused")
        func revertInPlace() throws {
            let night = try Self.prepared(
                "save: in-place\nsurface: [agent/agent.py, agent/prompts/known.md]\n",
                agent: Self.shared + """
                    import errno
                    open(AGENT, "w").close()
                    try:
                        with open(HERE + "known.md", "ab", 0) as file:
                            while True:
                                file.write(b"x" * 65536)
                    except OSError as error:
                        say("filled", full=error.errno == errno.ENOSPC)
                    say("revert", code=code(ask("revert")), text=open(HERE + "known.md").read())
                    with open(AGENT, "w") as file:
                        file.write("mine")
                    os.chmod(HERE + "known.md", 0o444)
                    say("revert", code=code(ask("revert")), text=open(AGENT).read())
                    """
            )
            try night.done(["run", night.directory])
            #expect(try night.agentLog("filled").first?["full"] == true)
            let reverts = try night.agentLog("revert")
            try #require(reverts.count == 2)
            #expect(reverts[0]["code"] == "ok" && reverts[0]["text"] == "add\n")
            #expect(reverts[1]["code"] == "not-replaceable" && reverts[1]["text"] == "mine")
        }

        @Test("a command can be run under a policy that shows files in place")
        func commandInPlace() throws {
            let night = try Self.night(
                "save: in-place\nsurface: [agent/agent.py, agent/prompts/known.md]\n"
            )
            let script = "cd /work/agent && echo x >agent.py && cat agent.py prompts/known.md"
            let ended = try night.run(
                ["sandbox", "exec", "--directory", "\(night.scratch.path)/policies"],
                after: ["--policy", "coding-agent", "--", "/bin/sh", "-c", script]
            )
            #expect(ended.code == 0 && ended.output == "x\n", "\(ended)")
        }

        @Test(
            "a surface that can take the place of a benchmark's file is refused by name",
            arguments: [
                ("agent/lib.py", "\"agent/*\""), ("agent/lib/one.py", "\"agent/*\""),
                ("agent/lib", "\"agent/lib/*.md\""),
            ]
        )
        func shared(_ name: String, _ pattern: String) throws {
            let night = try Self.night(
                "save: replace\nsurface: [agent/agent.py, \(pattern)]\n",
                sharing: name
            )
            // A directory would be refused for itself.
            try FileManager.default.removeItem(atPath: "\(night.directory)/agent/prompts")
            let ended = try night.run(["prepare", night.directory])
            #expect(ended.code == 2 && ended.notes.contains("\(name), which is"), "\(ended)")
        }

        @Test("what was never committed is kept, even where git is told not to show it")
        func untracked() throws {
            let night = try Self.prepared(
                "save: replace\nsurface: [agent/agent.py, \"agent/prompts/*.md\"]\n",
                agent: ""
            )
            let git = "git -C '\(night.directory)' -c user.name=a -c user.email=a@a.invalid"
            let script = """
                \(git) init -q && \(git) add agent && \(git) commit -qm template &&
                \(git) config status.showUntrackedFiles no
                """
            let made = try Program("/bin/sh", ["-c", script], temporary: night.scratch.path)
                .waitForEnd()
            try #require(made.code == 0, "\(made)")
            let mine = "\(night.directory)/agent/prompts/mine.md"
            try "x\n".write(toFile: mine)
            let kept = try night.run(["apply", night.directory])
            #expect(kept.code == 2 && FileManager.default.fileExists(atPath: mine), "\(kept)")
        }
    }
}
