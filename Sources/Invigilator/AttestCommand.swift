internal import ArgumentParser
internal import IterationLoop
package import Ledger
internal import StrictJSON
internal import Supervisor
package import Transparency
internal import Workspace

/// `attest`.
struct AttestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attest",
        abstract: "Sign a statement about an accepted candidate, for whoever has its files.",
        discussion: """
            An in-toto statement in a DSSE envelope, signed with the ledger's key: the SHA-256 of each \
            file, and under which gate, policies, plans, configuration, benchmark and assurance it was \
            accepted, and where the record says so. Programs of others verify it with the key that \
            `ledger key --pem` prints.

            It holds released figures only, so that it may lie beside the file, where a coding agent \
            could read it. --exact adds the sealed score and the gate's reasons, for auditors.
            """
    )

    @Option(help: "The iteration that it was accepted in; by default the best one's.")
    var iteration: Int?

    @Flag(help: "Add the sealed score and the gate's reasons.")
    var exact = false

    @Option(name: .shortAndLong, help: "The file to write; `-` for standard output.")
    var output = "-"

    @OptionGroup var options: ExperimentOptions

    func run() throws {
        guard output != "-" else { return try Console.write(signed().canonicalBytes + [0x0A]) }
        let directory = try options.open().directory
        let words = ["attest", directory] + (exact ? ["--exact"] : [])
        let chosen = iteration.map { ["--iteration", "\($0)"] } ?? []
        let bytes = try OwnProgram.output(of: words + chosen + options.state.words)
        try OutputFile.write(bytes, to: output)
        try Console.write(output)
    }

    private func signed() throws(SupervisorError) -> JSONValue {
        let record = try RecordedExperiment(options.directory, layout: options.state.place)
        let key = try VerifiedLedger(record).key
        let results = try RecordedResults(record)
        let chosen = iteration ?? results.state.best?.iteration ?? 0
        guard
            let attestation = GateAttestation(
                of: chosen,
                in: results.entries,
                figures: exact ? .exact : .released
            )
        else { throw refusal(chosen, results) }
        let candidate = try results.candidate(hex: attestation.digest)
        let statement = attestation.statement(
            about: candidate.files.map {
                Statement.Subject(name: $0.path, digest: SHA256Digest.hex(of: $0.bytes))
            },
            ledger: key
        )
        do throws(LedgerError) {
            return try Envelope(
                signing: statement.bytes,
                type: Statement.payloadType,
                as: key.publicKey
            ) { message throws(LedgerError) in try record.signature(over: message) }.json
        } catch {
            throw SupervisorError(reading: error)
        }
    }

    private func refusal(_ chosen: Int, _ results: RecordedResults) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "attest a candidate",
            location: iteration.map { "--iteration \($0)" } ?? results.directory,
            reason: chosen == 0
                ? "the template is no candidate, and none was accepted"
                : "the record has no accepted candidate of iteration \(chosen)",
            remedy: "`invigilator ledger show --kind decision` lists what was accepted"
        )
    }
}

/// What a record says of an accepted candidate, as the predicate of a statement.
package struct GateAttestation {
    /// The kind of statement.
    package static let predicateType = "urn:invigilator:gate-decision:1"

    /// Which figures of sealed exams are told.
    package enum Figures {
        /// What the coding agent was told, too.
        case released
        /// Everything, for auditors.
        case exact
    }

    private let decision: LedgerEntry
    private let genesis: JSONValue
    private let exams: [JSONValue]
    private let release: JSONValue?
    private let figures: Figures

    /// Finds a decision; nothing where the iteration has none that accepted.
    ///
    /// - Parameters:
    ///   - iteration: the iteration.
    ///   - entries: the rows.
    ///   - figures: which figures are told.
    package init?(of iteration: Int, in entries: [LedgerEntry], figures: Figures) {
        let own = entries.filter { $0.body["iteration"]?.intValue == iteration }
        guard let genesis = entries.first(where: { $0.kind == .genesis }),
            let decision = own.last(where: { $0.kind == .decision }),
            decision.body["verdict"] == "accepted"
        else { return nil }
        self.decision = decision
        self.genesis = genesis.body
        self.figures = figures
        exams = own.filter {
            $0.kind == .examEnded && $0.sequence < decision.sequence
                && $0.body["digest"] == decision.body["digest"]
                && ["suite", "sealed"].contains($0.body["purpose"])
        }.map(\.body)
        let ticket = decision.body["ticket"]
        release = own.last { $0.kind == .release && $0.body["ticket"] == ticket }?.body
    }

    /// The candidate's digest, as the row has it.
    package var digest: String { decision.body["digest"]?.stringValue ?? "" }

    /// The statement.
    ///
    /// - Parameters:
    ///   - files: the candidate's files.
    ///   - key: the key of the ledger.
    /// - Returns: the statement.
    package func statement(about files: [Statement.Subject], ledger key: NoteKey) -> Statement {
        Statement(
            subjects: files,
            predicateType: Self.predicateType,
            predicate: [
                "experiment": member("experiment"),
                "candidate": ["digest": .string(digest), "surface": member("surface")],
                "decision": told,
                "gate": member("rules"),
                "configuration": member("config_digest"),
                "policies": member("policy_digests"),
                "plans": plans,
                "benchmark": [
                    "name": member("benchmark"), "digest": member("benchmark_digest"),
                    "split": genesis["split"]?["commitment"] ?? .null,
                    "sealed_tasks": genesis["split"]?["test_count"] ?? .null,
                ],
                "assurance": assurance,
                "told": [
                    "bits": release?["bits"] ?? .null,
                    "open_channels": release?["open_channels"] ?? .null,
                ],
                "ledger": [
                    "origin": .string(key.name), "public_key": .string(key.publicKey.hex),
                    "row": JSONValue(decision.sequence), "hash": .string(decision.hash.hex),
                    "time": .integer(decision.time),
                ],
            ]
        )
    }

    private func member(_ name: String) -> JSONValue { genesis[name] ?? .null }

    private var told: JSONValue {
        var names = ["iteration", "ticket", "verdict", "released", "suite_passed", "suite_total"]
        if figures == .exact { names += ["sealed_mean", "sealed_count", "best_before", "reasons"] }
        let members = names.map { ($0, decision.body[$0] ?? .null) }
        return .object(Dictionary(uniqueKeysWithValues: members))
    }

    // By exam, and by role in it; of an exam that was repeated, those of the last one.
    private var plans: JSONValue {
        let used = exams.map { exam in
            (exam["purpose"]?.stringValue ?? "", exam["plan_digests"] ?? .null)
        }
        return .object(Dictionary(used) { _, last in last })
    }

    // What the host was shown to enforce when the sealed exam ran.
    private var assurance: JSONValue {
        exams.last { $0["purpose"] == "sealed" }?["assurance"] ?? member("assurance")
    }
}
