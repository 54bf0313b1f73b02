internal import ArgumentParser
internal import StrictJSON
internal import Supervisor

/// `ledger reveal`.
struct LedgerRevealCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reveal",
        abstract: "Write what an auditor needs to open every sealed exam.",
        discussion: """
            FOLDER is made with mode 0700. It holds an export of the record, the key, the encrypted \
            outcomes, the split with its salt, and the configuration; `invigilator verify \
            FOLDER/ledger.jsonl --reveal FOLDER/reveal.key --config FOLDER/experiment_config.yaml` \
            needs nothing else, and neither root nor this host.

            Whoever has the key reads the outcome of every sealed task, of exams to come as well: hand \
            it over when the experiment is over, to an auditor, and never to the coding agent's side.
            """
    )

    @Option(help: ArgumentHelp("The folder that is made.", valueName: "folder"))
    var to: String?

    @Flag(help: .hidden)
    var bundle = false

    @OptionGroup var options: ExperimentOptions

    func validate() throws {
        guard (to == nil) == bundle else { throw ValidationError("Name the folder: --to FOLDER.") }
    }

    func run() throws {
        guard let to else { return try Console.write(RevealedBundle.read(options).canonicalBytes) }
        let directory = try options.open().directory
        // The record is parsed by a process that gave root up; this one only passes bytes on.
        let answer = try OwnProgram.output(
            of: ["ledger", "reveal", "--bundle", directory] + options.state.words
        )
        try RevealedBundle.write(answer, to: to)
        try Console.write(to)
    }
}
