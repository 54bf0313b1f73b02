// Writes exports. Nothing here is believed: whoever reads an export takes each line apart again, and
// the footer is signed over the rows that are stored, whatever this writes.

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
