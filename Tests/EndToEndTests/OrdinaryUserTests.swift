import Foundation
import HostKernel
import LinuxKernel
import StrictJSON
import Testing

extension EndToEnd {
    /// What somebody who is not root gets, and is told.
    @Suite struct OrdinaryUser {
        // Of a range that no distribution assigns: nobody's own processes or files.
        private static let user = "61347"
        private let place: String

        // The programs are installed where this user can reach them, whatever the checkout's path is.
        init() throws {
            place = NSTemporaryDirectory() + "ordinary-\(UUID().uuidString)"
            let files = FileManager.default
            let open: [FileAttributeKey: Any] = [.posixPermissions: 0o755]
            for folder in ["bin", "home"] {
                try files.createDirectory(
                    atPath: "\(place)/\(folder)",
                    withIntermediateDirectories: true,
                    attributes: open
                )
            }
            for name in ["", "-launcher", "-selfcheck", "-probe", "-broker"] {
                try files.copyItem(
                    atPath: "\(Stage.programs)/invigilator\(name)",
                    toPath: "\(place)/bin/invigilator\(name)"
                )
            }
            for name in ["policies", "templates"] {
                try files.copyItem(
                    atPath: "\(Stage.repository)/\(name)",
                    toPath: "\(place)/\(name)"
                )
            }
            let given = try Spawn.run(
                "/bin/sh",
                arguments: [
                    "-c",
                    "chmod 755 \(place) && chmod -R a+rX \(place) && chown \(Self.user) \(place)/home",
                ]
            )
            try #require(given.end.exitCode == 0)
        }

        private func run(
            _ words: [String],
            on host: [String] = [],
            seconds: Int = 60
        ) throws -> Ended {
            try start(host + ["\(place)/bin/invigilator"] + words).waitForEnd(seconds: seconds)
        }

        private func start(_ words: [String]) throws -> Program {
            try Program(
                "/usr/bin/env",
                [
                    "-i", "-C", "\(place)/home", "HOME=\(place)/home", "PATH=/usr/bin:/bin",
                    "setpriv", "--reuid", Self.user, "--regid", Self.user, "--clear-groups",
                ] + words,
                temporary: place
            )
        }

        private func remove() throws { try FileManager.default.removeItem(atPath: place) }

        @Test("the demo runs as an ordinary user, and says single-uid wherever it says a level")
        func demo() throws {
            let ended = try run(["demo", "--dir", "night"], seconds: 300)
            try #require(ended.code == 0, "\(ended)")
            #expect(ended.notes.contains("ASSURANCE single-uid, not full"))
            #expect(ended.notes.contains("user \(Self.user) is not root"))
            #expect(ended.output.contains("next: invigilator status"), "no sudo is asked for")
            let state = "\(place)/home/.local/state/invigilator"
            #expect(FileManager.default.fileExists(atPath: "\(state)/experiments"))
            let status = try run(["status", "--json", "night"])
            let json = try JSONValue(parsing: Array(status.output.utf8), limits: .document)
            #expect(json["assurance"] == "single-uid")
            let open = ["running-agents", "shared-user"]
            #expect(json["released_bits"]?["unbounded"] == JSONValue(open))
            #expect(json["released_bits"]?["vacuous"] == true)
            let rows = try run(["ledger", "export", "night"]).output.split(separator: "\n")
            let levels = Set(
                rows.compactMap { line in
                    line.firstRange(of: "\"assurance\":\"").map {
                        String(line[$0.upperBound...].prefix { $0 != "\"" })
                    }
                }
            )
            #expect(levels == ["single-uid"])
            #expect(try run(["ledger", "verify", "night"]).code == 0)
            let report = try String(
                contentsOfFile: "\(place)/home/night/workspace/report.html",
                encoding: .utf8
            )
            #expect(report.contains("<b>single-uid</b>"))
            #expect(report.contains("not bounded: \(open.joined(separator: ", "))"))
            try remove()
        }

        @Test("policies that demand full refuse an ordinary user, with the cure")
        func demandingMore() throws {
            #expect(try run(["init", "night"]).code == 0)
            let refused = try run(["prepare", "night"])
            #expect(refused.code == 3, "\(refused)")
            #expect(
                refused.notes.contains("this host reaches single-uid, the policy demands full"),
                "\(refused)"
            )
            #expect(refused.notes.contains("run as root, delegate a control group and"))
            #expect(refused.notes.contains("or demand less: `invigilator init DIR --assurance"))
            let words = ["sandbox", "exec", "--policy", "candidate", "--", "/usr/bin/true"]
            let executed = try run(words)
            #expect(executed.code == 3, "\(executed)")
            try remove()
        }

        @Test("redteam finds open what the README's table names for single-uid, and nothing else")
        func redTeam() throws {
            let ended = try run(["redteam", "--quick", "--json"], seconds: 240)
            #expect(ended.code == 3, "less than full is said by the exit code: \(ended.notes)")
            let json = try JSONValue(parsing: Array(ended.output.utf8), limits: .document)
            #expect(json["assurance"] == "single-uid")
            #expect(json["counts"]?["open"] == 0 && json["counts"]?["broken"] == 0)
            let probes = json["probes"]?.arrayValue ?? []
            func ids(_ outcome: String) -> Set<String> {
                Set(
                    probes.filter { $0["outcome"]?.stringValue == outcome }
                        .compactMap { $0["id"]?.stringValue }
                )
            }
            #expect(ids("closed").count > 200, "\(json["counts"] ?? .null)")
            let readme = try String(
                contentsOfFile: "\(Stage.repository)/README.md",
                encoding: .utf8
            )
            let named = readme.split(separator: "\n").filter { $0.contains("*open-at-level*") }
                .flatMap { $0.matches(of: /`([a-z-]+\.[a-z-]+)`/).map { String($0.output.1) } }
            #expect(!named.isEmpty && ids("open-at-level") == Set(named))
            // Each is shown in one sandbox at least; in another there may be no such file.
            let shown = probes.filter {
                $0["outcome"] == "open-at-level" && $0["observed"] == "works"
            }
            #expect(Set(shown.compactMap { $0["id"]?.stringValue }) == Set(named))
            for honest in json["honest"]?.arrayValue ?? [] { #expect(honest["problem"] == .null) }
            #expect(json["honest"]?.arrayValue?.count == 3)
            try remove()
        }

        private static let greedy = """
            import os, resource, sys
            print("uid", os.getuid(), "of procfs", os.listdir("/proc"))
            try: bytearray(700 << 20); print("memory taken")
            except MemoryError: print("memory refused")
            children = 0
            try:
                while children < 100:
                    if os.fork() == 0: sys.stdin.read(); os._exit(0)
                    children += 1
            except BlockingIOError: pass
            print("children", children, flush=True)
            os._exit(7)
            """

        @Test(
            "without a control group a sandbox's processes are counted, and the memory of each is limited"
        )
        func limits() throws {
            #expect(try run(["init", "night", "--assurance", "single-uid"]).code == 0)
            let ended = try run([
                "sandbox", "exec", "--directory", "night/policies", "--policy", "candidate", "--",
                "/usr/bin/python3", "-c", Self.greedy,
            ])
            #expect(ended.code == 7, "\(ended)")
            // Of 32 processes one is init and one the program.
            #expect(ended.output.contains("children 30\n"), "\(ended)")
            #expect(ended.output.contains("memory refused\n"))
            #expect(ended.output.contains("uid 1000 of procfs []\n"))
            try remove()
        }

        // A host as this user finds it where nobody but root may make user namespaces: the limit is that of
        // one namespace, which this user's program leaves without a capability (user_namespaces(7)).
        private static let hostWithoutUserNamespaces = [
            "unshare", "--user", "--map-user", user, "--map-group", user, "--keep-caps", "sh", "-c",
            """
            echo 0 > /proc/sys/user/max_user_namespaces &&
            exec setpriv --ambient-caps=-all --inh-caps=-all --bounding-set=-all "$@"
            """,
            "sh",
        ]

        @Test("on a host without user namespaces doctor names no-userns, with the cure")
        func doctorWithoutUserNamespaces() throws {
            let host = Self.hostWithoutUserNamespaces
            let make = ["unshare", "--user", "true"]
            #expect(try start(make).waitForEnd(seconds: 10).code == 0, "this host has them")
            #expect(try start(host + make).waitForEnd(seconds: 10).code == 1, "that one has none")
            let ended = try run(["doctor", "--json"], on: host)
            #expect(ended.code == 3, "\(ended)")
            let json = try JSONValue(parsing: Array(ended.output.utf8), limits: .document)
            #expect(json["assurance"] == "no-userns", "\(ended)")
            let invariants = json["invariants"]?.arrayValue ?? []
            #expect(invariants.count > 15)
            for entry in invariants {
                #expect(entry["state"] == "unknown", "\(entry)")
                #expect(entry["cure"]?.stringValue?.contains("user.max_user_namespaces") == true)
            }
            try remove()
        }

        @Test(
            "on a host without user namespaces whatever needs a sandbox is refused, and the rest works"
        )
        func withoutUserNamespaces() throws {
            let host = Self.hostWithoutUserNamespaces
            let policies = ["--directory", "night/policies"]
            let working = [
                ["init", "night", "--assurance", "single-uid"], ["policy", "check"] + policies,
                ["policy", "explain", "candidate"] + policies,
                ["policy", "diff", "candidate", "examiner"],
                ["policy", "compile", "candidate", "-o", "candidate.plan"] + policies,
                ["redteam", "--list"], ["agent", "list"],
            ]
            for words in working {
                let ended = try run(words, on: host)
                #expect(ended.code == 0, "\(words): \(ended)")
            }
            let refused = [
                ["prepare", "night"], ["run", "night"], ["gate", "night"],
                ["sandbox", "exec"] + policies + ["--policy", "candidate", "--", "/usr/bin/true"],
                ["demo", "--dir", "other"], ["agent", "check", "scripted"],
                ["benchmark", "check", "helpdesk"],
            ]
            for words in refused {
                let ended = try run(words, on: host)
                #expect(ended.code == 3, "\(words): \(ended)")
                let last = ended.notes.split(separator: "\n").last ?? ""
                let error =
                    "invigilator: start the launcher: user namespaces: this host reaches no-userns: "
                    + "user namespaces are switched off; sysctl -w user.max_user_namespaces="
                #expect(last.hasPrefix(error), "\(words): \(ended)")
            }
            let attacks = try run(["redteam", "--quick"], on: host)
            #expect(attacks.code == 3)
            #expect(attacks.notes.contains("make a user namespace: No space left on device; run"))
            let launcher = "\(place)/bin/invigilator-launcher"
            let alone = try start(
                host + [launcher, "run", "candidate.plan", "--", "/usr/bin/true"]
            )
            .waitForEnd(seconds: 10)
            #expect(alone.code == 3 && alone.notes.contains("unshare: ENOSPC"), "\(alone)")
            try remove()
        }

        @Test("doctor names the level, the walls that stand and those that do not, with the cure")
        func doctor() throws {
            let ended = try run(["doctor", "--json"])
            #expect(ended.code == 3, "less than full is said by the exit code")
            let json = try JSONValue(parsing: Array(ended.output.utf8), limits: .document)
            #expect(json["assurance"] == "single-uid", "\(ended)")
            let states = Dictionary(
                uniqueKeysWithValues: (json["invariants"]?.arrayValue ?? []).compactMap { entry in
                    entry["id"]?.stringValue.map { ($0, entry["state"]?.stringValue ?? "") }
                }
            )
            let missing = states.filter { $0.value != "enforced" }.keys.sorted()
            #expect(missing == ["freezer", "limits", "side-channels"], "\(states)")
            for entry in json["invariants"]?.arrayValue ?? []
            where entry["state"]?.stringValue != "enforced" {
                #expect(entry["cure"]?.stringValue?.contains("run as root") == true)
            }
            try remove()
        }
    }
}
