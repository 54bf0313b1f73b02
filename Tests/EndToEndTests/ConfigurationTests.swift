import Foundation
import Ledger
import LinuxKernel
import StrictJSON
import Testing

extension EndToEnd {
    /// What is written wrongly, and what a machine lacks.
    @Suite struct Surroundings {
        @Test(
            "C05, C07: a wrong configuration is refused with file, line, key and remedy",
            arguments: [
                ("budgets: { iterations: 3 }", 3, "budgets"),
                ("gate: { treshold: 0.9 }", 3, "gate.treshold"),
                ("threshold: 0.5\ngate: { threshold: 0.9 }", 4, "gate.threshold"),
                ("split: test", 3, "split"),
                ("split: train\ngate_split: train", 4, "gate_split"),
                ("file_guard: false", 3, "file_guard"),
                ("threshold: often", 3, "threshold"),
                ("max_concurrency: 0", 3, "max_concurrency"),
                ("sandbox: { python: python3 }", 3, "sandbox.python"),
            ]
        )
        func configuration(_ more: String, _ line: Int, _ key: String) throws {
            let night = try Night()
            try night.set(up: Configuration(more: more))
            let ended = try night.run(["prepare", night.directory])
            #expect(ended.code == 2, "\(ended)")
            #expect(ended.notes.contains("experiment_config.yaml:\(line): \(key): "), "\(ended)")
            #expect(ended.notes.contains("remedy: "), "\(ended)")
            #expect(try night.bodies(.genesis).first?["split"] == nil, "nothing was drawn")
        }

        @Test("C05: a configuration that changed after the split was drawn is refused")
        func changedConfiguration() throws {
            let night = try Night()
            try night.prepare(Configuration())
            try night.configure(Configuration(more: "threshold: 0.1"))
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 2, "\(ended)")
            #expect(ended.notes.contains("experiment_config.yaml"), "\(ended)")
            #expect(ended.notes.contains("invigilator init"), "\(ended)")
            #expect(try night.bodies(.runStarted).isEmpty)
        }

        @Test(
            "C06: a benchmark whose tasks or examiner changed after the split was drawn is refused",
            arguments: ["tasks.json", "examiner.py", "benchmark.yaml"]
        )
        func changedBenchmark(_ name: String) throws {
            let night = try Night()
            let copy = "\(night.scratch.path)/sums"
            try FileManager.default.copyItem(atPath: Stage.fixture("sums"), toPath: copy)
            try night.done(["init", night.directory, "--benchmark", copy])
            try night.configure(Configuration())
            try night.done(["prepare", night.directory])
            let text = try String(contentsOfFile: "\(copy)/\(name)", encoding: .utf8)
            try (text + "\n").write(toFile: "\(copy)/\(name)")
            for verb in ["run", "gate", "prepare"] {
                let ended = try night.run([verb, night.directory])
                #expect(ended.code == 2, "\(ended)")
                #expect(ended.notes.contains("benchmark sums"), "\(ended)")
                #expect(ended.notes.contains("restore what it was"), "\(ended)")
            }
            #expect(try night.bodies(.runStarted).isEmpty)
        }

        @Test("a host that was upgraded after `prepare` goes on; with other policies it does not")
        func upgrade() throws {
            let night = try Night()
            let policies = "\(night.scratch.path)/policies"
            try FileManager.default.copyItem(
                atPath: "\(Stage.repository)/policies",
                toPath: policies
            )
            let more = "sandbox: { policies: \(policies) }"
            try night.prepare(Configuration(agent: "say('here')", more: more))
            // The same contents as another file, as a package manager leaves it.
            let cache = "/etc/ld.so.cache"
            let copy = "\(night.scratch.path)/ld.so.cache"
            let upgrade = "cp \(cache) \(copy) && mount --bind \(copy) \(cache)"
            for verb in ["run", "verify"] {
                let ended = try night.run([verb, night.directory], before: upgrade)
                #expect(ended.code == 0, "\(ended)")
            }
            let file = "\(policies)/coding-agent.yaml"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try text.replacingOccurrences(of: "USER: agent", with: "USER: other")
                .write(toFile: file)
            let ended = try night.run(["run", night.directory], before: upgrade)
            #expect(ended.code == 2, "\(ended)")
            #expect(ended.notes.contains("policies: changed: coding-agent"), "\(ended)")
            try night.expectIntact()
        }

        @Test(
            "a policy that would show the vault, the state or all is refused with file and line",
            arguments: ["vault", "", "images", "/", "..", "a link to the vault"]
        )
        func policy(_ place: String) throws {
            let night = try Night()
            let policies = "\(night.scratch.path)/policies"
            try FileManager.default.copyItem(
                atPath: "\(Stage.repository)/policies",
                toPath: policies
            )
            try night.set(up: Configuration(more: "sandbox: { policies: \(policies) }"))
            let source: String
            switch place {
            case "/": source = "/"
            case "..": source = night.scratch.path
            case "a link to the vault":
                source = "\(night.scratch.path)/harmless"
                try FileManager.default.createSymbolicLink(
                    atPath: source,
                    withDestinationPath: "\(night.state)/vault"
                )
            default: source = place.isEmpty ? night.state : "\(night.state)/\(place)"
            }
            let file = "\(policies)/coding-agent.yaml"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let mount =
                "mounts:\n  - { source: \(source), target: /mnt/shown, access: read-only }\n"
            try text.replacingOccurrences(of: "mounts:\n", with: mount).write(toFile: file)
            let ended = try night.run(["prepare", night.directory])
            #expect(ended.code == 2, "\(ended)")
            #expect(ended.notes.contains("\(file):44: mounts[0]"), "\(ended)")
            #expect(ended.notes.contains("; "), "a remedy: \(ended)")
            #expect(try night.bodies(.baseline).isEmpty)
        }

        @Test("a full disk ends the run with 3 and a remedy, and loses no row")
        func fullDisk() throws {
            let before = try Leftovers()
            let scratch = try Scratch()
            let night = try Night(in: scratch)
            _ = try scratch.directory("state")
            night.room = try MountRoom(
                "mount -t tmpfs -o size=160m tmpfs '\(night.state)'",
                scratch: scratch
            )
            let agent = """
                for number in range(200):
                    write(knowing("add", "subtract", "multiply", note="# %d\\n" % number))
                    judged()
                """
            try night.prepare(
                Configuration(agent: agent, more: "budget: { no-improvement: 300 }")
            )
            let running = try night.start(["run", night.directory])
            try running.waitFor(": accepted")
            let filler = "\(night.seenState)/filler"
            _ = try Program(
                "/bin/dd",
                ["if=/dev/zero", "of=\(filler)", "bs=1k"],
                temporary: "\(scratch.path)/tmp"
            ).waitForEnd()
            let ended = try running.waitForEnd()
            #expect(ended.code == 3, "\(ended)")
            #expect(ended.notes.contains("no space is left"), "\(ended)")
            #expect(ended.notes.contains("free space"), "the remedy: \(ended)")
            let again = try night.run(["run", night.directory])
            #expect(again.code == 3, "still full: \(again)")
            try FileManager.default.removeItem(atPath: filler)
            try night.expectIntact()
            let rows = try night.rows()
            try night.done(["run", night.directory, "--max-iterations", "1"])
            #expect(try Array(night.rows().prefix(rows.count)) == rows)
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a checkout and an experiment below a directory of root's alone work")
        func privateDirectory() throws {
            let before = try Leftovers()
            let scratch = try Scratch()
            let hidden = try scratch.directory("home", permissions: 0o700)
            let night = try Night(in: scratch, name: "home/experiment")
            let manager = FileManager.default
            _ = try scratch.directory("home/checkout/bin")
            for name in ["invigilator", "invigilator-launcher", "invigilator-selfcheck"] {
                try manager.copyItem(
                    atPath: "\(Stage.programs)/\(name)",
                    toPath: "\(hidden)/checkout/bin/\(name)"
                )
            }
            for name in ["policies", "templates"] {
                try manager.copyItem(
                    atPath: "\(Stage.repository)/\(name)",
                    toPath: "\(hidden)/checkout/\(name)"
                )
            }
            night.program = "\(hidden)/checkout/bin/invigilator"
            try night.prepare(
                Configuration(agent: "write(knowing(\"add\", \"subtract\"))\njudged()\n")
            )
            try night.done(["run", night.directory])
            #expect(try night.bodies(.decision).map { $0["verdict"]?.stringValue } == ["accepted"])
            for words in [
                ["status"], ["report", "-o", "\(hidden)/report.html"], ["best"],
                ["ledger", "verify"],
            ] {
                let ended = try night.run(
                    words.prefix(2) == ["ledger", "verify"]
                        ? words + [night.directory]
                        : [words[0], night.directory] + words.dropFirst()
                )
                #expect(ended.code == 0, "\(words): \(ended)")
            }
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a Python that only root can reach serves every sandbox")
        func privatePython() throws {
            let before = try Leftovers()
            let scratch = try Scratch()
            let night = try Night(in: scratch)
            let name = try Self.copyPython(scratch)
            let python = "/mnt/python/bin/\(name)"
            // The system's own disappears: an empty file lies over it.
            _ = try scratch.directory("empty")
            try "".write(toFile: "\(scratch.path)/empty/file")
            night.room = try MountRoom(
                """
                mount --bind '\(scratch.path)/home' /mnt
                for program in /usr/bin/python3* /usr/local/bin/python3*; do
                    if [ -f "$program" ] && [ ! -L "$program" ]; then
                        mount --bind '\(scratch.path)/empty/file' "$program"
                    fi
                done
                """,
                scratch: scratch
            )
            var configuration = Configuration(
                agent: """
                    say("python", path=sys.executable)
                    status = subprocess.run(["/work/exam", "status"], capture_output=True)
                    say("stub", code=status.returncode, errors=status.stderr.decode())
                    write(knowing("add", "subtract"))
                    judged()
                    """,
                more: "sandbox: { python: \(python) }"
            )
            configuration.python = python
            try night.set(up: configuration)
            let ended = try night.run(["prepare", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let run = try night.run(["run", night.directory])
            #expect(run.code == 0, "\(run)")
            #expect(try night.bodies(.decision).map { $0["verdict"]?.stringValue } == ["accepted"])
            let stub = try #require(try night.agentLog("stub").first)
            #expect(stub["code"]?.integerValue == 0, "\(stub)")
            try night.expectSettled()
            try before.expectNone(night)
        }

        // Copies the system's interpreter with its library below a home directory of root's alone.
        private static func copyPython(_ scratch: Scratch) throws -> String {
            let home = try scratch.directory("home", permissions: 0o700)
            let real = URL(fileURLWithPath: "/usr/bin/python3").resolvingSymlinksInPath().path
            let name = URL(fileURLWithPath: real).lastPathComponent
            _ = try scratch.directory("home/python/bin")
            _ = try scratch.directory("home/python/lib")
            let manager = FileManager.default
            try manager.copyItem(atPath: real, toPath: "\(home)/python/bin/\(name)")
            try manager.copyItem(
                atPath: "/usr/lib/\(name)",
                toPath: "\(home)/python/lib/\(name)"
            )
            return name
        }

        @Test("a Python that is not there is named in the error")
        func noPython() throws {
            let night = try Night()
            try night.set(up: Configuration(more: "sandbox: { python: /nowhere/python3 }"))
            let ended = try night.run(["prepare", night.directory])
            #expect(ended.code == 3 || ended.code == 2, "\(ended)")
            #expect(ended.notes.contains("/nowhere/python3"), "\(ended)")
            #expect(ended.notes.contains("install CPython"), "\(ended)")
        }
    }
}

extension EndToEnd {
    /// Commands that name what is not there, or what is there already.
    @Suite struct Misuse {
        private static func expectUsage(_ ended: Ended, _ reason: String) {
            #expect(ended.code == 2, "\(ended)")
            #expect(ended.notes.contains(reason), "\(ended)")
            #expect(!ended.notes.contains("ENOENT"), "an error for people: \(ended)")
        }

        @Test("what was named wrongly is a usage error that says what to name")
        func names() throws {
            let night = try Night()
            let none = "\(night.scratch.path)/none"
            Self.expectUsage(try night.run(["run", none]), "there is none of this name")
            Self.expectUsage(
                try night.run(["init", night.directory, "--benchmark", "nosuch"]),
                "none of this name ships"
            )
            Self.expectUsage(
                try night.run(["init", night.directory, "--benchmark", none]),
                "there is none of this name"
            )
            Self.expectUsage(
                try night.run(["init", night.directory, "--agent", "nosuch"]),
                "none of this name ships"
            )
            Self.expectUsage(
                try night.run(["init", night.directory, "--agent", none]),
                "there is none of this name"
            )
            #expect(!FileManager.default.fileExists(atPath: night.directory))
        }

        @Test("an experiment is set up once and prepared before it runs")
        func order() throws {
            let night = try Night()
            try night.set(up: Configuration())
            let id = try night.id()
            Self.expectUsage(
                try night.run(["init", night.directory, "--benchmark", Stage.fixture("sums")]),
                "there is one in this directory already"
            )
            #expect(try night.id() == id)
            for verb in ["run", "gate", "benchmark"] {
                Self.expectUsage(try night.run([verb, night.directory]), "invigilator prepare")
            }
            let other = try Night(in: night.scratch, state: "\(night.scratch.path)/other")
            Self.expectUsage(try other.run(["run", night.directory]), "there is no ledger here")
        }

        @Test("a state directory may be named from the working directory")
        func relativeState() throws {
            let scratch = try Scratch()
            let directory = "\(scratch.path)/experiment"
            for words in [
                ["init", directory, "--benchmark", Stage.fixture("sums")], ["prepare", directory],
                ["status", directory],
            ] {
                let line = "cd '\(scratch.path)' && exec \"$@\""
                let ended = try Program(
                    "/bin/sh",
                    ["-c", line, "sh", Stage.invigilator] + words
                        + ["--state-directory", "./state/"],
                    temporary: "\(scratch.path)/tmp"
                ).waitForEnd()
                #expect(ended.code == 0, "\(words): \(ended)")
            }
        }
    }
}
