// The order in which a candidate is copied out of an untrusted directory, and why:
//   1. open beneath the directory's handle, following no link, without blocking on a pipe;
//   2. ask the *descriptor* what it is: kind, links, size, because the name may be swapped;
//   3. read to the end through that descriptor, never more than the limit and one byte;
//   4. ask the descriptor again: same size, same times, still one link, or refuse;
//   5. check the bytes: not empty, UTF-8, no zero byte;
//   6. name the bytes by their digest. From here on only the bytes exist.

public import ExamResults
internal import Crypto

/// One frozen version of the coding agent's file.
public struct CandidateSnapshot: Sendable, Equatable {
    /// The file's bytes; UTF-8 without a zero byte, not empty.
    public let bytes: [UInt8]
    /// The SHA-256 of the bytes.
    public let digest: CandidateDigest

    /// The largest file that is judged where a policy names no other limit: 1 MiB.
    ///
    /// A larger limit makes room for memorised tasks before it makes room for an agent.
    public static let defaultSizeLimit = 1 << 20

    /// Checks bytes that were read.
    ///
    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - sizeLimit: the most bytes that are judged.
    /// - Throws: ``WorkspaceError/candidate(_:)`` where they are empty, too many, not UTF-8 or
    ///   hold a zero byte.
    public init(
        checking bytes: [UInt8],
        sizeLimit: Int = defaultSizeLimit
    ) throws(WorkspaceError) {
        guard !bytes.isEmpty else { throw .candidate(.empty) }
        guard bytes.count <= sizeLimit else {
            throw .candidate(.tooLarge(size: bytes.count, limit: sizeLimit))
        }
        if let offset = bytes.firstIndex(of: 0) { throw .candidate(.zeroByte(offset: offset)) }
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .candidate(.notUTF8) }
        self.bytes = bytes
        digest = Self.digest(of: bytes)
    }

    /// The name that bytes have as a candidate.
    ///
    /// - Parameter bytes: the bytes.
    /// - Returns: their SHA-256.
    public static func digest(of bytes: [UInt8]) -> CandidateDigest {
        do {
            return try CandidateDigest(bytes: Array(SHA256.hash(data: bytes)))
        } catch {
            fatalError("a SHA-256 has 32 bytes")
        }
    }

    /// The file as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
