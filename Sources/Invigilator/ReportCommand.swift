internal import ArgumentParser
internal import ExamResults
internal import Ledger
internal import Report
internal import Supervisor
internal import Workspace

/// `report`.
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write the report of an experiment: one HTML page, made from the record alone.",
        discussion: """
            The page loads nothing and runs nothing, so it can be opened anywhere and sent to \
            anybody who may know train tasks. It holds no outcome of a single sealed task, and says \
            at its top whether the record verifies.
            """
    )

    @Option(
        name: .shortAndLong,
        help: "The file to write; `-` for standard output. By default DIR/report.html."
    )
    var output: String?

    @Flag(help: "Show every candidate, exam and note, not the newest 200 of each.")
    var all = false

    @OptionGroup var options: ExperimentOptions

    func run() throws {
        if output == "-" { return try Console.write(rendered()) }
        let directory = try options.open().directory
        let path = output ?? "\(directory)/report.html"
        // The page is rendered by a process that gave root up, and written by one that parses nothing.
        let page = try OwnProgram.output(
            of: ["report", directory, "--output", "-"] + (all ? ["--all"] : [])
                + options.state.words
        )
        try OutputFile.write(page, to: path)
        try Console.write(path)
    }

    private func rendered() throws(SupervisorError) -> String {
        let record = try RecordedExperiment(options.directory, layout: options.state.place)
        let repository = CandidateRepository(at: record.layout.repository(record.experiment.id))
        return ReportPage.render(
            entries: try record.entries(),
            verification: try record.verify(),
            newest: all ? nil : ReportPage.usualLength,
            candidateTexts: { Self.texts(of: $0, in: repository) }
        )
    }

    /// The texts of a candidate, for a page; one that cannot be read is shown without them, and `verify`
    /// says what is wrong.
    static func texts(
        of digest: String,
        in repository: CandidateRepository
    ) -> [String: String]? {
        do {
            guard let commit = try repository.commit(of: CandidateDigest(hex: digest)) else {
                return nil
            }
            return try repository.candidate(in: commit).texts
        } catch {
            return nil
        }
    }
}
