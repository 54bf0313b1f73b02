// What is hashed and signed, in this order and for these reasons:
//
//   origin    = SHA-256(domain "origin"  ‖ created ‖ public key)
//   hash(n)   = SHA-256(domain "row"     ‖ sequence ‖ time ‖ kind ‖ body ‖ previous)
//   signature = Ed25519(domain "signed row" ‖ hash(n))
//   seal(n)   = SHA-256(domain "seal"    ‖ hash(n) ‖ signature(n))
//   previous  = seal(n - 1), and the origin for the first row
//   footer    = Ed25519(domain "footer"  ‖ count ‖ seal(count))
//   proof     = Ed25519(domain "next key" ‖ new public key ‖ previous), by the new key
//
// A domain string ends in a zero byte and never occurs as the beginning of another, so no
// value of one kind can be read as a value of another. Variable parts carry their length.
// The link covers the signature as well as the hash: whoever has checked the last seal has
// thereby checked every byte of every row before it, signatures included.

internal import Crypto

/// One row exactly as it is stored: what the chain and the signature speak about.
struct SealedRow: Equatable, Sendable {
    var sequence: Int64
    var time: Int64
    var kind: String
    var body: [UInt8]
    var previous: [UInt8]
    var hash: [UInt8]
    var signature: [UInt8]

    /// The digest that the next row carries as its `previous`.
    var seal: [UInt8] { ChainEncoding.seal(hash: hash, signature: signature) }
}

/// The byte strings that are hashed and signed.
enum ChainEncoding {
    static let originDomain = Array("invigilator.ledger.origin/1\0".utf8)
    static let rowDomain = Array("invigilator.ledger.row/1\0".utf8)
    static let signedRowDomain = Array("invigilator.ledger.signed-row/1\0".utf8)
    static let sealDomain = Array("invigilator.ledger.seal/1\0".utf8)
    static let footerDomain = Array("invigilator.ledger.footer/1\0".utf8)
    static let nextKeyDomain = Array("invigilator.ledger.next-key/1\0".utf8)

    static func origin(created: Int64, publicKey: [UInt8]) -> [UInt8] {
        var bytes = originDomain
        append(UInt64(bitPattern: created), to: &bytes)
        bytes += publicKey
        return Array(SHA256.hash(data: bytes))
    }

    /// The hash that `row` must carry; its own `hash` and `signature` play no part.
    static func hash(of row: SealedRow) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(rowDomain.count + row.kind.utf8.count + row.body.count + 64)
        bytes += rowDomain
        append(UInt64(bitPattern: row.sequence), to: &bytes)
        append(UInt64(bitPattern: row.time), to: &bytes)
        append(UInt64(row.kind.utf8.count), to: &bytes)
        bytes += row.kind.utf8
        append(UInt64(row.body.count), to: &bytes)
        bytes += row.body
        bytes += row.previous
        return Array(SHA256.hash(data: bytes))
    }

    static func signedRow(hash: [UInt8]) -> [UInt8] { signedRowDomain + hash }

    static func nextKey(_ key: [UInt8], after head: [UInt8]) -> [UInt8] {
        nextKeyDomain + key + head
    }

    static func seal(hash: [UInt8], signature: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: sealDomain + hash + signature))
    }

    static func footer(count: Int64, head: [UInt8]) -> [UInt8] {
        var bytes = footerDomain
        append(UInt64(bitPattern: count), to: &bytes)
        return bytes + head
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }
}
