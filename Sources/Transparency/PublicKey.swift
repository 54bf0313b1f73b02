internal import Crypto

/// An Ed25519 public key, in the spellings that other programs read.
public struct PublicKey: Hashable, Sendable {
    // SubjectPublicKeyInfo of an Ed25519 key but for its 32 bytes (RFC 8410, section 4): a sequence of
    // the algorithm 1.3.101.112 and a bit string.
    private static let prefix: [UInt8] = [
        0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    /// The 32 bytes (RFC 8032).
    public let bytes: [UInt8]

    /// Adopts 32 bytes, or nothing when they are no key.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        do { _ = try Curve25519.Signing.PublicKey(rawRepresentation: bytes) } catch { return nil }
        self.bytes = bytes
    }

    /// Reads 64 lower-case hexadecimal digits.
    public init?(hex: String) {
        guard let bytes = HexDigits.bytes(of: hex) else { return nil }
        self.init(bytes: bytes)
    }

    /// The key as 64 lower-case hexadecimal digits.
    public var hex: String { HexDigits.text(of: bytes) }

    /// SubjectPublicKeyInfo in DER.
    public var encoded: [UInt8] { Self.prefix + bytes }

    /// The same in PEM (RFC 7468), ending in a line feed.
    public var pem: String {
        """
        -----BEGIN PUBLIC KEY-----
        \(Base64.text(of: encoded))
        -----END PUBLIC KEY-----

        """
    }

    /// What signatures of envelopes name it by: SHA-256 of ``encoded``, as hexadecimal digits.
    public var id: String { HexDigits.text(of: SHA256.hash(data: encoded)) }

    /// Whether a signature over a message was made with this key's private half.
    public func vouches(for message: [UInt8], signature: [UInt8]) -> Bool {
        do {
            return try Curve25519.Signing.PublicKey(rawRepresentation: bytes)
                .isValidSignature(signature, for: message)
        } catch {
            return false  // it was a key when this value was made
        }
    }
}
