public import StrictJSON

/// One row of the ledger with its body decoded.
public struct LedgerEntry: Sendable, Equatable {
    /// The row's number; the first row is 1.
    public let sequence: Int
    /// When the row was written, in milliseconds since 1970, by the supervisor's clock.
    public let time: Int64
    /// What happened.
    public let kind: EventKind
    /// The facts, a JSON object.
    public let body: JSONValue
    /// The seal of the row before, or the ledger's origin for the first row.
    public let previous: LedgerDigest
    /// The digest over everything above.
    public let hash: LedgerDigest
    /// The Ed25519 signature over ``hash``, 64 bytes.
    public let signature: [UInt8]

    init(
        _ row: SealedRow,
        kind: EventKind,
        body: JSONValue,
        previous: LedgerDigest,
        hash: LedgerDigest
    ) {
        sequence = Int(row.sequence)
        time = row.time
        self.kind = kind
        self.body = body
        self.previous = previous
        self.hash = hash
        signature = row.signature
    }

    /// Decodes a stored row; refuses what no ledger of this version writes.
    init(decoding row: SealedRow, location: String) throws(LedgerError) {
        guard let kind = EventKind(rawValue: row.kind) else {
            throw .unknownKind(location: location, sequence: row.sequence, kind: row.kind)
        }
        guard let previous = LedgerDigest(bytes: row.previous),
            let hash = LedgerDigest(bytes: row.hash)
        else {
            throw .damaged(
                location: location,
                fault: VerificationFault(
                    .row(Int(row.sequence)),
                    .malformed("a digest is not 32 bytes")
                )
            )
        }
        let body: JSONValue
        do {
            body = try JSONValue(parsing: row.body, limits: .ledgerBody)
        } catch {
            throw .damaged(
                location: location,
                fault: VerificationFault(.row(Int(row.sequence)), .malformed("\(error)"))
            )
        }
        self.init(row, kind: kind, body: body, previous: previous, hash: hash)
    }
}
