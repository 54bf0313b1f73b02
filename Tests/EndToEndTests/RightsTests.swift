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

        // A launcher that says what it is told to and then listens for ever.
        private static func install(
            _ level: AssuranceLevel,
            in scratch: Scratch
        ) throws -> String {
            let root = try scratch.directory("installed-\(level.name)")
            let files = FileManager.default
            for name in ["policies", "templates"] {
                try files.copyItem(
                    atPath: "\(Stage.repository)/\(name)",
                    toPath: "\(root)/\(name)"
                )
            }
            let programs = try scratch.directory("installed-\(level.name)/bin")
            try files.copyItem(atPath: Stage.invigilator, toPath: "\(programs)/invigilator")
            let ready = LauncherReply.ready(level: level, hasLayerSwitches: false).bytes
            try """
            #!/usr/bin/python3 -IB
            import socket
            channel = socket.socket(fileno=3)
            channel.send(bytes(\(ready)))
            channel.recv(1)

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
            for level in AssuranceLevel.allCases {
                night.program = try Self.install(level, in: night.scratch)
                let ended = try night.run(["prepare", night.directory])
                #expect(ended.code == 3, "\(ended)")
                // The control: a launcher that reaches the level is not refused for it, but fails later.
                #expect(ended.notes.contains("check the assurance level") == (level != .full))
                guard level != .full else { continue }
                #expect(ended.notes.contains("reaches \(level.name), the policy demands full"))
                #expect(ended.notes.contains("invigilator doctor"), "\(ended)")
                #expect(try night.rows().isEmpty, "nothing was recorded")
            }
        }

        @Test("sandbox exec refuses a host below the level of its policy")
        func levelOfExec() throws {
            let night = try Night()
            try night.set(up: Configuration())
            night.program = try Self.install(.singleUID, in: night.scratch)
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
            night.program = try Self.install(.full, in: night.scratch)
            _ = try night.run(["prepare", night.directory])
            #expect(try night.bodies(.genesis).first?["assurance"] == "full")
            night.program = try Self.install(.singleUID, in: night.scratch)
            let policies = "\(night.scratch.path)/installed-single-uid/policies"
            for name in ["coding-agent", "candidate", "examiner"] {
                let file = "\(policies)/\(name).yaml"
                try String(contentsOfFile: file, encoding: .utf8)
                    .replacingOccurrences(of: "assurance: full", with: "assurance: single-uid")
                    .write(toFile: file)
            }
            let ended = try night.run(["prepare", night.directory])
            #expect(ended.code == 3, "\(ended)")
            #expect(ended.notes.contains("reaches single-uid, the experiment was prepared at full"))
        }
    }
}
