internal import ArgumentParser
internal import PolicyEffects
internal import SandboxPolicy
internal import StrictJSON
internal import StrictYAML
internal import Supervisor

/// `policy diff`.
struct PolicyDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Say what a payload gains and loses when one policy replaces another.",
        usage: """
            invigilator policy diff OLD NEW [--json] [--exit-code]
            invigilator policy diff [NAME ...] --since COMMIT [--json] [--exit-code]
            """,
        discussion: """
            By effect and not by line: nothing changes exactly when both give the same plan, but for \
            the name. Neither policy needs to be one that this host would run.

            With --since the old policies and groups are those of a commit of the git repository that \
            holds the directory of policies, read with the rights of the directory's owner; nothing \
            is checked out. Without a name, every policy of then and now is compared.

            Exit code 0 whether anything changes or not; with --exit-code it is 1 where something \
            does.
            """
    )

    @Argument(help: "Two policies, each a name or the path of a document; with --since, names.")
    var policies: [String] = []

    @Option(help: ArgumentHelp("Compare with the policies of this commit.", valueName: "commit"))
    var since: String?

    @Flag(help: "Print the difference for programs.")
    var json = false

    @Flag(help: "End with 1 where anything changes.")
    var exitCode = false

    @OptionGroup var options: PolicyOptions

    func validate() throws {
        if since == nil, policies.count != 2 {
            throw ValidationError("Two policies are compared: name both, or use --since.")
        }
        if since != nil, let path = policies.first(where: PolicyPath.isPath) {
            throw ValidationError("'\(path)' is a path: with --since, name policies.")
        }
    }

    func run() throws {
        let differences = PolicyDifferences(try since.map(changes) ?? [pair()])
        try json ? Console.write(differences.json) : Console.write(differences.text)
        guard exitCode, !differences.isSame else { return }
        throw ExitCode(ExitStatus.candidateRefused.rawValue)
    }

    private func pair() throws(SupervisorError) -> PolicyDifference {
        let library = try options.library()
        let context = try context()
        return PolicyDifference(
            from: try named(try options.policy(policies[0], in: library), library.groups, context),
            to: try named(try options.policy(policies[1], in: library), library.groups, context)
        )
    }

    private func changes(since commit: String) throws(SupervisorError) -> [PolicyDifference] {
        let library = try options.library()
        let context = try context()
        let past = try PastPolicies(of: library.directory, at: commit)
        let known = Set(library.policyNames).union(past.names)
        if let stranger = policies.first(where: { !known.contains($0) }) {
            throw SupervisorError(
                .usage,
                operation: "compare policies",
                location: stranger,
                reason: "there is no such policy, neither now nor at \(commit)",
                remedy: "the policies are \(known.sorted().joined(separator: ", "))"
            )
        }
        var found: [PolicyDifference] = []
        for name in policies.isEmpty ? known.sorted() : policies {
            var old = (name: name, table: EffectTable())
            var new = old
            if let policy = try past.policy(name) { old = try named(policy, past.groups, context) }
            if library.policyNames.contains(name) {
                new = try named(try options.policy(name, in: library), library.groups, context)
            }
            found.append(PolicyDifference(from: old, to: new))
        }
        return found
    }

    // What is compared is looked at and never run: no site bounds it.
    private func context() throws(SupervisorError) -> ResolutionContext {
        var context = try options.context()
        context.site = SitePolicy()
        return context
    }

    private func named(
        _ policy: SandboxPolicy,
        _ groups: [String: SyscallGroup],
        _ context: ResolutionContext
    ) throws(SupervisorError) -> (name: String, table: EffectTable) {
        let resolver = PolicyResolver(groups: groups, context: context)
        do throws(PolicyRefusal) {
            let resolved = try resolver.preview(policy.forComparison(groups: groups))
            return (policy.name, EffectTable(resolved))
        } catch {
            throw SupervisorError(.usage, error)
        }
    }
}

/// The policies and groups of a directory, as a commit of its repository has them.
struct PastPolicies {
    /// The groups by name.
    let groups: [String: SyscallGroup]
    /// The names of the policies.
    var names: Set<String> { Set(documents.keys) }
    private let documents: [String: (file: String, bytes: [UInt8])]

    /// Reads them in a second process, which takes the rights of the directory's owner.
    init(of directory: String, at commit: String) throws(SupervisorError) {
        let words = ["policy", PolicyHistoryCommand.name, directory, "--commit=\(commit)"]
        let bytes = try OwnProgram.output(of: words)
        var groups: [String: SyscallGroup] = [:]
        var documents: [String: (String, [UInt8])] = [:]
        do {
            let answer = try JSONValue(parsing: bytes, limits: .document)
            for (path, text) in answer.objectValue ?? [:] {
                let contents = Array((text.stringValue ?? "").utf8)
                let file = "\(commit):\(path)"
                let name = String(path.split(separator: "/").last?.dropLast(5) ?? "")
                if path.hasPrefix("syscalls/") {
                    groups[name] = try SyscallGroup(parsing: contents, file: file)
                } else {
                    documents[name] = (file, contents)
                }
            }
        } catch {
            throw SupervisorError(.usage, error)
        }
        self.groups = groups
        self.documents = documents
    }

    /// A policy of then; nil where there was none.
    func policy(_ name: String) throws(SupervisorError) -> SandboxPolicy? {
        guard let (file, bytes) = documents[name] else { return nil }
        do throws(PolicyRefusal) { return try SandboxPolicy(parsing: bytes, file: file) } catch {
            throw SupervisorError(.usage, error)
        }
    }
}

/// What `policy diff --since` starts: prints the documents of a commit as one JSON object.
struct PolicyHistoryCommand: ParsableCommand {
    static let name = "documents-of-commit"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Print the policies of a commit.",
        shouldDisplay: false
    )

    @Argument(help: "The directory of policies, whose owner this process becomes.")
    var directory: String

    @Option(help: "The commit.")
    var commit: String

    func run() throws {
        try OwnersGit.becomeOwner(of: directory)
        let git = OwnersGit(
            directory: directory,
            operation: "read the policies of a commit",
            remedy: "name a commit of the git repository that holds this directory (--directory)"
        )
        // A name that begins with a dash would be an option.
        let hash = try git.required([
            "rev-parse", "--verify", "--end-of-options", "\(commit)^{commit}",
        ])
        let listing = try git.required(["ls-tree", "-r", "-z", hash])
        var documents: [String: JSONValue] = [:]
        for entry in listing.split(separator: "\0") {
            let parts = entry.split(separator: "\t", maxSplits: 1)
            let facts = parts[0].split(separator: " ")
            guard parts.count == 2, facts.count == 3, facts[0].hasPrefix("100"),
                Self.isDocument(parts[1])
            else { continue }
            let text = try git.required(["cat-file", "blob", String(facts[2])])
            documents[String(parts[1])] = .string(text)
        }
        try Console.write(JSONValue.object(documents))
    }

    private static func isDocument(_ path: Substring) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return path.hasSuffix(".yaml") && path.utf8.count > 5
            && (parts.count == 1 || (parts.count == 2 && parts[0] == "syscalls"))
    }
}
