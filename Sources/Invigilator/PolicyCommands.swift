internal import LauncherClient
internal import ArgumentParser
internal import HostProbe
internal import LinuxKernel
internal import PolicyEffects
internal import SandboxPlan
internal import SandboxPolicy
package import StrictJSON
package import StrictYAML
internal import Supervisor

/// `policy`: what policies say, what they do on this host, and the plans that they give.
struct PolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "Check, explain, compare, compile and learn the policies of sandboxes.",
        discussion: """
            A policy is a YAML document that says what one kind of sandbox may see, use and ask the \
            kernel for. The shipped ones are coding-agent, candidate and examiner. Only `learn` starts a \
            sandbox. What the administrator of this host bounds policies by lies in \
            /etc/invigilator/policy.d and holds for every command.
            """,
        subcommands: [
            PolicyCheckCommand.self, PolicyExplainCommand.self, PolicyDiffCommand.self,
            PolicyCompileCommand.self, PolicySchemaCommand.self, PolicyLearnCommand.self,
            PolicyHistoryCommand.self,
        ]
    )
}

/// Where a policy command finds documents and what it resolves them against.
struct PolicyOptions: ParsableArguments {
    @Option(help: "Read policies from this directory instead of the shipped ones.")
    var directory: String?

    @Option(help: ArgumentHelp("Use this Python interpreter.", valueName: "path"))
    var python: String?

    @OptionGroup var state: StateOptions

    /// The directory of policies.
    func policyDirectory() throws(SupervisorError) -> String {
        if let directory { return directory }
        return try Installation.find().policies
    }

    /// The library.
    func library() throws(SupervisorError) -> PolicyLibrary {
        let directory = try policyDirectory()
        do throws(PolicyRefusal) { return try PolicyLibrary(directory: directory) } catch {
            throw SupervisorError(.usage, error)
        }
    }

    /// What resolution needs to know of this host, outside an exam.
    func context() throws(SupervisorError) -> ResolutionContext {
        let variables = PolicyVariables(pythonPrefix: try pythonPrefix())
        do throws(PolicyRefusal) {
            return try .host(stateDirectory: state.place.root, variables: variables)
        } catch {
            throw SupervisorError(.usage, error)
        }
    }

    /// The prefix of Python as sandboxes see it; without a Python, that of a host which has one.
    func pythonPrefix() throws(SupervisorError) -> String {
        do throws(HostProbeError) {
            return try PythonSearch.find(named: python, homes: ["/root"]).sandboxPrefix
        } catch {
            guard python == nil else { throw SupervisorError(.usage, error) }
            return "/usr"
        }
    }

    /// A policy by its name, or by the path of its document.
    func policy(_ name: String, in library: PolicyLibrary) throws(SupervisorError) -> SandboxPolicy
    {
        let document = PolicyPath.isPath(name) ? try PolicyPath.contents(name) : nil
        do throws(PolicyRefusal) {
            guard let document else { return try library.policy(named: name) }
            return try SandboxPolicy(parsing: document, file: name)
        } catch {
            throw SupervisorError(.usage, error)
        }
    }

    /// A policy's effects on this host; what an exam fills in has a stand-in.
    func explanation(of name: String) throws(SupervisorError) -> PolicyExplanation {
        let library = try library()
        let resolver = PolicyResolver(groups: library.groups, context: try context())
        let policy = try policy(name, in: library)
        do throws(PolicyRefusal) {
            return PolicyExplanation(try resolver.preview(policy))
        } catch {
            throw SupervisorError(.usage, error)
        }
    }
}

extension PythonInterpreter {
    /// The prefix that a policy's `${python-prefix}` stands for.
    var sandboxPrefix: String { path.hasPrefix("/usr/bin/") ? "/usr" : prefix }
}

/// Arguments that name a document instead of a policy of the library.
package enum PolicyPath {
    /// Whether an argument is a path and not a name.
    package static func isPath(_ argument: String) -> Bool {
        argument.contains("/") || argument.hasSuffix(".yaml") || argument.hasSuffix(".yml")
    }

    /// A document, up to what the reader of documents takes.
    static func contents(_ path: String) throws(SupervisorError) -> [UInt8] {
        do throws(SystemError) {
            return try Descriptor.open(path, [.read, .nonBlocking]).readAll(limit: 1_000_000)
        } catch {
            throw SupervisorError(
                .usage,
                operation: "read a policy",
                location: path,
                reason: "\(error)",
                remedy: "name a readable document, or a policy by its name"
            )
        }
    }
}

/// `policy check`.
struct PolicyCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say what is wrong with policies on this host, with file, line and remedy.",
        discussion: "Exit code 2 when anything is wrong. Nothing is started and nothing is changed."
    )

    @Argument(help: "Names of policies, or paths of documents; every policy when there is none.")
    var policies: [String] = []

    @Flag(help: "Print the result for programs.")
    var json = false

    @OptionGroup var options: PolicyOptions

    func run() throws {
        let library = try options.library()
        let context = try options.context()
        let names = policies.filter { !PolicyPath.isPath($0) }
        var problems: [String: [DocumentProblem]] = [:]
        if policies.isEmpty || !names.isEmpty {
            problems = PolicyCheck(names, in: library, context: context).problems
        }
        let resolver = PolicyResolver(groups: library.groups, context: context)
        for path in policies where PolicyPath.isPath(path) {
            problems[path] = try Self.problems(ofDocument: path, resolver)
        }
        let findings = PolicyFindings(problems: problems)
        try json ? Console.write(findings.json) : Console.write(findings.text)
        guard findings.isClean else { throw ExitCode(ExitStatus.usage.rawValue) }
    }

    private static func problems(
        ofDocument path: String,
        _ resolver: PolicyResolver
    ) throws(SupervisorError) -> [DocumentProblem] {
        let bytes = try PolicyPath.contents(path)
        do throws(PolicyRefusal) {
            return resolver.problems(of: try SandboxPolicy(parsing: bytes, file: path))
        } catch {
            return error.problems
        }
    }
}

/// What was found wrong with policies, of a library or of single documents.
package struct PolicyFindings {
    private let problems: [String: [DocumentProblem]]

    package init(problems: [String: [DocumentProblem]]) {
        self.problems = problems
    }

    /// Whether nothing is wrong.
    package var isClean: Bool { problems.values.allSatisfy(\.isEmpty) }

    /// One line a sound policy, and one a problem.
    package var text: String {
        problems.keys.sorted().flatMap { name -> [String] in
            let found = problems[name] ?? []
            return found.isEmpty ? ["\(name): sound"] : found.map(\.description)
        }.joined(separator: "\n") + "\n"
    }

    /// The result for programs.
    package var json: JSONValue {
        let entries = problems.keys.sorted().flatMap { name in
            (problems[name] ?? []).map { problem -> JSONValue in
                [
                    "policy": .string(name), "file": .string(problem.file),
                    "line": JSONValue(problem.line), "key": .string(problem.key),
                    "operation": .string(problem.operation), "reason": .string(problem.reason),
                    "remedy": .string(problem.remedy),
                ]
            }
        }
        return [
            "schema": .string(PolicyCheck.schema), "policies": JSONValue(problems.keys.sorted()),
            "sound": .bool(isClean), "problems": .array(entries),
        ]
    }
}

/// `policy explain`.
struct PolicyExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say what a payload under a policy can read, write, execute, reach and use up."
    )

    @Argument(help: "The policy's name, or the path of its document.")
    var policy: String

    @Flag(help: "Print the explanation for programs.")
    var json = false

    @OptionGroup var options: PolicyOptions

    func run() throws {
        let explanation = try options.explanation(of: policy)
        try json ? Console.write(explanation.json) : Console.write(explanation.text)
    }
}

/// `policy compile`.
struct PolicyCompileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compile",
        abstract:
            "Write the plan of a policy for `invigilator-launcher run`, and print its digest.",
        discussion: """
            With --experiment the plan is the one that this experiment's sandboxes are built from, \
            with the digest that its ledger names; this needs root. Without it, a policy that mounts \
            the vault is refused, because there is no vault.
            """
    )

    @Argument(help: "The policy's name, or the path of its document.")
    var policy: String

    @Option(name: .shortAndLong, help: "The file to write.")
    var output: String

    @Option(help: "Compile for this experiment.")
    var experiment: String?

    @Option(help: "The split of the vault that an examiner sees: train or test.")
    var split: String = "train"

    @OptionGroup var options: PolicyOptions

    func validate() throws {
        guard ["train", "test"].contains(split) else {
            throw ValidationError("There is no split '\(split)': write train or test.")
        }
    }

    func run() throws {
        let plan = try experiment.map(experimentPlan) ?? CompiledPlan(freePlan())
        try OutputFile.write(plan.file, to: output)
        try Console.write("plan \(policy) \(plan.digest)")
    }

    private func freePlan() throws(SupervisorError) -> SandboxPlan {
        let library = try options.library()
        let resolver = PolicyResolver(groups: library.groups, context: try options.context())
        let policy = try options.policy(policy, in: library)
        do throws(PolicyRefusal) { return try resolver.resolve(policy).plan } catch {
            throw SupervisorError(.usage, error)
        }
    }

    private func experimentPlan(_ directory: String) throws(SupervisorError) -> CompiledPlan {
        let layout = options.state.layout()
        let plans = try ExperimentPlans(
            of: Experiment.proven(directory, layout),
            layout: layout,
            installation: Installation.find()
        )
        switch policy {
        case "coding-agent": return plans.coding
        case "candidate": return plans.candidate
        case "examiner": return split == "train" ? plans.trainExaminer : plans.testExaminer
        default:
            throw SupervisorError(
                .usage,
                operation: "compile an experiment's plan",
                location: policy,
                reason: "an experiment has no sandbox of this policy",
                remedy: "name coding-agent, candidate or examiner, or leave --experiment out"
            )
        }
    }
}

/// `policy schema`.
struct PolicySchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print a JSON Schema with which an editor completes and checks policy documents.",
        discussion: """
            The schema knows keys and forms; what only a host can tell (a missing source, a path \
            under the state directory) is said by `policy check`.
            """
    )

    @Argument(help: "Of what: policy, group (of system calls) or site.")
    var document = PolicySchema.policy.rawValue

    func run() throws {
        guard let schema = PolicySchema(rawValue: document) else {
            throw ValidationError("There is no document '\(document)': policy, group or site.")
        }
        try Console.write(schema.json)
    }
}
