import Foundation
import SandboxPlan
import SandboxPolicy
import SeccompCompiler
import StrictYAML
import TestSupport
import Testing

@Suite("Reading policies")
struct PolicyReadingTests {
    private func spoilt(_ old: String, _ new: String) -> [DocumentProblem] {
        PolicySample.problems(PolicySample.candidate.replacing(old, with: new))
    }

    @Test("a sound policy is read with its units")
    func sound() throws {
        let policy = try PolicySample.policy(PolicySample.candidate)
        #expect(policy.role == .candidate)
        #expect(policy.limits.memory == .mebibytes(64))
        #expect(policy.limits.wallClock == .seconds(10))
        #expect(policy.limits.cpuTime == nil)
        #expect(policy.mounts.map(\.source) == [.tmpfs(size: .mebibytes(16), inodes: 16_384)])
        #expect(policy.descriptors == [DescriptorSlot(number: 3, purpose: .frames)])
        #expect(policy.sockets == [.unix])
    }

    @Test("an unknown key is refused where it stands, at every level")
    func unknownKeys() {
        let top = spoilt("streams: pipes", "streams: pipes\ninternet: yes")
        #expect(top.map(\.key) == ["internet"])
        #expect(top.map(\.line) == [13])
        #expect(top.first?.reason == "the key is unknown")
        let nested = spoilt("  cpu: 100", "  cpu: 100\n  gpu: 1")
        #expect(nested.map(\.key) == ["limits.gpu"])
        #expect(nested.map(\.line) == [17])
        let mount = spoilt("target: /tmp }", "target: /tmp, propagation: shared }")
        #expect(mount.map(\.key) == ["mounts[0].propagation"])
        #expect(mount.map(\.line) == [7])
    }

    @Test("every problem of a document is reported, in the order of lines")
    func collected() {
        let text = PolicySample.candidate.replacing("memory: 64MiB", with: "memory: 64")
            .replacing("wall: 10s", with: "wall: 0s").replacing("[unix]", with: "[unix, vsock]")
            .replacing("role: candidate", with: "role: judge")
        let problems = PolicySample.problems(text)
        #expect(
            problems.map(\.key) == ["role", "limits.memory", "limits.wall", "sockets[1]"]
        )
        #expect(problems.map(\.line) == [3, 14, 17, 22])
        #expect(problems.allSatisfy { !$0.remedy.isEmpty && $0.file == "sample.yaml" })
    }

    @Test(
        "a missing key is named",
        arguments: [
            "policy: sample", "version: 1", "role: candidate", "assurance: full",
            "root: { tree: true }", "proc: none", "working-directory: /candidate",
            "streams: pipes", "  wall: 10s", "  memory: 64MiB", "landlock: { minimum-abi: 6 }",
            "syscalls: { groups: [base] }",
        ]
    )
    func missing(line: String) throws {
        let key = try #require(line.split(separator: ":").first).trimmingPrefix("  ")
        let problems = spoilt(line + "\n", "")
        #expect(problems.count == 1)
        #expect(problems.first?.reason == "the key is missing")
        #expect(problems.first?.key.hasSuffix(key) == true)
    }

    @Test(
        "what YAML allows and a policy does not need is refused",
        arguments: [
            ("policy: sample", "policy: &name sample", "anchors"),
            ("environment: { HOME: /tmp }", "environment: &e { A: b }\nx: *e", "anchors"),
            ("environment: { HOME: /tmp }", "environment: &e { A: *e }", "undefined alias"),
            ("devices: [\"null\"]", "devices: &d [*d, *d]", "undefined alias"),
            ("policy: sample", "policy: !secret sample", "tags"),
            ("streams: pipes", "streams: pipes\nstreams: pipes", "duplicate key"),
            ("environment: { HOME: /tmp }", "environment: { A: b, A: c }", "duplicate key"),
            ("policy: sample", "policy: sample\n---\npolicy: other", "document"),
            ("policy: sample", "policy: [", "expected"),
            ("environment: { HOME: /tmp }", "environment: { ? [a, b] : c }", "plain text"),
        ]
    )
    func unusualYAML(old: String, new: String, reason: String) {
        let problems = spoilt(old, new)
        #expect(problems.contains { $0.reason.contains(reason) }, "\(problems)")
    }

    @Test(
        "the surface of a coding policy is the one file in a private directory, unless it says more"
    )
    func surface() throws {
        let usual = try PolicySample.policy(PolicySample.coding).surface
        #expect(usual == .standard && usual.description == "replace agent/agent.py")
        let text = PolicySample.coding + "\nsurface: [agent/agent.py, \"agent/prompts/*.md\"]\n"
        let more = try PolicySample.policy(text).surface
        #expect(more.description == "replace agent/agent.py agent/prompts/*.md")
        let bound =
            PolicySample.coding + "\nsave: in-place\nsurface: [agent/agent.py, agent/a.md]\n"
        #expect(try PolicySample.policy(bound).surface.save == .inPlace)
    }

    @Test(
        "a surface that could keep what nobody meant is refused",
        arguments: [
            ("surface: []", "is not listed"), ("surface: [agent/other.py]", "is not listed"),
            ("surface: [\"agent/*.py\"]", "is not listed"),
            ("surface: [agent/agent.py, agent/agent.py]", "listed twice"),
            ("surface: [agent/agent.py, workspace/suite.json]", "no file below agent/"),
            ("surface: [agent/agent.py, agent/../x]", "no file below agent/"),
            ("save: in-place\nsurface: [agent/agent.py, \"agent/*.md\"]", "a * names others"),
            (
                "surface: [agent/agent.py, "
                    + (1...32).map { "agent/\($0)" }.joined(separator: ", ") + "]",
                "more than 32"
            ),
            ("save: both", "is unknown"), ("save: in-place", ""),
        ]
    )
    func surfaceRefused(lines: String, reason: String) {
        let problems = PolicySample.problems(PolicySample.coding + "\n" + lines + "\n")
        #expect(problems.contains { $0.reason.contains(reason) } || reason.isEmpty, "\(problems)")
        #expect(problems.isEmpty == reason.isEmpty)
        let other = PolicySample.problems(PolicySample.candidate + "\n" + lines + "\n")
        #expect(other.contains { $0.reason.contains("only a coding sandbox") })
    }

    @Test("what Landlock refuses is logged only where the policy says so, and demands what can")
    func landlockLog() throws {
        let text = PolicySample.candidate
        #expect(try !PolicySample.policy(text).logsLandlock)
        let logged = text.replacing("minimum-abi: 6", with: "minimum-abi: 7, log: true")
        #expect(try PolicySample.policy(logged).logsLandlock)
        let early = spoilt("minimum-abi: 6", "minimum-abi: 6, log: true")
        #expect(early.map(\.remedy) == ["write minimum-abi: 7, or remove log"])
        #expect(spoilt("minimum-abi: 6", "minimum-abi: 7, log: 1").count == 1)
    }

    @Test("documents that are too large, too deep, empty or no text are refused")
    func unreadable() {
        func reasons(_ bytes: [UInt8]) -> [String] {
            do {
                _ = try SandboxPolicy(parsing: bytes, file: "x")
                return []
            } catch {
                return error.problems.map(\.reason)
            }
        }
        #expect(reasons([UInt8](repeating: 35, count: 1_000_001)).first?.contains("bytes") == true)
        #expect(reasons([0xff, 0xfe]).first?.contains("UTF-8") == true)
        #expect(reasons([97, 0]).first?.contains("UTF-8") == true)
        #expect(reasons([]) == ["the document is empty"])
        let deep =
            Array(("a: " + String(repeating: "[", count: 40)).utf8)
            + [UInt8](repeating: 93, count: 40)
        #expect(reasons(deep).contains("nested too deeply"))
        #expect(reasons(Array("just text".utf8)).contains { $0.contains("expected a mapping") })
    }

    @Test("a file of more than a megabyte is refused by its name, and those beside it are not read")
    func largeFile() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("policies-\(UUID().uuidString)")
        let groups = folder.appendingPathComponent("syscalls")
        try FileManager.default.createDirectory(at: groups, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // a nuisance, not a wrong test
        let text = PolicySample.candidate
        let file = folder.appendingPathComponent("sample.yaml")
        for padding in [1_000_000 - text.utf8.count, 1_000_001 - text.utf8.count] {
            let comment = String(repeating: "#", count: padding - 1)
            try Data((text + "\n" + comment).utf8).write(to: file)
            do {
                let library = try PolicyLibrary(directory: folder.path)
                #expect(try library.policy(named: "sample").name == "sample")
                #expect(padding + text.utf8.count == 1_000_000)
            } catch {
                #expect(padding + text.utf8.count == 1_000_001, "\(error)")
                #expect(error.problems.first?.file == file.path)
                #expect(error.problems.first?.remedy.contains("1000000 bytes") == true)
            }
        }
    }

    @Test(
        "a quantity needs a unit, a value above 0 and no overflow",
        arguments: [
            "64", "0MiB", "-1MiB", "64mib", "1.5GiB", "99999999999GiB", "MiB", "64 MiB", "",
        ]
    )
    func quantities(text: String) {
        #expect(spoilt("memory: 64MiB", "memory: \"\(text)\"").map(\.key) == ["limits.memory"])
    }

    @Test(
        "a text that YAML reads as something else needs quotes, and a number must have none",
        arguments: [
            ("HOME: /tmp", "HOME: 1", "environment.HOME"),
            ("HOME: /tmp", "HOME:", "environment.HOME"),
            ("HOME: /tmp", "HOME: \"\\0\"", "environment.HOME"),
            ("cpu: 100", "cpu: \"100\"", "limits.cpu"),
            ("{ tree: true }", "{ tree: yes }", "root.tree"),
            ("streams: pipes", "streams: pipes\ncommand: [/bin/sleep, 5]", "command[1]"),
        ]
    )
    func kinds(old: String, new: String, key: String) {
        #expect(spoilt(old, new).map(\.key) == [key])
    }

    @Test("a group of system calls is listed once")
    func groups() {
        let problems = spoilt("groups: [base]", "groups: [base, base]")
        #expect(problems.map(\.key) == ["syscalls.groups[1]"])
        #expect(problems.map(\.reason) == ["it is listed twice"])
    }

    @Test(
        "a mount says what it shows once, and only the keys of its kind",
        arguments: [
            "{ target: /tmp }", "{ tmpfs: 1MiB, tree: 1, target: /tmp, access: read-write }",
            "{ tree: 1, target: /tmp }", "{ tree: 16, target: /tmp, access: read-only }",
            "{ tmpfs: 1MiB, target: /tmp, access: read-only }", "{ tmpfs: 1MiB }",
            "{ vault: all, target: /vault }", "{ vault: split, target: /vault, exec: true }",
            "{ source: /usr, target: /usr }", "{ source: /usr, target: /usr, access: write }",
        ]
    )
    func mounts(text: String) {
        #expect(!spoilt("{ tmpfs: 16MiB, target: /tmp }", text).isEmpty)
    }

    @Test(
        "paths are absolute and normalised",
        arguments: ["candidate", "/candidate/..", "/candidate//x", "/./x", "/candidate/"]
    )
    func paths(path: String) {
        #expect(
            spoilt("working-directory: /candidate", "working-directory: \(path)").map(\.key)
                == ["working-directory"]
        )
    }

    @Test("whatever bytes change in a shipped policy, reading ends in a policy or in problems")
    func mutations() throws {
        let library = try PolicyLibrary(directory: policyDirectory)
        #expect(!library.policyNames.isEmpty)
        var generator = SeededGenerator(seed: 0x1d5)
        let original = Array(PolicySample.candidate.utf8)
        let alphabet = Array("{}[]:,&*!|>-#\"' \n\t0aZ\u{0}\u{ff}".utf8)
        for _ in 0..<400 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let at = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0...2, using: &generator) {
                case 0: bytes[at] = alphabet.randomElement(using: &generator) ?? 0
                case 1: bytes.remove(at: at)
                default: bytes.insert(alphabet.randomElement(using: &generator) ?? 0, at: at)
                }
            }
            do {
                _ = try SandboxPolicy(parsing: bytes, file: "x")
            } catch {
                #expect(!error.problems.isEmpty)
            }
        }
    }
}
