/// How much a verification checks besides every hash, every link and the last signature.
public enum VerificationDepth: String, Sendable {
    /// Every hash and link, then the signature over the end of the chain.
    ///
    /// Each link covers the signature of the row before, so the signature at the end vouches for
    /// every byte in front of it. When anything is wrong, the rows' own signatures are
    /// consulted as well, to name the first bad row.
    case chain
    /// The same, and the signature of every row.
    case everySignature = "every-signature"
}

/// Where a verification found the first fault.
public enum FaultLocation: Sendable, Equatable {
    /// The export's first line, or the ledger's identity record.
    case header
    /// The row at this place in the order; the first row is 1.
    case row(Int)
    /// The export's last line.
    case footer
}

/// What is wrong at the first fault.
public enum FaultReason: Sendable, Equatable {
    /// The bytes are not in the one spelling that the format allows.
    case malformed(String)
    /// The key is not the expected one.
    case unexpectedKey
    /// The expected key was replaced here without its signature.
    case keyReplaced
    /// The header does not belong to the first row.
    case foreignHeader
    /// The content does not match the row's hash.
    case contentChanged
    /// The row does not continue the row before it.
    case brokenLink
    /// The signature was not made by the ledger's key over this content.
    case badSignature
    /// Another row stands where this one belongs.
    case replacedBy(row: Int)
    /// An earlier row stands here a second time.
    case repeats(row: Int)
    /// The row is missing: the file or the footer's count says that it was written.
    case missing
    /// The row stands beyond the count that the footer was signed over.
    case beyondCount(Int)
    /// The file ends without its signed last line.
    case missingFooter
    /// The footer names another end than the rows have.
    case otherHead
    /// Bytes follow the footer.
    case trailingBytes
    /// A row that was witnessed earlier is missing or different.
    case otherThanWitnessed
}

/// The first fault that a verification found.
public struct VerificationFault: Error, Sendable, Equatable {
    /// Where it is.
    public let location: FaultLocation
    /// What is wrong there.
    public let reason: FaultReason

    package init(_ location: FaultLocation, _ reason: FaultReason) {
        self.location = location
        self.reason = reason
    }
}

/// A row that was seen earlier, for instance the head of an older export.
///
/// A ledger whose newest rows were cut off, together with every copy of them, still verifies:
/// the shorter chain was once the whole. A witness kept elsewhere shows the cut.
public struct LedgerWitness: Sendable, Equatable {
    /// How many rows the ledger had.
    public let count: Int
    /// The seal of the last of them, as `head` in an export's footer.
    public let head: LedgerDigest

    /// Remembers that the ledger's first `count` rows ended in `head`.
    public init(count: Int, head: LedgerDigest) {
        self.count = count
        self.head = head
    }
}

/// A key that signs rows of a ledger.
public struct LedgerKey: Sendable, Equatable {
    /// The 32 bytes as hexadecimal digits.
    public let publicKey: String
    /// The row that names it, after which rows are signed with it; 0 for the first key.
    public let row: Int
    /// Whether the key before it signed that row.
    public let isVouchedFor: Bool
}

/// What somebody knows of a ledger from elsewhere.
struct LedgerExpected {
    var publicKey: String?
    var witness: LedgerWitness?
}

/// What a verification found.
public struct VerificationReport: Sendable, Equatable {
    /// How many rows, counted from the first, were found good.
    public let count: Int
    /// The seal of the last good row; the ledger's origin when there is none.
    public let head: LedgerDigest
    /// The keys that signed rows, in order; none when the header is bad.
    public let keys: [LedgerKey]
    /// How thoroughly the rows were checked.
    public let depth: VerificationDepth
    /// How many signatures were verified, the footer's included.
    public let signaturesChecked: Int
    /// The first fault, or nothing when every row is as it was written.
    public let fault: VerificationFault?

    /// The Ed25519 public key that the ledger began with, 32 bytes as hexadecimal digits; empty when
    /// the header is bad.
    public var publicKey: String { keys.first?.publicKey ?? "" }

    /// The first key that no key before it vouches for.
    public var replacement: LedgerKey? { keys.first { !$0.isVouchedFor } }

    /// Whether nothing is wrong.
    public var isIntact: Bool { fault == nil }

    /// Throws ``LedgerError/damaged(location:fault:)`` when something is wrong.
    public func requireIntact(location: String) throws(LedgerError) {
        if let fault { throw .damaged(location: location, fault: fault) }
    }
}
