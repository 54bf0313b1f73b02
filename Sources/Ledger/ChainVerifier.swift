/// Follows a chain of rows and stops at the first one that does not fit.
///
/// Holds one row at a time, so a ledger of any length can be followed.
struct ChainVerifier {
    private(set) var key: VerifyingKey
    let depth: VerificationDepth
    let expected: LedgerExpected
    private var keys: [LedgerKey]
    private var lastGood: SealedRow?
    private(set) var count = 0
    private(set) var head: [UInt8]
    private(set) var signaturesChecked = 0

    init(
        identity: LedgerIdentity,
        key: VerifyingKey,
        depth: VerificationDepth,
        expected: LedgerExpected
    ) {
        keys = [LedgerKey(publicKey: Hexadecimal.text(of: key.bytes), row: 0, isVouchedFor: true)]
        self.key = key
        self.depth = depth
        self.expected = expected
        head = identity.origin
    }

    /// Checks that `row` is what follows; remembers it as good or says what is wrong.
    mutating func accept(_ row: SealedRow) throws(VerificationFault) {
        let place = count + 1
        guard row.sequence == Int64(place) else {
            let found = Int(row.sequence)
            let isOld = found >= 1 && found <= count
            throw VerificationFault(
                .row(place),
                isOld ? .repeats(row: found) : .replacedBy(row: found)
            )
        }
        guard row.hash == ChainEncoding.hash(of: row) else {
            throw VerificationFault(.row(place), .contentChanged)
        }
        guard row.previous == head else {
            if count == 0 { throw VerificationFault(.header, .foreignHeader) }
            throw VerificationFault(.row(place), .brokenLink)
        }
        let change = try KeyChange(row)
        if let change, change.isBreak {
            // Who trusts an earlier key has no reason to believe this row or a later one.
            if isExpectedKeyKnown { throw VerificationFault(.row(place), .keyReplaced) }
            // Nothing later vouches for the rows under the old key: it signed the last of them itself.
            guard isVouchedFor() else { throw VerificationFault(.row(count), .badSignature) }
        } else if depth == .everySignature || change != nil {
            signaturesChecked += 1
            guard key.vouches(for: row) else {
                throw VerificationFault(.row(place), .badSignature)
            }
        }
        let seal = row.seal
        if let witness = expected.witness, witness.count == place, witness.head.bytes != seal {
            throw VerificationFault(.row(place), .otherThanWitnessed)
        }
        lastGood = row
        count = place
        head = seal
        guard let change else { return }
        // The new key vouches for all rows so far, and signs the next one.
        (key, lastGood) = (change.key, nil)
        let name = Hexadecimal.text(of: key.bytes)
        keys.append(LedgerKey(publicKey: name, row: place, isVouchedFor: !change.isBreak))
    }

    private var isExpectedKeyKnown: Bool {
        keys.contains { $0.publicKey == expected.publicKey }
    }

    /// Whether the last good row's signature vouches for it and all rows before it.
    mutating func isVouchedFor() -> Bool {
        guard depth == .chain, let lastGood else { return true }
        signaturesChecked += 1
        return key.vouches(for: lastGood)
    }

    /// What is wrong when the rows end here.
    func faultAtEnd() -> VerificationFault? {
        if expected.publicKey != nil, !isExpectedKeyKnown {
            return VerificationFault(.header, .unexpectedKey)
        }
        guard let witness = expected.witness, witness.count > count else { return nil }
        return VerificationFault(.row(count + 1), .missing)
    }

    /// The finding so far, with `fault` as the first fault.
    func report(fault: VerificationFault?, extraSignatures: Int = 0) -> VerificationReport {
        guard let head = LedgerDigest(bytes: head) else {
            fatalError("a seal is 32 bytes")
        }
        return VerificationReport(
            count: count,
            head: head,
            keys: keys,
            depth: depth,
            signaturesChecked: signaturesChecked + extraSignatures,
            fault: fault
        )
    }
}
