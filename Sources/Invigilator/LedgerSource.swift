internal import HostKernel
internal import Ledger
internal import LinuxKernel
internal import Supervisor
internal import Transparency

/// A ledger as the argument of a command names it.
enum LedgerSource {
    /// A database, the live one or a copy.
    case database(LedgerReader)
    /// An export in memory.
    case export([UInt8])
    /// An export in a file.
    case file(String)

    /// Opens what is named: `-`, an experiment's directory, a database or an export.
    ///
    /// - Parameters:
    ///   - name: the argument.
    ///   - layout: where the state of experiments lies.
    ///   - isKept: whether an export is read as a whole, to look at the same bytes twice.
    /// - Returns: the ledger; nothing is verified.
    /// - Throws: an error where it cannot be read.
    static func open(
        _ name: String,
        layout: StateLayout,
        isKept: Bool
    ) throws(SupervisorError) -> LedgerSource {
        if name == "-" {
            return .export(
                try kernel("verify a record", "standard input") { () throws(SystemError) in
                    try Descriptor.copy(ofInherited: 0).readAll(limit: 1 << 30)
                }
            )
        }
        if isDirectory(name) {
            return .database(try RecordedExperiment(name, layout: layout).reader)
        }
        if try isDatabase(name) {
            do throws(LedgerError) { return .database(try LedgerReader.open(at: name)) } catch {
                throw SupervisorError(reading: error)
            }
        }
        guard isKept else { return .file(name) }
        return .export(
            try kernel("verify a record", name) { () throws(SystemError) in
                try Descriptor.open(name, [.read, .nonBlocking]).readAll(limit: 1 << 30)
            }
        )
    }

    /// The tree over the first rows.
    func tree(ofRows count: Int) throws(SupervisorError) -> MerkleTree {
        switch self {
        case .database(let reader):
            do throws(LedgerError) {
                return MerkleTree(try reader.exportLines().prefix(count))
            } catch {
                throw SupervisorError(reading: error)
            }
        case .export(let bytes): return ExportedRows.tree(of: bytes)
        case .file: fatalError("an export that is looked at twice is read as a whole")
        }
    }

    private static func isDirectory(_ name: String) -> Bool {
        do throws(SystemError) {
            _ = try Descriptor.resolvedPath(name)
            return true
        } catch {
            // What is no directory is opened as a file, and the error of that is shown.
            return false
        }
    }

    // The first bytes of every SQLite 3 file (sqlite.org/fileformat2.html, section 1.3).
    private static func isDatabase(_ name: String) throws(SupervisorError) -> Bool {
        try kernel("verify a record", name) { () throws(SystemError) in
            let start = try Descriptor.open(name, [.read, .nonBlocking]).read(atMost: 16)
            return start == Array("SQLite format 3".utf8) + [0]
        }
    }
}

/// A ledger every row of which was verified, as a tree over its rows.
struct VerifiedLedger {
    /// The tree.
    let tree: MerkleTree
    /// The key that signs notes about it now.
    let key: NoteKey
    // Every key that signed notes about it.
    private let keys: [NoteKey]

    /// Verifies a ledger.
    ///
    /// - Throws: an integrity violation where a row is not as it was written.
    init(_ record: RecordedExperiment) throws(SupervisorError) {
        let reader = record.reader
        let report: VerificationReport
        do throws(LedgerError) {
            report = try reader.verify()
            try report.requireIntact(location: reader.path)
            // Rows that were appended since then were not verified.
            tree = MerkleTree(try reader.exportLines().prefix(report.count))
        } catch {
            throw SupervisorError(reading: error)
        }
        keys = try Self.noteKeys(report, location: reader.path)
        key = keys[keys.count - 1]
    }

    /// The keys of a ledger as notes name them, the newest one last; at least one.
    static func noteKeys(
        _ report: VerificationReport,
        location: String
    ) throws(SupervisorError) -> [NoteKey] {
        let keys = report.keys.compactMap { PublicKey(hex: $0.publicKey) }
        guard keys.count == report.keys.count, !keys.isEmpty else {
            throw SupervisorError(
                .integrity,
                operation: "read the ledger's key",
                location: location,
                reason: "one of its keys is no Ed25519 key",
                remedy: "do not trust it; compare it with an export that you kept"
            )
        }
        return NoteKey.all(ofLedger: keys)
    }

    /// The head of the ledger.
    var head: Checkpoint { Checkpoint(origin: key.name, of: tree) }

    /// Refuses to go on from a ledger that does not continue an earlier checkpoint of it.
    ///
    /// - Parameters:
    ///   - note: the checkpoint, as it was signed.
    ///   - location: where it was found.
    /// - Returns: the checkpoint.
    /// - Throws: an integrity violation.
    func requireContinued(_ note: [UInt8], location: String) throws(SupervisorError) -> Checkpoint {
        let kept: Checkpoint
        do throws(NoteError) { kept = try Checkpoint(verifying: note, signedByOneOf: keys) } catch {
            throw SupervisorError(checkpoint: error, location: location)
        }
        guard let fault = kept.fault(in: tree) else { return kept }
        throw SupervisorError(checkpoint: fault, location: location)
    }

    /// The head, signed with the ledger's key.
    func signed(for record: RecordedExperiment) throws(SupervisorError) -> SignedNote {
        do throws(LedgerError) {
            return try SignedNote(signing: head.text, as: key) { message throws(LedgerError) in
                try record.signature(over: message)
            }
        } catch {
            throw SupervisorError(reading: error)
        }
    }
}

extension RecordedExperiment {
    /// Signs a statement about the ledger.
    func signature(over message: [UInt8]) throws(LedgerError) -> [UInt8] {
        try reader.signature(over: message, withKeyAt: layout.key(experiment.id))
    }
}

extension SupervisorError {
    /// A note that is no checkpoint of this ledger.
    init(checkpoint error: NoteError, location: String) {
        let isWrongFile = if case .malformed = error { true } else { false }
        self.init(
            isWrongFile ? .usage : .integrity,
            operation: "read a checkpoint",
            location: location,
            reason: "\(error)",
            remedy: isWrongFile
                ? "name a file that `invigilator ledger checkpoint` wrote"
                : "do not trust this ledger before you know why another key signed the checkpoint"
        )
    }

    /// A ledger that does not continue a checkpoint of it.
    init(checkpoint fault: CheckpointFault, location: String) {
        self.init(
            .integrity,
            operation: "compare the ledger with a checkpoint",
            location: location,
            reason: "\(fault)",
            remedy: "stop the experiment, keep both, and find out who replaced the ledger"
        )
    }
}
