internal import ArgumentParser
internal import HostKernel
internal import Ledger
internal import LinuxKernel
internal import StrictJSON
internal import Supervisor
internal import Transparency

/// `ledger checkpoint`.
struct LedgerCheckpointCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "checkpoint",
        abstract: "Sign what the record is now, to be kept where nobody here can change it.",
        discussion: """
            A checkpoint has three lines (name of the ledger, number of rows, root of the tree over \
            them) and a signature: a signed note as c2sp.org/tlog-checkpoint describes, which other \
            programs can verify and witness. `ledger verify --checkpoint` shows later whether rows \
            were cut off or written anew.

            With --to, --to-ref or --to-command it is kept there. What lies in the file or the ref is \
            replaced only by a checkpoint that continues it; where the record does not, nothing is \
            written and the exit code is 4.
            """
    )

    @Option(help: ArgumentHelp("Replace this file.", valueName: "file"))
    var to: String?

    @Option(
        help: ArgumentHelp(
            "Add a commit with the file `checkpoint` to this ref of --repository.",
            valueName: "ref"
        )
    )
    var toRef: String?

    @Option(help: ArgumentHelp("The git repository of --to-ref.", valueName: "directory"))
    var repository: String?

    @Option(
        help: ArgumentHelp(
            "Run this shell command, as the user who runs this one, with it on standard input.",
            valueName: "command"
        )
    )
    var toCommand: String?

    @Option(
        help: ArgumentHelp(
            "Sign only what continues this checkpoint; `-` for standard input.",
            valueName: "file"
        )
    )
    var since: String?

    @Option(help: ArgumentHelp("What --since is called in errors.", visibility: .hidden))
    var sinceName: String?

    @Flag(help: "Print the checkpoint for programs.")
    var json = false

    @OptionGroup var options: ExperimentOptions

    func validate() throws {
        guard [to, toRef, toCommand].compactMap(\.self).count <= 1 else {
            throw ValidationError("Only one of --to, --to-ref and --to-command can be given.")
        }
        guard (toRef == nil) == (repository == nil) else {
            throw ValidationError("--to-ref and --repository are given together.")
        }
        guard since == nil || (to == nil && toRef == nil) else {
            throw ValidationError("With --to and --to-ref, what lies there is compared.")
        }
        guard !json || place == nil else {
            throw ValidationError("--json prints a checkpoint, and keeps none.")
        }
    }

    private var place: CheckpointPlace? {
        if let to { return .file(to) }
        if let toRef, let repository { return .ref(toRef, repository: repository) }
        return toCommand.map { .command($0) }
    }

    func run() throws {
        guard let place else { return try printed() }
        let directory = try options.open().directory
        // The record is parsed by a process that gave root up; this one only passes bytes on.
        let older = try place.kept() ?? since.map(CheckpointFile.bytes)
        let note = try OwnProgram.output(
            of: ["ledger", "checkpoint", directory]
                + (older == nil ? [] : ["--since", "-", "--since-name", place.name(or: since)])
                + options.state.words,
            input: older ?? []
        )
        try Console.write(place.keep(note, after: older))
    }

    private func printed() throws {
        let older = try since.map(CheckpointFile.bytes)
        let record = try RecordedExperiment(options.directory, layout: options.state.place)
        let ledger = try VerifiedLedger(record)
        if let older {
            let location = sinceName ?? since ?? ""
            _ = try ledger.requireContinued(older, location: location)
        }
        let note = try ledger.signed(for: record)
        try json ? Console.write(Self.json(ledger, note)) : Console.write(note.bytes)
    }

    private static func json(_ ledger: VerifiedLedger, _ note: SignedNote) -> JSONValue {
        [
            "schema": "invigilator.ledger-checkpoint/1", "origin": .string(ledger.key.name),
            "size": JSONValue(ledger.tree.size), "root": .string(ledger.head.root.hex),
            "verifier_key": .string(ledger.key.verifierKey),
            "note": .string(String(decoding: note.bytes, as: UTF8.self)),
        ]
    }
}

/// `ledger prove`.
struct LedgerProveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prove",
        abstract: "Prove that a row is in the record, or that the record continues a checkpoint.",
        discussion: """
            With --row: a proof for whoever has that row's line of an export and nothing else \
            (c2sp.org/tlog-proof). With --since: what a witness is sent to have a new checkpoint \
            signed (`add-checkpoint` of c2sp.org/tlog-witness): the old size, a consistency proof and \
            the new checkpoint. Both end in a checkpoint of now.
            """
    )

    @Option(help: "The row's number; the first is 1.")
    var row: Int?

    @Option(help: ArgumentHelp("An earlier checkpoint; `-` for standard input.", valueName: "file"))
    var since: String?

    @Flag(help: "Print the proof for programs.")
    var json = false

    @OptionGroup var options: ExperimentOptions

    func validate() throws {
        guard (row == nil) != (since == nil) else {
            throw ValidationError("Give either --row or --since.")
        }
    }

    func run() throws {
        let older = try since.map(CheckpointFile.bytes)
        let record = try RecordedExperiment(options.directory, layout: options.state.place)
        let ledger = try VerifiedLedger(record)
        if let older, let since {
            let kept = try ledger.requireContinued(older, location: since)
            let proof = ledger.tree.consistencyProof(from: kept.size, to: ledger.tree.size) ?? []
            let note = try ledger.signed(for: record)
            let subject = ["old_size": JSONValue(kept.size)]
            return json
                ? try Console.write(Self.json(subject, ledger, proof, note))
                : try Console.write(ProofText.addition(to: kept.size, proof: proof, of: note))
        }
        let row = row ?? 0
        guard let proof = ledger.tree.inclusionProof(of: row - 1, in: ledger.tree.size) else {
            throw SupervisorError(
                .usage,
                operation: "prove a row",
                location: "--row \(row)",
                reason: "the record has rows 1 to \(ledger.tree.size)",
                remedy: "`invigilator ledger show` lists them"
            )
        }
        let note = try ledger.signed(for: record)
        try json
            ? Console.write(Self.json(["row": JSONValue(row)], ledger, proof, note))
            : Console.write(ProofText.inclusion(of: row - 1, path: proof, in: note))
    }

    private static func json(
        _ subject: [String: JSONValue],
        _ ledger: VerifiedLedger,
        _ proof: [TreeHash],
        _ note: SignedNote
    ) -> JSONValue {
        let members: [String: JSONValue] = [
            "schema": "invigilator.ledger-proof/1", "size": JSONValue(ledger.tree.size),
            "root": .string(ledger.head.root.hex), "hashes": JSONValue(proof.map(\.hex)),
            "checkpoint": .string(String(decoding: note.bytes, as: UTF8.self)),
        ]
        return .object(members.merging(subject) { member, _ in member })
    }
}

/// `ledger key`.
struct LedgerKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Print the public key of a record, as other programs want it.",
        discussion: """
            FILE is what `ledger verify` takes, and must verify. Without --pem and --vkey every \
            spelling is printed, of the key that signs now. Get the key from a source that you trust, not from the file that it is to \
            prove.
            """
    )

    @Argument(help: "An export, a database or an experiment's directory.")
    var file = "."

    @Flag(help: "Only the key in PEM, for attestations.")
    var pem = false

    @Flag(help: "Only the verifier key, for checkpoints.")
    var vkey = false

    @Flag(help: "Print every spelling for programs.")
    var json = false

    @OptionGroup var state: StateOptions

    func validate() throws {
        guard [pem, vkey, json].filter(\.self).count <= 1 else {
            throw ValidationError("Only one of --pem, --vkey and --json can be given.")
        }
    }

    func run() throws {
        let source = try LedgerSource.open(file, layout: state.place, isKept: false)
        let report = try source.report(LedgerExpectation(location: file))
        do throws(LedgerError) { try report.requireIntact(location: file) } catch {
            throw SupervisorError(reading: error)
        }
        let keys = try VerifiedLedger.noteKeys(report, location: file)
        let key = keys[keys.count - 1]
        if pem { return try Console.write(key.publicKey.pem) }
        if vkey { return try Console.write(key.verifierKey) }
        try json ? Console.write(Self.json(key, report)) : Console.write(Self.text(key, report))
    }

    private static func text(_ key: NoteKey, _ report: VerificationReport) -> String {
        LedgerKeysText.lines(report).map { $0 + "\n" }.joined() + """
            public key \(key.publicKey.hex)
            key id \(key.publicKey.id)
            verifier key \(key.verifierKey)
            \(key.publicKey.pem)
            """
    }

    private static func json(_ key: NoteKey, _ report: VerificationReport) -> JSONValue {
        [
            "schema": "invigilator.ledger-key/1", "public_key": .string(key.publicKey.hex),
            "key_id": .string(key.publicKey.id), "origin": .string(key.name),
            "verifier_key": .string(key.verifierKey), "pem": .string(key.publicKey.pem),
            "keys": JSONValue(report.keys.map(\.publicKey)),
        ]
    }
}

/// A checkpoint that a command is given.
enum CheckpointFile {
    /// Its bytes, `-` being standard input; nothing is parsed.
    static func bytes(_ path: String) throws(SupervisorError) -> [UInt8] {
        let limit = SignedNote.maximumSize
        return try kernel("read a checkpoint", path) { () throws(SystemError) in
            path == "-"
                ? try Descriptor.copy(ofInherited: 0).readAll(limit: limit)
                : try Descriptor.open(path, [.read, .nonBlocking]).readAll(limit: limit)
        }
    }
}
