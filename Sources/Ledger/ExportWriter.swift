// Writes exports. Nothing here is believed: whoever reads an export takes each line apart again, and
// the footer is signed over the rows that are stored, whatever this writes.

internal import GRDB

extension LedgerReader {
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
        guard try currentKey() == key.publicKey else { throw .foreignKey(location: keyPath) }
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
}

/// Builds the bytes of an export.
struct ExportWriter {
    private static let pieceSize = 1 << 16
    private var buffer: [UInt8] = []

    init(identity: LedgerIdentity) {
        put("{\"created\":\(identity.created),\"public_key\":\"")
        buffer += Hexadecimal.digits(of: identity.publicKey)
        put("\",\"schema\":\"\(Ledger.exportSchema)\"}\n")
    }

    mutating func add(_ row: SealedRow) {
        buffer += Self.line(of: row)
        put("\n")
    }

    /// A row's line, without its line feed.
    static func line(of row: SealedRow) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(row.body.count + 400)
        line += "{\"body\":".utf8
        line += row.body
        line += ",\"hash\":\"".utf8
        line += Hexadecimal.digits(of: row.hash)
        line += "\",\"kind\":\"\(row.kind)\",\"previous\":\"".utf8
        line += Hexadecimal.digits(of: row.previous)
        line += "\",\"sequence\":\(row.sequence),\"signature\":\"".utf8
        line += Hexadecimal.digits(of: row.signature)
        line += "\",\"time\":\(row.time)}".utf8
        return line
    }

    /// The bytes so far, once they are worth a write.
    mutating func takeWhenLarge() -> [UInt8]? {
        guard buffer.count >= Self.pieceSize else { return nil }
        defer { buffer = [] }
        return buffer
    }

    /// The remaining bytes with the footer at their end.
    mutating func finish(_ footer: ExportFooter) -> [UInt8] {
        put("{\"count\":\(footer.count),\"head\":\"")
        buffer += Hexadecimal.digits(of: footer.head)
        put("\",\"schema\":\"\(ExportFooter.schema)\",\"signature\":\"")
        buffer += Hexadecimal.digits(of: footer.signature)
        put("\"}\n")
        return buffer
    }

    private mutating func put(_ text: String) { buffer += text.utf8 }
}
