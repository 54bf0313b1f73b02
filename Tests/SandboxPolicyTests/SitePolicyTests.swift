import PolicyEffects
import SandboxPlan
import SandboxPolicy
import StrictYAML
import Testing

@Suite("What a site bounds")
struct SitePolicyTests {
    private func site(_ bounds: String, file: String = "/site/x.yaml") throws -> SitePolicy {
        let text = "version: 1\nreason: shared host\n" + bounds
        return try SitePolicy(files: [(file, Array(text.utf8))])
    }

    private func problems(
        _ site: SitePolicy,
        _ text: String = PolicySample.coding
    ) throws -> [DocumentProblem] {
        var context = plainContext()
        context.site = site
        let groups = try PolicySample.groups()
        return PolicyResolver(groups: groups, context: context)
            .problems(of: try PolicySample.policy(text).forComparison(groups: groups))
    }

    @Test("a key is shared for the upstreams of its own document and no other")
    func keys() throws {
        let shared = try SitePolicy(
            files: [
                ("a", "keys: [/k/one, environment:K]\nupstreams: [https://one.example]\n"),
                ("b", "keys: [/k/two]\nupstreams: [https://two.example]\n"),
            ].map { ($0.0, Array("version: 1\nreason: shared host\n\($0.1)".utf8)) }
        )
        #expect(shared.shares(key: "/k/one", for: "https://one.example"))
        #expect(shared.shares(key: "environment:K", for: "https://one.example"))
        #expect(shared.shares(key: "/k/two", for: "https://two.example"))
        #expect(!shared.shares(key: "/k/one", for: "https://two.example"))
        #expect(!shared.shares(key: "/k/three", for: "https://one.example"))
        #expect(!SitePolicy().shares(key: "/k/one", for: "https://one.example"))
        for half in ["keys: [/k/one]", "upstreams: [https://one.example]"] {
            let error = #expect(throws: PolicyRefusal.self) { try site(half) }
            #expect(
                "\(String(describing: error))".contains("keys and upstreams are written together")
            )
        }
        #expect(throws: PolicyRefusal.self) { try site("keys: [k]\nupstreams: [https://a]") }
    }

    @Test(
        "a policy within a bound is accepted, and one beyond it refused where it says so",
        arguments: [
            ("assurance: full", "assurance: full", "assurance: delegated", "assurance"),
            ("minimum-abi: 6", "minimum-abi: 6", "minimum-abi: 5", "landlock"),
            (
                "network: [loopback]", "streams: pipes", "streams: pipes\nnetwork: endpoint",
                "network"
            ),
            ("proc: [pid-only]", "proc: pid-only", "proc: masked", "proc"),
            ("sockets: [unix]", "sockets: [unix]", "sockets: [inet]", "sockets"),
            ("devices: [\"null\"]", "devices: [\"null\"]", "devices: [zero]", "devices"),
            (
                "sources: [/srv/data]", "{ tmpfs: 16MiB,",
                "{ source: /srv/data2, access: read-only,", "mounts[0]"
            ),
            (
                "calls: { never: [getcpu] }", "[base]", "[base], allow: [getcpu]",
                "syscalls.allow[0]"
            ),
            (
                "calls: { only: [execve, exit_group, rt_sigreturn, close_range, read, write, "
                    + "sendmsg, socket, socketpair] }",
                "[base]", "[base], allow: [getcpu]", "syscalls.allow[0]"
            ),
            ("limits: { memory: 64MiB }", "memory: 64MiB", "memory: 65MiB", "limits.memory"),
            ("limits: { processes: 8 }", "processes: 8", "processes: 9", "limits.processes"),
            ("limits: { cpu: 100 }", "cpu: 100", "cpu: 101", "limits.cpu"),
            ("limits: { wall: 10s }", "wall: 10s", "wall: 11s", "limits.wall"),
            ("limits: { output: 1MiB }", "output: 1MiB", "output: 2MiB", "limits.output"),
            ("limits: { files: 64 }", "files: 64", "files: 65", "limits.files"),
            (
                "limits: { file-size: 16MiB }", "file-size: 16MiB", "file-size: 1GiB",
                "limits.file-size"
            ),
        ]
    )
    func bounds(bound: String, within: String, beyond: String, key: String) throws {
        let site = try site(bound)
        #expect(try problems(site) == [])
        let text = PolicySample.coding.replacing(within, with: beyond)
        try #require(text != PolicySample.coding)
        #expect(try problems(SitePolicy(), text) == [])
        let found = try problems(site, text)
        #expect(found.map(\.key) == [key], "\(found)")
        #expect(found.first?.reason.contains("shared host (/site/x.yaml:3: ") == true)
    }

    @Test("a limit that a site bounds must be there", arguments: ["idle", "cpu-time"])
    func absentLimits(key: String) throws {
        let site = try site("limits: { \(key): 20s }")
        #expect(try problems(site).map(\.key) == ["limits.\(key)"])
        func policy(_ time: String) -> String {
            PolicySample.coding.replacing("wall: 10s", with: "wall: 10s\n  \(key): \(time)")
        }
        #expect(try problems(site, policy("20s")) == [])
        #expect(try problems(site, policy("21s")).map(\.key) == ["limits.\(key)"])
    }

    @Test("a group's name hides no call, and a call that is taken out is none")
    func groups() throws {
        let site = try site("calls: { never: [write] }")
        #expect(try problems(site).map(\.key) == ["syscalls.groups[0]"])
        let text = PolicySample.coding.replacing("[base] }", with: "[base], refuse: [write] }")
        #expect(try problems(site, text) == [])
    }

    @Test("an empty list allows nothing of its kind, and a bound holds for its roles alone")
    func rolesAndNothing() throws {
        #expect(try problems(try site("sockets: []")).map(\.key) == ["sockets"])
        #expect(try problems(try site("sockets: []\nroles: [candidate]")) == [])
        let found = try problems(
            try site("sockets: []\nroles: [candidate]"),
            PolicySample.candidate
        )
        #expect(found.map(\.key) == ["sockets"])
    }

    @Test("all documents hold at once, and their digest changes with each byte and name")
    func several() throws {
        func file(_ name: String, _ bound: String) -> (String, [UInt8]) {
            (name, Array("version: 1\nreason: shared host\n\(bound)".utf8))
        }
        let both = [file("b", "limits: { files: 32 }"), file("a", "sockets: []")]
        #expect(try problems(SitePolicy(files: both)).count == 2)
        let digests = try [
            both, both.reversed(), [both[0]], [file("c", "limits: { files: 32 }")],
            [file("b", "limits: { files: 33 }")],
        ].map { try SitePolicy(files: $0).digest }
        #expect(digests[0] == digests[1])
        #expect(Set(digests).count == 4)
        #expect(SitePolicy().digest == nil)
    }

    @Test("limits that an experiment sets are held against the site too")
    func laterLimits() throws {
        let site = try site("limits: { wall: 10s }\nroles: [coding]")
        var limits = try PolicySample.policy(PolicySample.coding).limits
        try site.require(limits, of: .coding, setBy: "experiment_config.yaml")
        limits.wallClock = .seconds(11)
        #expect(throws: PolicyRefusal.self) {
            try site.require(limits, of: .coding, setBy: "experiment_config.yaml")
        }
        try site.require(limits, of: .candidate, setBy: "experiment_config.yaml")
    }

    @Test(
        "a document that is not understood in full bounds nothing and refuses everything",
        arguments: [
            "", "bounds: []", "assurance: best", "calls: { never: [no_such_call] }",
            "sources: [relative]", "limits: { memory: 64 }", "sockets: [unix, unix]",
        ]
    )
    func malformed(bound: String) throws {
        guard !bound.isEmpty else {
            #expect(throws: PolicyRefusal.self) { try SitePolicy(files: [("x", [])]) }
            return
        }
        #expect(throws: PolicyRefusal.self) { try site(bound) }
    }
}
