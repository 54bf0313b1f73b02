internal import ArgumentParser
internal import ExamResults
internal import IterationLoop
internal import HostKernel
internal import LinuxKernel
internal import SandboxPlan
internal import SelfCheck
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
    @Option(
        help: "A coding agent's profile by name, or the directory of your own with a slash.",
        completion: ProfileCompletion.kind
    )
    var agent = "scripted"
    @Option(
        help: ArgumentHelp(
            "Write policies of the experiment's own that demand this level.",
            discussion: "Those that ship demand `full`. At `single-uid`, which an ordinary user "
                + "reaches, nothing freezes the coding agent during a sealed exam: to train and "
                + "demonstrate only."
        )
    )
    var assurance: AssuranceArgument?
    @OptionGroup var state: StateOptions

    func run() throws {
        let layout = state.layout()
        let taken = try checkout.map { path throws(SupervisorError) in try HarnessCheckout(path) }
        var setup = ExperimentSetup(
            directory: directory,
            benchmark: benchmark ?? taken?.benchmark ?? "helpdesk",
            codingAgent: agent,
            layout: layout,
            installation: try Installation.find()
        )
        setup.checkout = taken
        setup.assurance = assurance?.level
        let experiment = try setup.create()
        for line in taken?.report ?? [] { print(line) }
        print("experiment \(experiment.id) in \(experiment.directory)")
        print("next: \(Session.sudo)invigilator prepare \(directory)")
    }
}

/// `prepare [DIR]`.
struct PrepareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare",
        abstract: "Draw and seal the split, then examine the template and the floors."
    )

    @OptionGroup var experiment: ExperimentOptions
    @Flag(help: "Take a template that never replies for a baseline, too.")
    var allowFailingBaseline = false
    @Flag(help: "Do not ask each model a short question first; with a cassette none is asked.")
    var noPreflight = false
    @OptionGroup var events: EventOptions

    func run() throws {
        let stream = try events.open()
        let supervision = try Session.begin(experiment)
        try Session.telling(supervision, to: stream) { () throws(SupervisorError) in
            try Preparation(
                supervision,
                allowingFailingBaseline: allowFailingBaseline,
                askingModels: !noPreflight,
                progress: Session.report
            ).run()
        }
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
    @Option(help: "End this run after so many judged candidates, if the budget allows as many.")
    var maxIterations: Int?
    @Option(
        help: "End this run after so many hours, pauses not counted, if the budget allows as many."
    )
    var maxHours: Double?
    @Option(
        help: "End this run when models have cost so many dollars, if the budget allows as many."
    )
    var maxCost: Double?
    @OptionGroup var events: EventOptions

    func run() throws {
        let bounds = try bounds()
        let stream = try events.open()
        let supervision = try Session.begin(experiment)
        var state: CampaignState?
        try Session.telling(supervision, to: stream) { () throws(SupervisorError) in
            try requirePrices(supervision.inputs.config)
            try Preparation(supervision, progress: Session.report).complete()
            let shell = try LoopShell(
                supervision,
                rules: try supervision.rules(),
                bounds: bounds,
                progress: Session.report
            )
            _ = try shell.run()
            state = shell.state
        }
        try Session.end(supervision)
        if let state { Session.summarize(state, events.isOutput) }
    }

    private func bounds() throws(SupervisorError) -> RunBounds {
        var bounds = RunBounds()
        bounds.iterations = maxIterations
        bounds.milliseconds = try maxHours.map { (hours) throws(SupervisorError) in
            Int64(try Amount.parts(hours, of: 3_600_000, "--max-hours"))
        }
        bounds.microdollars = try maxCost.map { (cost) throws(SupervisorError) in
            try Amount.parts(cost, of: 1_000_000, "--max-cost")
        }
        for (name, amount) in [
            ("--max-iterations", bounds.iterations.map { Int64($0) }),
            ("--max-hours", bounds.milliseconds),
            ("--max-cost", bounds.microdollars.map { Int64($0) }),
        ] where amount.map({ $0 <= 0 || $0 > 1_000_000_000_000 }) == true {
            throw Amount.refusal(name, "a run of nothing is none", "write a number above 0")
        }
        return bounds
    }

    // A bound that nothing could ever reach would be believed.
    private func requirePrices(_ config: ExperimentConfig) throws(SupervisorError) {
        guard maxCost != nil, !config.models.pricesEveryCall else { return }
        throw Amount.refusal(
            "--max-cost",
            "a role has a model without a price, or no role has a model",
            "write models.prices for each of them, or leave the option out"
        )
    }
}

/// `gate [DIR]`: judges the current file once.
struct GateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "judge",
        abstract: "Judge agent/agent.py of the experiment once."
    )

    @OptionGroup var experiment: ExperimentOptions
    @Flag(help: "Print the verdict as JSON.")
    var json = false
    @OptionGroup var events: EventOptions
    @OptionGroup(title: "Continuous integration") var checks: CheckOptions

    func run() throws {
        guard !events.isOutput else {
            throw Amount.refusal(
                "--events",
                "standard output has the verdict",
                "write fd:3, or a file"
            )
        }
        let stream = try events.open()
        let outlets = checks.opened()
        let answer = try outlets.telling(
            "invigilator gate",
            { () throws(SupervisorError) in
                let supervision = try Session.begin(experiment)
                var answer = JSONValue.null
                try Session.telling(supervision, to: stream) { () throws(SupervisorError) in
                    try Preparation(supervision, progress: Session.report).complete()
                    answer = try OperatorExam(supervision, progress: Session.report).gate()
                }
                try Session.end(supervision)
                return answer
            },
            as: GateChecks.report
        )
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
        var answer = JSONValue.null
        try Session.telling(supervision, to: nil) { () throws(SupervisorError) in
            try Preparation(supervision, progress: Session.report).complete()
            answer = try OperatorExam(supervision, progress: Session.report).train(taskIds)
        }
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

/// Where events are told.
struct EventOptions: ParsableArguments {
    @Option(
        help: "Write events, one JSON object a line, to a file, `-` (standard output) or `fd:N`."
    )
    var events: String?

    /// Whether standard output is the stream.
    var isOutput: Bool { events == "-" || events == "fd:1" }

    /// Opens the place, before root is given up.
    func open() throws(SupervisorError) -> Descriptor?.Box? {
        try events.map { (place) throws(SupervisorError) in try EventStream.open(place) }
    }
}

/// What the commands on experiments share.
enum Session {
    /// What stands before a command that root gave.
    static var sudo: String {
        [0, StateLayout.rootsSupervisor].contains(Identity.effectiveUser) ? "sudo " : ""
    }

    /// The root phase of a command: reads everything, starts the launcher, gives root up.
    static func begin(_ options: ExperimentOptions) throws(SupervisorError) -> Supervision {
        let layout = options.state.layout()
        let installation = try Installation.find()
        let inputs = try ExperimentInputs(
            options.open(),
            layout: layout,
            installation: installation
        )
        let supervision = try Supervision(inputs, layout: layout, installation: installation)
        supervision.colours = Console.colours(2)
        announce(supervision.measured)
        if inputs.config.isolation == .experiment {
            StandardError.print(
                "ISOLATION experiment, not host: other coding agents run beside sealed exams; what they can"
                    + " be told live is not bounded"
            )
        }
        if !inputs.plans.internet.isEmpty {
            StandardError.print(
                "INTERNET SOCKETS in sandboxes that know sealed tasks"
                    + " (\(inputs.plans.internet.joined(separator: ", "))): what the host's counters of"
                    + " sockets tell coding agents is not bounded"
            )
        }
        return supervision
    }

    /// Says loudly that a level is not the highest, and what its scores are worth.
    static func announce(_ measured: MeasuredLevel) {
        guard measured.level != .full else { return }
        let worth =
            measured.level >= .delegated
            ? ""
            : ": nothing freezes the coding agent during sealed exams, to train and demonstrate only"
        StandardError.print("ASSURANCE \(measured.level.name), not full\(worth)")
    }

    /// Ends the launcher; nothing of ours runs after this.
    static func end(_ supervision: Supervision) throws(SupervisorError) {
        try supervision.end()
    }

    /// One line of progress, to standard error.
    static func report(_ line: String) {
        StandardError.print(line)
    }

    /// Carries a command out and tells of it outside the record.
    static func telling(
        _ supervision: Supervision,
        to stream: Descriptor?.Box?,
        _ body: () throws(SupervisorError) -> Void
    ) throws(SupervisorError) {
        supervision.tellEvents(to: stream)
        supervision.watchNotifier(progress: report)
        do throws(SupervisorError) { try body() } catch {
            supervision.tell(error)
            // What went wrong first is what a person needs to read.
            do throws(SupervisorError) { try supervision.settleTold(progress: report) } catch {}
            throw error
        }
        try supervision.settleTold(progress: report)
    }

    /// Prints where the experiment stands; to standard error where standard output has events.
    static func summarize(_ state: CampaignState, _ isAside: Bool = false) {
        guard let best = state.best, let baseline = state.baseline else { return }
        let line =
            "sealed mean \(baseline.sealed.text()) at the baseline, \(best.score.text()) now "
            + "(iteration \(best.iteration)); suite of \(state.suite.count) tasks; "
            + "\(state.usage.attempts) attempts refused"
        isAside ? StandardError.print(line) : print(line)
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
        let record = try RecordedExperiment(options.directory, layout: options.state.layout())
        let experiment = record.experiment
        let answer = try ControlClient.ask(verb, of: experiment.id, layout: record.layout)
        guard answer?["ok"]?.boolValue == true else {
            throw SupervisorError(
                .hostFailed,
                operation: verb,
                location: experiment.directory,
                reason: answer?["reason"]?.stringValue ?? "no run of this experiment is alive",
                remedy: answer?["remedy"]?.stringValue ?? "start one with `invigilator run`"
            )
        }
        print("\(verb): done")
    }
}
