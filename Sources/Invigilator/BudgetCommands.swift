internal import ArgumentParser
internal import HostKernel
internal import IterationLoop
internal import LinuxKernel
internal import Supervisor
internal import Workspace

/// `extend DIR --iterations N …`.
struct ExtendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend",
        abstract: "Allow an experiment more than its configuration does, running or not.",
        discussion: """
            A signed row says who allowed what; the genesis row stays as it is. A running night goes on \
            under the new budget at once. Bounds of that run (`run --max-…`) are not moved by it.
            """
    )

    @OptionGroup var experiment: ExperimentOptions
    @Option(help: "More judged candidates.")
    var iterations = 0
    @Option(help: "More submissions.")
    var submissions = 0
    @Option(help: "More train exams.")
    var trainRuns = 0
    @Option(help: "More decisions in a row without a higher score.")
    var noImprovement = 0
    @Option(help: "More hours.")
    var hours = 0.0
    @Option(help: "More tokens of models.budget.campaign.")
    var tokens = 0
    @Option(help: "More dollars of models.budget.campaign.")
    var cost = 0.0
    @Option(help: "Always refused: what releases may tell of sealed tasks is fixed.")
    var bits: Double?
    @Option(help: "Always refused: the number of the gate's paired tests is fixed.")
    var tests: Int?
    @Option(help: "Why; it stands in the record.")
    var reason = ""

    func run() throws {
        try refuseLeakage()
        var more = BudgetExtension()
        more.iterations = iterations
        more.submissions = submissions
        more.trainRuns = trainRuns
        more.noImprovement = noImprovement
        more.milliseconds = try Amount.parts(hours, of: 3_600_000, "--hours")
        more.tokens = tokens
        more.microdollars = try Amount.parts(cost, of: 1_000_000, "--cost")
        more.by = Caller.name
        more.reason = reason
        // Reads what it writes: every limit of an amount or a text is that of the row.
        do throws(LoopError) { more = try BudgetExtension(reading: more.event.body) } catch {
            throw Amount.refusal(experiment.directory, "\(error)", "write amounts above 0")
        }
        let isRunning = try BudgetGrant.extend(
            by: more,
            in: experiment.open(),
            layout: experiment.state.layout()
        )
        print(
            "extended by \(more.words)" + (isRunning ? "; the running night goes on under it" : "")
        )
    }

    private func refuseLeakage() throws(SupervisorError) {
        for (name, isAsked, what) in [
            ("--bits", bits != nil, "what releases may tell of sealed tasks"),
            (
                "--tests", tests != nil,
                "over how many tests the chance of a false acceptance is spread"
            ),
        ] where isAsked {
            throw Amount.refusal(
                name,
                "\(what) was fixed before any score was seen, and what was told cannot be untold",
                "prepare another experiment, with sealed tasks that nobody has heard of"
            )
        }
    }
}

/// `prune DIR`.
struct PruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove old transcripts of coding agents, on the record.",
        discussion: """
            Without options by `retention` of the configuration. Record, candidates, train traces and \
            the outcomes of sealed exams are never touched. Only possible while no run is on.
            """
    )

    @OptionGroup var experiment: ExperimentOptions
    @Option(help: "Keep this many, the newest.")
    var keep: Int?
    @Option(help: "Remove those that are older than this many days.")
    var olderThan: Int?
    @Flag(help: "Say what would be removed, and remove nothing.")
    var dryRun = false

    func validate() throws {
        guard keep ?? 0 >= 0, (0...36_500).contains(olderThan ?? 0) else {
            throw ValidationError("--keep and --older-than take a number from 0 on")
        }
    }

    func run() throws {
        var settings = RetentionSettings()
        settings.transcripts = keep
        settings.age = olderThan.map { .seconds($0 * 86_400) }
        let pruning = try Pruning.byHand(
            settings,
            in: experiment.open(),
            layout: experiment.state.layout(),
            isDry: dryRun
        )
        for name in pruning.transcripts { print("transcripts/\(name)") }
        let verb = dryRun ? "would be removed" : "removed"
        print("\(pruning.transcripts.count) transcripts, \(pruning.bytes) bytes \(verb)")
    }
}

/// Amounts and places of a command line.
enum Amount {
    /// A number of parts of a unit, such as milliseconds of hours.
    static func parts(
        _ amount: Double,
        of unit: Double,
        _ name: String
    ) throws(SupervisorError) -> Int {
        let parts = (amount * unit).rounded()
        guard parts.isFinite, (0...1e15).contains(parts), amount == 0 || parts > 0 else {
            throw refusal(name, "«\(amount)» is no amount above 0", "write a number such as 2.5")
        }
        return Int(parts)
    }

    static func refusal(
        _ location: String,
        _ reason: String,
        _ remedy: String
    ) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "read the command line",
            location: location,
            reason: reason,
            remedy: remedy
        )
    }
}

/// Who called this program.
enum Caller {
    /// The user, as sudo names it where we were started by it.
    static var name: String {
        let user = Identity.effectiveUser
        guard user == 0, let id = ProcessEnvironment.value(of: "SUDO_UID"), let number = UInt32(id)
        else { return "uid \(user)" }
        return "uid \(number) by sudo"
    }
}
