internal import ArgumentParser
internal import LauncherClient
internal import LinuxKernel
internal import SandboxPlan
internal import SandboxPolicy
internal import Supervisor
internal import Workspace

/// `agent`.
struct AgentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "List the coding agents, try whether one can start here, read what one left.",
        subcommands: [
            AgentListCommand.self, AgentCheckCommand.self, AgentAskCommand.self,
            AgentTranscriptCommand.self,
        ]
    )
}

/// What a shell offers where a profile is named.
enum ProfileCompletion {
    /// The names that `agent list` prints; a directory is completed by the shell.
    static let kind = CompletionKind.custom { _, _, _ in
        // A shell shows nobody an error.
        (try? ProfileFiles.names(Installation.find())) ?? []
    }
}

/// `agent list`.
struct AgentListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print the profiles of coding agents, and which programs are installed.",
        discussion: """
            Those that ship, and those that the administrator put into /etc/invigilator/agents, which \
            come first where both have one name.
            """
    )

    @Flag(help: "Print the list for programs.")
    var json = false

    @Option(help: ArgumentHelp("Look for programs here.", valueName: "dir"))
    var cache = SandboxSettings.shippedAgents

    func run() throws {
        let installation = try Installation.find()
        let cache = AgentsCache(cache)
        var entries: [AgentEntry] = []
        for name in try ProfileFiles.names(installation) {
            let files = try ProfileFiles(onCommandLine: name, installation)
            entries.append(AgentEntry(files, cache.look(for: files)))
        }
        let list = AgentList(entries: entries)
        try json ? Console.write(list.json) : Console.write(list.text)
    }
}

/// `agent check NAME`.
struct AgentCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Start a coding agent's program in the coding sandbox and say what is missing.",
        discussion: """
            Nothing of an experiment is needed, and no model is asked (`agent ask` does): the program says its version \
            in a sandbox of the policy coding-agent, with the files, variables and paths of its \
            profile. Needs root.

            Exit codes: 0 it starts; 2 no such profile, or a policy error; 3 something is missing, \
            and the output says what to do.
            """
    )

    @Argument(
        help: "A profile's name, as `agent list` prints it, or your own directory with a slash.",
        completion: ProfileCompletion.kind
    )
    var name: String

    @Flag(help: "Print the result for programs.")
    var json = false

    @Option(help: ArgumentHelp("Look for the program here.", valueName: "dir"))
    var cache = SandboxSettings.shippedAgents

    @OptionGroup var options: PolicyOptions

    func run() throws {
        let installation = try Installation.find()
        let files = try ProfileFiles(onCommandLine: name, installation)
        let outcome = AgentsCache(cache).look(for: files)
        var findings = AgentFindings(AgentEntry(files, outcome))
        if !outcome.isMissing {
            try AgentTrial(files, outcome.program, options, installation).carryOut(&findings)
        }
        try json ? Console.write(findings.json) : Console.write(findings.text)
        guard findings.isUsable else { throw ExitCode(ExitStatus.hostFailed.rawValue) }
    }
}

/// `agent ask [DIR]`.
struct AgentAskCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ask",
        abstract: "Ask each model of an experiment one short question.",
        discussion: """
            The question goes through the broker, as the coding agent's and the candidates' do, under what \
            is pinned for the role. `prepare` does the same first. Needs root.

            Exit codes: 0 each model answers; 2 a provider refuses the key, the model or the request; 3 a \
            provider cannot be reached or fails.
            """
    )

    @OptionGroup var experiment: ExperimentOptions

    func run() throws {
        let supervision = try Session.begin(experiment)
        try Session.telling(supervision, to: nil) { () throws(SupervisorError) in
            try Preflight(supervision, progress: Session.report).run()
        }
        try Session.end(supervision)
    }
}
