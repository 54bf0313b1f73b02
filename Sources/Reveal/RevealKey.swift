// Reveal: what sealed exams committed to, and what an auditor recomputes from it. Bytes and rows in,
// findings out.

internal import Crypto
internal import Workspace

/// The secret that opens what the sealed exams of one experiment committed to.
///
/// Its SHA-256 stands in the genesis row, so that nobody can open an exam with another one later.
/// Whoever has it reads the outcome of every sealed task of the experiment.
public struct RevealKey: Sendable {
    /// The bytes that a key must have.
    public static let byteCount = 32
    /// What an AES-GCM nonce has (NIST SP 800-38D, section 5.2.1.1).
    public static let nonceByteCount = 12

    private let bytes: [UInt8]

    /// Adopts random bytes.
    ///
    /// - Parameter bytes: 32 random bytes that stay in the vault.
    /// - Throws: ``RevealError/badKey(count:)`` for another number of bytes.
    public init(_ bytes: [UInt8]) throws(RevealError) {
        guard bytes.count == Self.byteCount else { throw .badKey(count: bytes.count) }
        self.bytes = bytes
    }

    /// The SHA-256 of the key, as the genesis row has it.
    public var digest: String { SHA256Digest.hex(of: bytes) }

    /// What the key derives for one purpose: HMAC-SHA256 over the purpose, a zero byte and a context.
    func derived(_ purpose: String, _ context: [UInt8]) -> [UInt8] {
        Self.keyed(Array(purpose.utf8) + [0] + context, key: bytes)
    }

    static func keyed(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
    }

    /// Encrypts and authenticates: nonce, ciphertext, tag of 16 bytes.
    func sealed(
        _ bytes: [UInt8],
        for exam: ExamIdentity,
        nonce: [UInt8]
    ) throws(RevealError) -> [UInt8] {
        do {
            let box = try AES.GCM.seal(
                bytes,
                using: cipherKey(for: exam),
                nonce: AES.GCM.Nonce(data: nonce),
                authenticating: exam.bytes
            )
            return nonce + box.ciphertext + box.tag
        } catch {
            throw .notSealed(exam: exam.number, reason: "\(error)")
        }
    }

    /// Decrypts what ``sealed(_:for:nonce:)`` made for the same exam.
    func opened(_ bytes: [UInt8], for exam: ExamIdentity) throws(RevealError) -> [UInt8] {
        do {
            let box = try AES.GCM.SealedBox(combined: bytes)
            return Array(
                try AES.GCM.open(box, using: cipherKey(for: exam), authenticating: exam.bytes)
            )
        } catch {
            throw .notThisExam(exam: exam.number)
        }
    }

    // A key for each exam, so that nonces of different exams never meet.
    private func cipherKey(for exam: ExamIdentity) -> SymmetricKey {
        SymmetricKey(data: derived("invigilator.reveal.cipher/1", exam.bytes))
    }
}
