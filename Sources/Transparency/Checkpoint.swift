/// The head of a log at one size: origin, size and root (C2SP tlog-checkpoint).
public struct Checkpoint: Hashable, Sendable {
    /// Whose log it is.
    public let origin: String
    /// How many leaves it had.
    public let size: Int
    /// The root over them.
    public let root: TreeHash

    /// The head of a tree now.
    public init(origin: String, of tree: MerkleTree) {
        self.origin = origin
        size = tree.size
        root = tree.root
    }

    /// The text of the note.
    public var text: String { "\(origin)\n\(size)\n\(root.base64)\n" }

    /// Reads the text of a note; lines that extend it are left out.
    ///
    /// - Throws: ``NoteError/malformed(_:)``.
    public init(parsing text: String) throws(NoteError) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        guard lines.count >= 3, lines.allSatisfy({ !$0.isEmpty }) else {
            throw .malformed("a checkpoint has three lines or more, and none of them is empty")
        }
        // 18 digits: more rows than any ledger has, and no overflow.
        let digits = lines[1].utf8
        guard digits.count <= 18, digits.allSatisfy({ (48...57).contains($0) }),
            digits.count == 1 || digits.first != 48, let size = Int(lines[1])
        else { throw .malformed("the second line of a checkpoint is a size") }
        guard let bytes = Base64.bytes(of: lines[2]), let root = TreeHash(bytes: bytes) else {
            throw .malformed("the third line of a checkpoint is a root of 32 bytes in base64")
        }
        origin = String(lines[0])
        self.size = size
        self.root = root
    }

    /// Reads a note that a ledger's key signed as a checkpoint of its own.
    ///
    /// - Parameters:
    ///   - bytes: the note.
    ///   - key: the ledger's key.
    /// - Throws: ``NoteError``.
    public init(verifying bytes: [UInt8], signedBy key: NoteKey) throws(NoteError) {
        let note = try SignedNote(parsing: bytes)
        try note.requireSignature(of: key)
        try self.init(parsing: note.text)
        guard origin == key.name else { throw .malformed("its origin is not the signer's name") }
    }

    /// Compares with a log that must continue this one.
    ///
    /// - Parameter tree: the log as it is.
    /// - Returns: what is wrong; nothing where it continues this one.
    public func fault(in tree: MerkleTree) -> CheckpointFault? {
        guard let found = tree.root(of: size) else {
            return .rolledBack(rows: tree.size, checkpoint: size)
        }
        return found == root ? nil : .forked(size: size)
    }
}

/// How a log departs from an earlier checkpoint of it.
public enum CheckpointFault: Hashable, Sendable, CustomStringConvertible {
    /// It is shorter than it was.
    case rolledBack(rows: Int, checkpoint: Int)
    /// Other rows stand where those of the checkpoint stood.
    case forked(size: Int)

    /// The fault in words.
    public var description: String {
        switch self {
        case .rolledBack(let rows, let size):
            "rolled back: the ledger has \(rows) rows, the checkpoint has \(size)"
        case .forked(let size):
            "forked: the ledger's first \(size) rows are not those of the checkpoint"
        }
    }
}
