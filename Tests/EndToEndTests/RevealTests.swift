import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// A night that an auditor decides again, from what its sealed exams committed to.
    @Suite struct Reveals {
        // Two accepted candidates, and one that is worse; and what an agent could look for.
        private static let agent = """
            for root, folders, files in os.walk("/"):
                if root.startswith(("/proc", "/sys")):
                    folders[:] = []
                for name in files + folders:
                    if name in ("reveal.key", "split.salt", "ledger.sqlite", "key.ed25519"):
                        say("found", path=os.path.join(root, name))
            for verb in ("reveal", "verify", "outcomes"):
                say("asked", code=code(ask(verb)))
            write(knowing("add", "subtract"))
            judged()
            write(knowing("add", "subtract", "multiply"))
            judged()
            write(knowing("multiply"))
            judged()
            """

        private let night: Night
        private let folder: String

        init() throws {
            night = try Night()
            folder = "\(night.scratch.path)/revealed"
        }

        /// A night, and the folder that its operator gives an auditor.
        private func revealed() throws {
            try night.prepare(Configuration(agent: Self.agent))
            try night.done(["run", night.directory])
            try night.done(["ledger", "reveal", night.directory, "--to", folder])
        }

        private func tool(_ program: String, _ words: [String]) throws -> Ended {
            try Program(program, words, temporary: "\(night.scratch.path)/tmp").waitForEnd()
        }

        /// Verifies what was revealed as a user who has nothing but the folder.
        private func audit(_ more: [String] = [], key: String = "reveal.key") throws -> Ended {
            let rights = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
            let words = [
                Stage.invigilator, "verify", "\(folder)/ledger.jsonl", "--reveal",
                "\(folder)/\(key)",
            ]
            return try tool("/usr/bin/setpriv", rights + words + more)
        }

        private func give() throws {
            try #require(try tool("/bin/chown", ["-R", "65534:65534", folder]).code == 0)
        }

        private func expectRefused(_ ended: Ended, _ words: String...) {
            #expect(ended.code == 4, "\(ended)")
            for word in words { #expect((ended.output + ended.notes).contains(word), "\(ended)") }
        }

        @Test(
            "who has the folder decides every candidate again, without root and without this host"
        )
        func everyDecision() throws {
            try revealed()
            try give()
            let key = try night.done(["ledger", "key", night.directory, "--json"])
            let named = try JSONValue(parsing: Array(key.output.utf8), limits: .document)
            let own = try #require(named["public_key"]?.stringValue)
            let config = ["--config", "\(folder)/experiment_config.yaml"]
            let ended = try audit(["--public-key", own] + config)
            #expect(ended.code == 0, "\(ended)")
            for line in [
                "ok      record: ", "ok      opened split: 4 sealed tasks",
                "ok      configuration: ",
                "ok      commitments: 4 sealed exams", "ok      sealed outcomes: 4 sealed exams",
                "ok      decisions: 3 decisions are what the gate decides",
            ] { #expect(ended.output.contains(line), "\(line)\n\(ended)") }
            let verdicts = try night.bodies(.decision).compactMap { $0["verdict"]?.stringValue }
            #expect(verdicts == ["accepted", "accepted", "rejected"])
            // The experiment itself, with and without the key.
            let plain = try night.done(["verify", night.directory])
            #expect(plain.output.contains("3 decisions follow from suite, means and rules"))
            let words = ["verify", night.directory, "--reveal", "\(folder)/reveal.key", "--json"]
            let open = try night.done(words).output
            let answer = try JSONValue(parsing: Array(open.utf8), limits: .document)
            #expect(answer["sound"] == true)
        }

        @Test(
            "one edited threshold, one byte of an outcome and another key are named, and end with 4"
        )
        func edited() throws {
            try revealed()
            let config = "\(folder)/experiment_config.yaml"
            let text = try String(contentsOfFile: config, encoding: .utf8)
            try (text + "\nthreshold: 0.7\n").write(toFile: config)
            let exam = try #require(
                try night.rows().last {
                    $0.kind == .examStarted && $0.body["purpose"] == "sealed"
                }
            ).sequence
            let file = "\(folder)/sealed/\(exam).bin"
            let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
            var changed = bytes
            changed[changed.count / 2] ^= 1
            let other = Data([UInt8](repeating: 1, count: 32))
            try other.write(to: URL(fileURLWithPath: "\(folder)/other.key"))
            try give()
            expectRefused(
                try audit(["--config", config]),
                "DAMAGED configuration: ",
                "gate.threshold is 0.7, was 0.8"
            )
            try changed.write(to: URL(fileURLWithPath: file))
            try give()
            expectRefused(try audit(), "DAMAGED sealed outcomes: row ", "exam \(exam)")
            try FileManager.default.removeItem(atPath: file)
            expectRefused(try audit(), "\(exam).bin are missing")
            try bytes.write(to: URL(fileURLWithPath: file))
            try give()
            #expect(try audit().code == 0)
            expectRefused(try audit(key: "other.key"), "DAMAGED commitments: row 2: ")
            // The experiment's own configuration, edited after the night.
            try night.configure(Configuration(agent: Self.agent, more: "threshold: 0.7"))
            for words in [["verify"], ["run"]] {
                let ended = try night.run(words + [night.directory])
                #expect(ended.code == (words == ["verify"] ? 4 : 2), "\(ended)")
                #expect(ended.notes.contains("gate.threshold is 0.7, was 0.8"), "\(ended)")
            }
        }

        @Test("neither key nor outcomes are in the coding agent's reach, and no verb names them")
        func reach() throws {
            try revealed()
            #expect(try night.agentLog("found").isEmpty)
            let codes = try night.agentLog("asked").map { $0["code"]?.stringValue }
            #expect(codes == Array(repeating: "unknown-verb", count: 3))
            // The instrument: they are there, and closed to everybody but the supervisor.
            let (state, id) = (night.seenState, try night.id())
            for (path, mode) in [
                ("\(state)/vault/\(id)/reveal.key", 0o600),
                ("\(state)/experiments/\(id)/sealed", 0o700),
                (folder, 0o700),
            ] {
                let found = try FileManager.default.attributesOfItem(atPath: path)
                #expect((found[.posixPermissions] as? NSNumber)?.intValue == mode, "\(path)")
            }
            let kept = try FileManager.default.contentsOfDirectory(
                atPath: "\(state)/experiments/\(id)/sealed"
            )
            #expect(kept.count == 4, "\(kept)")
            let again = try night.run(["ledger", "reveal", night.directory, "--to", folder])
            #expect(again.code == 3, "a folder that exists is not written into: \(again)")
        }

        @Test("a reveal key that was exchanged in the vault ends the next run before any exam")
        func exchanged() throws {
            try night.prepare(Configuration())
            let key = "\(night.seenState)/vault/\(try night.id())/reveal.key"
            try Data([UInt8](repeating: 1, count: 32)).write(to: URL(fileURLWithPath: key))
            let rows = try night.rows().count
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 4 && ended.notes.contains("reveal.key"), "\(ended)")
            #expect(try night.rows().count == rows)
        }

        @Test("an implementation of others opens every exam and finds the roots of the rows")
        func thirdParty() throws {
            let python = "/var/cache/invigilator/verifiers/bin/python"
            try #require(
                FileManager.default.fileExists(atPath: python),
                "run ./scripts/bootstrap --tests"
            )
            try revealed()
            let script = Stage.fixture("third-party/reveal.py")
            let ended = try tool(python, ["-I", "-B", script, folder])
            #expect(ended.code == 0, "\(ended)")
            #expect(ended.output.contains("ok: 4 sealed exams were opened"), "\(ended)")
            // The instrument: with another key it finds nothing.
            let key = URL(fileURLWithPath: "\(folder)/reveal.key")
            try Data([UInt8](repeating: 1, count: 32)).write(to: key)
            #expect(try tool(python, ["-I", "-B", script, folder]).code == 1)
        }
    }
}
