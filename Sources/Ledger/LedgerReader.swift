internal import GRDB

/// Looks into a ledger without the right to append, also while a run holds it.
public final class LedgerReader {
    let store: LedgerStore
    let identity: LedgerIdentity
    private let key: VerifyingKey

    /// The path of the database.
    public var path: String { store.path }

    /// The Ed25519 public key that the ledger began with, 32 bytes as hexadecimal digits.
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

    /// The newest row of a kind, decoded; nil where there is none.
    ///
    /// - Throws: ``LedgerError``.
    public func newest(_ kind: EventKind) throws(LedgerError) -> LedgerEntry? {
        let path = store.path
        return try store.read("read the ledger") { database in
            try store.last(in: database, where: "kind = '\(kind.rawValue)'")
                .map { try LedgerEntry(decoding: $0, location: path) }
        }
    }

    /// Follows the chain from the first row to the last.
    ///
    /// A fault is part of the report; an error means that the file could not be read.
    ///
    /// - Parameters:
    ///   - depth: How much is checked besides the chain.
    ///   - witness: A row that was seen earlier and must still be there.
    ///   - publicKey: A key of the ledger that must vouch for all rows.
    /// - Returns: What was found.
    /// - Throws: ``LedgerError``.
    public func verify(
        depth: VerificationDepth = .chain,
        witness: LedgerWitness? = nil,
        publicKey: String? = nil
    ) throws(LedgerError) -> VerificationReport {
        let expected = LedgerExpected(publicKey: publicKey, witness: witness)
        let (report, isVouchedFor) = try pass(depth: depth, expected)
        if isVouchedFor { return report }
        // Some row in front of the fault was not signed by this key: find the first one.
        return try pass(depth: .everySignature, expected).report
    }

    /// The key that the rows say they go on with; whoever believes it verifies them.
    func currentKey() throws(LedgerError) -> [UInt8] {
        let kinds = EventKind.keyChanges.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return try store.read("read the ledger") { database in
            try store.last(in: database, where: "kind IN (\(kinds))").map(KeyChange.init)??.key
                .bytes
                ?? identity.publicKey
        }
    }

    private func pass(
        depth: VerificationDepth,
        _ expected: LedgerExpected
    ) throws(LedgerError) -> (report: VerificationReport, isVouchedFor: Bool) {
        var verifier = ChainVerifier(
            identity: identity,
            key: key,
            depth: depth,
            expected: expected
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
