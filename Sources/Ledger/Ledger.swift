// The append-only record of one experiment. Everything else that an experiment stores (suite,
// best score, budgets, results.tsv) is a replay of it.

public import StrictJSON

/// The ledger of one experiment, open for appending by this process alone.
///
/// Not `Sendable`: it belongs to the supervisor's one thread.
public final class Ledger {
    /// The version of the export format.
    public static let exportSchema = "invigilator.ledger/1"

    let store: LedgerStore
    let key: SigningKey
    private let origin: [UInt8]
    private var lock: ProcessLock?

    /// The reading side of the same file.
    public let reader: LedgerReader

    /// The Ed25519 public key that the ledger began with, 32 bytes as hexadecimal digits.
    public var publicKey: String { reader.publicKey }

    init(store: LedgerStore, key: SigningKey, lock: consuming ProcessLock)
        throws(LedgerError)
    {
        self.store = store
        self.key = key
        self.lock = consume lock
        reader = try LedgerReader(store: store)
        origin = try store.identity().origin
    }

    /// Opens an existing ledger for appending, takes the lock and checks the newest row.
    ///
    /// - Throws: ``LedgerError/locked(location:holder:)`` while another process holds it;
    ///   ``LedgerError/foreignKey(location:)`` when the key is not this ledger's;
    ///   ``LedgerError/damaged(location:fault:)`` when the newest row is not as it was written.
    public static func open(at path: String, keyAt keyPath: String) throws(LedgerError) -> Ledger {
        try LedgerFile.requireRegular(path)
        let lock = try ProcessLock.take(at: path + ".lock")
        let store = try LedgerStore.open(at: path, readOnly: false)
        let key = try SigningKey.load(at: keyPath)
        let ledger = try Ledger(store: store, key: key, lock: lock)
        guard try ledger.reader.currentKey() == key.publicKey else {
            throw .foreignKey(location: keyPath)
        }
        try ledger.checkHead()
        return ledger
    }

    /// Appends one row in one transaction; it is on the disk when this returns.
    ///
    /// - Parameters:
    ///   - kind: What happened.
    ///   - body: The facts, a JSON object within `JSONLimits.ledgerBody`.
    ///   - time: Now, in milliseconds since 1970.
    /// - Returns: The row as it was stored.
    /// - Throws: ``LedgerError/storageFull(operation:location:)`` when the disk is full, and then
    ///   nothing of the row is stored; ``LedgerError/badBody(location:reason:)``;
    ///   ``LedgerError/storage(operation:location:reason:)``.
    @discardableResult
    public func append(
        _ kind: EventKind,
        _ body: JSONValue,
        time: Int64
    ) throws(LedgerError) -> LedgerEntry {
        let bytes = try canonicalBody(body, kind: kind)
        guard time >= 0 else {
            throw .badBody(location: kind.rawValue, reason: "the time \(time) lies before 1970")
        }
        let path = store.path
        let row = try store.write("append a row") { database in
            let last = try store.last(in: database)
            let row = try sealed(kind, bytes, time: time, after: last)
            try store.insert(row, in: database)
            return row
        }
        return try LedgerEntry(decoding: row, location: path)
    }

    /// The rows after number `sequence`, in order, decoded.
    public func entries(after sequence: Int = 0) throws(LedgerError) -> [LedgerEntry] {
        try reader.entries(after: sequence)
    }

    /// Follows the chain from the first row to the last; see ``LedgerReader/verify(depth:witness:)``.
    public func verify(
        depth: VerificationDepth = .chain,
        witness: LedgerWitness? = nil
    ) throws(LedgerError) -> VerificationReport {
        try reader.verify(depth: depth, witness: witness)
    }

    /// Gives the file and the lock back; later calls fail.
    public func close() throws(LedgerError) {
        try store.close()
        lock = nil
    }

    /// The seal that the next row continues.
    func head() throws(LedgerError) -> [UInt8] {
        try store.read("read the ledger", { try store.last(in: $0)?.seal }) ?? origin
    }

    private func canonicalBody(_ body: JSONValue, kind: EventKind) throws(LedgerError) -> [UInt8] {
        guard body.objectValue != nil else {
            throw .badBody(location: kind.rawValue, reason: "the body is not a JSON object")
        }
        let bytes = body.canonicalBytes
        do {
            // What is beyond the limits of reading must not be written.
            guard try JSONValue(parsing: bytes, limits: .ledgerBody).canonicalBytes == bytes else {
                throw LedgerError.badBody(
                    location: kind.rawValue,
                    reason: "the body has no canonical form"
                )
            }
        } catch let error as LedgerError {
            throw error
        } catch {
            throw .badBody(location: kind.rawValue, reason: "\(error)")
        }
        return bytes
    }

    private func sealed(
        _ kind: EventKind,
        _ body: [UInt8],
        time: Int64,
        after last: SealedRow?
    ) throws(LedgerError) -> SealedRow {
        var row = SealedRow(
            sequence: (last?.sequence ?? 0) + 1,
            time: time,
            kind: kind.rawValue,
            body: body,
            previous: last?.seal ?? origin,
            hash: [],
            signature: []
        )
        row.hash = ChainEncoding.hash(of: row)
        row.signature = try key.signature(
            over: ChainEncoding.signedRow(hash: row.hash),
            path: store.path
        )
        return row
    }

    private func checkHead() throws(LedgerError) {
        let path = store.path
        guard let last = try store.read("open the ledger", { try store.last(in: $0) }) else {
            return
        }
        do throws(VerificationFault) {
            // A row that names this key was found to be vouched for by it.
            guard let verifying = VerifyingKey(bytes: key.publicKey),
                last.hash == ChainEncoding.hash(of: last),
                try KeyChange(last) != nil || verifying.vouches(for: last)
            else { throw VerificationFault(.row(Int(last.sequence)), .badSignature) }
        } catch {
            throw .damaged(location: path, fault: error)
        }
    }
}
