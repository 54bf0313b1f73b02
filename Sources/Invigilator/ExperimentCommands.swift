internal import ArgumentParser
internal import ExamResults
internal import IterationLoop
internal import LinuxKernel
internal import StrictJSON
internal import Supervisor
internal import Workspace

/// `init DIR --benchmark NAME`.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Set up an experiment in a directory."
    )

    @Argument(help: "The directory to make.")
    var directory: String
    @Option(help: "A benchmark that ships, by name, or the directory of your own.")
    var benchmark: String?
    @Option(
        name: .customLong("from"),
        help: "A checkout of auto-harness: take over its configuration, agent and notes."
    )
    var checkout: String?
    @Option(help: "A coding agent's profile.")
    var agent = "scripted"
    @OptionGroup var state: StateOptions

    func run() throws {
        let layout = try state.layout()
        let taken = try checkout.map { path throws(SupervisorError) in try HarnessCheckout(path) }
        var setup = ExperimentSetup(
            directory: directory,
            benchmark: benchmark ?? taken?.benchmark ?? "helpdesk",
            codingAgent: agent,
            layout: layout,
            installation: try Installation.find()
        )
        setup.checkout = taken
        let experiment = try setup.create()
        for line in taken?.report ?? [] { print(line) }
        print("experiment \(experiment.id) in \(experiment.directory)")
        print("next: sudo invigilator prepare \(directory)")
    }
}

/// `prepare [DIR]`.
struct PrepareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare",
        abstract: "Draw and seal the split, then examine the template and the floors."
    )

    @OptionGroup var experiment: ExperimentOptions

    func run() throws {
        let supervision = try Session.begin(experiment)
        try Preparation(supervision, progress: Session.report).run()
        try Session.end(supervision)
    }
}

/// `run [DIR]`.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the loop until a stop rule holds; goes on where the ledger ends."
    )

    @OptionGroup var experiment: ExperimentOptions
    @Option(help: "Stop after this many judged candidates, if the budget allows as many.")
    var maxIterations: Int?
    @Option(help: "Stop after this many hours, if the budget allows as many.")
    var maxHours: Double?

    func run() throws {
        let supervision = try Session.begin(experiment)
        var rules = LoopRules(supervision.inputs.config)
        if let maxIterations { rules.iterations = min(rules.iterations, maxIterations) }
        if let maxHours {
            rules.runMilliseconds = min(rules.runMilliseconds, Int64(maxHours * 3_600_000))
        }
        let shell = try LoopShell(supervision, rules: rules, progress: Session.report)
        _ = try shell.run()
        try Session.end(supervision)
        Session.summarize(shell.state)
    }
}

/// `gate [DIR]`: judges the current file once.
struct GateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gate",
        abstract: "Judge agent/agent.py of the experiment once."
    )

    @OptionGroup var experiment: ExperimentOptions
    @Flag(help: "Print the verdict as JSON.")
    var json = false

    func run() throws {
        let supervision = try Session.begin(experiment)
        let answer = try OperatorExam(supervision, progress: Session.report).gate()
        try Session.end(supervision)
        try Session.conclude(answer, json ? "invigilator.gate/1" : nil)
    }
}

/// `benchmark [DIR]`: a train exam with detail.
struct BenchmarkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "train",
        abstract: "Run a train exam of agent/agent.py; the test split is refused."
    )

    @OptionGroup var experiment: ExperimentOptions
    @Option(parsing: .upToNextOption, help: "Only these train tasks.")
    var taskIds: [String] = []
    @Option(help: "The split; only train is examined on request.")
    var split = "train"
    @Flag(help: "Print the results as JSON.")
    var json = false

    func run() throws {
        guard split == "train" else {
            throw SupervisorError(
                .usage,
                operation: "run a benchmark",
                location: "--split \(split)",
                reason: "the test split is run by the gate alone, and leaves no detail",
                remedy: "leave the option out, or judge the file with `invigilator gate`"
            )
        }
        let supervision = try Session.begin(experiment)
        let answer = try OperatorExam(supervision, progress: Session.report).train(taskIds)
        try Session.end(supervision)
        try Session.conclude(answer, json ? "invigilator.benchmark/1" : nil)
    }
}

/// `pause [DIR]`.
struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Freeze the coding agent of a running night."
    )
    @OptionGroup var experiment: ExperimentOptions

    func run() throws { try Session.tell("pause", experiment) }
}

/// `resume [DIR]`.
struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let a paused night go on."
    )
    @OptionGroup var experiment: ExperimentOptions

    func run() throws { try Session.tell("resume", experiment) }
}

/// `stop [DIR]`.
struct StopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "End a running night; nothing recorded is lost."
    )
    @OptionGroup var experiment: ExperimentOptions

    func run() throws { try Session.tell("stop", experiment) }
}

/// What the commands on experiments share.
enum Session {
    /// The root phase of a command: reads everything, starts the launcher, gives root up.
    static func begin(_ options: ExperimentOptions) throws(SupervisorError) -> Supervision {
        let layout = try options.state.layout()
        let installation = try Installation.find()
        let inputs = try ExperimentInputs(
            options.open(),
            layout: layout,
            installation: installation
        )
        return try Supervision(inputs, layout: layout, installation: installation)
    }

    /// Ends the launcher; nothing of ours runs after this.
    static func end(_ supervision: Supervision) throws(SupervisorError) {
        try supervision.end()
    }

    /// One line of progress, to standard error.
    static func report(_ line: String) {
        StandardError.print(line)
    }

    /// Prints where the experiment stands.
    static func summarize(_ state: CampaignState) {
        guard let best = state.best, let baseline = state.baseline else { return }
        print(
            "sealed mean \(baseline.sealed.text()) at the baseline, \(best.score.text()) now "
                + "(iteration \(best.iteration)); suite of \(state.suite.count) tasks; "
                + "\(state.usage.refusals) attempts refused"
        )
    }

    /// Prints an answer of the loop and exits with 1 where the candidate was refused.
    ///
    /// - Parameters:
    ///   - answer: what the loop answered.
    ///   - schema: the schema of the answer where it is printed for programs.
    /// - Throws: the exit code, or ``SupervisorError``.
    static func conclude(_ answer: JSONValue, _ schema: String?) throws {
        // Not `print`: an exit code other than 0 ends the process without emptying its buffer.
        if let schema {
            var members = answer.objectValue ?? [:]
            members["schema"] = .string(schema)
            let line = JSONValue.object(members).canonicalBytes
            try Console.write(String(decoding: line, as: UTF8.self))
        } else {
            try Console.write(answer.prettyText())
        }
        let isRefused = answer["ok"]?.boolValue == false
        let isRejected = answer["verdict"]?.stringValue.map { $0 != "accepted" } ?? false
        if isRefused || isRejected { throw ExitCode(1) }
    }

    /// Sends a verb to the running supervisor of an experiment.
    static func tell(_ verb: String, _ options: ExperimentOptions) throws(SupervisorError) {
        let experiment = try options.open()
        let layout = try options.state.layout()
        guard try ControlClient.ask(verb, of: experiment.id, layout: layout) != nil else {
            throw SupervisorError(
                .hostFailed,
                operation: verb,
                location: experiment.directory,
                reason: "no run of this experiment is alive",
                remedy: "start one with `invigilator run`"
            )
        }
        print("\(verb): done")
    }
}
