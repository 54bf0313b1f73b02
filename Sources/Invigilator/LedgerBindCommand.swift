internal import ArgumentParser
internal import Supervisor

/// `ledger bind [DIR]`.
struct LedgerBindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bind",
        abstract: "Bind the record to this directory, by a new key in its file `.invigilator`.",
        discussion: """
            Needed once for a record that an earlier version made in another user's directory, and where the \
            key is lost or somebody else may have read it. Say so only of the experiment's own directory: \
            whoever holds the key gets the results. A signed row holds the key's digest and the directory's \
            owner; copies of the directory with an older key are refused from then on. Only possible while \
            no run is on. Cut off, it is finished by the same command.
            """
    )

    @OptionGroup var options: ExperimentOptions
    @Option(help: .hidden)
    var digest: String?
    @Flag(help: .hidden)
    var first = false

    func run() throws {
        let layout = options.state.place
        if let digest {
            return try ExperimentBinding.record(
                digest,
                of: options.directory,
                layout,
                isFirst: first
            )
        }
        try Console.write("\(try Self.bind(options.directory, layout, isFirst: false))\n")
    }

    /// Binds, as the rights of the caller allow.
    ///
    /// - Returns: what was done.
    /// - Throws: an error; a record that is bound already is one where it is to be the first time.
    @discardableResult
    static func bind(
        _ directory: String,
        _ layout: StateLayout,
        isFirst: Bool
    ) throws(SupervisorError) -> String {
        let binding = try ExperimentBinding(directory)
        // The record is parsed by a process that gave root up; this one writes the key.
        _ = try OwnProgram.output(
            of: [
                "ledger", "bind", binding.directory, "--digest", binding.digest,
                "--state-directory", layout.root,
            ] + (isFirst ? ["--first"] : [])
        )
        try binding.write()
        return "the record of experiment \(binding.id) is bound to \(binding.directory)"
    }
}
