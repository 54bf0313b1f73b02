import Foundation
import StrictJSON
import Testing

extension EndToEnd {
    /// Whose files are that commands of root write into a user's directory.
    @Suite struct Owners {
        private static let user: UInt32 = 65_534
        private static let supervisor: UInt32 = 1_879_048_192

        /// Options of commands by which a file or a folder is written, as `COMMAND --OPTION`.
        private static func writers(_ night: Night) throws -> Set<String> {
            let dump = try Program(
                Stage.invigilator,
                ["--experimental-dump-help"],
                temporary: "\(night.scratch.path)/tmp"
            ).waitForEnd()
            let tree = try JSONValue(parsing: Array(dump.output.utf8), limits: .document)
            var found: Set<String> = []
            func visit(_ command: JSONValue, _ words: [String]) {
                let shown = (command["arguments"]?.arrayValue ?? []).filter {
                    $0["shouldDisplay"] == true
                }
                let names = shown.flatMap { $0["names"]?.arrayValue ?? [] }
                    .compactMap { $0["name"]?.stringValue }
                for name in names
                where ["output", "junit", "summary", "json-output", "to"].contains(name) {
                    found.insert((words + ["--\(name)"]).joined(separator: " "))
                }
                for child in command["subcommands"]?.arrayValue ?? [] {
                    guard let name = child["commandName"]?.stringValue,
                        child["shouldDisplay"] == true
                    else { continue }
                    visit(child, words + [name])
                }
            }
            visit(try #require(tree["command"]), [])
            return found
        }

        /// Everything below a directory with its owner, the directory included.
        private static func owners(_ path: String) throws -> [String: UInt32] {
            let names = try #require(FileManager.default.enumerator(atPath: path))
            var owners: [String: UInt32] = [:]
            for name in [""] + names.compactMap({ $0 as? String }) {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
                owners[name] = (attributes[.ownerAccountID] as? NSNumber)?.uint32Value
            }
            return owners
        }

        @Test("whatever a command of root writes into a user's directory is the user's")
        func everyVerb() throws {
            let scratch = try Scratch()
            let home = try scratch.directory("home")
            try FileManager.default.setAttributes(
                [
                    .ownerAccountID: Self.user, .groupOwnerAccountID: Self.user,
                    .posixPermissions: 0o755,
                ],
                ofItemAtPath: home
            )
            let night = try Night(in: scratch, name: "home/some/night")
            try night.done(["init", night.directory, "--benchmark", Stage.fixture("sums")])
            let lower = ["--benchmark", Stage.fixture("sums"), "--assurance", "single-uid"]
            try night.done(["init", "\(home)/lower"] + lower)
            #expect(Set(try Self.owners(home).values) == [Self.user], "nothing else is there yet")
            // A user's editor keeps owner and mode; so does this.
            try night.configure(Configuration())
            try night.done(["prepare", night.directory])
            try Stage.fixtureText("sums/agent.py")
                .replacingOccurrences(of: #"{"add"}"#, with: #"{"add", "subtract", "multiply"}"#)
                .write(toFile: night.agentFile)
            let inState = ["--state-directory", night.state]
            let experiment = [night.directory]
            let calls: [String: (words: [String], after: [String])] = [
                "gate judge --junit": (experiment, []),
                "gate judge --summary": (experiment, []),
                "verify --junit": (experiment, []), "verify --summary": (experiment, []),
                "status --output": (experiment + ["--prometheus"], []),
                "report --output": (experiment, []), "best --output": (experiment, []),
                "attest --output": (experiment, []),
                "ledger checkpoint --to": (experiment, []),
                "ledger reveal --to": (experiment, []),
                "policy compile --output": (["candidate"], []),
                "redteam --junit": (["--role", "candidate", "--only", "files.host-secret"], []),
                "sandbox exec --json-output": (
                    ["--policy", "candidate"], ["--", "/usr/bin/true"]
                ),
            ]
            #expect(try Self.writers(night) == Set(calls.keys))
            // The gate first: the others ask for what was accepted.
            let order =
                calls.keys.filter { $0.hasPrefix("gate") }.sorted()
                + calls.keys.filter { !$0.hasPrefix("gate") }.sorted()
            for (place, name) in order.enumerated() {
                let call = try #require(calls[name])
                var words = name.split(separator: " ").map(String.init)
                let option = words.removeLast()
                let file = "\(home)/written-\(place)"
                let line = words + call.words + [option, file] + inState + call.after
                let ended = try Program(
                    "/usr/bin/unshare",
                    ["--mount", "--propagation", "private", "--", Stage.invigilator] + line,
                    temporary: "\(scratch.path)/tmp"
                ).waitForEnd()
                // The second judgement is of the same file and refused; its report is written all the same.
                #expect(ended.code == 0 || name.hasPrefix("gate"), "\(name): \(ended)")
                #expect(FileManager.default.fileExists(atPath: file), "\(name)")
            }
            try night.done(["apply", night.directory])
            for (name, owner) in try Self.owners(home) {
                // The view of the record is rendered by the supervisor, while the night goes on.
                let isView = name.hasPrefix("some/night/workspace")
                #expect(owner == (isView ? Self.supervisor : Self.user), "\(name)")
            }
        }

        @Test("a report is not written over a file that has a second name")
        func secondName() throws {
            let night = try Night()
            try night.prepare(Configuration())
            let (kept, name) = ("\(night.scratch.path)/kept", "\(night.scratch.path)/name")
            try "kept\n".write(toFile: kept)
            for words in [["verify", "--junit", name], ["verify", "--summary", name]] {
                // The control: with one name it is written.
                try "old\n".write(toFile: name)
                try night.done(words + [night.directory])
                #expect(try String(contentsOfFile: name, encoding: .utf8).contains("invigilator"))
                try FileManager.default.removeItem(atPath: name)
                try FileManager.default.linkItem(atPath: kept, toPath: name)
                let ended = try night.run(words + [night.directory])
                #expect(ended.code == 0 && ended.notes.contains("one of 2 names"), "\(ended)")
                #expect(try String(contentsOfFile: kept, encoding: .utf8) == "kept\n")
                try FileManager.default.removeItem(atPath: name)
            }
        }

        @Test("a link that stands where a report goes is not followed, and the verdict stays")
        func link() throws {
            let night = try Night()
            try night.prepare(Configuration())
            let target = "\(night.scratch.path)/target"
            let link = "\(night.scratch.path)/link"
            try "kept\n".write(toFile: target)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            let ended = try night.run(["verify", night.directory, "--junit", link])
            #expect(ended.code == 0, "\(ended)")
            #expect(ended.notes.contains("ELOOP") && ended.notes.contains("stay as they are"))
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "kept\n")
        }
    }

    /// What continuous integration is told.
    @Suite struct ContinuousIntegration {
        @Test("reports tell the verdict, and none of them changes it or the exit code")
        func reports() throws {
            let night = try Night()
            try night.prepare(Configuration())
            func judge(_ verbs: String, _ words: [String]) throws -> Ended {
                try Stage.fixtureText("sums/agent.py")
                    .replacingOccurrences(of: #"{"add"}"#, with: "{\(verbs)}")
                    .write(toFile: night.agentFile)
                return try night.run(["gate", night.directory, "--json"] + words)
            }
            let (junit, summary) = ("\(night.scratch.path)/j.xml", "\(night.scratch.path)/s.md")
            try "before\n".write(toFile: summary)
            let words = ["--junit", junit, "--summary", summary, "--annotations"]
            let better = try judge(#""add", "subtract""#, words)
            #expect(better.code == 0, "\(better)")
            #expect(better.notes.contains("\n::notice title=invigilator gate::accepted"))
            #expect(!better.output.contains("::"), "what programs read stays as it is")
            let first = try String(contentsOfFile: junit, encoding: .utf8)
            #expect(first.contains(#"name="step 2: sealed exam"/>"#))
            let worse = try judge(#""multiply""#, words)
            #expect(worse.code == 1, "\(worse)")
            #expect(worse.notes.contains("\n::error title=invigilator gate::rejected at step 1"))
            let second = try String(contentsOfFile: junit, encoding: .utf8)
            #expect(second.contains("<failure message=") && !second.contains(#"sealed exam"/>"#))
            let page = try String(contentsOfFile: summary, encoding: .utf8)
            #expect(page.hasPrefix("before\n## invigilator gate\n"))
            #expect(page.components(separatedBy: "\n## invigilator gate\n").count == 3)

            // Neither a full disk nor a missing folder.
            for (place, reason) in [("/dev/full", "ENOSPC"), ("/nowhere/report", "ENOENT")] {
                let words = ["--junit", place, "--summary", place]
                let bad = try night.run(["gate", night.directory, "--json"] + words)
                #expect(bad.code == 1, "the same bytes are judged once: \(bad)")
                #expect(bad.notes.contains(reason) && bad.notes.contains("stay as they are"))
                let verified = try night.run(["verify", night.directory] + words)
                #expect(verified.code == 0 && verified.notes.contains(reason), "\(verified)")
            }
        }
    }
}
