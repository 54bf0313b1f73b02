import Foundation
import StrictJSON
import Testing

extension EndToEnd {
    /// The key of a record: changed, lost, and what can be shown afterwards.
    @Suite struct Keys {
        private let night: Night

        init() throws {
            night = try Night()
            try night.prepare(Configuration())
        }

        private func file(_ name: String) -> String { "\(night.scratch.path)/\(name)" }

        private func json(_ words: [String]) throws -> JSONValue {
            let output = try night.done(words + ["--json"]).output
            return try JSONValue(parsing: Array(output.utf8), limits: .document)
        }

        private func keys() throws -> [String] {
            try json(["ledger", "key", night.directory])["keys"]?.arrayValue?
                .compactMap(\.stringValue) ?? []
        }

        @discardableResult
        private func keep(_ name: String, _ words: [String]) throws -> String {
            let output = try night.done(words).output
            try output.write(toFile: file(name))
            return output
        }

        private func chain(_ export: String, _ key: String) throws -> Ended {
            try Program(
                "/var/cache/invigilator/verifiers/bin/python3",
                ["-I", "-B", Stage.fixture("third-party/chain.py"), file(export), key],
                temporary: file("tmp")
            ).waitForEnd()
        }

        /// A judgement, so that rows follow.
        private func judge(_ verbs: String) throws -> Ended {
            let text = try Stage.fixtureText("sums/agent.py")
                .replacingOccurrences(of: #"{"add"}"#, with: "{\(verbs)}")
            try text.write(toFile: night.agentFile)
            return try night.run(["gate", night.directory])
        }

        @Test(
            "a record goes on under a new key, and both keys and older checkpoints still verify it"
        )
        func rotated() throws {
            let old = try #require(try keys().first)
            try keep("old.checkpoint", ["ledger", "checkpoint", night.directory])
            try night.done(["ledger", "rotate-key", night.directory])
            let both = try keys()
            #expect(both.count == 2 && both[0] == old && both[1] != old)
            #expect(try judge(#""add", "subtract""#).code == 0)
            let checkpoint = ["--checkpoint", file("old.checkpoint")]
            for key in both {
                try night.done(
                    ["ledger", "verify", night.directory, "--public-key", key] + checkpoint
                )
            }
            try keep("new.checkpoint", ["ledger", "checkpoint", night.directory])
            let heads = try ["old", "new"].map {
                try String(contentsOfFile: file("\($0).checkpoint"), encoding: .utf8)
                    .split(separator: "\n")[0]
            }
            #expect(heads[0] == heads[1], "the log keeps its name")
            let verified = try night.done(["verify", night.directory] + checkpoint)
            #expect(verified.output.contains("ok      keys: key \(old) from the beginning"))
            #expect(verified.output.contains("ok      signing key: "))
            let kept = file("new.checkpoint")
            try night.done(["ledger", "checkpoint", night.directory, "--to", kept])

            try keep("export", ["ledger", "export", night.directory])
            for key in both {
                try night.done(["ledger", "verify", file("export"), "--public-key", key])
                let other = try chain("export", key)
                #expect(other.code == 0, "\(other)")
                #expect(other.output == both.joined(separator: "\n") + "\nintact\n")
            }
            let foreign = String(repeating: "0", count: 64)
            #expect(try chain("export", foreign).code == 1)
            let refused = try night.run(
                ["ledger", "verify", file("export"), "--public-key", foreign]
            )
            #expect(refused.code == 4)
        }

        @Test(
            "without its key a record is still proven, nothing is added, and a new key is a break"
        )
        func lost() throws {
            let old = try #require(try keys().first)
            let refused = try night.run(
                ["ledger", "replace-key", night.directory, "--reason", "tidying"]
            )
            #expect(refused.code == 2, "\(refused)")
            #expect(refused.notes.contains("ledger rotate-key"))
            try FileManager.default.removeItem(atPath: "\(try night.folder())/key.ed25519")

            let verified = try night.done(["verify", night.directory])
            #expect(verified.output.contains("are proven all the same"), "\(verified)")
            for words in [["run"], ["gate"], ["ledger", "rotate-key"], ["ledger", "export"]] {
                let ended = try night.run(words + [night.directory])
                #expect(ended.code != 0, "\(words)")
                #expect(ended.notes.contains("ledger replace-key"), "\(ended)")
            }
            try night.done(
                ["ledger", "replace-key", night.directory, "--reason", "the disk burned"]
            )
            let new = try #require(try keys().last)
            #expect(try judge(#""add", "subtract""#).code == 0)
            for (key, code) in [(nil, Int32(4)), (old, 4), (new, 0)] as [(String?, Int32)] {
                let named = key.map { ["--public-key", $0] } ?? []
                for verb in [["ledger", "verify"], ["verify"]] {
                    let ended = try night.run(verb + [night.directory] + named)
                    #expect(ended.code == code, "\(verb + named): \(ended)")
                }
            }
            let status = try json(["status", night.directory])
            let warnings = status["warnings"]?.arrayValue?.compactMap(\.stringValue) ?? []
            #expect(warnings.contains { $0.contains("without the old one's signature") })
            try keep("export", ["ledger", "export", night.directory])
            #expect(try chain("export", old).output.contains("replaced without its signature"))
            #expect(try chain("export", new).code == 0)
        }
    }
}
