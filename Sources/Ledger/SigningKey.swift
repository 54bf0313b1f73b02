// The key file holds the 32 bytes of an Ed25519 seed and nothing else. It is made once, with
// O_EXCL and mode 0600, and every later look is taken on the opened descriptor, never on the
// path, so what was checked is what is read.

internal import HostKernel
internal import Crypto
internal import FoundationEssentials
internal import LinuxKernel

/// The ledger's private key, read from a file that nobody else could read.
struct SigningKey {
    private static let seedLength = 32
    private let key: Curve25519.Signing.PrivateKey

    /// The 32 bytes of the public key.
    var publicKey: [UInt8] { Array(key.publicKey.rawRepresentation) }

    /// Makes a new key in a new file with mode 0600, and has it on the disk when it returns.
    static func create(at path: String) throws(LedgerError) -> SigningKey {
        let operation = "write the signing key"
        let key = Curve25519.Signing.PrivateKey()
        let file = try LedgerFile.create(path, for: operation)
        do throws(SystemError) {
            try file.writeAll(Array(key.rawRepresentation))
            try file.synchronize()
        } catch {
            throw LedgerError(error, operation: operation, location: path)
        }
        return SigningKey(key: key)
    }

    /// Reads a key; refuses a link, another owner, and a file that group or others may touch.
    static func load(at path: String) throws(LedgerError) -> SigningKey {
        let seed: [UInt8]
        let status: FileStatus
        do throws(SystemError) {
            let file = try Descriptor.open(path, [.read, .nonBlocking])
            status = try file.status()
            seed = status.kind == .regular ? try file.read(atMost: seedLength + 1) : []
        } catch {
            let reason = error.isSymbolicLink ? "it is a symbolic link" : error.description
            throw .unsafeKey(location: path, reason: reason)
        }
        try check(status, seed, path: path)
        do {
            return SigningKey(key: try Curve25519.Signing.PrivateKey(rawRepresentation: seed))
        } catch {
            throw .unsafeKey(location: path, reason: "\(error)")
        }
    }

    /// Signs `message`; Ed25519 over 32 bytes cannot fail for a valid key.
    func signature(over message: [UInt8], path: String) throws(LedgerError) -> [UInt8] {
        do {
            return Array(try key.signature(for: message))
        } catch {
            throw .storage(operation: "sign a row", location: path, reason: "\(error)")
        }
    }

    private static func check(
        _ status: FileStatus,
        _ seed: [UInt8],
        path: String
    ) throws(LedgerError) {
        let user = Identity.effectiveUser
        let mode = String(status.permissions & 0o7777, radix: 8)
        let reason: String? =
            if status.kind != .regular {
                "it is not a regular file"
            } else if status.owner != user {
                "it belongs to user \(status.owner), not to user \(user)"
            } else if status.permissions & 0o077 != 0 {
                "its mode is 0\(mode), it must be 0600"
            } else if status.linkCount != 1 {
                "it has \(status.linkCount) names, not one"
            } else if seed.count != seedLength {
                "it holds \(status.size) bytes, not \(seedLength)"
            } else {
                nil
            }
        if let reason { throw .unsafeKey(location: path, reason: reason) }
    }
}

/// The public half: checks signatures and cannot make any.
struct VerifyingKey {
    let bytes: [UInt8]
    private let key: Curve25519.Signing.PublicKey

    /// Adopts 32 bytes, or nothing when they are no key.
    init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        do {
            key = try Curve25519.Signing.PublicKey(rawRepresentation: bytes)
        } catch {
            return nil
        }
        self.bytes = bytes
    }

    /// Whether `row` was signed with this key.
    func vouches(for row: SealedRow) -> Bool {
        key.isValidSignature(row.signature, for: ChainEncoding.signedRow(hash: row.hash))
    }

    /// Whether this key, new in `row`, was there when the rows before it were.
    func vouches(_ proof: [UInt8]?, before row: SealedRow) -> Bool {
        guard let proof else { return false }
        return key.isValidSignature(proof, for: ChainEncoding.nextKey(bytes, after: row.previous))
    }

    /// Whether an export that ends after `count` rows in `head` was signed with this key.
    func vouches(forFooter signature: [UInt8], count: Int64, head: [UInt8]) -> Bool {
        key.isValidSignature(signature, for: ChainEncoding.footer(count: count, head: head))
    }
}
