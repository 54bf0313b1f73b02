internal import GRDB
internal import StrictJSON

/// Looks into a ledger without the right to append, also while a run holds it.
public final class LedgerReader {
    let store: LedgerStore
    let identity: LedgerIdentity
    private let key: VerifyingKey

    /// The path of the database.
    public var path: String { store.path }

    /// The Ed25519 public key, 32 bytes as hexadecimal digits.
    public var publicKey: String { Hexadecimal.text(of: identity.publicKey) }

    /// Opens the ledger at `path` for reading.
    ///
    /// - Throws: ``LedgerError/missing(location:)``, ``LedgerError/unknownFormat(location:reason:)``
    ///   or ``LedgerError/storage(operation:location:reason:)``.
    public static func open(at path: String) throws(LedgerError) -> LedgerReader {
        try LedgerReader(store: LedgerStore.open(at: path, readOnly: true))
    }

    init(store: LedgerStore) throws(LedgerError) {
        self.store = store
        identity = try store.identity()
        guard let key = VerifyingKey(bytes: identity.publicKey) else {
            throw .unknownFormat(location: store.path, reason: "its public key is no Ed25519 key")
        }
        self.key = key
    }

    /// The rows after number `sequence`, in order, decoded.
    ///
    /// Decoding is not verifying: call ``verify(depth:witness:)`` before believing a row.
    public func entries(after sequence: Int = 0) throws(LedgerError) -> [LedgerEntry] {
        let path = store.path
        return try store.read("read the ledger") { database in
            var entries: [LedgerEntry] = []
            try store.forEachRow(after: Int64(sequence), in: database) { row in
                entries.append(try LedgerEntry(decoding: row, location: path))
            }
            return entries
        }
    }

    /// Follows the chain from the first row to the last.
    ///
    /// A fault is part of the report; an error means that the file could not be read.
    public func verify(
        depth: VerificationDepth = .chain,
        witness: LedgerWitness? = nil
    ) throws(LedgerError) -> VerificationReport {
        let (report, isVouchedFor) = try pass(depth: depth, witness: witness)
        if isVouchedFor { return report }
        // Some row in front of the fault was not signed by this key: find the first one.
        return try pass(depth: .everySignature, witness: witness).report
    }

    /// Writes the whole ledger as JSON lines, in pieces of bounded size.
    ///
    /// - Parameters:
    ///   - keyPath: The signing key; it signs the footer.
    ///   - write: Takes the next bytes of the export, in order.
    /// - Throws: ``LedgerError/unsafeKey(location:reason:)`` or
    ///   ``LedgerError/foreignKey(location:)`` for a key that does not serve, and
    ///   ``LedgerError/exportRefused(location:reason:)`` when `write` throws.
    public func export(
        signedWithKeyAt keyPath: String,
        to write: ([UInt8]) throws -> Void
    ) throws(LedgerError) {
        let key = try SigningKey.load(at: keyPath)
        guard key.publicKey == identity.publicKey else { throw .foreignKey(location: keyPath) }
        try export(signedBy: key, to: write)
    }

    func export(signedBy key: SigningKey, to write: ([UInt8]) throws -> Void) throws(LedgerError) {
        try store.read("export the ledger") { database in
            var writer = ExportWriter(identity: identity)
            try store.forEachRow(after: 0, in: database) { row in
                writer.add(row)
                if let bytes = writer.takeWhenLarge() { try offer(bytes, to: write) }
            }
            try offer(writer.finish(footer(signedBy: key, in: database)), to: write)
        }
    }

    // Over the newest row that is stored: an export that lacks it does not verify.
    private func footer(signedBy key: SigningKey, in database: Database) throws -> ExportFooter {
        let last = try store.last(in: database)
        var footer = ExportFooter(
            count: last?.sequence ?? 0,
            head: last?.seal ?? identity.origin,
            signature: []
        )
        let message = ChainEncoding.footer(count: footer.count, head: footer.head)
        footer.signature = try key.signature(over: message, path: store.path)
        return footer
    }

    private func offer(_ bytes: [UInt8], to write: ([UInt8]) throws -> Void) throws(LedgerError) {
        do {
            try write(bytes)
        } catch {
            throw .exportRefused(location: store.path, reason: "\(error)")
        }
    }

    private func pass(
        depth: VerificationDepth,
        witness: LedgerWitness?
    ) throws(LedgerError) -> (report: VerificationReport, isVouchedFor: Bool) {
        var verifier = ChainVerifier(
            identity: identity,
            key: key,
            depth: depth,
            witness: witness
        )
        var fault: VerificationFault?
        try store.read("verify the ledger") { database in
            do {
                try store.forEachRow(after: 0, in: database) { try verifier.accept($0) }
                fault = verifier.faultAtEnd()
            } catch let found as VerificationFault {
                fault = found
            }
        }
        let isVouchedFor = verifier.isVouchedFor()
        return (verifier.report(fault: fault), isVouchedFor)
    }
}
