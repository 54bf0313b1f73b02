import PolicyEffects
import SandboxPlan
import SandboxPolicy
import StrictYAML
import Testing

/// A small sound policy, to be spoilt line by line.
enum PolicySample {
    static let candidate = """
        policy: sample
        version: 1
        role: candidate
        assurance: full
        root: { tree: true }
        mounts:
          - { tmpfs: 16MiB, target: /tmp }
        proc: none
        devices: ["null"]
        environment: { HOME: /tmp }
        working-directory: /candidate
        streams: pipes
        limits:
          memory: 64MiB
          processes: 8
          cpu: 100
          wall: 10s
          output: 1MiB
          output-action: truncate
          files: 64
          file-size: 16MiB
        sockets: [unix]
        syscalls: { groups: [base] }
        landlock: { minimum-abi: 6 }
        descriptors: { 3: frames }
        """

    static let coding = candidate.replacing("role: candidate", with: "role: coding")
        .replacing("proc: none", with: "proc: pid-only")
        .replacing("root: { tree: true }", with: "root: { skeleton: { directories: [/etc] } }")

    static let group = """
        group: base
        reason: enough to start and to end
        calls: [execve, exit_group, rt_sigreturn, close_range, read, write, sendmsg]
        """

    /// Reads a document.
    static func policy(_ text: String) throws -> SandboxPolicy {
        try SandboxPolicy(parsing: Array(text.utf8), file: "sample.yaml")
    }

    static func groups(_ texts: [String] = [group]) throws -> [String: SyscallGroup] {
        let groups = try texts.map {
            try SyscallGroup(parsing: Array($0.utf8), file: "syscalls/group.yaml")
        }
        return Dictionary(uniqueKeysWithValues: groups.map { ($0.name, $0) })
    }

    /// The problems of reading a document.
    static func problems(_ text: String) -> [DocumentProblem] {
        do {
            _ = try SandboxPolicy(parsing: Array(text.utf8), file: "sample.yaml")
            return []
        } catch {
            return error.problems
        }
    }

    /// The problems of resolving a document that has a reason for all that needs one.
    static func resolutionProblems(
        _ text: String,
        groups texts: [String] = [group],
        lookUp: @escaping @Sendable (String) -> SourceFacts? = plainHost
    ) throws -> [DocumentProblem] {
        let context = ResolutionContext(
            stateDirectory: "/var/lib/invigilator",
            variables: PolicyVariables(vaultSplit: "/var/lib/invigilator/vault/x/train"),
            lookUp: lookUp
        )
        let groups = try groups(texts)
        return PolicyResolver(groups: groups, context: context)
            .problems(of: try policy(text).forComparison(groups: groups))
    }
}
