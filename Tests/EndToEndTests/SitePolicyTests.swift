import Ledger
import Foundation
import LinuxKernel
import SandboxPlan
import StrictJSON
import Testing

extension EndToEnd {
    /// What the administrator of a host bounds policies by, in a mount namespace of the test's own.
    @Suite struct SitePolicies {
        private static let place = "/etc/invigilator/policy.d"

        /// A shell line that gives this namespace an `/etc` of its own, with one document.
        private func line(_ night: Night, _ document: String, then: String = "true") throws
            -> String
        {
            let own = try night.scratch.directory("etc-\(UUID().uuidString)")
            let file = "\(night.scratch.path)/site-\(UUID().uuidString).yaml"
            try document.write(toFile: file)
            return "cp -a /etc/. \(own) && mount --bind \(own) /etc && mkdir -p \(Self.place) "
                + "&& chmod 755 /etc/invigilator \(Self.place) "
                + "&& cp \(file) \(Self.place)/team.yaml && chmod 644 \(Self.place)/team.yaml && \(then)"
        }

        private static let bound = """
            version: 1
            reason: this host is shared with the physics group
            roles: [coding]
            limits: { memory: 1GiB }

            """

        @Test("a policy beyond the site is refused wherever a plan is made, with both places")
        func refused() throws {
            let night = try Night()
            try night.set(up: Configuration())
            let line = try line(night, Self.bound)
            let plan = "\(night.scratch.path)/plan"
            let commands: [(words: [String], after: [String])] = [
                (["policy", "check", "coding-agent"], []),
                (["policy", "explain", "coding-agent"], []),
                (["policy", "compile", "coding-agent", "-o", plan], []),
                (["sandbox", "exec", "--policy", "coding-agent"], ["--", "/usr/bin/true"]),
                (["prepare", night.directory], []),
            ]
            for command in commands {
                let ended = try night.run(command.words, after: command.after, before: line)
                #expect(ended.code == 2, "\(command.words): \(ended)")
                let said = ended.output + ended.notes
                #expect(said.contains("coding-agent.yaml:"), "\(ended)")
                #expect(said.contains("memory above 1GiB is beyond what this site allows"))
                #expect(said.contains("physics group (\(Self.place)/team.yaml:4: limits.memory)"))
            }
            #expect(!FileManager.default.fileExists(atPath: plan))
            // A role that it does not bound, and the same without it.
            try night.done(["policy", "check", "candidate"], before: line)
            try night.done(["policy", "check", "coding-agent"])
        }

        @Test(
            "bounds that others than root could move stop every plan",
            arguments: [
                "chown 1000 FILE", "chmod g+w FILE", "chmod o+w FILE", "chown 1000 DIR",
                "chmod g+w DIR", "chown 1000 /etc/invigilator", "chmod o+w /etc/invigilator",
                "mv FILE /etc/other && ln -s /etc/other FILE", "mv DIR /etc/d && ln -s /etc/d DIR",
                "rm FILE && mkfifo FILE", "rm FILE && mkdir FILE", "cp FILE DIR/more.yml",
            ]
        )
        func strangers(change: String) throws {
            let night = try Night()
            let change = change.replacingOccurrences(of: "FILE", with: "\(Self.place)/team.yaml")
                .replacingOccurrences(of: "DIR", with: Self.place)
            let sound = try line(night, Self.bound)
            try night.done(["policy", "check", "candidate"], before: sound)
            let ended = try night.run(
                ["policy", "check", "candidate"],
                before: try line(night, Self.bound, then: change)
            )
            #expect(ended.code == 2, "\(change): \(ended)")
            #expect(ended.notes.contains("/etc/invigilator"), "\(ended)")
        }

        @Test(
            "its digest is in the first record, and other bounds that still allow the plans end nothing"
        )
        func recorded() throws {
            let night = try Night()
            let line = try line(night, Self.bound.replacingOccurrences(of: "1GiB", with: "8GiB"))
            night.room = try MountRoom(line, scratch: night.scratch)
            try night.prepare(Configuration())
            let genesis = try #require(try night.bodies(.genesis).first)
            let text = Self.bound.replacingOccurrences(of: "1GiB", with: "8GiB")
            let bytes = Array("\(Self.place)/team.yaml\0\(text.utf8.count)\0\(text)".utf8)
            let digest = genesis["policy_digests"]?["site"]?.stringValue
            #expect(digest == "\(SHA256Digest(of: bytes))")
            let other = "sed -i s/8GiB/4GiB/ \(Self.place)/team.yaml"
            try night.done(["benchmark", "train", night.directory], before: other)
            let beyond = "sed -i s/4GiB/2GiB/ \(Self.place)/team.yaml"
            let ended = try night.run(["benchmark", "train", night.directory], before: beyond)
            #expect(ended.code == 2 && ended.notes.contains("beyond what this site allows"))
        }
    }
}
