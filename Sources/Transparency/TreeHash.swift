// Transparency: what others need to hold a record against an earlier state of it: RFC 6962 trees,
// C2SP checkpoints, DSSE envelopes. Bytes in, bytes out.

internal import Crypto

/// A node of a Merkle tree over SHA-256 (RFC 6962, section 2.1).
public struct TreeHash: Hashable, Sendable {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// The root of the tree without leaves.
    public static let empty = TreeHash(SHA256.hash(data: [UInt8]()))

    /// Adopts 32 bytes, or nothing when the count differs.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    private init(_ digest: SHA256Digest) { bytes = Array(digest) }

    /// The hash of a leaf: SHA-256 of a zero byte and the leaf's bytes.
    public static func leaf(_ content: [UInt8]) -> TreeHash {
        var hasher = SHA256()
        hasher.update(data: [0 as UInt8])
        hasher.update(data: content)
        return TreeHash(hasher.finalize())
    }

    /// The hash of an inner node: SHA-256 of a byte of one and both children.
    public static func node(_ left: TreeHash, _ right: TreeHash) -> TreeHash {
        var hasher = SHA256()
        hasher.update(data: [1 as UInt8])
        hasher.update(data: left.bytes)
        hasher.update(data: right.bytes)
        return TreeHash(hasher.finalize())
    }

    /// The hash in base64, as notes and proofs have it.
    public var base64: String { Base64.text(of: bytes) }

    /// The hash as 64 lower-case hexadecimal digits.
    public var hex: String { HexDigits.text(of: bytes) }
}
