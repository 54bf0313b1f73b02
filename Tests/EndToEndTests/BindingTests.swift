import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Which directories show an experiment's record.
    @Suite struct Binding {
        private static let user = 4711
        private let night: Night
        private let home: String

        init() throws {
            night = try Night()
            home = try night.scratch.directory("home")
            try give(home)
        }

        private func give(_ path: String, to user: Int = user) throws {
            try FileManager.default.setAttributes(
                [.ownerAccountID: user, .groupOwnerAccountID: user],
                ofItemAtPath: path
            )
        }

        private func mode(_ path: String) throws -> Int {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return try #require((attributes[.posixPermissions] as? NSNumber)?.intValue)
        }

        /// A directory of another user's that names the experiment, with the key that the user made up.
        private func spy(_ name: String, key: String?) throws -> String {
            let place = "\(home)/\(name)"
            let shell = try Program(
                "/bin/sh",
                [
                    "-ec",
                    #"cp -a "$1" "$2"; rm -r "$2/.invigilator" "$2/workspace"; mkdir "$2/workspace""#,
                    "sh", night.directory, place,
                ],
                temporary: night.scratch.path
            )
            try #require(try shell.waitForEnd().code == 0)
            let version = key == nil ? 1 : 2
            // What the file of earlier versions showed everybody: number and benchmark.
            let own = Stage.fixture("sums")
            let member = key.map { #""key":"\#($0)","# } ?? ""
            try
                #"{"experiment":"\#(night.id())","benchmark_directory":"\#(own)",\#(member)"schema":"invigilator.experiment/\#(version)"}"#
                .write(toFile: "\(place)/.invigilator")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600],
                ofItemAtPath: "\(place)/.invigilator"
            )
            let owned = try Program(
                "/bin/chown",
                ["-R", "\(Self.user):\(Self.user)", place],
                temporary: night.scratch.path
            )
            try #require(try owned.waitForEnd().code == 0)
            return place
        }

        /// Every command that takes an experiment, asked of the program itself.
        private func commands() throws -> Set<String> {
            let dump = try Program(
                Stage.invigilator,
                ["--experimental-dump-help"],
                temporary: "\(night.scratch.path)/tmp"
            ).waitForEnd()
            let tree = try JSONValue(parsing: Array(dump.output.utf8), limits: .document)
            var found: Set<String> = []
            func visit(_ command: JSONValue, _ words: [String]) {
                let children = command["subcommands"]?.arrayValue ?? []
                let isShown = command["shouldDisplay"] != false
                for argument in command["arguments"]?.arrayValue ?? []
                where isShown && children.isEmpty && argument["shouldDisplay"] == true {
                    let about = argument["abstract"]?.stringValue ?? ""
                    let isPlace =
                        argument["kind"] == "positional" || about.contains("this experiment")
                    if isPlace, about.contains("experiment"), words != ["init"] {
                        found.insert(words.joined(separator: " "))
                    }
                }
                for child in children {
                    guard let name = child["commandName"]?.stringValue else { continue }
                    visit(child, words + [name])
                }
            }
            visit(try #require(tree["command"]), [])
            return found
        }

        @Test(
            "a number that was copied, or comes with a made-up key, shows no command's caller a record"
        )
        func attack() throws {
            try night.prepare(Configuration())
            let before = try night.rows().count
            let places = [
                try spy("number", key: nil), try spy("key", key: String(repeating: "0", count: 64)),
            ]
            let out = "\(home)/out"
            let calls: [String: (before: [String], after: [String])] = [
                "prepare": ([], []), "run": ([], []), "gate judge": ([], []),
                "benchmark train": ([], []), "status": ([], []), "pause": ([], []),
                "resume": ([], []), "stop": ([], []), "extend": ([], ["--iterations", "1"]),
                "prune": ([], ["--keep", "0", "--dry-run"]),
                "suite retire": (["a"], ["--reason", "b"]),
                "report": ([], []), "final": ([], []), "best": ([], ["--output", out]),
                "diff": ([], []), "apply": ([], []), "attest": ([], ["--output", out]),
                "verify": ([], []), "agent transcript": ([], []), "agent ask": ([], []),
                "ledger show": ([], []), "ledger export": ([], []), "ledger verify": ([], []),
                "ledger checkpoint": ([], ["--to", out]), "ledger prove": ([], ["--row", "1"]),
                "ledger key": ([], []), "ledger reveal": ([], ["--to", out]),
                "ledger rotate-key": ([], []), "ledger replace-key": ([], ["--reason", "lost"]),
                "sandbox exec": (
                    ["--policy", "examiner", "--experiment"], ["--", "/usr/bin/true"]
                ),
                "policy compile": (["examiner", "--output", out, "--experiment"], []),
            ]
            // What says that a directory is the experiment's is the operator's own act.
            #expect(try commands() == Set(calls.keys).union(["ledger bind"]))
            for (name, call) in calls.sorted(by: { $0.key < $1.key }) {
                for place in places {
                    let words = name.split(separator: " ").map(String.init)
                    let state = ["--state-directory", night.state]
                    let line = words + call.before + [place] + state + call.after
                    let ended = try Program(
                        "/usr/bin/unshare",
                        ["--mount", "--propagation", "private", "--", Stage.invigilator] + line,
                        temporary: "\(night.scratch.path)/tmp"
                    ).waitForEnd()
                    #expect(ended.code == 2, "\(name): \(ended)")
                    #expect(
                        ended.notes.contains("\(place)/.invigilator: it has "),
                        "\(name): \(ended)"
                    )
                    #expect(ended.notes.contains("ledger bind \(place)"), "\(name): \(ended)")
                    #expect(ended.output.isEmpty, "\(name): \(ended)")
                    #expect(!FileManager.default.fileExists(atPath: out), "\(name)")
                }
            }
            let found = try FileManager.default.subpathsOfDirectory(atPath: home)
            let known = ["agent", "agent/agent.py", "workspace", "PROGRAM.md", ".invigilator"]
            let written = found.filter { path in
                !known.contains { path.hasSuffix("/\($0)") } && path.contains("/")
                    && !path.hasSuffix("/experiment_config.yaml")
            }
            #expect(written.isEmpty, "\(written)")
            #expect(try night.rows().count == before)
            // The control: the directory itself, and a copy of it that has its key.
            try night.done(["status", night.directory])
            let copy = "\(night.scratch.path)/copy"
            try FileManager.default.copyItem(atPath: night.directory, toPath: copy)
            try night.done(["report", copy])
        }

        @Test(
            "the marker file is its owner's alone, and the record's first row has the digest of its key"
        )
        func begun() throws {
            let place = "\(home)/night"
            try night.done(["init", place, "--benchmark", Stage.fixture("sums")])
            let marker = "\(place)/.invigilator"
            let attributes = try FileManager.default.attributesOfItem(atPath: marker)
            #expect((attributes[.ownerAccountID] as? NSNumber)?.intValue == Self.user)
            #expect(try mode(marker) == 0o600)
            // As FORMATS.md says, by programs that we did not write.
            let others = try Program(
                "/usr/bin/python3",
                [
                    "-c",
                    """
                    import hashlib, json, sys
                    key = json.load(open(sys.argv[1]))["key"]
                    print(hashlib.sha256(bytes.fromhex(key)).hexdigest())
                    """,
                    marker,
                ],
                temporary: night.scratch.path
            ).waitForEnd()
            let shown = try night.done(["ledger", "show", place, "--kind", "bound", "--json"])
            let rows = try JSONValue(parsing: Array(shown.output.utf8), limits: .document)
            let row = try #require(rows["rows"]?.arrayValue?.first)
            #expect(row["sequence"] == 1 && row["body"]?["owner"] == .integer(Int64(Self.user)))
            let digest = try #require(row["body"]?["key_digest"]?.stringValue)
            #expect(others.output == digest + "\n", "\(others)")
            #expect(!shown.output.contains("\"key\""))
        }

        // MARK: - earlier versions

        /// Makes the experiment one of an earlier version: no row binds it, and everybody may read the number.
        private func makeOlder(_ place: String) throws {
            let folder = try older(place)
            for name in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm", "key.ed25519"] {
                let path = "\(folder)/\(name)"
                if FileManager.default.fileExists(atPath: path) {
                    try FileManager.default.removeItem(atPath: path)
                }
            }
            let ledger = try Ledger.create(
                at: "\(folder)/ledger.sqlite",
                keyAt: "\(folder)/key.ed25519",
                time: 1
            )
            try ledger.close()
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                try give("\(folder)/\(name)", to: 1_879_048_192)
            }
        }

        private func older(_ place: String) throws -> String {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(place)/.invigilator"))
            let marker = try JSONValue(parsing: Array(bytes), limits: .request)
            var members = try #require(marker.objectValue)
            members["key"] = nil
            members["schema"] = "invigilator.experiment/1"
            try Data(JSONValue.object(members).canonicalBytes)
                .write(to: URL(fileURLWithPath: "\(place)/.invigilator"))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644],
                ofItemAtPath: "\(place)/.invigilator"
            )
            let id = try #require(marker["experiment"]?.stringValue)
            return "\(night.state)/experiments/\(id)"
        }

        @Test("a record of an earlier version is bound by its owner's next command, once")
        func olderOfOwner() throws {
            try night.set(up: Configuration())
            try makeOlder(night.directory)
            let other = try spy("number", key: nil)
            let refused = try night.run(["status", other])
            #expect(refused.code == 2 && refused.notes.contains("earlier version"), "\(refused)")
            #expect(try night.rows().isEmpty)
            try night.done(["status", night.directory])
            #expect(try night.rows().map(\.kind) == [.bound])
            #expect(try mode("\(night.directory)/.invigilator") == 0o600)
            try night.done(["prepare", night.directory])
            #expect(try night.bodies(.bound).count == 1)
            try night.expectIntact()
            // From now on the number alone is not enough, not even in a directory of the owner's.
            let copy = "\(night.scratch.path)/copy"
            try FileManager.default.copyItem(atPath: night.directory, toPath: copy)
            try night.done(["status", copy])
            _ = try older(copy)
            for place in [other, copy] {
                let ended = try night.run(["status", place])
                #expect(ended.code == 2 && ended.notes.contains("it has no key"), "\(ended)")
            }
        }

        @Test("in another user's directory an older record is bound by the operator's word")
        func olderOfUser() throws {
            let place = "\(home)/night"
            try night.done(["init", place, "--benchmark", Stage.fixture("sums")])
            try makeOlder(place)
            let refused = try night.run(["prepare", place])
            #expect(refused.code == 2, "\(refused)")
            #expect(refused.notes.contains("`sudo invigilator ledger bind \(place)`"), "\(refused)")
            let bound = try night.done(["ledger", "bind", place])
            #expect(bound.output.contains("is bound to \(place)"), "\(bound)")
            let marker = "\(place)/.invigilator"
            #expect(try mode(marker) == 0o600)
            let attributes = try FileManager.default.attributesOfItem(atPath: marker)
            #expect((attributes[.ownerAccountID] as? NSNumber)?.intValue == Self.user)
            try night.done(["status", place])
        }

        // MARK: - damage

        @Test("a damaged marker file is refused, and what the refusal says mends it")
        func damaged() throws {
            try night.set(up: Configuration())
            let (marker, kept) = ("\(night.directory)/.invigilator", "\(night.scratch.path)/kept")
            let id = try night.id()
            try FileManager.default.copyItem(atPath: marker, toPath: kept)
            let number = #"{"experiment":"\#(id)","schema":"invigilator.experiment/1"}"#
            let bind = "invigilator ledger bind \(night.directory)"
            let damages: [(line: String, reason: String, remedy: String, mended: String)] = [
                (": >M", "it is empty", "put a copy of it back", "cp -p K M"),
                ("head -c 9000 /dev/zero >M", "at most 8192 bytes", "put a copy", "cp -p K M"),
                ("echo no >M", "read JSON", "put a copy of it back", "cp -p K M"),
                ("rm M; ln -s K M", "symbolic link", "copy what it leads to", "rm M; cp -p K M"),
                ("chmod 644 M", "mode 644", "chmod 600 \(marker)", "chmod 600 M"),
                ("chown 4711 M", "uid 4711", "chown 0 \(marker)", "chown 0 M"),
                // Where no copy is left.
                (
                    ": >M", "it is empty",
                    #"write {"experiment":"NUMBER","schema":"invigilator.experiment/1"} there"#,
                    "echo '\(number)' >M; \(Stage.invigilator) ledger bind D --state-directory S"
                ),
                // Somebody may have read the key.
                (
                    "chmod 644 M", "mode 644", bind,
                    "\(Stage.invigilator) ledger bind D --state-directory S"
                ),
            ]
            for damage in damages {
                func shell(_ line: String) throws {
                    let words = line.replacing(/\b[MKDS]\b/) { found in
                        switch found.output {
                        case "M": marker
                        case "K": kept
                        case "D": night.directory
                        default: night.state
                        }
                    }
                    let ended = try Program(
                        "/bin/sh",
                        ["-ec", words],
                        temporary: night.scratch.path
                    )
                    .waitForEnd()
                    try #require(ended.code == 0, "\(words): \(ended)")
                }
                try shell(damage.line)
                let ended = try night.run(["status", night.directory])
                #expect(ended.code == 2, "\(damage.line): \(ended)")
                #expect(ended.notes.contains("open an experiment: \(marker): "), "\(ended)")
                #expect(ended.notes.contains(damage.reason), "\(damage.line): \(ended)")
                #expect(ended.notes.contains(damage.remedy), "\(damage.line): \(ended)")
                try shell(damage.mended)
                try night.done(["status", night.directory])
            }
            #expect(try mode(marker) == 0o600)
            // The key of before opens nothing any more.
            try FileManager.default.removeItem(atPath: marker)
            try FileManager.default.copyItem(atPath: kept, toPath: marker)
            let ended = try night.run(["status", night.directory])
            #expect(ended.code == 2 && ended.notes.contains("it has another key"), "\(ended)")
            try night.expectIntact()
        }
    }
}
