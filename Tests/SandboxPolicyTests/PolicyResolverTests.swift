import PolicyEffects
import SandboxPlan
import SandboxPolicy
import StrictYAML
import Testing

@Suite("Resolving policies")
struct PolicyResolverTests {
    private func coding(_ mount: String) -> String {
        PolicySample.coding.replacing(
            "  - { tmpfs: 16MiB, target: /tmp }",
            with: "  - \(mount)"
        )
    }

    private func reasons(
        _ mount: String,
        lookUp: @escaping @Sendable (String) -> SourceFacts? = plainHost
    ) throws -> [String] {
        try PolicySample.resolutionProblems(coding(mount), lookUp: lookUp).map(\.reason)
    }

    @Test("a source is pinned by device and inode")
    func pinned() throws {
        let resolver = PolicyResolver(groups: try PolicySample.groups(), context: plainContext())
        let text = coding("{ source: /usr, target: /usr, access: read-only, exec: true }")
        let plan = try resolver.resolve(try PolicySample.policy(text)).plan
        let facts = try #require(plainHost("/usr"))
        #expect(
            plan.mounts.map(\.source) == [
                .host(
                    PinnedSource(
                        path: "/usr",
                        device: facts.device,
                        inode: facts.inode,
                        isDirectory: true
                    )
                )
            ]
        )
    }

    @Test(
        "D06: a source that shows what no payload may see is refused",
        arguments: [
            "/var/lib/invigilator", "/var/lib/invigilator/vault", "/var/lib", "/var", "/proc",
            "/proc/1", "/sys/fs/cgroup", "/dev", "/dev/shm", "/run/docker.sock", "/run",
            "/var/run/docker.sock", "/etc", "/etc/shadow", "/etc/ssh", "/boot",
            "/var/lib/docker/overlay2",
        ]
    )
    func forbidden(path: String) throws {
        let found = try reasons("{ source: \(path), target: /x, access: read-only }")
        #expect(found.count == 1)
        #expect(found.first?.contains("would show") == true)
    }

    @Test(
        "a source is an absolute and normalised path",
        arguments: ["usr", "/", "/usr/../etc", "/usr//lib", "/usr/"]
    )
    func malformed(path: String) throws {
        #expect(
            try reasons("{ source: \(path), target: /x, access: read-only }").first?
                .contains("normalised") == true
        )
    }

    @Test("a missing source is refused, unless it is optional")
    func missing() throws {
        let none: @Sendable (String) -> SourceFacts? = { $0 == "/opt/x" ? nil : plainHost($0) }
        let mount = "{ source: /opt/x, target: /opt/x, access: read-only }"
        #expect(try reasons(mount, lookUp: none).first?.contains("does not exist") == true)
        let optional = "{ source: /opt/x, target: /opt/x, access: read-only, optional: true }"
        #expect(try reasons(optional, lookUp: none).isEmpty)
    }

    @Test(
        "a symbolic link anywhere in a source is refused, optional or not",
        arguments: ["/opt", "/opt/x", "/opt/x/y"]
    )
    func symbolicLink(link: String) throws {
        let host: @Sendable (String) -> SourceFacts? = { path in
            path == link
                ? SourceFacts(device: 1, inode: 2, kind: .symbolicLink, permissions: 0o777)
                : plainHost(path)
        }
        let found = try reasons(
            "{ source: /opt/x/y, target: /x, access: read-only, optional: true }",
            lookUp: host
        )
        #expect(found == ["\(link) is a symbolic link"])
    }

    @Test("a source that anyone can change is refused, and one beneath a sticky directory is not")
    func worldWritable() throws {
        func host(_ permissions: UInt32) -> @Sendable (String) -> SourceFacts? {
            { path in
                path == "/opt"
                    ? SourceFacts(device: 1, inode: 2, kind: .directory, permissions: permissions)
                    : plainHost(path)
            }
        }
        let mount = "{ source: /opt/x, target: /x, access: read-only }"
        #expect(try reasons(mount, lookUp: host(0o777)) == ["/opt is writable by everyone"])
        #expect(try reasons(mount, lookUp: host(0o1777)).isEmpty)
    }

    @Test("a device, socket or FIFO is no source")
    func otherKinds() throws {
        let host: @Sendable (String) -> SourceFacts? = { path in
            path == "/opt/x"
                ? SourceFacts(device: 1, inode: 2, kind: .other, permissions: 0o644)
                : plainHost(path)
        }
        #expect(
            try reasons("{ source: /opt/x, target: /x, access: read-only }", lookUp: host).first?
                .contains("neither a directory nor a regular file") == true
        )
    }

    @Test("an unknown variable is refused in sources, targets and the environment")
    func variables() throws {
        for text in ["${home}", "${python-prefix", "${vault}/x", "${}"] {
            let mount = "{ source: \"\(text)\", target: /x, access: read-only }"
            #expect(try reasons(mount).first?.contains("unknown variable") == true)
        }
        let environment = PolicySample.candidate.replacing("HOME: /tmp", with: "HOME: \"${home}\"")
        #expect(
            try PolicySample.resolutionProblems(environment).map(\.key) == ["environment.HOME"]
        )
    }

    @Test("a Python outside /usr is mounted at its own path, and one inside is shown already")
    func pythonPrefix() throws {
        let library = try PolicyLibrary(directory: policyDirectory)
        var context = plainContext()
        let policy = try library.policy(named: "coding-agent")
        func targets() throws -> [String] {
            try PolicyResolver(groups: library.groups, context: context).resolve(policy).plan.mounts
                .map(\.target.text)
        }
        #expect(try targets().filter { $0.hasPrefix("/usr") } == ["/usr"])
        context.variables.pythonPrefix = "/usr/local"
        #expect(try targets().filter { $0.hasPrefix("/usr") } == ["/usr"])
        context.variables.pythonPrefix = "/home/u/.pyenv/versions/3.12.1"
        #expect(try targets().contains("/home/u/.pyenv/versions/3.12.1"))
    }

    @Test("a skeleton gets the parents of its entries and a place for every mount")
    func skeleton() throws {
        let text = coding("{ source: /opt/a/b, target: /deep/er/place, access: read-only }")
            .replacing(
                "{ directories: [/etc] }",
                with: "{ links: { /bin: usr/bin }, files: { /etc/x/name: text } }"
            )
        let groups = try PolicySample.groups()
        let resolver = PolicyResolver(groups: groups, context: plainContext())
        let policy = try PolicySample.policy(text).forComparison(groups: groups)
        let plan = try resolver.resolve(policy).plan
        guard case .skeleton(let entries) = plan.root else {
            Issue.record("no skeleton")
            return
        }
        #expect(
            entries == [
                .link(path: try InsidePath("/bin"), target: "usr/bin"),
                .directory(try InsidePath("/deep")), .directory(try InsidePath("/deep/er")),
                .directory(try InsidePath("/deep/er/place")), .directory(try InsidePath("/dev")),
                .directory(try InsidePath("/etc")), .directory(try InsidePath("/etc/x")),
                .file(path: try InsidePath("/etc/x/name"), contents: Array("text".utf8)),
                .directory(try InsidePath("/proc")),
            ]
        )
    }

    @Test("an entry beneath a link or a file is refused")
    func skeletonConflict() throws {
        let text = coding("{ source: /opt, target: /bin/x, access: read-only }")
            .replacing("{ directories: [/etc] }", with: "{ links: { /bin: usr/bin } }")
        #expect(try PolicySample.resolutionProblems(text).map(\.key) == ["root"])
    }

    @Test("Landlock says what the mounts say")
    func landlock() throws {
        let text = coding("{ source: /usr, target: /usr, access: read-only, exec: true }")
            .replacing(
                "proc: pid-only",
                with: "  - { tmpfs: 1MiB, target: /tmp }\n"
                    + "  - { tree: 1, target: /w, access: read-write, exec: true }\n"
                    + "  - { source: /opt, target: /opt, access: read-only }\nproc: pid-only"
            )
        let groups = try PolicySample.groups()
        let resolver = PolicyResolver(groups: groups, context: plainContext())
        let policy = try PolicySample.policy(text).forComparison(groups: groups)
        let rules = try resolver.resolve(policy).plan.landlock.rules
        #expect(
            rules.map { "\($0.path) \($0.access)" } == [
                "/ read", "/dev device", "/usr readExecute", "/tmp readWrite",
                "/w readWriteExecute", "/opt read",
            ]
        )
    }

    @Test("in place, each file is a mount of its own and the directory is none")
    func inPlace() throws {
        let mounts = """
              - { tree: 0, target: /w, access: read-only }
              - { tree: 1, target: /w/agent, access: read-write }

            """
        let text = PolicySample.coding.replacing("proc: pid-only", with: mounts + "proc: pid-only")
        let resolver = PolicyResolver(groups: try PolicySample.groups(), context: plainContext())
        let usual = try resolver.resolve(try PolicySample.policy(text)).plan
        #expect(usual.mounts.last?.source == .tree(index: 1))
        let lines = "\nsave: in-place\nsurface: [agent/agent.py, agent/lib/a.md]\n"
        let plan = try resolver.resolve(try PolicySample.policy(text + lines)).plan
        #expect(!plan.mounts.contains { $0.source == .tree(index: 1) })
        #expect(
            plan.mounts.suffix(2).map { "\($0.target) \($0.source)" } == [
                "/w/agent/agent.py treeFile(index: 1, path: /agent.py)",
                "/w/agent/lib/a.md treeFile(index: 1, path: /lib/a.md)",
            ]
        )
        let rules = plan.landlock.rules.suffix(2).map { "\($0.path) \($0.access)" }
        #expect(rules == ["/w/agent/agent.py readWrite", "/w/agent/lib/a.md readWrite"])
    }

    @Test("a vault is needed to resolve and not to check")
    func vault() throws {
        let library = try PolicyLibrary(directory: policyDirectory)
        var context = plainContext()
        context.variables.vaultSplit = nil
        let resolver = PolicyResolver(groups: library.groups, context: context)
        let policy = try library.policy(named: "examiner")
        #expect(resolver.problems(of: policy).isEmpty)
        #expect(throws: PolicyRefusal.self) { try resolver.resolve(policy) }
        context.variables.vaultSplit = "/home/elsewhere"
        let elsewhere = PolicyResolver(groups: library.groups, context: context)
        #expect(throws: PolicyRefusal.self) { try elsewhere.resolve(policy) }
    }

    @Test("what only the launcher's invariants refuse is reported at the policy's line")
    func invariants() throws {
        let text = PolicySample.candidate.replacing("target: /tmp", with: "target: /proc/x")
        let problems = try PolicySample.resolutionProblems(text)
        #expect(problems.map(\.line) == [7])
        #expect(problems.first?.reason.contains("reserved") == true)
    }
}
