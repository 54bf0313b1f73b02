/// What the caller knows besides the export.
struct ExportExpectation {
    var expected: LedgerExpected
    var depth: VerificationDepth

    init(_ publicKey: String?, _ depth: VerificationDepth, _ witness: LedgerWitness?) {
        expected = LedgerExpected(publicKey: publicKey, witness: witness)
        self.depth = depth
    }

    /// The same, checked more thoroughly.
    var withEverySignature: ExportExpectation {
        ExportExpectation(expected.publicKey, .everySignature, expected.witness)
    }
}

/// A report, and whether a signature vouches for all rows in front of its fault.
typealias ExportFinding = (report: VerificationReport, isVouchedFor: Bool)

/// Follows an export line by line; knows nothing but the bytes and what the caller expects.
struct ExportVerifier {
    private enum Stage {
        case header
        case rows(ChainVerifier)
        case ended(ChainVerifier)
    }

    private let expectation: ExportExpectation
    private var stage = Stage.header
    private var footerSignatures = 0

    init(_ expectation: ExportExpectation) { self.expectation = expectation }

    /// Takes the next line, without its line feed, and returns its row if it is one.
    mutating func accept(_ line: ArraySlice<UInt8>) throws(VerificationFault) -> SealedRow? {
        switch stage {
        case .header:
            stage = .rows(try header(line))
            return nil
        case .rows(var chain):
            if ExportFooter.resembles(line) {
                try footer(line, chain)
                stage = .ended(chain)
                return nil
            }
            guard let row = SealedRow(line: line) else {
                throw VerificationFault(
                    .row(chain.count + 1),
                    .malformed("the line is not spelled as rows are")
                )
            }
            defer { stage = .rows(chain) }
            try chain.accept(row)
            return row
        case .ended:
            throw VerificationFault(.footer, .trailingBytes)
        }
    }

    /// Says what is wrong when the bytes end here, `rest` being what followed the last line feed.
    func faultAtEnd(rest: ArraySlice<UInt8>) -> VerificationFault? {
        switch stage {
        case .header:
            return VerificationFault(.header, .malformed("the first line is not complete"))
        case .rows(let chain):
            guard rest.starts(with: SealedRow.lineBeginning) else {
                return VerificationFault(.footer, .missingFooter)
            }
            return VerificationFault(
                .row(chain.count + 1),
                .malformed("the line is cut off, and so is the tail")
            )
        case .ended(let chain):
            if !rest.isEmpty { return VerificationFault(.footer, .trailingBytes) }
            return chain.faultAtEnd()
        }
    }

    /// The fault of a line that is longer than any row.
    func faultOfLongLine() -> VerificationFault {
        let fault = FaultReason.malformed("the line is longer than any row")
        return switch stage {
        case .header: VerificationFault(.header, fault)
        case .rows(let chain): VerificationFault(.row(chain.count + 1), fault)
        case .ended: VerificationFault(.footer, .trailingBytes)
        }
    }

    /// The finding with `fault` as the first fault.
    func conclusion(_ fault: VerificationFault?) -> ExportFinding {
        switch stage {
        case .header:
            return (Self.nothing(fault, depth: expectation.depth), true)
        case .rows(var chain), .ended(var chain):
            let isVouchedFor = chain.isVouchedFor()
            return (chain.report(fault: fault, extraSignatures: footerSignatures), isVouchedFor)
        }
    }

    private func header(_ line: ArraySlice<UInt8>) throws(VerificationFault) -> ChainVerifier {
        guard let identity = LedgerIdentity(line: line) else {
            throw VerificationFault(
                .header,
                .malformed("this is no export of the schema \(Ledger.exportSchema)")
            )
        }
        guard let key = VerifyingKey(bytes: identity.publicKey) else {
            throw VerificationFault(.header, .malformed("the public key is no Ed25519 key"))
        }
        return ChainVerifier(
            identity: identity,
            key: key,
            depth: expectation.depth,
            expected: expectation.expected
        )
    }

    private mutating func footer(
        _ line: ArraySlice<UInt8>,
        _ chain: ChainVerifier
    ) throws(VerificationFault) {
        guard let footer = ExportFooter(line: line) else {
            throw VerificationFault(.footer, .malformed("the line is not spelled as footers are"))
        }
        footerSignatures += 1
        guard
            chain.key.vouches(
                forFooter: footer.signature,
                count: footer.count,
                head: footer.head
            )
        else { throw VerificationFault(.footer, .badSignature) }
        if footer.count > Int64(chain.count) {
            throw VerificationFault(.row(chain.count + 1), .missing)
        }
        if footer.count < Int64(chain.count) {
            throw VerificationFault(
                .row(Int(footer.count) + 1),
                .beyondCount(Int(footer.count))
            )
        }
        guard footer.head == chain.head else { throw VerificationFault(.footer, .otherHead) }
    }

    private static func nothing(
        _ fault: VerificationFault?,
        depth: VerificationDepth
    ) -> VerificationReport {
        guard let none = LedgerDigest(bytes: [UInt8](repeating: 0, count: 32)) else {
            fatalError("32 bytes make a digest")
        }
        return VerificationReport(
            count: 0,
            head: none,
            keys: [],
            depth: depth,
            signaturesChecked: 0,
            fault: fault
        )
    }
}
