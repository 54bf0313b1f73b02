internal import ArgumentParser
internal import IterationLoop
internal import Supervisor

/// `suite retire`.
struct SuiteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suite",
        abstract: "Act on the regression suite of an experiment.",
        subcommands: [SuiteRetireCommand.self]
    )
}

/// `suite retire TASK [DIR] --reason TEXT`.
struct SuiteRetireCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire",
        abstract: "Take a task out of the regression suite, for good and on the record.",
        discussion: """
            The task stays a train task and is not promoted again. The row is signed like every other \
            and names the reason. Only possible while no run is on; a coding agent has no such verb.
            """
    )

    @Argument(help: "The train task.")
    var task: String
    @OptionGroup var experiment: ExperimentOptions
    @Option(help: "Why, in a sentence; it stands in the record.")
    var reason: String

    func run() throws {
        let layout = experiment.state.layout()
        let state = try SuiteRetirement.record(
            task,
            because: reason,
            in: experiment.open(),
            layout: layout
        )
        print("retired \(task): the suite has \(state.suite.count) tasks")
    }
}
