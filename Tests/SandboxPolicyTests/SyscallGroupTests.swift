import SandboxPlan
import SandboxPolicy
import SeccompCompiler
import StrictYAML
import Testing

@Suite("Groups of system calls")
struct SyscallGroupTests {
    private func group(_ calls: String) throws -> [SyscallRule] {
        let text = "group: g\nreason: r\ncalls:\n\(calls)"
        return try SyscallGroup(parsing: Array(text.utf8), file: "g.yaml").rules.map(\.value)
    }

    private func problems(_ calls: String) -> [DocumentProblem] {
        do {
            _ = try SyscallGroup(
                parsing: Array("group: g\nreason: r\ncalls:\n\(calls)".utf8),
                file: "g.yaml"
            )
            return []
        } catch {
            return error.problems
        }
    }

    @Test("several permitted values become one rule each")
    func alternatives() throws {
        let rules = try group("  - { call: ioctl, when: [{ argument: 1, in: [0x5401, 21523] }] }")
        #expect(
            rules == [
                SyscallRule("ioctl", when: [try ArgumentCondition(argument: 1, equals: 0x5401)]),
                SyscallRule("ioctl", when: [try ArgumentCondition(argument: 1, equals: 0x5413)]),
            ]
        )
    }

    @Test("conditions on two arguments must hold together")
    func conjunction() throws {
        let rules = try group(
            "  - { call: prctl, when: [{ argument: 0, in: [4] }, { argument: 1, in: [0, 1] }] }"
        )
        #expect(rules.count == 2)
        #expect(rules.allSatisfy { $0.conditions.count == 2 })
    }

    @Test("sockets cannot be made by a group", arguments: ["socket", "socketpair"])
    func sockets(name: String) {
        #expect(problems("  - \(name)").first?.remedy.contains("sockets") == true)
    }

    @Test(
        "conditions that say nothing are refused",
        arguments: [
            "{ call: ioctl, when: [] }", "{ call: ioctl, when: [{ argument: 1, in: [] }] }",
            "{ call: ioctl, when: [{ argument: 6, in: [1] }] }",
            "{ call: ioctl, when: [{ argument: 1, mask: 0, in: [0] }] }",
            "{ call: ioctl, when: [{ argument: 1, mask: 0xf0, in: [1] }] }",
            "{ call: ioctl, when: [{ argument: 1, in: [0x1ffffffff] }] }",
            "{ call: ioctl, when: [{ argument: 1, in: [-1] }] }",
            "{ call: ioctl, when: [{ argument: 1, in: [5, 5] }] }", "{ call: ioctl }",
        ]
    )
    func emptyConditions(text: String) {
        #expect(!problems("  - \(text)").isEmpty)
    }

    @Test("a call that no policy can allow is reported in the group's own document")
    func refusedCall() throws {
        let bad = PolicySample.group.replacing("read,", with: "read, ptrace, nonsense,")
        let problems = try PolicySample.resolutionProblems(PolicySample.candidate, groups: [bad])
        #expect(problems.map(\.file) == ["syscalls/group.yaml", "syscalls/group.yaml"])
        #expect(problems.map(\.line) == [3, 3])
    }

    @Test("an unknown group, a double refusal and a dangerous rule of the policy are reported")
    func policyRules() throws {
        let text = PolicySample.candidate.replacing(
            "{ groups: [base] }",
            with: "{ groups: [base, other], allow: [bpf, ioctl], refuse: [bind] }"
        )
        let problems = try PolicySample.resolutionProblems(text)
        #expect(
            problems.map(\.key) == [
                "syscalls.groups[1]", "syscalls.refuse[0]", "syscalls.allow[0]",
                "syscalls.allow[1]",
            ]
        )
    }

    @Test("a refused call is taken out of the groups")
    func refusal() throws {
        let text = PolicySample.candidate.replacing(
            "{ groups: [base] }",
            with: "{ groups: [base], refuse: [read] }"
        )
        let resolver = PolicyResolver(groups: try PolicySample.groups(), context: plainContext())
        let resolved = try resolver.resolve(try PolicySample.policy(text))
        #expect(!resolved.filter.rules.contains(SyscallRule("read")))
        #expect(resolved.filter.rules.contains(SyscallRule("write")))
    }

    @Test("a filter that could start no program is refused")
    func indispensable() throws {
        let text = PolicySample.candidate.replacing(
            "{ groups: [base] }",
            with: "{ groups: [base], refuse: [execve] }"
        )
        let problems = try PolicySample.resolutionProblems(text)
        #expect(problems.map(\.key) == ["syscalls"])
    }
}
