import SandboxPolicy
import StrictYAML
import Testing

@Suite("What a role may not have")
struct PolicyLintTests {
    private func keys(_ text: String) throws -> [String] {
        try PolicySample.resolutionProblems(text).map(\.key)
    }

    private func candidate(mount: String) -> String {
        PolicySample.candidate.replacing("{ tmpfs: 16MiB, target: /tmp }", with: mount)
    }

    private func coding(mount: String) -> String {
        PolicySample.coding.replacing("{ tmpfs: 16MiB, target: /tmp }", with: mount)
    }

    @Test(
        "a candidate has no host mount, no vault and nothing writable that lasts",
        arguments: [
            ("{ source: /usr, target: /usr, access: read-only }", "mounts[0].source"),
            ("{ vault: split, target: /vault }", "mounts[0].vault"),
            ("{ tree: 1, target: /x, access: read-write }", "mounts[0].access"),
            ("{ tmpfs: 1MiB, target: /tmp, exec: true }", "mounts[0].exec"),
        ]
    )
    func candidateMounts(mount: String, key: String) throws {
        #expect(try keys(candidate(mount: mount)) == [key])
    }

    @Test(
        "a coding sandbox sees no vault and writes to no host path and not to tree 0",
        arguments: [
            ("{ vault: split, target: /vault }", "mounts[0].vault"),
            ("{ source: /opt, target: /x, access: read-write }", "mounts[0].access"),
            ("{ tree: 0, target: /x, access: read-write }", "mounts[0].access"),
        ]
    )
    func codingMounts(mount: String, key: String) throws {
        #expect(try keys(coding(mount: mount)) == [key])
    }

    @Test(
        "a list that no launcher would read is refused where it stands",
        arguments: [129, 10_000]
    )
    func tooMany(count: Int) throws {
        func mounts(_ count: Int) -> String {
            let targets = ["/tmp"] + (1..<count).map { "/tmp/\($0)" }
            return targets.map { "{ tmpfs: 1MiB, target: \($0) }" }.joined(separator: "\n  - ")
        }
        #expect(try keys(coding(mount: mounts(128))).isEmpty)
        #expect(try keys(coding(mount: mounts(count))) == ["mounts"])
        let variables = (0..<count).map { "A\($0): x" }.joined(separator: ", ")
        let text = PolicySample.coding.replacing("HOME: /tmp", with: variables)
        #expect(try keys(text) == ["environment"])
    }

    @Test("a candidate's root is a tree, and a coding sandbox's is not")
    func roots() throws {
        let skeleton = "root: { skeleton: { directories: [/etc] } }"
        let candidate = PolicySample.candidate.replacing("root: { tree: true }", with: skeleton)
        #expect(try keys(candidate) == ["root"])
        let coding = PolicySample.coding.replacing(skeleton, with: "root: { tree: true }")
        #expect(try keys(coding) == ["root"])
    }

    @Test(
        "an environment holds no secret and does not steer the loader",
        arguments: [
            "OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "my_secret", "LD_PRELOAD",
            "GCONV_PATH",
        ]
    )
    func environment(name: String) throws {
        let text = PolicySample.candidate.replacing("HOME: /tmp", with: "\(name): x")
        #expect(try keys(text) == ["environment.\(name)"])
    }

    @Test("only an examiner gives verdicts")
    func verdicts() throws {
        let text = PolicySample.candidate.replacing("{ 3: frames }", with: "{ 3: verdicts }")
        #expect(try keys(text) == ["descriptors.3"])
    }

    @Test("a command begins with an absolute path")
    func command() throws {
        let text = PolicySample.candidate.replacing(
            "streams: pipes",
            with: "streams: pipes\ncommand: [python3, x.py]"
        )
        #expect(try keys(text) == ["command"])
    }
}
