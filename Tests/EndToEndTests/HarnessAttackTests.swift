import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Attacks on the record, the gate and the repository of auto-harness, as THREAT_MODEL.md lists them.
    ///
    /// A coding agent makes them one after the other in one night, and who has the operator's directory
    /// in nights of their own.
    @Suite struct HarnessAttacks {
        /// What the night came to.
        private struct Seen {
            let lines: [JSONValue]
            let decisions: [JSONValue]
            let refusals: [JSONValue]
            let sealedMean: JSONValue?

            func lines(_ event: String) -> [JSONValue] {
                lines.filter { $0["event"]?.stringValue == event }
            }

            /// The decision on what was handed in under this name.
            func decision(_ attack: String) throws -> JSONValue {
                let index = try #require(
                    lines("judged").firstIndex { $0["hypothesis"]?.stringValue == attack }
                )
                try #require(decisions.count > index, "\(lines("judged"))")
                return decisions[index]
            }
        }

        private static let seen = Result {
            let night = try Night()
            try night.prepare(Configuration(agent: Stage.fixtureText("harness_attacks.py")))
            try night.done(["run", night.directory])
            try night.expectSettled()
            return Seen(
                lines: try night.agentLog(),
                decisions: try night.bodies(.decision),
                refusals: try night.bodies(.refusal),
                sealedMean: try night.bodies(.baseline).first?["sealed_mean"]
            )
        }

        @Test("C01, C02, C03, C05, C06, C22: what decides cannot be typed, written or moved away")
        func decides() throws {
            let seen = try Self.seen.get()
            let attempts = seen.lines("attempt")
            // The same write succeeds where the agent may write.
            let control = attempts.first { $0["attack"]?.stringValue == "control" }
            #expect(control?["answer"]?.stringValue == "done")
            let walls = ["Read-only file system", "Permission denied"]
            for line in attempts where line != control {
                #expect(walls.contains(line["answer"]?.stringValue ?? ""), "\(line.prettyText())")
            }
            let tried = Set(attempts.compactMap { $0["attack"]?.stringValue })
            #expect(tried == ["control", "C02", "C03", "C05", "C06", "C22"])
            let views = try #require(seen.lines("views").first)
            #expect(views["same"] == true && (views["count"]?.intValue ?? 0) > 5, "\(views)")
            #expect(seen.lines("visible").first?["found"] == [], "\(seen.lines("visible"))")
            let typed = seen.lines("typed")
            #expect(typed.count == 3)
            for line in typed { #expect(line["code"] != "ok", "\(line.prettyText())") }
            #expect(seen.refusals.count == typed.count)
        }

        @Test(
            "C10, C11: byte code and modules beside the judged file are loaded by nobody who judges",
            arguments: ["C10", "C11"]
        )
        func planted(_ attack: String) throws {
            let seen = try Self.seen.get()
            // Where an interpreter looks beside the file, the planted code is what it finds.
            let line = seen.lines("imported").first { $0["attack"]?.stringValue == attack }
            #expect(line?["known"] == "add multiply subtract", "\(seen.lines("imported"))")
            #expect(try seen.decision(attack)["sealed_mean"] == seen.sealedMean)
        }

        @Test("C09: a change that git is told not to see is what is judged")
        func hiddenFromGit() throws {
            let seen = try Self.seen.get()
            let line = try #require(seen.lines("git").first)
            #expect(line["committed"] == true && line["changes"] == "", "\(line.prettyText())")
            #expect(try seen.decision("C09")["digest"] == line["digest"])
        }

        @Test("C04: a train exam of one passing task keeps nothing from joining the suite")
        func starvation() throws {
            let seen = try Self.seen.get()
            #expect(try seen.decision("C04")["verdict"] == "accepted")
            let line = try #require(seen.lines("suite").first)
            let failing = Set((line["failing"]?.arrayValue ?? []).compactMap(\.stringValue))
            let suite = Set((line["suite"]?.arrayValue ?? []).compactMap(\.stringValue))
            #expect(line["last_exam"]?.arrayValue?.count == 1, "\(line.prettyText())")
            #expect(!failing.isEmpty && suite.isSuperset(of: failing), "\(line.prettyText())")
        }

        private static func teach(_ night: Night, _ verbs: String) throws {
            try Stage.fixtureText("sums/agent.py")
                .replacingOccurrences(of: #"{"add"}"#, with: "{\(verbs)}")
                .write(toFile: night.agentFile)
        }

        @Test("C02, C03: what is written into the operator's copies decides nothing")
        func operatorsCopies() throws {
            let night = try Night()
            try night.prepare(Configuration())
            try Self.teach(night, #""add", "subtract", "multiply""#)
            try night.done(["gate", night.directory])
            let copies = "\(night.directory)/workspace"
            let suite = try String(contentsOfFile: "\(copies)/suite.json", encoding: .utf8)
            #expect(suite.contains("sum-"), "the suite has tasks: \(suite)")
            try #"{"tasks": [], "threshold": 0, "last_results": {}}"#
                .write(toFile: "\(copies)/suite.json")
            try FileManager.default.removeItem(atPath: "\(copies)/results.tsv")
            try FileManager.default.removeItem(atPath: "\(copies)/train_results.json")
            try Self.teach(night, #""multiply""#)
            let worse = try night.run(["gate", night.directory, "--json"])
            #expect(worse.code == 1, "\(worse)")
            #expect(worse.output.contains(#""step":1"#), "the suite still has its tasks: \(worse)")
            try night.expectSettled()
        }

        @Test("C12: programs that come first in PATH under a known name are not run")
        func path() throws {
            let night = try Night()
            let shims = try night.scratch.directory("shims")
            let canary = "\(night.scratch.path)/canary"
            for name in ["git", "python3", "sh", "mount", "unshare", "uv", "invigilator-launcher"] {
                try "#!/bin/sh\necho \(name) >>'\(canary)'\n".write(toFile: "\(shims)/\(name)")
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o755],
                    ofItemAtPath: "\(shims)/\(name)"
                )
            }
            let before = "export PATH='\(shims)':/usr/bin:/bin"
            // Whoever looks a program up finds these.
            let temporary = "\(night.scratch.path)/tmp"
            _ = try Program("/bin/sh", ["-c", before + "; git status"], temporary: temporary)
                .waitForEnd()
            #expect(try String(contentsOfFile: canary, encoding: .utf8) == "git\n")
            try FileManager.default.removeItem(atPath: canary)
            let agent = "write(knowing(\"add\", \"subtract\"))\njudged()\n"
            try night.set(up: Configuration(agent: agent))
            for verb in ["prepare", "run", "diff", "verify"] {
                try night.done([verb, night.directory], before: before)
            }
            #expect(try night.bodies(.decision).map { $0["verdict"] } == ["accepted"])
            #expect(!FileManager.default.fileExists(atPath: canary))
        }

        @Test("C16: preparing again draws no other split and leaves the judged file as it is")
        func preparedTwice() throws {
            let night = try Night()
            try night.prepare(Configuration())
            let genesis = try night.bodies(.genesis)
            let vault = "\(night.seenState)/vault/\(try night.id())/test/tasks.json"
            let sealed = try Data(contentsOf: URL(fileURLWithPath: vault))
            for name in ["suite.json", "results.tsv", "train_results.json"] {
                try FileManager.default.removeItem(atPath: "\(night.directory)/workspace/\(name)")
            }
            try night.done(["prepare", night.directory])
            #expect(try night.bodies(.genesis) == genesis)
            #expect(try Data(contentsOf: URL(fileURLWithPath: vault)) == sealed)
            #expect(try night.bodies(.baseline).count == 1, "nothing is measured again")
            // Nor is a file that was worked on since replaced by the template.
            try Self.teach(night, #""add", "multiply""#)
            let taught = try Data(contentsOf: URL(fileURLWithPath: night.agentFile))
            let refused = try night.run(["prepare", night.directory])
            #expect(refused.code == 2, "\(refused)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: night.agentFile)) == taught)
        }
    }
}
