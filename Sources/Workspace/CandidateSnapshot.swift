// The order in which a candidate is copied out of an untrusted directory, and why:
//   1. the policy's surface says which names; a name that only looks like one of them is not opened;
//   2. open beneath the directory's handle, following no link, without blocking on a pipe;
//   3. ask the *descriptor* what it is: kind, links, size, because the name may be swapped;
//   4. read to the end through that descriptor, never more than the limit and one byte;
//   5. ask the descriptor again: same size, same times, still one link, or refuse;
//   6. check the bytes: not empty, UTF-8, no zero byte, all files together within the limit;
//   7. name the bytes by their digest. From here on only the bytes exist.

public import ExamResults
internal import Crypto
internal import SandboxPolicy

/// One file of a candidate.
public struct CandidateFile: Sendable, Equatable {
    /// The path below the experiment's directory, such as `agent/agent.py`.
    public let path: String
    /// The file's bytes; UTF-8 without a zero byte, not empty.
    public let bytes: [UInt8]

    /// Makes a file.
    public init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
    }
}

/// One frozen version of the coding agent's files.
public struct CandidateSnapshot: Sendable, Equatable {
    /// The files, sorted by the bytes of their paths.
    public let files: [CandidateFile]
    /// The candidate's name; see ``digest(of:)``.
    public let digest: CandidateDigest

    /// The largest candidate that is judged where a policy names no other limit: 1 MiB.
    ///
    /// A larger limit makes room for memorised tasks before it makes room for an agent.
    public static let defaultSizeLimit = 1 << 20

    /// Checks files that were read.
    ///
    /// - Parameters:
    ///   - files: the files, each path once.
    ///   - sizeLimit: the most bytes that are judged, of all files together.
    /// - Throws: ``WorkspaceError/candidate(_:)`` where one is empty, not UTF-8 or holds a zero byte,
    ///   or all are too large.
    public init(
        checking files: [CandidateFile],
        sizeLimit: Int = defaultSizeLimit
    ) throws(WorkspaceError) {
        for file in files {
            if let refusal = Self.refusal(of: file.bytes) {
                throw .candidate(refusal.in(file.path))
            }
        }
        let size = files.reduce(0) { $0 + $1.bytes.count }
        guard size <= sizeLimit else { throw .candidate(.tooLarge(size: size, limit: sizeLimit)) }
        self.files = files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        digest = Self.digest(of: self.files)
    }

    private static func refusal(of bytes: [UInt8]) -> CandidateRefusal? {
        if bytes.isEmpty { return .empty }
        if let offset = bytes.firstIndex(of: 0) { return .zeroByte(offset: offset) }
        return String(validating: bytes, as: UTF8.self) == nil ? .notUTF8 : nil
    }

    /// The name of a candidate: the SHA-256 of `agent/agent.py` where it is the only file; otherwise that
    /// of what `sha256sum --zero` prints for the files in the order of their paths.
    ///
    /// A file holds no zero byte and such a list does, so no file has the name of a list.
    static func digest(of files: [CandidateFile]) -> CandidateDigest {
        if files.count == 1, files[0].path == Surface.program { return digest(of: files[0].bytes) }
        return digest(
            of: files.flatMap { Array("\(digest(of: $0.bytes).hex)  \($0.path)\0".utf8) }
        )
    }

    private static func digest(of bytes: [UInt8]) -> CandidateDigest {
        do {
            return try CandidateDigest(bytes: Array(SHA256.hash(data: bytes)))
        } catch {
            fatalError("a SHA-256 has 32 bytes")
        }
    }
}
