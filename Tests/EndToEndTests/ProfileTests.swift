import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Profiles of coding agents that do not ship: a user's directory, and the administrator's.
    @Suite struct Profiles {
        private static let site = "/etc/invigilator/agents"

        /// A profile `mine` of one shell script, in a directory of the test.
        private func profile(
            _ night: Night,
            more: String = "",
            script: String = "echo started"
        ) throws -> String {
            let folder = "\(night.scratch.path)/mine"
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true
            )
            let text = """
                coding_agent: mine
                version: 1
                title: one of my own
                files: [run.sh]
                command: [/bin/sh, "${agent-files}/run.sh"]
                version-arguments: [-c, echo it runs]
                \(more)
                """
            try text.write(toFile: "\(folder)/profile.yaml")
            try script.write(toFile: "\(folder)/run.sh")
            return folder
        }

        private func log(_ night: Night) throws -> String {
            try String(contentsOfFile: "\(night.folder())/agent.log", encoding: .utf8)
        }

        @Test("a profile of one's own is started, and the record is bound to its files")
        func own() throws {
            let night = try Night()
            let folder = try profile(night)
            try night.done([
                "init", night.directory, "--benchmark", Stage.fixture("sums"), "--agent", folder,
            ])
            let path = "\(night.directory)/experiment_config.yaml"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.contains("profile: \"\(folder)\""), "\(text)")
            try night.done(["prepare", night.directory])
            try night.done(["run", night.directory])
            #expect(try log(night).contains("started"))
            let genesis = try #require(try night.bodies(.genesis).first)
            #expect(genesis["policy_digests"]?["coding-agent-profile"]?.stringValue?.count == 64)
            // One byte of one of its files is another agent.
            try "echo another".write(toFile: "\(folder)/run.sh")
            let changed = try night.run(["run", night.directory])
            #expect(changed.code == 2, "\(changed)")
            #expect(changed.notes.contains("\(folder): the files of the coding agent's profile"))
            try "echo started".write(toFile: "\(folder)/run.sh")
            try night.done(["run", night.directory])
            try FileManager.default.removeItem(atPath: "\(folder)/run.sh")
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/run.sh",
                withDestinationPath: "/etc/hostname"
            )
            let linked = try night.run(["run", night.directory])
            #expect(linked.code == 2 && linked.notes.contains("symbolic link"), "\(linked)")
        }

        /// A shell line that gives this namespace an `/etc` of its own, with a profile in it.
        private func line(_ night: Night, _ folder: String, then: String) throws -> String {
            let own = try night.scratch.directory("etc-\(UUID().uuidString)")
            return "cp -a /etc/. \(own) && mount --bind \(own) /etc && mkdir -p \(Self.site) "
                + "&& cp -r \(folder) \(Self.site)/mine && chmod -R go-w /etc/invigilator && \(then)"
        }

        @Test("a profile of the administrator is listed, and taken only where it is root's alone")
        func administrators() throws {
            let night = try Night()
            let folder = try profile(night)
            // What else lies there stops nobody.
            let others =
                "touch \(Self.site)/README && chmod 666 \(Self.site)/README && mkdir \(Self.site)/old"
            let sound = try line(night, folder, then: others)
            let list = try Program(
                "/usr/bin/unshare",
                [
                    "--mount", "--propagation", "private", "--", "/bin/sh", "-c",
                    sound + "; exec \(Stage.invigilator) agent list --json",
                ],
                temporary: "\(night.scratch.path)/tmp"
            ).waitForEnd(seconds: 30)
            #expect(list.code == 0, "\(list)")
            let agents = try JSONValue(parsing: Array(list.output.utf8), limits: .document)[
                "agents"
            ]
            let mine = agents?.arrayValue?.first { $0["agent"] == "mine" }
            #expect(mine?["directory"] == .string("\(Self.site)/mine"), "\(list)")
            let check = try night.run(["agent", "check", "mine"], before: sound)
            #expect(check.code == 0 && check.output.contains("it runs"), "\(check)")
            let renamed = try line(night, folder, then: "mv \(Self.site)/mine \(Self.site)/other")
            let other = try night.run(["agent", "check", "other"], before: renamed)
            #expect(other.code == 2 && other.notes.contains("it calls itself mine"), "\(other)")
            for change in [
                "chmod g+w \(Self.site)/mine/run.sh", "chown 1000 \(Self.site)/mine",
                "chmod o+w \(Self.site)", "chown 1000 /etc/invigilator",
            ] {
                let strange = try line(night, folder, then: change)
                let ended = try night.run(["agent", "check", "mine"], before: strange)
                #expect(ended.code == 2, "\(change): \(ended)")
                #expect(ended.notes.contains("it is not root's alone"), "\(ended)")
            }
        }

        @Test(
            "a bad line of a profile is reported as that line, and the host is not blamed",
            arguments: [
                ("environment: { LD_PRELOAD: /x }", "environment.LD_PRELOAD"),
                ("reads: [/proc/self]", "reads"), ("reads: [/etc/shadow]", "reads"),
                ("reads: [/var/lib]", "reads"), ("terminal: perhaps", "terminal"),
            ]
        )
        func line(bad: String, key: String) throws {
            let night = try Night()
            let folder = try profile(night, more: bad)
            let ended = try night.run(["agent", "check", folder])
            #expect(ended.code == 2, "\(ended)")
            #expect(ended.notes.contains("\(folder)/profile.yaml:7: \(key): "), "\(ended)")
            #expect(ended.notes.contains("; remedy: "), "\(ended)")
            #expect(!ended.notes.contains("no-userns"), "\(ended)")
        }

        @Test("a user's profile shows nothing that the user cannot reach")
        func reach() throws {
            let night = try Night()
            let hidden = try night.scratch.directory("hidden")
            try "a secret".write(toFile: "\(hidden)/data")
            let folder = try profile(night, more: "reads: [\(hidden)/data]")
            try night.done([
                "init", night.directory, "--benchmark", Stage.fixture("sums"), "--agent", folder,
            ])
            let giving =
                "chmod 700 \(hidden) && chmod 644 \(hidden)/data && chown -R 1000 \(folder) \(night.directory)"
            let ended = try night.run(["prepare", night.directory], before: giving)
            #expect(ended.code == 2, "\(ended)")
            #expect(ended.notes.contains("profile.yaml:7: reads: \(hidden)/data"), "\(ended)")
            #expect(ended.notes.contains("uid 1000, who names the profile"))
            let check = ["agent", "check", folder]
            let tried = try night.run(check, before: giving)
            #expect(tried.code == 2 && tried.notes.contains("cannot reach it"), "\(tried)")
            // The instrument: where the user can reach it, the split is drawn.
            let opened = try night.run(["prepare", night.directory], before: "chmod 755 \(hidden)")
            #expect(!opened.notes.contains("cannot reach"), "\(opened)")
            // The instrument; it lies below /tmp, where a sandbox has a place of its own.
            let reached = try night.run(check, before: "chmod 755 \(hidden)")
            #expect(reached.code == 2 && !reached.notes.contains("cannot reach"), "\(reached)")
            #expect(reached.notes.contains("profile.yaml:7: reads: "), "\(reached)")
            #expect(reached.notes.contains("a place of its own at /tmp"), "\(reached)")
        }

        @Test("a plan with more variables than a sandbox may have is the profile's, not the host's")
        func variables() throws {
            let night = try Night()
            let names = (0..<130).map { "  A\($0): a" }.joined(separator: "\n")
            let folder = try profile(night, more: "environment:\n\(names)")
            let ended = try night.run(["agent", "check", folder])
            #expect(ended.code == 2, "\(ended)")
            #expect(ended.notes.contains("\(folder)/profile.yaml:"), "\(ended)")
            #expect(!ended.notes.contains("no-userns"), "\(ended)")
        }

        @Test("a profile that asks for a terminal has one, with a window")
        func terminal() throws {
            let night = try Night()
            let folder = try profile(
                night,
                more: "terminal: true",
                script: "test -t 0 && test -t 1 && test -t 2 && echo window $(stty size)\n"
            )
            try night.done([
                "init", night.directory, "--benchmark", Stage.fixture("sums"), "--agent", folder,
            ])
            let check = try night.run(["agent", "check", folder])
            #expect(check.code == 0 && check.output.contains("it runs"), "\(check)")
            try night.done(["prepare", night.directory])
            try night.done(["run", night.directory])
            #expect(try log(night).contains("window 40 120"))
        }
    }
}
