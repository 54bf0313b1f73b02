internal import ArgumentParser
internal import IterationLoop
internal import LinuxKernel
internal import SandboxPlan
internal import Supervisor

/// `demo --dir DIR`: everything at once, with a scripted coding agent and no model.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Set up, prepare and run an experiment with a scripted coding agent.",
        discussion: """
            The agent improves the built-in benchmark's agent.py and cheats in between. Nothing but \
            the model is left out: sandboxes, exams, gate and record are the real ones.
            """
    )

    @Option(help: "Where the experiment goes.")
    var dir: String
    @OptionGroup var state: StateOptions
    @OptionGroup var events: EventOptions

    func run() throws {
        let stream = try events.open()
        let layout = state.layout()
        let installation = try Installation.find()
        var setup = ExperimentSetup(
            directory: dir,
            benchmark: "helpdesk",
            codingAgent: "scripted",
            layout: layout,
            installation: installation
        )
        // Somebody watches: what the slots tell is not worth minutes of waiting in a demonstration.
        setup.releaseGrid = "500ms"
        if Installation.reach < .full { setup.assurance = Installation.reach }
        let experiment = try setup.create()
        Session.report("experiment \(experiment.id) in \(experiment.directory)")
        let inputs = try ExperimentInputs(experiment, layout: layout, installation: installation)
        let supervision = try Supervision(inputs, layout: layout, installation: installation)
        supervision.colours = Console.colours(2)
        Session.announce(supervision.measured)
        var state: CampaignState?
        try Session.telling(supervision, to: stream) { () throws(SupervisorError) in
            try Preparation(supervision, progress: Session.report).run()
            let shell = try LoopShell(
                supervision,
                rules: try supervision.rules(),
                progress: Session.report
            )
            _ = try shell.run()
            state = shell.state
        }
        try DemoReport(supervision).write()
        try Session.end(supervision)
        if let state { Session.summarize(state, events.isOutput) }
        func say(_ line: String) { events.isOutput ? StandardError.print(line) : print(line) }
        say("report: \(experiment.directory)/workspace/report.html")
        Session.announce(supervision.measured)
        say("next: \(Session.sudo)invigilator status \(experiment.directory)")
    }
}
