import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// The question that `prepare` asks each configured model first.
    @Suite struct Preflights {
        private static func night(
            _ script: String,
            more: String = ""
        ) throws -> (Night, ModelServer) {
            let scratch = try Scratch()
            let server = try ModelServer(script, scratch: scratch)
            try server.writeKey("sk-the-real-key")
            let night = try Night(in: scratch)
            let models = server.models(more: more)
            try night.set(up: Configuration(agent: ModelClient.text, more: models))
            return (night, server)
        }

        private static let refusing = #"""
            {"asides": [{"when": {"last": "Answer with the one word"}, "status": 401,
                         "message": "nobody has this key"}], "steps": []}
            """#

        @Test("a key that the provider refuses ends prepare before the first row, in its own words")
        func refusedKey() throws {
            let (night, server) = try Self.night(Self.refusing)
            let ended = try night.run(["prepare", night.directory])
            #expect(ended.code == 2, "\(ended)")
            for words in ["status 401", "nobody has this key", "models.roles.coding-agent"] {
                #expect(ended.notes.contains(words), "\(ended)")
            }
            let asked = try night.run(["agent", "ask", night.directory])
            #expect(asked.code == 2 && asked.notes.contains("nobody has this key"), "\(asked)")
            // The instrument, and what the flag is for: nothing else is wrong.
            try night.done(["prepare", "--no-preflight", night.directory])
            #expect(try server.requests().count == 2)
        }

        @Test("a provider that cannot be reached is the host's fault")
        func gone() throws {
            let (night, server) = try Self.night(#"{"steps": []}"#)
            try server.stop()
            let ended = try night.run(["prepare", night.directory])
            #expect(ended.code == 3 && ended.notes.contains("no connection"), "\(ended)")
        }

        @Test("a model that answers is named, its question goes out as every other, and is counted")
        func answering() throws {
            let (night, server) = try Self.night(#"{"steps": []}"#)
            let ended = try night.done(["prepare", night.directory])
            let said = ended.output + ended.notes
            #expect(said.contains("model of the coding-agent: pinned-model answers"), "\(ended)")
            #expect(said.contains("pinned-model is not known (litellm "), "\(ended)")
            let status = try night.done(["status", night.directory, "--json"])
            let value = try JSONValue(parsing: Array(status.output.utf8), limits: .document)
            #expect(value["models"]?["roles"]?["coding-agent"]?["calls"] == 1, "\(value)")
            #expect(try server.requests().isEmpty, "only the question of prepare was asked")
            // Those of a command that writes no row are kept, and booked by the next one.
            for _ in 0..<2 { try night.done(["agent", "ask", night.directory]) }
            let later = try night.done(["status", night.directory, "--json"])
            let counted = try JSONValue(parsing: Array(later.output.utf8), limits: .document)
            #expect(counted["models"]?["roles"]?["coding-agent"]?["calls"] == 3, "\(counted)")
        }

        @Test("a table that says something else of a model does not go on with an experiment")
        func otherTable() throws {
            let (night, server) = try Self.night(#"{"steps": []}"#)
            try night.done(["prepare", night.directory])
            let files = FileManager.default
            let copy = try night.scratch.directory("installation")
            for name in ["policies", "templates"] {
                try files.copyItem(
                    atPath: "\(Stage.repository)/\(name)",
                    toPath: "\(copy)/\(name)"
                )
            }
            try files.createDirectory(atPath: "\(copy)/bin", withIntermediateDirectories: false)
            for name in try files.contentsOfDirectory(atPath: Stage.programs)
            where ["", "-launcher", "-broker", "-selfcheck", "-probe"].contains(
                name.dropFirst("invigilator".count)
            ) {
                try files.copyItem(
                    atPath: "\(Stage.programs)/\(name)",
                    toPath: "\(copy)/bin/\(name)"
                )
            }
            func run() throws -> Ended {
                try Program(
                    "/usr/bin/unshare",
                    [
                        "--mount", "--propagation", "private", "--", "\(copy)/bin/invigilator",
                        "run", night.directory, "--state-directory", night.state,
                    ],
                    temporary: "\(night.scratch.path)/tmp"
                ).waitForEnd(seconds: 90)
            }
            let place = "\(copy)/templates/models/capabilities.json"
            let shipped = try String(contentsOfFile: place, encoding: .utf8)
            let known = #"""
                "models": {
                    "pinned-model": {"provider": "openai", "context": 1000, "output": 500,
                        "efforts": ["low"], "thinking": [], "temperature": "always"},
                """#
            try shipped.replacingOccurrences(of: #""models": {"#, with: known).write(toFile: place)
            let refused = try run()
            #expect(refused.code == 2, "\(refused)")
            #expect(refused.notes.contains("capabilities.json: requests would hold"), "\(refused)")
            // The instrument: with the table as it was the same copy runs.
            try shipped.write(toFile: place)
            let ended = try run()
            #expect(ended.code == 0, "\(ended)")
            try server.stop()
        }
    }
}
