internal import Crypto

/// A key that signs notes: a name and an Ed25519 key (C2SP signed-note, signature type 0x01).
public struct NoteKey: Hashable, Sendable {
    private static let ed25519: UInt8 = 1

    /// The name in signature lines.
    public let name: String
    /// The key.
    public let publicKey: PublicKey

    /// Names a key; nothing where the name holds a space, a plus sign or a control character.
    public init?(name: String, publicKey: PublicKey) {
        guard Self.isName(name) else { return nil }
        self.name = name
        self.publicKey = publicKey
    }

    /// The key of the ledger that this key signs, named as the ledger's origin.
    public init(ofLedger publicKey: PublicKey) {
        name = "invigilator/ledger/\(publicKey.id.prefix(32))"
        self.publicKey = publicKey
    }

    /// The four bytes that signature lines begin with.
    public var id: [UInt8] {
        let named = Array(name.utf8) + [0x0A, Self.ed25519] + publicKey.bytes
        return Array(SHA256.hash(data: named).prefix(4))
    }

    /// The key as others configure it: name, id and key between plus signs.
    public var verifierKey: String {
        "\(name)+\(HexDigits.text(of: id))+\(Base64.text(of: [Self.ed25519] + publicKey.bytes))"
    }

    /// Reads a verifier key; nothing where it is spelled in any other way or is no Ed25519 key.
    public init?(verifierKey text: String) {
        let parts = text.split(separator: "+", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let named = HexDigits.bytes(of: parts[1]),
            let bytes = Base64.bytes(of: parts[2]), bytes.first == Self.ed25519,
            let key = PublicKey(bytes: Array(bytes.dropFirst()))
        else { return nil }
        self.init(name: String(parts[0]), publicKey: key)
        guard id == named else { return nil }
    }

    static func isName(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0 != "+" && $0.value >= 0x20 && !$0.properties.isWhitespace
            }
    }
}
