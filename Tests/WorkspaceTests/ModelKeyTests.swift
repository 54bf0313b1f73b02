import Foundation
import HostKernel
import LinuxKernel
import Testing
import Workspace

@Suite("A model's key")
struct ModelKeyTests {
    private static let address = "https://api.example.com"
    private let scratch: Scratch
    private let ours = ModelKeyHost(owners: [Identity.effectiveUser], environment: { _ in nil })

    init() throws { scratch = try Scratch() }

    private func place(_ text: String, permissions: UInt32 = 0o600) throws -> ModelKeySource {
        try scratch.write(text, to: "key")
        try Descriptor.open("\(scratch.path)/key", .read).setPermissions(permissions)
        return .file("\(scratch.path)/key")
    }

    private func refusal(_ source: ModelKeySource, _ host: ModelKeyHost? = nil) -> String {
        do {
            _ = try ModelKey(reading: source, for: Self.address, on: host ?? ours)
            return "it was read"
        } catch {
            return "\(error)"
        }
    }

    @Test("a file that only its owner may read gives its one line", arguments: ["", "\n"])
    func file(end: String) throws {
        for permissions: UInt32 in [0o600, 0o400] {
            let source = try place("sk-test-1234\(end)", permissions: permissions)
            #expect(
                try ModelKey(reading: source, for: Self.address, on: ours).secret == "sk-test-1234"
            )
        }
    }

    @Test("nothing that shows a key shows which")
    func secrecy() throws {
        let key = try ModelKey(reading: try place("sk-test-1234"), for: Self.address, on: ours)
        var dumped = ""
        dump(key, to: &dumped)
        let endpoints: [String: ModelKey] = ["one": key]
        let shown = "\(key) \(String(reflecting: key)) \(endpoints) \([key]) \(dumped)"
        #expect(!shown.contains("1234"))
        #expect(shown.contains("a key"))
    }

    @Test("a file that others may use is refused", arguments: [0o640, 0o604, 0o660, 0o610, 0o601])
    func permissions(mode: UInt32) throws {
        let text = refusal(try place("sk-test-1234", permissions: mode))
        #expect(text.contains("others than its owner may use it; remedy: chmod 600"))
        #expect(!text.contains("1234"))
    }

    @Test("a file of another user is refused, root's and the caller's are read")
    func owner() throws {
        try #require(Identity.effectiveUser == 0, "only root can give a file away")
        let source = try place("sk-test-1234")
        try Descriptor.open("\(scratch.path)/key", .read).setOwner(4711, group: 0)
        #expect(refusal(source).contains("it belongs to uid 4711"))
        let caller = ModelKeyHost(owners: [4711], environment: { _ in nil })
        #expect(
            try ModelKey(reading: source, for: Self.address, on: caller).secret == "sk-test-1234"
        )
    }

    @Test(
        "a user's configuration has the keys that the user may read, and none of root's",
        .enabled(if: Identity.effectiveUser == 0, "only root can read for others")
    )
    func rights() throws {
        try Descriptor.open(scratch.path, .read).setPermissions(0o755)
        let source = try place("sk-test-1234")
        func host(_ shares: Bool = false) -> ModelKeyHost {
            ModelKeyHost(
                owners: [4711],
                environment: { _ in nil },
                rights: FileRights(of: 4711)
            ) { $0 == source && $1 == Self.address && shares }
        }
        // The hole: root's own rights.
        #expect(try ModelKey(reading: source, for: Self.address, on: ours).secret == "sk-test-1234")
        let text = refusal(source, host())
        #expect(text.contains("uid 4711, whose configuration names it, may not read it"))
        #expect(text.contains("keys: [SOURCE] with upstreams: [https://api.example.com]"))
        // On the site's list it is read, for the upstream of the list alone.
        let shared = try ModelKey(reading: source, for: Self.address, on: host(true))
        #expect(shared.secret == "sk-test-1234")
        #expect(throws: WorkspaceError.self) {
            try ModelKey(reading: source, for: "https://elsewhere.example.com", on: host(true))
        }
        // The user's own is read.
        try Descriptor.open("\(scratch.path)/key", .read).setOwner(4711, group: 0)
        #expect(refusal(source, host()) == "it was read")
        // What lies in a directory that the user cannot search is not there for the user.
        try Descriptor.open(scratch.path, .read).setPermissions(0o700)
        #expect(refusal(source, host()).contains("may not read it"))
    }

    @Test(
        "root's variables and credentials are none of a user's configuration",
        .enabled(if: Identity.effectiveUser == 0, "only root reads for others"),
        arguments: [ModelKeySource.environment("A_KEY"), .credential("key")]
    )
    func variables(source: ModelKeySource) throws {
        _ = try place("sk-test-1234")
        let values = ["A_KEY": "sk-test-1234", "CREDENTIALS_DIRECTORY": scratch.path]
        func host(_ caller: UInt32?, shares: Bool = false) -> ModelKeyHost {
            ModelKeyHost(
                owners: [],
                environment: { values[$0] },
                rights: FileRights(of: 4711),
                caller: caller
            ) { _, _ in shares }
        }
        for caller: UInt32? in [nil, 4712] {
            let text = refusal(source, host(caller))
            #expect(text.contains("uid 4711, whose configuration names it, did not bring it along"))
        }
        #expect(refusal(source, host(nil, shares: true)) == "it was read")
        // A caller of sudo brings variables along, and no credentials.
        let isVariable = source == .environment("A_KEY")
        #expect((refusal(source, host(4711)) == "it was read") == isVariable)
    }

    @Test("what is no regular file is refused, and nobody waits for it")
    func kinds() throws {
        try Scratch.run("/usr/bin/mkfifo", ["-m", "600", "\(scratch.path)/fifo"])
        #expect(refusal(.file("\(scratch.path)/fifo")).contains("no regular file"))
        #expect(refusal(.file(scratch.path)).contains("no regular file"))
        #expect(refusal(.file("/dev/null")).contains("no regular file"))
        #expect(refusal(.file("\(scratch.path)/none")).contains("ENOENT"))
    }

    @Test("a symbolic link anywhere in the path is refused")
    func links() throws {
        _ = try place("sk-test-1234")
        try FileManager.default.createSymbolicLink(
            atPath: "\(scratch.path)/link",
            withDestinationPath: "\(scratch.path)/key"
        )
        try FileManager.default.createSymbolicLink(
            atPath: "\(scratch.path)/folder",
            withDestinationPath: scratch.path
        )
        #expect(refusal(.file("\(scratch.path)/link")).contains("ELOOP"))
        #expect(refusal(.file("\(scratch.path)/folder/key")).contains("ELOOP"))
    }

    @Test(
        "a text that is not one line of a key is refused, and not repeated",
        arguments: [
            "", "\n", "two\nlines-1234", "a b-1234", "1234\r\n", "\"1234\u{7f}", "1234é",
            "1234\n\n", "1234\u{0}",
        ]
    )
    func forms(text: String) throws {
        let found = refusal(try place(text))
        #expect(found.contains("read a model's key"))
        #expect(!found.contains("1234"))
    }

    @Test("a key has at most 4,096 bytes")
    func size() throws {
        let longest = String(repeating: "k", count: ModelKey.maximumBytes)
        #expect(
            try ModelKey(reading: try place(longest), for: Self.address, on: ours).secret == longest
        )
        #expect(refusal(try place(longest + "k")).contains("more than"))
        let line = try place(longest + "\n")
        #expect(refusal(line).contains("more than"))
    }

    @Test("a variable of the environment gives a key, an unset one is refused with the remedy")
    func variable() throws {
        let host = ModelKeyHost(owners: [], environment: { $0 == "A_KEY" ? "sk-test" : nil })
        #expect(
            try ModelKey(reading: .environment("A_KEY"), for: Self.address, on: host).secret
                == "sk-test"
        )
        let text = refusal(.environment("B_KEY"), host)
        #expect(text.contains("variable B_KEY: it is not set"))
        #expect(text.contains("--preserve-env=B_KEY"))
    }

    @Test("a credential of systemd is a file under the same rules")
    func credential() throws {
        _ = try place("sk-test-1234")
        let path = scratch.path
        let host = ModelKeyHost(
            owners: [Identity.effectiveUser],
            environment: { $0 == "CREDENTIALS_DIRECTORY" ? path : nil }
        )
        #expect(
            try ModelKey(reading: .credential("key"), for: Self.address, on: host).secret
                == "sk-test-1234"
        )
        _ = try place("sk-test-1234", permissions: 0o644)
        #expect(refusal(.credential("key"), host).contains("others than its owner"))
        #expect(refusal(.credential("key")).contains("systemd gave this process no credentials"))
    }

    @Test("a variable of this process is found by its name")
    func process() {
        #expect(ProcessEnvironment.value(of: "PATH")?.isEmpty == false)
        #expect(ProcessEnvironment.value(of: "NO_SUCH_VARIABLE_IS_SET") == nil)
    }

    @Test("a replay needs no key for the coding agent, and everybody else's as before")
    func replayed() throws {
        func keys(_ coding: String, _ judge: String) throws -> [String] {
            let text = """
                benchmark: x
                models:
                  upstreams:
                    one:
                      url: https://model.example
                      dialects: [openai-chat]
                      key: {environment: SHARED}
                      trust: /nowhere/ca.pem
                    two: {url: "https://other.example", dialects: [openai-chat]}
                  roles:
                    coding-agent: {upstream: one, model: m\(coding)}
                    judge: {upstream: two, model: m\(judge)}
                  cassette: {replay: a, exams: live}
                """
            let models = try ExperimentConfig(parsing: Array(text.utf8), file: "c").models
            let host = ModelKeyHost(owners: []) { $0 == "JUDGE" ? "sk-judge" : nil }
            return try ModelSecrets(of: models, on: host).keys.keys.sorted()
        }
        #expect(try keys("", "").isEmpty)
        #expect(try keys(", key: {environment: OWN}", "").isEmpty)
        #expect(try keys("", ", key: {environment: JUDGE}") == ["two.judge"])
        #expect(throws: WorkspaceError.self) { try keys("", ", key: {environment: MISSING}") }
    }

    @Test("the keys and certificates of every endpoint are read")
    func secrets() throws {
        _ = try place("sk-test-1234")
        try scratch.write("-----BEGIN CERTIFICATE-----\n", to: "ca.pem")
        func models(_ rest: String) throws -> ModelSettings {
            let text = """
                benchmark: x
                models:
                  upstreams:
                    one:
                      url: https://model.example
                      dialects: [openai-chat]
                      key: {file: \(scratch.path)/key}
                      trust: \(scratch.path)/ca.pem
                  roles: {judge: {model: m}, candidate: {model: m, key: {environment: OWN}}}
                  \(rest)
                """
            return try ExperimentConfig(parsing: Array(text.utf8), file: "c").models
        }
        let host = ModelKeyHost(
            owners: [Identity.effectiveUser],
            environment: { $0 == "OWN" ? "sk-own" : nil }
        )
        let secrets = try ModelSecrets(of: try models(""), on: host)
        #expect(
            secrets.keys.mapValues(\.secret) == ["one": "sk-test-1234", "one.candidate": "sk-own"]
        )
        #expect(secrets.trust.keys.sorted() == ["one", "one.candidate"])
        try scratch.write("no certificate", to: "ca.pem")
        let error = #expect(throws: WorkspaceError.self) {
            _ = try ModelSecrets(of: try models(""), on: host)
        }
        #expect("\(String(describing: error))".contains("no certificate"))
    }
}
