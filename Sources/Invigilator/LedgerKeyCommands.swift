internal import ArgumentParser
internal import Ledger
internal import Supervisor

/// `ledger rotate-key [DIR]`.
struct LedgerRotateKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Go on with a new signing key, which the old one signs.",
        discussion: """
            A row that the old key signs names the new one, and the new one vouches for all rows before \
            it: who kept either key verifies the whole record. The old key is removed. Only possible \
            while no run is on. Cut off, it is finished by the same command.
            """
    )

    @OptionGroup var experiment: ExperimentOptions

    func run() throws {
        let layout = experiment.state.layout()
        try LedgerReplaceKeyCommand.show(try LedgerRekey.rotate(experiment.open(), layout))
    }
}

/// `ledger replace-key [DIR] --reason TEXT`.
struct LedgerReplaceKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replace-key",
        abstract:
            "Go on with a new signing key where the old one is lost: a break, for all to see.",
        discussion: """
            The row that names the new key is signed by the new key alone. Rows before it stay proven by \
            the old one; for who kept only the old one, the record ends there. `verify` and \
            `ledger verify` end with 4 at such a row unless --public-key names the new key. Refused \
            while there is a file in the key's place, usable or not: move it away only if its key is lost.
            """
    )

    @OptionGroup var experiment: ExperimentOptions
    @Option(help: "How the key was lost, in a sentence; it stands in the record.")
    var reason: String

    func run() throws {
        let layout = experiment.state.layout()
        try Self.show(
            try LedgerRekey.replace(experiment.open(), layout, because: reason)
        )
    }

    static func show(_ done: LedgerRekeying) throws(SupervisorError) {
        try Console.write(
            (done.wasBegun ? "finished what was cut off\n" : "")
                + "old key \(done.old)\nnew key \(done.new)\n"
        )
    }
}

/// Where a record stands with its keys.
enum LedgerKeysText {
    /// Which rows which key signed, where there is more than one.
    static func lines(_ report: VerificationReport) -> [String] {
        guard report.keys.count > 1 else { return [] }
        return report.keys.map { key in
            guard key.row > 0 else { return "key \(key.publicKey) from the beginning" }
            let how =
                key.isVouchedFor ? "the key before signed it" : "a BREAK: no key before signed it"
            return "key \(key.publicKey) after row \(key.row): \(how)"
        }
    }

    /// What is wrong with a key that took over unsigned, for who names no key.
    static func breakFault(_ report: VerificationReport) -> String? {
        report.replacement.map { key in
            "row \(key.row): the key was replaced without the old one's signature"
        }
    }

    static let breakRemedy =
        "if you know of the loss, name the key that took over with --public-key; "
        + "otherwise believe only the rows before"
}
