// What a verification found, in words. Nothing is verified here.

extension FaultLocation: CustomStringConvertible {
    /// The place in words.
    public var description: String {
        switch self {
        case .header: "header"
        case .row(let number): "row \(number)"
        case .footer: "footer"
        }
    }
}

extension FaultReason: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .malformed(let detail): "malformed: \(detail)"
        case .keyReplaced:
            "another key took the ledger's place here without its signature: rows from here on are "
                + "not vouched for by the expected key"
        case .unexpectedKey: "the public key is not the expected one"
        case .foreignHeader: "the header does not belong to these rows"
        case .contentChanged: "the content does not match its hash"
        case .brokenLink: "it does not continue the row before it"
        case .badSignature: "its signature was not made by the ledger's key over this content"
        case .replacedBy(let row): "row \(row) stands in its place"
        case .repeats(let row): "row \(row) stands here a second time"
        case .missing: "it is missing"
        case .beyondCount(let count): "the footer was signed over \(count) rows"
        case .missingFooter: "the signed footer is missing: the tail was cut off"
        case .otherHead: "it names another last row than the one in front of it"
        case .trailingBytes: "bytes follow the footer"
        case .otherThanWitnessed: "it differs from the row that was witnessed earlier"
        }
    }
}

extension VerificationFault: CustomStringConvertible {
    /// The fault on one line.
    public var description: String { "\(location): \(reason)" }
}
