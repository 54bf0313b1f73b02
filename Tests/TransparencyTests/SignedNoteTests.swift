import Crypto
import TestSupport
import Testing
import Transparency

@Suite("Signed notes and checkpoints")
struct SignedNoteTests {
    /// The example that Go's module checksum database, where the format began, documents.
    private static let neumann =
        "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    private static let saying = """
        If you think cryptography is the answer to your problem,
        then you don't know what your problem is.

        \u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=

        """

    private static func key() throws -> (private: Curve25519.Signing.PrivateKey, note: NoteKey) {
        let key = Curve25519.Signing.PrivateKey()
        let bytes = Array(key.publicKey.rawRepresentation)
        return (key, NoteKey(ofLedger: try #require(PublicKey(bytes: bytes))))
    }

    private static func signed(
        _ text: String,
        _ key: (private: Curve25519.Signing.PrivateKey, note: NoteKey)
    ) throws -> SignedNote {
        try SignedNote(signing: text, as: key.note) { (message) throws in
            Array(try key.private.signature(for: message))
        }
    }

    @Test("a note that others signed verifies with their verifier key, byte for byte")
    func published() throws {
        let key = try #require(NoteKey(verifierKey: Self.neumann))
        #expect(key.name == "PeterNeumann" && key.verifierKey == Self.neumann)
        let note = try SignedNote(parsing: Array(Self.saying.utf8))
        #expect(note.bytes == Array(Self.saying.utf8))
        try note.requireSignature(of: key)
        let other = Self.saying.replacingOccurrences("answer", "cure")
        let forged = try SignedNote(parsing: Array(other.utf8))
        #expect(throws: NoteError.badSignature(of: "PeterNeumann")) {
            try forged.requireSignature(of: key)
        }
    }

    @Test("a verifier key in any other spelling is none")
    func verifierKeys() {
        for text in [
            "", "PeterNeumann", "PeterNeumann+c74f20a3", Self.neumann + "A", " " + Self.neumann,
            Self.neumann.replacingOccurrences("c74f20a3", "c74f20a4"),
            Self.neumann.replacingOccurrences("c74f20a3", "C74F20A3"),
            Self.neumann.replacingOccurrences("+AR", "+AB"),
            Self.neumann.replacingOccurrences("PeterNeumann", "Peter Neumann"),
            Self.neumann.replacingOccurrences("PeterNeumann", "peterneumann"),
        ] {
            #expect(NoteKey(verifierKey: text) == nil, "\(text)")
        }
    }

    @Test("a checkpoint is read back as it was signed, with other parties' lines beneath it")
    func checkpoint() throws {
        let key = try Self.key()
        let tree = MerkleTreeTests.large(12)
        let head = Checkpoint(origin: key.note.name, of: tree)
        let note = try Self.signed(head.text, key)
        #expect(try Checkpoint(verifying: note.bytes, signedBy: key.note) == head)
        let witnessed = note.bytes + Array("\u{2014} witness.example/w AAAAAAAAAAAAAAAA\n".utf8)
        #expect(try Checkpoint(verifying: witnessed, signedBy: key.note) == head)
        let extended = try Self.signed(head.text + "more\n", key)
        #expect(try Checkpoint(verifying: extended.bytes, signedBy: key.note) == head)
        #expect(try SignedNote(parsing: witnessed).signatures.count == 2)
    }

    @Test("a checkpoint by another key, of another log, or in this one's name is refused")
    func foreign() throws {
        let (key, other) = (try Self.key(), try Self.key())
        let head = Checkpoint(origin: key.note.name, of: MerkleTreeTests.large(3))
        let theirs = try Self.signed(head.text, other)
        #expect(throws: NoteError.notSigned(by: key.note.name)) {
            try Checkpoint(verifying: theirs.bytes, signedBy: key.note)
        }
        let inOurName = Array(
            String(decoding: theirs.bytes, as: UTF8.self).replacingOccurrences(
                "\u{2014} \(other.note.name) ",
                "\u{2014} \(key.note.name) "
            ).utf8
        )
        // The four bytes are the other key's, so this is an unknown key's line.
        #expect(throws: NoteError.notSigned(by: key.note.name)) {
            try Checkpoint(verifying: inOurName, signedBy: key.note)
        }
        let ofAnother = try Self.signed(Checkpoint(origin: "x", of: MerkleTree()).text, key)
        #expect(throws: NoteError.self) {
            try Checkpoint(verifying: ofAnother.bytes, signedBy: key.note)
        }
        let good = try Self.signed(head.text, key)
        let both = good.bytes + Self.signatureLine(key.note, [UInt8](repeating: 1, count: 64))
        #expect(throws: NoteError.badSignature(of: key.note.name)) {
            try Checkpoint(verifying: both, signedBy: key.note)
        }
    }

    private static func signatureLine(_ key: NoteKey, _ signature: [UInt8]) -> [UInt8] {
        Array("\u{2014} \(key.name) \(Base64.text(of: key.id + signature))\n".utf8)
    }

    @Test("each changed byte of a checkpoint is found, whatever it becomes")
    func flips() throws {
        let key = try Self.key()
        let note = try Self.signed(
            Checkpoint(origin: key.note.name, of: MerkleTreeTests.large(7)).text,
            key
        )
        for index in note.bytes.indices {
            for mask: UInt8 in [1, 4, 0x20, 0x80] {
                var bytes = note.bytes
                bytes[index] ^= mask
                #expect(throws: NoteError.self, "byte \(index) ^ \(mask)") {
                    try Checkpoint(verifying: bytes, signedBy: key.note)
                }
            }
        }
        for count in note.bytes.indices {
            #expect(throws: NoteError.self, "cut at \(count)") {
                try Checkpoint(verifying: Array(note.bytes.prefix(count)), signedBy: key.note)
            }
        }
    }

    @Test(
        "a note in any other spelling is refused",
        arguments: [
            "", "\n", "text\n", "text\n\n", "text\n\n\u{2014} a AAAAAAA=",
            "\n\u{2014} a AAAAAAA=\n", "text\n\n- a AAAAAAA=\n",
            "text\n\n\u{2014}a AAAAAAA=\n", "text\n\n\u{2014} a AAAAAAA\n",
            "text\n\n\u{2014} a AAAAAAB=\n", "text\n\n\u{2014} a+b AAAAAAA=\n",
            "text\n\n\u{2014}  AAAAAAA=\n", "text\n\n\u{2014} a b AAAAAAA=\n",
            "text\n\n\u{2014} a AAAAAA==\n", "te\txt\n\n\u{2014} a AAAAAAA=\n",
            "te\rxt\n\n\u{2014} a AAAAAAA=\n", "text\n\n\u{2014} a\u{2003}b AAAAAAA=\n",
            "text\n\n\u{2014} a AAAAAAA=\n\n", "text\n\u{2014} a AAAAAAA=\n",
        ]
    )
    func malformed(text: String) {
        #expect(throws: NoteError.self) { try SignedNote(parsing: Array(text.utf8)) }
    }

    @Test("bytes that are no UTF-8, and notes without measure, are refused")
    func bounds() throws {
        let good = Array("text\n\n\u{2014} a AAAAAAA=\n".utf8)
        _ = try SignedNote(parsing: good)
        #expect(throws: NoteError.self) { try SignedNote(parsing: [0xFF] + good) }
        let line = Array("\u{2014} a AAAAAAA=\n".utf8)
        _ = try SignedNote(parsing: good + Array(repeating: line, count: 99).flatMap { $0 })
        #expect(throws: NoteError.self) {
            try SignedNote(parsing: good + Array(repeating: line, count: 100).flatMap { $0 })
        }
        #expect(throws: NoteError.self) {
            try SignedNote(parsing: [UInt8](repeating: 97, count: 1 << 20) + good)
        }
    }

    @Test(
        "a text that is no checkpoint is refused",
        arguments: [
            "", "a\n", "a\n1\n", "\n1\nROOT\n", "a\n01\nROOT\n", "a\n-1\nROOT\n", "a\n+1\nROOT\n",
            "a\n\nROOT\n", "a\n1x\nROOT\n", "a\n9999999999999999999\nROOT\n", "a\n1\nAAAA\n",
            "a\n1\nROOT=\n", "a\n1\nROOT\n\nmore\n", "a\n\u{661}\nROOT\n",
        ]
    )
    func noCheckpoint(text: String) throws {
        let root = TreeHash.empty.base64
        _ = try Checkpoint(parsing: "a\n1\n\(root)\n")
        #expect(throws: NoteError.self) {
            try Checkpoint(parsing: text.replacingOccurrences("ROOT", root))
        }
    }

    @Test("a shorter log is rolled back, another one of the same size or longer is a fork")
    func faults() throws {
        let log = MerkleTreeTests.large(20)
        let head = Checkpoint(origin: "log", of: log)
        #expect(head.fault(in: log) == nil)
        #expect(head.fault(in: MerkleTreeTests.large(29)) == nil)
        #expect(
            head.fault(in: MerkleTreeTests.large(19)) == .rolledBack(rows: 19, checkpoint: 20)
        )
        let other = MerkleTree((0..<29).map { Array("other \($0)".utf8) })
        #expect(head.fault(in: other) == .forked(size: 20))
        #expect(Checkpoint(origin: "log", of: MerkleTree()).fault(in: other) == nil)
    }
}

extension String {
    /// Every occurrence of a text replaced.
    func replacingOccurrences(_ old: String, _ new: String) -> String {
        split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
    }
}
