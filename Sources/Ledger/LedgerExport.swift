internal import Foundation

extension Ledger {
    /// Verifies an export that is in memory; needs nothing but its bytes.
    ///
    /// - Parameters:
    ///   - bytes: The whole export.
    ///   - publicKey: The key that must have signed it, as 64 hexadecimal digits. Without it the
    ///     export proves only that it is whole and was signed by the key that it names.
    ///   - depth: How much is checked besides the chain.
    ///   - witness: A row that was seen earlier and must still be there.
    /// - Returns: What was found; the first bad row when something is wrong.
    public static func verifyExport(
        _ bytes: [UInt8],
        publicKey: String? = nil,
        depth: VerificationDepth = .chain,
        witness: LedgerWitness? = nil
    ) -> VerificationReport {
        verifiedExport(ExportExpectation(publicKey, depth, witness)) {
            LineSplitter($0).finding(in: bytes)
        }
    }

    /// Verifies an export in a file, reading it in pieces.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - publicKey: The key that must have signed it, as 64 hexadecimal digits.
    ///   - depth: How much is checked besides the chain.
    ///   - witness: A row that was seen earlier and must still be there.
    /// - Returns: What was found; the first bad row when something is wrong.
    /// - Throws: ``LedgerError/storage(operation:location:reason:)`` when it cannot be read.
    public static func verifyExport(
        atPath path: String,
        publicKey: String? = nil,
        depth: VerificationDepth = .chain,
        witness: LedgerWitness? = nil
    ) throws(LedgerError) -> VerificationReport {
        try verifiedExport(ExportExpectation(publicKey, depth, witness)) {
            expectation throws(LedgerError) in try pass(overFile: path, expectation)
        }
    }

    /// The rows of an export, decoded, after the whole export was verified.
    ///
    /// - Parameters:
    ///   - bytes: The whole export.
    ///   - publicKey: The key that must have signed it, as 64 hexadecimal digits.
    /// - Returns: The rows in order.
    /// - Throws: ``LedgerError/damaged(location:fault:)`` when anything is wrong with it.
    public static func entries(
        inExport bytes: [UInt8],
        publicKey: String? = nil
    ) throws(LedgerError) -> [LedgerEntry] {
        let expectation = ExportExpectation(publicKey, .chain, nil)
        var rows: [SealedRow] = []
        let report = verifiedExport(expectation) { expectation in
            rows = []
            return LineSplitter(expectation).finding(in: bytes) { rows.append($0) }
        }
        try report.requireIntact(location: "export")
        var entries: [LedgerEntry] = []
        for row in rows { entries.append(try LedgerEntry(decoding: row, location: "export")) }
        return entries
    }

    // Where no signature vouches for the rows in front of a fault, some row was not signed by this
    // key: a second pass finds the first one.
    private static func verifiedExport<Failure: Error>(
        _ expectation: ExportExpectation,
        _ pass: (ExportExpectation) throws(Failure) -> ExportFinding
    ) throws(Failure) -> VerificationReport {
        let first = try pass(expectation)
        return try first.isVouchedFor ? first.report : pass(expectation.withEverySignature).report
    }

    private static func pass(
        overFile path: String,
        _ expectation: ExportExpectation
    ) throws(LedgerError) -> ExportFinding {
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            var splitter = LineSplitter(expectation)
            while splitter.wantsMore, let piece = try file.read(upToCount: 1 << 18),
                !piece.isEmpty
            {
                splitter.take(Array(piece)) { _ in }
            }
            return splitter.finding()
        } catch {
            throw .storage(operation: "read the export", location: path, reason: "\(error)")
        }
    }
}

/// Cuts pieces of any size into lines and feeds them to the verifier until the first fault.
private struct LineSplitter {
    /// Longer than any line that a ledger writes.
    private static let maximumLine = 1 << 24

    private var verifier: ExportVerifier
    private var unfinished: [UInt8] = []
    private var fault: VerificationFault?

    init(_ expectation: ExportExpectation) { verifier = ExportVerifier(expectation) }

    /// Whether no fault was found yet.
    var wantsMore: Bool { fault == nil }

    mutating func take(_ piece: [UInt8], visit: (SealedRow) -> Void) {
        var rest = piece[...]
        do throws(VerificationFault) {
            while wantsMore, let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let row: SealedRow?
                if unfinished.isEmpty {
                    row = try verifier.accept(rest[..<end])
                } else {
                    unfinished += rest[..<end]
                    row = try verifier.accept(unfinished[...])
                    unfinished = []
                }
                if let row { visit(row) }
                rest = rest[(end + 1)...]
            }
            unfinished += rest
            if unfinished.count > Self.maximumLine { throw verifier.faultOfLongLine() }
        } catch {
            fault = error
        }
    }

    /// The finding in an export that is in memory.
    consuming func finding(
        in bytes: [UInt8],
        visit: (SealedRow) -> Void = { _ in }
    ) -> ExportFinding {
        take(bytes, visit: visit)
        return finding()
    }

    func finding() -> ExportFinding {
        verifier.conclusion(fault ?? verifier.faultAtEnd(rest: unfinished[...]))
    }
}
