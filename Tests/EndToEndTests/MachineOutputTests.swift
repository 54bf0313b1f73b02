import Foundation
import StrictJSON
import Testing

extension EndToEnd {
    /// What programs read.
    @Suite struct MachineOutput {
        /// Every command that has a flag `--json`, by its words, asked of the program itself.
        private static func commands(_ night: Night) throws -> [[String]] {
            let dump = try Program(
                Stage.invigilator,
                ["--experimental-dump-help"],
                temporary: "\(night.scratch.path)/tmp"
            ).waitForEnd()
            let tree = try JSONValue(parsing: Array(dump.output.utf8), limits: .document)
            var found: [[String]] = []
            func visit(_ command: JSONValue, _ words: [String]) {
                let names = (command["arguments"]?.arrayValue ?? [])
                    .flatMap { $0["names"]?.arrayValue ?? [] }
                    .compactMap { $0["name"]?.stringValue }
                if names.contains("json") { found.append(words) }
                for child in command["subcommands"]?.arrayValue ?? [] {
                    guard let name = child["commandName"]?.stringValue else { continue }
                    visit(child, words + [name])
                }
            }
            visit(try #require(tree["command"]), [])
            return found
        }

        @Test("every command with --json names a schema that FORMATS.md describes")
        func schemas() throws {
            let night = try Night()
            try night.prepare(Configuration(more: "gate: { final: 0.5 }\n"))
            // `final` compares what was accepted.
            try Stage.fixtureText("sums/agent.py")
                .replacingOccurrences(of: #"{"add"}"#, with: #"{"add", "subtract", "multiply"}"#)
                .write(toFile: night.agentFile)
            try night.done(["gate", night.directory])
            let calls: [String: (words: [String], after: [String])] = [
                "gate judge": ([night.directory], []),
                "gate explain": (["--tasks", "5", "--tries", "3", "--campaigns", "2"], []),
                "benchmark train": ([night.directory], []),
                "benchmark check": ([Stage.fixture("sums"), "--static-only"], []),
                "status": ([night.directory], []),
                "best": ([night.directory], []),
                "final": ([night.directory], []),
                "ledger show": ([night.directory], []),
                "ledger verify": ([night.directory], []),
                "ledger checkpoint": ([night.directory], []),
                "ledger prove": ([night.directory, "--row", "1"], []),
                "ledger key": ([night.directory], []),
                "verify": ([night.directory], []),
                "doctor": ([], []),
                "agent list": ([], []),
                "agent check": (["scripted"], []),
                "policy check": ([], []),
                "policy explain": (["candidate"], []),
                "policy diff": (["candidate", "examiner"], []),
                "policy learn": (["--policy", "candidate"], ["--", "/usr/bin/true"]),
                "sandbox exec": (["--policy", "candidate"], ["--", "/usr/bin/true"]),
                "sandbox repeat": (["--count", "1"], ["--", "/usr/bin/true"]),
                "redteam": (["--role", "candidate", "--only", "files.host-secret"], []),
            ]
            let names = try Self.commands(night).map { $0.joined(separator: " ") }
            #expect(Set(names) == Set(calls.keys))
            let formats = try String(
                contentsOfFile: "\(Stage.repository)/FORMATS.md",
                encoding: .utf8
            )
            for name in names {
                guard let call = calls[name] else { continue }
                let words = name.split(separator: " ").map(String.init) + call.words
                // They look at the installation alone or at nothing, and know no state directory.
                let ended =
                    ["agent list", "gate explain"].contains(name)
                    ? try Program(
                        Stage.invigilator,
                        words + ["--json"],
                        temporary: "\(night.scratch.path)/tmp"
                    ).waitForEnd()
                    : try night.run(words + ["--json"], after: call.after)
                let answer = try JSONValue(parsing: Array(ended.output.utf8), limits: .document)
                let schema = try #require(answer["schema"]?.stringValue, "\(name): \(ended)")
                #expect(schema.wholeMatch(of: /invigilator\.[a-z-]+\/[0-9]+/) != nil, "\(schema)")
                #expect(formats.contains("`\(schema)`"), "\(name): FORMATS.md lacks \(schema)")
            }
        }

        @Test("compiling an experiment's plans makes and changes nothing")
        func compile() throws {
            let night = try Night()
            try night.prepare(Configuration())
            func listing() throws -> [String] {
                let paths = try FileManager.default.subpathsOfDirectory(atPath: night.state)
                    .sorted()
                // What SQLite has for whoever reads the record; it comes and goes in the record's folder.
                return try paths.filter { !$0.contains("ledger.sqlite-") }.map {
                    guard !$0.hasSuffix(try night.id()) else { return $0 }
                    let attributes = try FileManager.default.attributesOfItem(
                        atPath: "\(night.state)/\($0)"
                    )
                    return "\($0) \(attributes[.modificationDate] ?? "")"
                }
            }
            try FileManager.default.removeItem(atPath: "\(night.state)/images")
            let before = try listing()
            let output = "\(night.scratch.path)/plan"
            let compile = ["policy", "compile", "examiner", "--experiment", night.directory]
            try night.done(compile + ["--output", output])
            #expect(FileManager.default.fileExists(atPath: output))
            #expect(try listing() == before)

            let elsewhere = try Night(in: night.scratch, state: "\(night.scratch.path)/other")
            let refused = try elsewhere.run(compile + ["--output", output + "-2"])
            #expect(refused.code == 2, "\(refused)")
            #expect(!FileManager.default.fileExists(atPath: elsewhere.state))
        }
    }
}
