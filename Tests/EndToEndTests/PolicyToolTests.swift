import Foundation
import StrictJSON
import Testing

extension EndToEnd {
    /// `policy learn`, and `policy diff --since`.
    @Suite struct PolicyTools {
        private static let asking = """
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            for words in ((99, 0), (99, 0), (101, 0, 0, 0, 0), (41, 40, 1, 0)):
                ctypes.set_errno(0)
                libc.syscall(*[ctypes.c_long(word) for word in words])
                print(words[0], os.strerror(ctypes.get_errno()))
            for path in ("SHOWN/wanted", "/etc/shadow", "/no-such-file"):
                print(path, os.path.exists(path))
            """

        @Test(
            "what a program was refused becomes lines for review, and nothing is weaker meanwhile"
        )
        func learn() throws {
            let night = try Night()
            try "wanted".write(toFile: "\(night.scratch.path)/wanted")
            let program = Self.asking.replacingOccurrences(of: "SHOWN", with: night.scratch.path)
            let command = ["--", "/usr/bin/python3", "-I", "-B", "-c", program]
            let policies = "\(Stage.repository)/policies/coding-agent.yaml"
            let before = try Data(contentsOf: URL(fileURLWithPath: policies))
            let ended = try night.run(
                ["policy", "learn", "--policy", "coding-agent"],
                after: command
            )
            #expect(ended.code == 0, "\(ended)")
            for refused in ["99", "101", "41"] {
                #expect(ended.output.contains("\(refused) Operation not permitted"), "\(ended)")
            }
            #expect(ended.output.contains("wanted False"))
            let asked = ended.output
            #expect(asked.contains("@@ syscalls.groups @@\n+ host-totals\n"), "\(ended)")
            #expect(asked.contains(/# asked [2-9] times: sysinfo EPERM, python3/))
            #expect(asked.contains("because: {calls.host-totals: ...}"))
            let mount = "{ source: \(night.scratch.path)/wanted, target: "
            #expect(asked.contains("+ \(mount)"))
            let impossible = try #require(asked.components(separatedBy: "what no policy").last)
            for word in ["ptrace", "socket(40, 1, 0)", "/etc/shadow"] {
                #expect(impossible.contains("  \(word)\n"), "\(word): \(ended)")
            }
            #expect(!asked.contains("no-such-file, "))
            #expect(try Data(contentsOf: URL(fileURLWithPath: policies)) == before)
        }

        @Test(
            "a line that was proposed allows what was asked for, once it is there with its reason"
        )
        func applied() throws {
            let night = try Night()
            let program = Self.asking.replacingOccurrences(of: "SHOWN", with: "/nowhere")
            let shipped = try String(
                contentsOfFile: "\(Stage.repository)/policies/coding-agent.yaml",
                encoding: .utf8
            )
            let changed = shipped.replacingOccurrences(
                of: "- memory-keys\n",
                with: "- memory-keys\n    - host-totals\n"
            )
            let file = "\(night.scratch.path)/policy.yaml"
            try changed.write(toFile: file)
            let command = ["--", "/usr/bin/python3", "-I", "-B", "-c", program]
            let exec = ["sandbox", "exec", "--no-terminal", "--policy", file]
            let refused = try night.run(exec, after: command)
            #expect(
                refused.code == 2 && refused.notes.contains("{calls.host-totals:"),
                "\(refused)"
            )
            try (changed + "  calls.host-totals: tried\n").write(toFile: file)
            let ended = try night.run(exec, after: command)
            #expect(ended.output.contains("99 Bad address"), "\(ended)")
            #expect(ended.output.contains("101 Operation not permitted"), "\(ended)")
        }

        @Test("an examiner does not see how full the disk of its vault is")
        func diskOfVault() throws {
            let night = try Night()
            try night.prepare(Configuration())
            let shipped = try String(
                contentsOfFile: "\(Stage.repository)/policies/examiner.yaml",
                encoding: .utf8
            )
            let asking =
                "import os\ntry: print('free', os.statvfs('/vault').f_bfree)\n"
                + "except OSError as error: print(error.strerror)"
            func asked(_ policy: String) throws -> Ended {
                try night.run(
                    ["sandbox", "exec", "--no-terminal", "--policy", policy],
                    after: [
                        "--experiment", night.directory, "--", "/usr/bin/python3", "-I", "-B", "-c",
                        asking,
                    ]
                )
            }
            let refused = try asked("examiner")
            #expect(refused.output == "Operation not permitted\n", "\(refused)")
            let file = "\(night.scratch.path)/policy.yaml"
            let open = shipped.replacingOccurrences(
                of: "[base, files,",
                with: "[base, files, free-space,"
            )
            try open.write(toFile: file)
            let unexplained = try asked(file)
            #expect(
                unexplained.code == 2 && unexplained.notes.contains("{calls.free-space:"),
                "\(unexplained)"
            )
            try (open + "because: { calls.free-space: tried }\n").write(toFile: file)
            let seen = try asked(file)
            #expect(seen.output.hasPrefix("free "), "\(seen)")
        }

        @Test(
            "another's reader of the schema and ours take and refuse the same forms",
            arguments: [11, 12]
        )
        func schema(seed: Int) throws {
            let night = try Night()
            let documents = try night.scratch.directory("documents")
            let ended = try Program(
                "/usr/bin/python3",
                [
                    Stage.fixture("schema_check.py"), Stage.invigilator,
                    "\(Stage.repository)/policies", "\(seed)", "300", documents,
                ],
                temporary: "\(night.scratch.path)/tmp"
            ).waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            let counts = try #require(ended.output.split(separator: "\n").last)
            #expect(
                counts.hasPrefix("documents 306, taken ") && counts.hasSuffix(", wrong 0"),
                "\(ended)"
            )
        }

        @Test("a difference since a commit is one of effects, and nothing is checked out")
        func since() throws {
            let night = try Night()
            let directory = try night.scratch.directory("repository/policies")
            try FileManager.default.removeItem(atPath: directory)
            try FileManager.default.copyItem(
                atPath: "\(Stage.repository)/policies",
                toPath: directory
            )
            func shell(_ line: String) throws {
                let ended = try Program(
                    "/bin/sh",
                    ["-ec", "cd \(night.scratch.path)/repository; \(line)"],
                    temporary: "\(night.scratch.path)/tmp"
                ).waitForEnd()
                try #require(ended.code == 0, "\(ended)")
            }
            let git = "git -c user.name=a -c user.email=a@b"
            try shell("git init -q . && git add . && \(git) commit -q -m one")
            try shell(
                "sed -i 's/memory: 512MiB/memory: 768MiB/' policies/candidate.yaml; "
                    + "sed -i 's/# starting and ending/# words/' policies/syscalls/base.yaml; "
                    + "sed '/getcpu/d' -i policies/syscalls/threads.yaml; rm policies/broker.yaml; "
                    // A repository of its owner's, which root reads with the owner's rights.
                    + "chown -R 1000:1000 ."
            )
            let diff = ["policy", "diff", "--directory", directory, "--since", "HEAD"]
            let ended = try night.done(diff + ["--json"])
            let answer = try JSONValue(parsing: Array(ended.output.utf8), limits: .document)
            var changes: [String: [String]] = [:]
            for policy in answer["policies"]?.arrayValue ?? [] {
                let sections = policy["sections"]?.arrayValue ?? []
                changes[policy["new"]?.stringValue ?? ""] = sections.flatMap { section in
                    (section["changes"]?.arrayValue ?? []).map { $0["subject"]?.stringValue ?? "" }
                }
            }
            #expect(changes["candidate"] == ["memory", "getcpu"])
            #expect(changes["coding-agent"] == ["getcpu"])
            #expect((changes["broker"]?.count ?? 0) > 50)
            let named = try night.run(diff + ["candidate", "--exit-code"])
            #expect(named.code == 1 && named.output.contains("+ memory: 768 MiB"), "\(named)")
            try shell("git -c safe.directory='*' checkout -q -f HEAD")
            let same = try night.run(diff + ["--exit-code"])
            #expect(same.code == 0, "\(same)")
            #expect(try night.run(diff + ["nobody"]).code == 2)
            let unknown = diff.dropLast() + ["no-such-commit"]
            #expect(try night.run(Array(unknown)).code == 2)
        }
    }
}
