import HostKernel
import Foundation
import LauncherProtocol
import Ledger
import LinuxKernel
import SandboxPlan
import StrictJSON
import Testing

extension EndToEnd {
    /// What a supervisor may do on the host, and what it demands of it.
    @Suite struct Rights {
        /// The fields of `/proc/PID/status` that say what a process may do.
        private struct Status: Equatable {
            let fields: [String: [String]]

            init(_ task: String) throws {
                let text = try String(contentsOfFile: "/proc/\(task)/status", encoding: .utf8)
                var fields: [String: [String]] = [:]
                for line in text.split(separator: "\n") {
                    let parts = line.split(whereSeparator: { $0 == ":" || $0.isWhitespace })
                    fields[String(parts[0])] = parts.dropFirst().map(String.init)
                }
                self.fields = fields
            }

            /// A set of capabilities as its number.
            func capabilities(_ name: String) -> UInt64? {
                fields["Cap\(name)"]?.first.flatMap { UInt64($0, radix: 16) }
            }
        }

        private static let sets = ["Inh", "Prm", "Eff", "Bnd", "Amb"]

        @Test("a supervisor is root until its launcher runs, and then nobody for good")
        func givesUpRoot() throws {
            let night = try Night()
            try night.prepare(
                Configuration(agent: "say(\"ticking\")\ntime.sleep(1000)\n")
            )
            // Whoever holds this lock keeps a supervisor in its root phase.
            let lock = try Descriptor.open("\(night.state)/images/.lock", [.write])
            try #require(try lock.tryLock())
            let running = try night.start(["run", night.directory])
            try Stage.wait("the supervisor to wait for the lock") {
                (try? String(contentsOfFile: "/proc/\(running.pid)/wchan", encoding: .utf8))?
                    .contains("lock") == true
                    && (try? String(contentsOfFile: "/proc/\(running.pid)/comm", encoding: .utf8))
                        == "invigilator\n"
            }
            // The control: the instrument sees rights where there are some.
            let root = try Status("\(running.pid)")
            #expect(root.fields["Uid"] == ["0", "0", "0", "0"])
            #expect(root.fields["NoNewPrivs"] == ["0"])
            for name in ["Prm", "Eff", "Bnd"] {
                #expect(try #require(root.capabilities(name)) & (1 << 21) != 0, "CAP_SYS_ADMIN")
            }
            try lock.unlock()
            try Stage.wait("the agent to tick") {
                (try? night.agentLog("ticking").isEmpty) == false
            }
            let user = "1879048192"
            let tasks = try FileManager.default.contentsOfDirectory(
                atPath: "/proc/\(running.pid)/task"
            )
            #expect(!tasks.isEmpty)
            for task in tasks {
                let status = try Status("\(running.pid)/task/\(task)")
                #expect(status.fields["Uid"] == [user, user, user, user])
                #expect(status.fields["Gid"] == [user, user, user, user])
                #expect(status.fields["Groups"] == [])
                #expect(status.fields["NoNewPrivs"] == ["1"])
                for name in Self.sets { #expect(status.capabilities(name) == 0, "Cap\(name)") }
            }
            try night.done(["stop", night.directory])
            #expect(try running.waitForEnd().code == 0)
        }

        /// What a host cannot do, although its launcher says that it was done.
        private enum Lie: String, CaseIterable {
            case nothing, freezes, launches

            var level: AssuranceLevel {
                switch self {
                case .nothing: .full
                case .freezes: .singleUID
                case .launches: .noUserNamespace
                }
            }

            /// The verb of the request that is not passed on, and what it is answered with.
            var answer: (verb: Int, bytes: [UInt8]) {
                switch self {
                case .nothing: (0, [])
                case .freezes: (4, LauncherReply.done(id: 0).bytes)
                case .launches:
                    (
                        3,
                        LauncherReply.refused(
                            id: 0,
                            LaunchFailure(
                                step: .clone,
                                location: "namespaces",
                                reason: "clone3: ENOSPC",
                                remedy: "raise user.max_user_namespaces"
                            )
                        ).bytes
                    )
                }
            }
        }

        // A launcher between us and the one that ships, which passes on everything but one request. A
        // message begins with its verb, one byte, and whom it is about, four.
        private static func install(_ lie: Lie, in scratch: Scratch) throws -> String {
            let root = try scratch.directory("installed-\(lie.rawValue)")
            let files = FileManager.default
            for name in ["policies", "templates"] {
                try files.copyItem(
                    atPath: "\(Stage.repository)/\(name)",
                    toPath: "\(root)/\(name)"
                )
            }
            let programs = try scratch.directory("installed-\(lie.rawValue)/bin")
            let built = URL(fileURLWithPath: Stage.invigilator).deletingLastPathComponent().path
            for name in ["invigilator", "invigilator-selfcheck"] {
                try files.copyItem(atPath: "\(built)/\(name)", toPath: "\(programs)/\(name)")
            }
            try """
            #!/usr/bin/python3 -IB
            import os, select, socket, subprocess, sys
            ours = socket.socket(fileno=os.dup(3))
            theirs, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            os.dup2(end.fileno(), 3, inheritable=True)
            words = ["\(built)/invigilator-launcher"] + sys.argv[1:]
            launcher = subprocess.Popen(words, pass_fds=(3,), env={})
            end.close()
            os.close(3)
            verb, answer = \(lie.answer.verb), bytes(\(lie.answer.bytes))
            while True:
                for source in select.select([ours, theirs], [], [])[0]:
                    message, descriptors, _, _ = socket.recv_fds(source, 1 << 20, 16)
                    if not message:
                        theirs.close()
                        sys.exit(launcher.wait())
                    if source is ours and message[0] == verb:
                        ours.send(answer[:1] + message[1:5] + answer[5:])
                    else:
                        socket.send_fds(theirs if source is ours else ours, [message], descriptors)
                    for descriptor in descriptors:
                        os.close(descriptor)

            """.write(toFile: "\(programs)/invigilator-launcher")
            try files.setAttributes(
                [.posixPermissions: 0o755],
                ofItemAtPath: "\(programs)/invigilator-launcher"
            )
            return "\(programs)/invigilator"
        }

        @Test("a host below the level that a policy demands is refused with 3 and the cure")
        func level() throws {
            let night = try Night()
            try night.set(up: Configuration())
            for lie in [Lie.launches, .freezes, .nothing] {
                night.program = try Self.install(lie, in: night.scratch)
                let ended = try night.run(["prepare", night.directory])
                // The control: through a launcher that passes everything on, the level is reached.
                #expect(ended.code == (lie == .nothing ? 0 : 3), "\(ended)")
                #expect(ended.notes.contains("check the assurance level") == (lie != .nothing))
                guard lie != .nothing else { continue }
                let words = "reaches \(lie.level.name), the policy demands full"
                #expect(ended.notes.contains(words), "\(ended)")
                let reason = lie == .freezes ? "it answered while frozen" : "clone3: ENOSPC"
                #expect(ended.notes.contains(reason), "\(ended)")
                #expect(ended.notes.contains("invigilator doctor"), "\(ended)")
                #expect(try night.bodies(.genesis).isEmpty, "nothing was recorded")
            }
        }

        @Test("sandbox exec refuses a host below the level of its policy")
        func levelOfExec() throws {
            let night = try Night()
            try night.set(up: Configuration())
            night.program = try Self.install(.freezes, in: night.scratch)
            let ended = try night.run(
                ["sandbox", "exec", "--policy", "candidate"],
                after: ["--", "/usr/bin/true"]
            )
            #expect(ended.code == 3, "\(ended)")
            #expect(ended.notes.contains("reaches single-uid, the policy demands full"))
        }

        @Test("an experiment prepared at one level is not run at another")
        func mixed() throws {
            let night = try Night()
            try night.set(up: Configuration())
            night.program = try Self.install(.nothing, in: night.scratch)
            _ = try night.run(["prepare", night.directory])
            #expect(try night.bodies(.genesis).first?["assurance"] == "full")
            night.program = try Self.install(.freezes, in: night.scratch)
            let policies = "\(night.scratch.path)/installed-freezes/policies"
            for name in ["coding-agent", "candidate", "examiner"] {
                let file = "\(policies)/\(name).yaml"
                let text = try String(contentsOfFile: file, encoding: .utf8)
                    .replacingOccurrences(of: "assurance: full", with: "assurance: single-uid")
                let reasons = text.contains("\nbecause:\n") ? "" : "because:\n"
                try (text + reasons + "  assurance: a test\n").write(toFile: file)
            }
            let ended = try night.run(["prepare", night.directory])
            #expect(ended.code == 3, "\(ended)")
            #expect(ended.notes.contains("reaches single-uid, the experiment was prepared at full"))
        }
    }
}
