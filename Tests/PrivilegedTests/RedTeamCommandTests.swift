import Foundation
import HostKernel
import LinuxKernel
import StrictJSON
import Testing

extension Privileged {
    @Suite("The red team that ships")
    struct RedTeamCommandTests {
        private static func run(
            _ words: [String],
            in scratch: Scratch
        ) throws -> Spawn.Outcome {
            try Spawn.run(
                Host.programs + "/invigilator",
                arguments: ["redteam", "--state-directory", scratch.path + "/state"] + words,
                environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
            )
        }

        private static func leftovers() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "/tmp")
                .filter { $0.hasPrefix("invigilator-redteam-") }
        }

        @Test("nothing is open or broken under the shipped policies, and the honest program passes")
        func everything() throws {
            let scratch = try Scratch()
            let before = try Self.leftovers()
            let outcome = try Self.run(["--json"], in: scratch)
            let json = try JSONValue(parsing: outcome.output, limits: .document)
            let bad = (json["probes"]?.arrayValue ?? []).filter {
                $0["outcome"] == "open" || $0["outcome"] == "broken"
            }
            #expect(bad.isEmpty, "\(bad.map { $0.prettyText() })")
            #expect(outcome.end.exitCode == 0, "\(String(decoding: outcome.errors, as: UTF8.self))")
            let closed = (json["probes"]?.arrayValue ?? []).filter { $0["outcome"] == "closed" }
            #expect(Set(closed.compactMap { $0["id"]?.stringValue }).count >= 100)
            #expect(json["honest"]?.arrayValue?.allSatisfy { $0["problem"] == .null } == true)
            #expect(try Self.leftovers() == before)
        }

        @Test("a run of one attack leaves no vault behind")
        func cleansUp() throws {
            let scratch = try Scratch()
            let words = ["--only", "files.host-secret", "--role", "examiner"]
            #expect(try Self.run(words, in: scratch).end.exitCode == 0)
            for name in ["vault", "experiments"] {
                let path = scratch.path + "/state/" + name
                #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
            }
        }

        @Test(
            "what cannot be chosen is a usage error",
            arguments: [
                ["--only", "files.nothing"], ["--family", "nothing"], ["--role", "nobody"],
                ["--only", "pairs.file", "--role", "coding"], ["--against", "nothing"],
            ]
        )
        func usage(_ words: [String]) throws {
            #expect(try Self.run(words, in: Scratch()).end.exitCode == 2)
        }
    }
}
