import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// The record against who holds this host: checkpoints kept elsewhere, and attestations.
    @Suite struct Checkpoints {
        private let night: Night

        init() throws {
            night = try Night()
            try night.prepare(Configuration())
        }

        /// An accepted candidate, by the operator's hand.
        private func accept(_ verbs: String) throws {
            let text = try Stage.fixtureText("sums/agent.py")
                .replacingOccurrences(of: #"{"add"}"#, with: "{\(verbs)}")
            try text.write(toFile: night.agentFile)
            try night.done(["gate", night.directory])
        }

        private func file(_ name: String) -> String { "\(night.scratch.path)/\(name)" }

        /// Copies a directory with everybody's rights to it.
        private func copyAll(_ from: String, to: String) throws {
            let copying = try Program("/bin/cp", ["-a", from, to], temporary: file("tmp"))
            let ended = try copying.waitForEnd()
            try #require(ended.code == 0, "\(ended)")
        }

        /// Runs a program as a user who has no rights here.
        private func asNobody(_ words: [String]) throws -> Ended {
            let rights = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
            return try Program("/usr/bin/setpriv", rights + words, temporary: file("tmp"))
                .waitForEnd()
        }

        @discardableResult
        private func keep(_ name: String, _ words: [String]) throws -> String {
            let output = try night.done(words).output
            try output.write(toFile: file(name))
            return output
        }

        private var checkpoint: [String] { ["ledger", "checkpoint", night.directory] }

        @Test("a file is replaced by what continues it, and by nothing else")
        func published() throws {
            let kept = file("kept")
            #expect(try night.done(checkpoint + ["--to", kept]).output == "\(kept)\n")
            let first = try String(contentsOfFile: kept, encoding: .utf8)
            #expect(try night.done(checkpoint).output == first)
            try accept(#""add", "subtract""#)
            try night.done(checkpoint + ["--to", kept])
            let second = try String(contentsOfFile: kept, encoding: .utf8)
            #expect(second != first)
            try night.done(["ledger", "verify", night.directory, "--checkpoint", kept])
            try night.done(checkpoint + ["--since", kept])

            try "not a checkpoint\n".write(toFile: file("notes"))
            let refused = try night.run(checkpoint + ["--to", file("notes")])
            #expect(refused.code == 2, "\(refused)")
            let notes = try String(contentsOfFile: file("notes"), encoding: .utf8)
            #expect(notes == "not a checkpoint\n")

            let other = try Night(in: night.scratch, name: "other", state: night.state)
            try other.prepare(Configuration())
            for words in [
                ["ledger", "checkpoint", other.directory, "--to", kept],
                ["ledger", "verify", other.directory, "--checkpoint", kept],
            ] {
                let foreign = try other.run(words)
                #expect(foreign.code == 4, "\(foreign)")
                #expect(foreign.notes.contains("it has no signature of invigilator/ledger/"))
            }
            #expect(try String(contentsOfFile: kept, encoding: .utf8) == second)
        }

        @Test("a state directory that is put back, and one that went on otherwise, end with 4")
        func replaced() throws {
            let kept = file("kept")
            let copy = file("copy")
            try copyAll(try night.folder(), to: copy)
            try accept(#""add", "subtract""#)
            try night.done(checkpoint + ["--to", kept])
            let size = try night.rows().count

            let old = try night.run(["ledger", "verify", "\(copy)/ledger.sqlite"])
            #expect(old.code == 0, "an older state is whole: \(old)")
            let words = ["ledger", "verify", "\(copy)/ledger.sqlite", "--checkpoint", kept]
            let found = try night.run(words)
            #expect(found.code == 4, "\(found)")
            #expect(found.notes.contains("rolled back: the ledger has "), "\(found)")
            #expect(found.notes.contains("the checkpoint has \(size)"), "\(found)")
            let answer = try JSONValue(
                parsing: Array(try night.run(words + ["--json"]).output.utf8),
                limits: .document
            )
            #expect(answer["intact"] == true)
            #expect(answer["checkpoint"]?["continued"] == false)
            #expect(answer["checkpoint"]?["size"]?.intValue == size)

            // The whole experiment goes back, and goes on: more rows than the checkpoint, and others.
            let place = try night.folder()
            try FileManager.default.removeItem(atPath: place)
            try copyAll(copy, to: place)
            try accept(#""add", "subtract", "multiply""#)
            try accept(#""subtract", "add", "multiply""#)
            #expect(try night.rows().count > size)
            try night.expectIntact()
            for words in [
                ["ledger", "verify", night.directory, "--checkpoint", kept],
                checkpoint + ["--to", kept], checkpoint + ["--since", kept],
                ["ledger", "prove", night.directory, "--since", kept],
            ] as [[String]] {
                let forked = try night.run(words)
                #expect(forked.code == 4, "\(words): \(forked)")
                let words = "forked: the ledger's first \(size) rows"
                #expect(forked.notes.contains(words), "\(forked)")
            }
        }

        @Test("a ref has a commit for each checkpoint, made as its owner, and none that goes back")
        func ref() throws {
            let repository = try night.scratch.directory("elsewhere")
            func git(_ words: [String]) throws -> Ended {
                try asNobody(["/usr/bin/git", "-C", repository] + words)
            }
            try FileManager.default.setAttributes(
                [.ownerAccountID: 65_534, .groupOwnerAccountID: 65_534],
                ofItemAtPath: repository
            )
            try #require(try git(["init", "--quiet"]).code == 0)
            let copy = file("copy")
            try copyAll(try night.folder(), to: copy)
            let words = checkpoint + ["--to-ref", "records/night", "--repository", repository]
            try night.done(words)
            try accept(#""add", "subtract""#)
            try night.done(words)
            try night.done(words)
            let log = try git(["log", "--format=%an", "records/night"])
            #expect(log.output == "Invigilator\nInvigilator\n", "\(log)")
            let shown = try git(["show", "records/night:checkpoint"])
            #expect(shown.output == (try night.done(checkpoint).output))

            let place = try night.folder()
            try FileManager.default.removeItem(atPath: place)
            try copyAll(copy, to: place)
            let back = try night.run(words)
            #expect(back.code == 4 && back.notes.contains("rolled back"), "\(back)")
            #expect(try git(["show", "records/night:checkpoint"]).output == shown.output)
        }

        @Test("a command is handed the checkpoint, and its failure is an error in its words")
        func command() throws {
            let taken = file("taken")
            try night.done(checkpoint + ["--to-command", "cat >'\(taken)'"])
            let note = try night.done(checkpoint).output
            #expect(try String(contentsOfFile: taken, encoding: .utf8) == note)
            let failed = try night.run(checkpoint + ["--to-command", "echo no room >&2; exit 7"])
            #expect(failed.code == 3 && failed.notes.contains("no room"), "\(failed)")
        }

        @Test("who has an export, a checkpoint and the key needs neither root nor this host")
        func elsewhere() throws {
            try keep("kept", checkpoint)
            try accept(#""add", "subtract""#)
            try keep("export", ["ledger", "export", night.directory])
            func anybody(_ words: [String]) throws -> Ended {
                try asNobody([Stage.invigilator, "ledger"] + words)
            }
            let verified = try anybody(["verify", file("export"), "--checkpoint", file("kept")])
            #expect(verified.code == 0, "\(verified)")
            #expect(verified.output.contains("continues the checkpoint of "), "\(verified)")
            let own = try night.done(["ledger", "key", night.directory, "--pem"]).output
            #expect(try anybody(["key", file("export"), "--pem"]).output == own)
        }

        @Test("an accepted candidate is attested without sealed figures, unless they are asked for")
        func attested() throws {
            let none = try night.run(["attest", night.directory])
            #expect(none.code == 2 && none.notes.contains("none was accepted"), "\(none)")
            try accept(#""add", "subtract""#)
            let path = file("statement.json")
            try night.done(["attest", night.directory, "-o", path])
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(try night.done(["attest", night.directory, "--iteration", "1"]).output == text)
            let decision = try Self.predicate(text)["decision"]
            #expect(decision?["verdict"] == "accepted")
            #expect(decision?["sealed_mean"] == nil && decision?["reasons"] == nil)
            let exact = try night.done(["attest", night.directory, "--exact"]).output
            let row = try #require(try night.bodies(.decision).last)
            #expect(try Self.predicate(exact)["decision"]?["sealed_mean"] == row["sealed_mean"])
            let absent = try night.run(["attest", night.directory, "--iteration", "7"])
            #expect(absent.code == 2, "\(absent)")
        }

        private static func predicate(_ envelope: String) throws -> JSONValue {
            let value = try JSONValue(parsing: Array(envelope.utf8), limits: .document)
            let text = try #require(value["payload"]?.stringValue)
            let payload = Array(try #require(Data(base64Encoded: text)))
            return try #require(try JSONValue(parsing: payload, limits: .document)["predicate"])
        }

        @Test("checkpoints, proofs and an attestation are verified by programs of others")
        func thirdParties() throws {
            let python = "/var/cache/invigilator/verifiers/bin/python"
            try #require(
                FileManager.default.fileExists(atPath: python),
                "run ./scripts/bootstrap --tests"
            )
            try keep("old.checkpoint", checkpoint)
            try accept(#""add", "subtract""#)
            try accept(#""add", "subtract", "multiply""#)
            let row = try #require(try night.rows().last { $0.kind == .decision }).sequence
            try "\(row)".write(toFile: file("row"))
            try keep("export", ["ledger", "export", night.directory])
            try keep("new.checkpoint", checkpoint)
            try keep("row.proof", ["ledger", "prove", night.directory, "--row", "\(row)"])
            let since = ["--since", file("old.checkpoint")]
            try keep("growth.request", ["ledger", "prove", night.directory] + since)
            try keep("key.pem", ["ledger", "key", night.directory, "--pem"])
            try keep("key.vkey", ["ledger", "key", night.directory, "--vkey"])
            try keep("attestation.json", ["attest", night.directory])
            try keep("agent.py", ["best", night.directory])
            let ended = try Program(
                python,
                ["-I", "-B", Stage.fixture("third-party/verify.py"), night.scratch.path],
                temporary: file("tmp")
            ).waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            #expect(ended.output.contains("ok: securesystemslib takes the envelope"), "\(ended)")
        }
    }
}
