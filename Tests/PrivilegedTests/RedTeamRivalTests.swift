import HostKernel
import LinuxKernel
import StrictJSON
import Testing

extension Privileged {
    @Suite("The red team in other programs' sandboxes")
    struct RedTeamRivalTests {
        private static func run(
            _ words: [String],
            after preparation: String = ":",
            in scratch: Scratch
        ) throws -> Spawn.Outcome {
            try Spawn.run(
                "/usr/bin/unshare",
                arguments: [
                    "--mount", "--propagation", "private", "/bin/sh", "-c",
                    "\(preparation) && exec \"$@\"", "redteam", Host.programs + "/invigilator",
                    "redteam", "--state-directory", scratch.path + "/state",
                ] + words,
                environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
            )
        }

        // One that each stops, and one that none does: none of these calls limits processes.
        @Test(
            "the same attacks are made in each, and compared",
            arguments: ["bwrap", "firejail", "crun"]
        )
        func comparison(_ rival: String) throws {
            let scratch = try Scratch()
            let attacks = ["files.host-secret", "exhaustion.processes", "calls.mount"]
            let outcome = try Self.run(
                ["--against", rival, "--json", "--only"] + attacks,
                in: scratch
            )
            let said = String(decoding: outcome.errors, as: UTF8.self)
            try #require(outcome.end.exitCode == 0, "\(said)")
            let json = try JSONValue(parsing: outcome.output, limits: .document)
            #expect(json["schema"] == "invigilator.red-team-comparison/1")
            #expect(json["command"]?.arrayValue?.first == .string("/usr/bin/\(rival)"))
            let there = (json["probes"]?.arrayValue ?? []).reduce(into: [String: String]()) {
                $0[$1["id"]?.stringValue ?? ""] = $1["there"]?.stringValue
            }
            #expect(there["files.host-secret"] == "closed", "\(there)")
            #expect(there["exhaustion.processes"] == "open", "\(there)")
            #expect(there.count == attacks.count, "\(there)")
        }

        @Test(
            "one that is not installed is a usage error with the package's name",
            arguments: [
                ("bwrap", "bubblewrap"), ("firejail", "firejail"), ("crun", "crun"),
            ]
        )
        func missing(_ rival: String, package: String) throws {
            let outcome = try Self.run(
                ["--against", rival, "--only", "files.host-secret"],
                after: "mount --bind /dev/null /usr/bin/\(rival)",
                in: Scratch()
            )
            #expect(outcome.end.exitCode == 2)
            let said = String(decoding: outcome.errors, as: UTF8.self)
            #expect(said.contains("apt-get install \(package)"), "\(said)")
        }

        @Test(
            "one in which a program that does nothing wrong does not work is an error",
            arguments: ["bwrap", "firejail", "crun"]
        )
        func broken(_ rival: String) throws {
            let outcome = try Self.run(
                ["--against", rival, "--only", "files.host-secret"],
                after: """
                    file=$(mktemp) && printf '#!/bin/sh\\n[ "$1" != --version ] || echo old\\n' \
                    > "$file" && chmod 755 "$file" && mount --bind "$file" /usr/bin/\(rival) \
                    && rm "$file"
                    """,
                in: Scratch()
            )
            let said = String(decoding: outcome.errors, as: UTF8.self)
            #expect(outcome.end.exitCode == 3, "\(said)")
            #expect(said.contains("as an ordinary user"), "\(said)")
        }
    }
}
