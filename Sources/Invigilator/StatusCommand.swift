internal import HostKernel
internal import ArgumentParser
internal import ExamResults
internal import IterationLoop
internal import Ledger
internal import LinuxKernel
package import StrictJSON
internal import Supervisor
package import Workspace

/// `status`.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say where an experiment stands, from its record and its running supervisor.",
        discussion: """
            Exact scores are shown, so this is for the operator; the coding agent has `exam status`. \
            Exit code 4 when the record does not verify.
            """
    )

    @Flag(help: "Print the status for programs.")
    var json = false

    @Flag(help: "Print metrics in the text format of Prometheus.")
    var prometheus = false

    @Option(
        name: .shortAndLong,
        help: "With --prometheus, replace this file in one step, for a textfile collector."
    )
    var output: String?

    @OptionGroup var options: ExperimentOptions

    func validate() throws {
        guard !(json && prometheus) else {
            throw ValidationError("--json and --prometheus are two forms of one output")
        }
        guard output == nil || prometheus else { throw ValidationError("-o needs --prometheus") }
    }

    func run() throws {
        if let output, output != "-" {
            // Rendered by a process that gives root up, and written by one that parses nothing.
            let directory = try options.open().directory
            let page = try OwnProgram.output(
                of: ["status", directory, "--prometheus"] + options.state.words
            )
            return try OutputFile.write(page, to: output)
        }
        let record = try RecordedExperiment(options.directory, layout: options.state.place)
        let entries = try record.entries()
        let verification = try record.verify()
        let control = try ControlClient.ask(
            "status",
            of: record.experiment.id,
            layout: record.layout
        )
        let folder = record.layout.experiment(record.experiment.id)
        let status = StatusReport(
            directory: record.experiment.directory,
            state: try RecordedExperiment.replay(entries),
            entries: entries,
            verification: verification,
            surroundings: StatusSurroundings(
                control: control,
                configuration: Self.configuration(record),
                // Of a run that was killed, what it could not write.
                unbooked: try control.map { $0["models"] ?? .null }
                    ?? UnbookedUsage(in: folder, after: entries)?.body,
                now: WallClock.milliseconds
            )
        )
        switch (json, prometheus) {
        case (true, _): try Console.write(status.json)
        case (_, true): try Console.write(status.prometheus)
        case (false, false): try Console.write(status.text(Console.colours(1)))
        }
        // A metric says it: a collector needs the page most where something is wrong.
        guard !prometheus else { return }
        do throws(LedgerError) {
            try verification.requireIntact(location: record.reader.path)
        } catch {
            throw SupervisorError(error)
        }
    }

    private static func configuration(_ record: RecordedExperiment) -> ExperimentConfig? {
        guard let bytes = record.configuration else { return nil }
        do throws(WorkspaceError) {
            return try ExperimentConfig(parsing: bytes, file: "experiment_config.yaml")
        } catch {
            // Said as a warning of the status; `run` names line and remedy.
            return nil
        }
    }
}

/// What a status needs besides the record.
package struct StatusSurroundings {
    /// The running supervisor's answer; absent when none runs.
    package let control: JSONValue?
    /// The configuration as it is now; absent when it cannot be read.
    package let configuration: ExperimentConfig?
    /// What models were used for since the last row about it; nil where nothing was.
    package let unbooked: JSONValue?
    /// Now, in milliseconds since 1970.
    package let now: Int64

    package init(
        control: JSONValue?,
        configuration: ExperimentConfig?,
        unbooked: JSONValue? = nil,
        now: Int64
    ) {
        self.control = control
        self.unbooked = unbooked
        self.configuration = configuration
        self.now = now
    }
}
