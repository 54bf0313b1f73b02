// For trying things out: no row of a ledger comes from here.

internal import GRDB
package import StrictJSON

extension LedgerEntry {
    /// Makes a row that belongs to no ledger, for trying out replays and reports.
    ///
    /// Its digests and signature are zeros, so no verification accepts it.
    package static func unsigned(
        sequence: Int,
        time: Int64,
        kind: EventKind,
        body: JSONValue
    ) -> LedgerEntry {
        let zeros = [UInt8](repeating: 0, count: 32)
        guard let digest = LedgerDigest(bytes: zeros) else {
            fatalError("32 bytes make a digest")
        }
        let row = SealedRow(
            sequence: Int64(sequence),
            time: time,
            kind: kind.rawValue,
            body: [],
            previous: zeros,
            hash: zeros,
            signature: [UInt8](repeating: 0, count: 64)
        )
        return LedgerEntry(row, kind: kind, body: body, previous: digest, hash: digest)
    }
}

extension Ledger {
    /// Writes the whole ledger as JSON lines that end in a signed footer.
    package func export(to write: ([UInt8]) throws -> Void) throws(LedgerError) {
        try reader.export(signedBy: key, to: write)
    }

    /// Lets the file grow no further than `pages` pages: a full disk for tests.
    package func simulateFullDisk(afterPages pages: Int) throws(LedgerError) {
        try store.limit(pages: pages)
    }
}

extension LedgerStore {
    /// Lets the file grow to `pages` pages and no further: a full disk for tests.
    func limit(pages: Int) throws(LedgerError) {
        try write("limit the ledger") { database in
            try database.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
    }
}

/// An export that was verified line by line, so that a change of one line is tried without following
/// the lines before it again.
package struct ExportTrial {
    // What the verifier knew in front of each line.
    private var states: [ExportVerifier] = []

    /// Follows an export that is as it was written, with the signature of every row.
    package init(_ lines: [[UInt8]]) throws(VerificationFault) {
        var verifier = ExportVerifier(
            ExportExpectation(nil, .everySignature, nil)
        )
        for line in lines {
            states.append(verifier)
            _ = try verifier.accept(line[...])
        }
    }

    /// What is wrong with another line in the place of the line with this index; nothing where the
    /// verifier would go on.
    package func fault(of line: [UInt8], at index: Int) -> VerificationFault? {
        var verifier = states[index]
        do throws(VerificationFault) {
            _ = try verifier.accept(line[...])
            return nil
        } catch {
            return error
        }
    }
}
