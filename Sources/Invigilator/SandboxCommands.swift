internal import DenialEvents
internal import HostKernel
internal import ArgumentParser
internal import DenialEvents
internal import HostProbe
internal import LauncherClient
internal import LinuxKernel
internal import SandboxPlan
internal import SandboxPolicy
internal import SelfCheck
internal import StrictJSON
internal import Supervisor
internal import Workspace

/// `sandbox`.
struct SandboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox",
        abstract: "Run single commands in sandboxes.",
        subcommands: [SandboxExecCommand.self, SandboxRepeatCommand.self]
    )
}

/// `sandbox exec`.
struct SandboxExecCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Run one command under a policy and say how it ended.",
        usage:
            "invigilator sandbox exec --policy NAME [--json] [--terminal] -- PROGRAM [ARGUMENT ...]",
        discussion: """
            The policy is resolved on this host, a launcher is started, and the command runs in a \
            sandbox of its own with our standard streams; on a terminal it gets a terminal of its \
            own. PROGRAM is an absolute path inside the sandbox. Descriptors that the policy lists \
            above 2 are connected to nothing. Needs root.

            Exit codes: the command's own; 128 + n when signal n ended it; 137 when a limit did; 3 \
            when the sandbox could not be made; 2 for a policy or usage error.
            """
    )

    @Option(help: "The policy's name, or the path of its document.")
    var policy: String

    @Flag(help: "Print a result for programs to standard output after the command's own output.")
    var json = false

    @Option(help: ArgumentHelp("Write the result for programs to this file.", valueName: "file"))
    var jsonOutput: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Give the command a terminal of its own, or never one; by default if we have one."
    )
    var terminal: Bool?

    @Option(help: "Show an examiner the train tasks of this experiment.")
    var experiment: String?

    @Flag(
        help: "Move the host's counters on afterwards, as after a sealed exam of one rollout."
    )
    var sealed = false

    @OptionGroup var options: PolicyOptions

    @Argument(parsing: .postTerminator, help: "The program and its arguments.")
    var command: [String] = []

    func run() throws {
        let installation = try Installation.find()
        let layout = options.state.layout()
        try layout.create()
        let compiled = CompiledPlan(try resolvedPlan())
        let plan = try Self.decoded(compiled)
        try requireCommand(plan)
        let image = try plan.root == .tree ? builtImage() : nil
        let result = try resultFile()
        let site = try SandboxSite(
            layout: layout,
            installation: installation,
            image: image,
            logging: [compiled]
        )
        let run = SandboxRun(site: site, plan: plan, compiled: compiled, command: command)
        let cover = try sealed ? SealedCover(of: plan) : nil
        let outcome: SandboxOutcome
        do throws(SupervisorError) {
            outcome = try run.carryOut()
        } catch {
            try report(.refused(plan, compiled, site.measured?.level, error), to: result)
            throw error
        }
        try site.close()
        try cover?.finish()
        try report(outcome, to: result)
        guard outcome.status == 0 else { throw ExitCode(outcome.status) }
    }

    // MARK: - the plan

    private func resolvedPlan() throws(SupervisorError) -> SandboxPlan {
        let library = try options.library()
        var context = try options.context()
        if let experiment {
            let layout = options.state.place
            context.variables.vaultSplit = try layout.split(
                Experiment.proven(experiment, layout).id,
                "train"
            )
        }
        let policy = try options.policy(policy, in: library)
        var plan: SandboxPlan
        do throws(PolicyRefusal) {
            plan = try PolicyResolver(groups: library.groups, context: context)
                .resolve(policy).plan
        } catch {
            throw SupervisorError(.usage, error)
        }
        let hasTerminal = Console.isTerminal(0) && Console.isTerminal(1)
        if terminal ?? hasTerminal { plan.streams = .terminal }
        if terminal == false { plan.streams = .pipes }
        return plan
    }

    private static func decoded(_ compiled: CompiledPlan) throws(SupervisorError) -> SandboxPlan {
        do throws(PlanError) { return try compiled.plan() } catch {
            throw SupervisorError(.usage, error)
        }
    }

    private func requireCommand(_ plan: SandboxPlan) throws(SupervisorError) {
        let program = (plan.command + command).first
        let reason: String? =
            if plan.command.isEmpty == command.isEmpty {
                command.isEmpty ? "there is none" : "the policy fixes it"
            } else if program?.hasPrefix("/") == false {
                "\(program ?? "") is not an absolute path"
            } else {
                nil
            }
        guard let reason else { return }
        throw SupervisorError(
            .usage,
            operation: "run a command in a sandbox",
            location: "command",
            reason: reason,
            remedy: "write the program's path inside the sandbox after `--`, such as /usr/bin/true"
        )
    }

    private func builtImage() throws(SupervisorError) -> Image {
        let python: PythonInterpreter
        do throws(HostProbeError) {
            python = try PythonSearch.find(named: options.python, homes: ["/root"])
        } catch {
            throw SupervisorError(.hostFailed, error)
        }
        return try SandboxSite.buildImage(of: python, options.state.place)
    }

    // MARK: - the result

    // Opened while we are root: afterwards the user's directory may be closed to us.
    private func resultFile() throws(SupervisorError) -> Descriptor?.Box? {
        guard let jsonOutput else { return nil }
        return try OutputFile.opened(jsonOutput)
    }

    private func report(
        _ outcome: SandboxOutcome,
        to file: Descriptor?.Box?
    ) throws(SupervisorError) {
        let line = outcome.json.canonicalBytes + [10]
        try kernel("write the result", jsonOutput ?? "") { () throws(SystemError) in
            try file?.withDescriptor { file throws(SystemError) in try file.writeAll(line) }
        }
        // A line feed first: the command's own last line may have none.
        if json { try Console.write((outcome.outputBytes > 0 ? [10] : []) + line) }
        if let limit = outcome.limit, !json {
            try Console.note("invigilator: the sandbox was ended by its limit: \(limit)")
        }
        if let gap = outcome.landlockLog?.gap, !json { try Console.note("invigilator: \(gap)") }
        guard !json, outcome.status != 0 else { return }
        // Whoever failed may have failed for these.
        for denial in outcome.denials {
            let sentence = RefusalSentence(
                .denied,
                layer: denial.layer,
                attempt: denial.attempt,
                author: "command"
            )
            try Console.note(
                "invigilator: "
                    + Console.colours(2).painted(sentence.text(denial.detail), as: .denied)
                    + " (\(denial.count) times)"
            )
        }
    }
}
