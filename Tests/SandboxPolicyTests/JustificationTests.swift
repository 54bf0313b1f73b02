import LinuxKernel
import PolicyEffects
import SandboxPlan
import SandboxPolicy
import StrictYAML
import Testing

@Suite("What needs a reason in writing")
struct JustificationTests {
    /// Names below `because`, and what allows each.
    static let dangers = [
        ("assurance", "assurance: full", "assurance: delegated"),
        ("landlock.minimum-abi", "minimum-abi: 6", "minimum-abi: 5"),
        ("landlock.log", "minimum-abi: 6", "minimum-abi: 7, log: true"),
        ("mounts./tmp", "{ tmpfs: 16MiB,", "{ source: /srv/data, access: read-only,"),
        ("mounts./tmp.exec", "target: /tmp", "target: /tmp, exec: true"),
        ("sockets.netlink-route", "[unix]", "[netlink-route]"),
        ("calls.host-totals", "groups: [base]", "groups: [base], allow: [sysinfo]"),
        ("calls.memory-files", "groups: [base]", "groups: [base], allow: [memfd_create]"),
        ("calls.watching", "groups: [base]", "groups: [base], allow: [inotify_add_watch]"),
        ("calls.memory-locks", "groups: [base]", "groups: [base], allow: [mlockall]"),
        ("calls.flushing", "groups: [base]", "groups: [base], allow: [syncfs]"),
        ("calls.getcpu", "groups: [base]", "groups: [base], allow: [getcpu]"),
        ("limits.memory", "memory: 64MiB", "memory: 65GiB"),
        ("limits.processes", "processes: 8", "processes: 4097"),
        ("limits.wall", "wall: 10s", "wall: 25h"),
        ("limits.output", "output: 1MiB", "output: 1025MiB"),
        ("limits.files", "files: 64", "files: 65537"),
        ("limits.file-size", "file-size: 16MiB", "file-size: 65GiB"),
    ]

    private func problems(_ text: String) throws -> [DocumentProblem] {
        let resolver = PolicyResolver(groups: try PolicySample.groups(), context: plainContext())
        return resolver.problems(of: try PolicySample.policy(text))
    }

    @Test("a dangerous allowance is refused without a reason, and not with one", arguments: dangers)
    func reasons(name: String, safe: String, dangerous: String) throws {
        #expect(try problems(PolicySample.coding) == [])
        let text = PolicySample.coding.replacing(safe, with: dangerous)
        try #require(text != PolicySample.coding)
        let found = try problems(text)
        #expect(found.count == 1 && found.first?.remedy.contains("{\(name):") == true, "\(found)")
        #expect(try problems(text + "\nbecause: { \(name): the owner wants it }") == [])
    }

    @Test(
        "internet sockets need a reason where a sealed task is known, and none in a coding agent",
        arguments: ["inet", "inet6"]
    )
    func internet(family: String) throws {
        func changed(_ text: String) -> String {
            text.replacing("sockets: [unix]", with: "sockets: [unix, \(family)]")
        }
        #expect(try problems(changed(PolicySample.coding)) == [])
        let name = "sockets.\(family)"
        let found = try problems(changed(PolicySample.candidate))
        #expect(found.count == 1 && found.first?.remedy.contains("{\(name):") == true, "\(found)")
        let because = "\nbecause: { \(name): its client knows TCP only }"
        #expect(try problems(changed(PolicySample.candidate) + because) == [])
        let idle = try problems(changed(PolicySample.coding) + because)
        #expect(idle.map(\.key) == ["because.\(name)"])
    }

    @Test("a dangerous call is one through a group too, and is none when it is taken out again")
    func throughGroups() throws {
        let group = "{ group: totals, reason: tried, calls: [sysinfo] }"
        let groups = try PolicySample.groups([PolicySample.group, group])
        let resolver = PolicyResolver(groups: groups, context: plainContext())
        let text = PolicySample.coding.replacing("[base]", with: "[base, totals]")
        let found = resolver.problems(of: try PolicySample.policy(text))
        #expect(found.map(\.key) == ["syscalls.groups[1]"])
        let refused = text.replacing("totals] }", with: "totals], refuse: [sysinfo] }")
        #expect(resolver.problems(of: try PolicySample.policy(refused)) == [])
    }

    @Test("free blocks are counters where a file system of the host is mounted")
    func freeSpace() throws {
        let group = "{ group: space, reason: tried, calls: [statfs] }"
        let groups = try PolicySample.groups([PolicySample.group, group])
        let resolver = PolicyResolver(groups: groups, context: plainContext())
        let text = PolicySample.coding.replacing("[base]", with: "[base, space]")
        #expect(resolver.problems(of: try PolicySample.policy(text)) == [])
        let host = text.replacing("{ tmpfs: 16MiB,", with: "{ source: /usr, access: read-only,")
        let found = resolver.problems(of: try PolicySample.policy(host))
        #expect(found.first?.remedy.contains("calls.free-space") == true)
        let vault = text.replacing("{ tmpfs: 16MiB,", with: "{ vault: split,")
        let problems = resolver.problems(of: try PolicySample.policy(vault))
        #expect(problems.contains { $0.remedy.contains("calls.free-space") })
    }

    @Test(
        "a reason for what is not allowed, an empty and an endless one are refused",
        arguments: [
            ("{ calls.host-totals: tried }", "because.calls.host-totals"),
            ("{ mounts./tmp: tried }", "because.mounts./tmp"),
        ]
    )
    func idleReasons(because: String, key: String) throws {
        let found = try problems(PolicySample.coding + "\nbecause: \(because)")
        #expect(found.map(\.key) == [key])
    }

    @Test("a reason is a text of 1 to 1000 bytes")
    func texts() {
        for text in ["\"\"", "[a]", "1", String(repeating: "long ", count: 201)] {
            let found = PolicySample.problems(PolicySample.coding + "\nbecause: { x: \(text) }")
            #expect(found.map(\.key) == ["because.x"])
        }
    }

    @Test("what an experiment's configuration shows needs no reason in the policy")
    func shown() throws {
        let resolver = PolicyResolver(groups: try PolicySample.groups(), context: plainContext())
        let policy = try PolicySample.policy(PolicySample.coding).showing(["/srv/agent", "/usr"])
        #expect(resolver.problems(of: policy) == [])
    }

    @Test("the reference names everything that needs a reason")
    func reference() throws {
        let bytes = try Descriptor.open("\(policyDirectory)/README.md", .read)
            .readAll(limit: 1 << 20)
        let text = String(decoding: bytes, as: UTF8.self)
        for name in Self.dangers.map(\.0) + ["sockets.inet", "sockets.inet6"] {
            let shown = name.replacing("./tmp", with: ".TARGET").replacing("getcpu", with: "CALL")
            let row = shown.hasPrefix("limits.") ? "limits.NAME" : shown
            #expect(text.contains("| `\(row)` |"), "\(row)")
            let part = String(shown.split(separator: ".").last ?? "")
            #expect(text.contains("`\(part)`") || !shown.hasPrefix("limits."), "\(part)")
        }
    }
}
