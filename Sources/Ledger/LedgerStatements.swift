// What is said about a ledger and signed with its key. Nothing here writes a row, and no verdict
// rests on it: who gets a statement verifies it with programs of others.

extension LedgerReader {
    /// What a message that this module signs itself begins with; no statement may.
    private static let ownDomain = Array("invigilator.ledger.".utf8)

    /// Each row as its line in an export, without the line feed, in order.
    ///
    /// - Parameter sequence: The row after which they begin; 0 for all.
    /// - Returns: the lines; nothing about them is verified.
    /// - Throws: ``LedgerError``.
    public func exportLines(after sequence: Int = 0) throws(LedgerError) -> [[UInt8]] {
        try store.read("read the ledger") { database in
            var lines: [[UInt8]] = []
            try store.forEachRow(after: Int64(sequence), in: database) {
                lines.append(ExportWriter.line(of: $0))
            }
            return lines
        }
    }

    /// Signs statements with the ledger's key.
    ///
    /// Rows and footers are signed over messages that begin with a domain of this module. A statement
    /// that begins so is refused: no signature that this makes can be taken for a row's.
    ///
    /// - Parameters:
    ///   - message: What is signed.
    ///   - keyPath: The signing key.
    /// - Returns: 64 bytes.
    /// - Throws: ``LedgerError/unsafeKey(location:reason:)``, ``LedgerError/foreignKey(location:)``, or
    ///   ``LedgerError/storage(operation:location:reason:)`` for a message that is refused.
    public func signature(
        over message: [UInt8],
        withKeyAt keyPath: String
    ) throws(LedgerError) -> [UInt8] {
        guard !message.starts(with: Self.ownDomain) else {
            throw .storage(
                operation: "sign a statement",
                location: keyPath,
                reason: "it begins as what rows are signed over"
            )
        }
        let key = try SigningKey.load(at: keyPath)
        guard try currentKey() == key.publicKey else { throw .foreignKey(location: keyPath) }
        return try key.signature(over: message, path: path)
    }
}
