internal import HostKernel
internal import IterationLoop
internal import Ledger
internal import LinuxKernel
internal import Supervisor
internal import Transparency

/// A record that `verify` looks at: an experiment's own, or an export of it.
struct CheckedRecord {
    /// What is known beside the rows; nothing of an export.
    let experiment: RecordedExperiment?
    /// What the chain and the signatures say.
    let report: VerificationReport
    /// The rows; those of an export only where it is whole.
    let entries: [LedgerEntry]
    private let lines: MerkleTree
    private let namesKey: Bool

    /// Reads an experiment's record.
    init(of experiment: RecordedExperiment, publicKey: String?) throws(SupervisorError) {
        self.experiment = experiment
        let reader = experiment.reader
        report = try experiment.verify(.everySignature, publicKey: publicKey)
        namesKey = publicKey != nil
        entries = try experiment.entries()
        do throws(LedgerError) {
            lines = MerkleTree(try reader.exportLines().prefix(report.count))
        } catch {
            throw SupervisorError(reading: error)
        }
    }

    /// Reads an export.
    init(exportAt path: String, publicKey: String?) throws(SupervisorError) {
        experiment = nil
        let bytes = try kernel("verify a record", path) { () throws(SystemError) in
            try Descriptor.open(path, [.read, .nonBlocking]).readAll(limit: 1 << 30)
        }
        namesKey = publicKey != nil
        report = Ledger.verifyExport(bytes, publicKey: publicKey, depth: .everySignature)
        lines = ExportedRows.tree(of: bytes)
        guard report.isIntact else {
            entries = []
            return
        }
        do throws(LedgerError) { entries = try Ledger.entries(inExport: bytes) } catch {
            throw SupervisorError(reading: error)
        }
    }

    /// The rows as the loop reads them.
    var rows: [RecordedRow] { entries.map(RecordedRow.init(reading:)) }

    /// Holds the record against a checkpoint of it.
    func comparison(with checkpoint: [UInt8]) throws(SupervisorError) -> CheckpointComparison {
        CheckpointComparison(
            of: checkpoint,
            with: lines,
            signedBy: try VerifiedLedger.noteKeys(report, location: "the record")
        )
    }

    /// What is to be said of the keys that signed the record, and of the one that signs it now.
    func keys() -> [RecordFinding] {
        var findings: [RecordFinding] = []
        if report.keys.count > 1 {
            findings.append(
                RecordFinding(
                    subject: "keys",
                    detail: LedgerKeysText.lines(report).joined(separator: "; "),
                    fault: namesKey ? nil : LedgerKeysText.breakFault(report),
                    remedy: LedgerKeysText.breakRemedy
                )
            )
        }
        guard let experiment else { return findings }
        var detail = "it is the one that the rows go on with"
        do throws(LedgerError) {
            try experiment.reader.requireKey(at: experiment.layout.key(experiment.experiment.id))
        } catch {
            // No row is less true without its key, so this is nothing wrong with the record.
            detail =
                "\(error.reason): rows 1 to \(report.count) are proven all the same, but none can be "
                + "added, exported, attested or signed; \(error.remedy)"
        }
        return findings + [RecordFinding(subject: "signing key", detail: detail)]
    }
}
