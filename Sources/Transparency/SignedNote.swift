// A note (C2SP signed-note): a text that ends in a line feed, an empty line, and one line for each
// signature: an em dash, a name, and four bytes of key id with the signature in base64.

/// A signature of a note, by whomever.
public struct NoteSignature: Hashable, Sendable {
    /// The signer's name.
    public let name: String
    /// The signer's four bytes.
    public let keyID: [UInt8]
    /// The signature.
    public let bytes: [UInt8]
}

/// A text with signatures under it.
public struct SignedNote: Hashable, Sendable {
    /// The largest note that is read: a checkpoint with a hundred large signatures has its place.
    public static let maximumSize = 1 << 20
    private static let maximumSignatures = 100
    private static let dash = "\u{2014} "

    /// What was signed, with the line feed at its end.
    public let text: String
    /// The signatures, in order.
    public let signatures: [NoteSignature]

    /// Signs a text.
    ///
    /// - Parameters:
    ///   - text: lines, each ended by a line feed.
    ///   - key: the signer's name and key.
    ///   - sign: makes the signature over the text's bytes.
    /// - Throws: what `sign` throws.
    public init<Failure: Error>(
        signing text: String,
        as key: NoteKey,
        _ sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) {
        self.text = text
        let signature = try sign(Array(text.utf8))
        signatures = [NoteSignature(name: key.name, keyID: key.id, bytes: signature)]
    }

    /// Reads a note; nothing is verified.
    ///
    /// - Throws: ``NoteError/malformed(_:)`` for everything that the format does not allow.
    public init(parsing bytes: [UInt8]) throws(NoteError) {
        guard bytes.count <= Self.maximumSize else {
            throw .malformed("it is longer than \(Self.maximumSize) bytes")
        }
        guard let note = String(validating: bytes, as: UTF8.self) else {
            throw .malformed("it is not UTF-8")
        }
        guard bytes.allSatisfy({ $0 >= 0x20 || $0 == 0x0A }) else {
            throw .malformed("it holds a control character")
        }
        var lines = note.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.popLast() == "" else { throw .malformed("its last line is not ended") }
        guard let border = lines.lastIndex(of: ""), border > 0 else {
            throw .malformed("no empty line stands between a text and signatures")
        }
        let signed = lines[(border + 1)...]
        let limit = Self.maximumSignatures
        guard (1...limit).contains(signed.count) else {
            throw .malformed("it has \(signed.count) signatures, not 1 to \(limit)")
        }
        text = lines[..<border].map { $0 + "\n" }.joined()
        var found: [NoteSignature] = []
        for line in signed { found.append(try Self.signature(line)) }
        signatures = found
    }

    private static func signature(_ line: Substring) throws(NoteError) -> NoteSignature {
        let parts = line.dropFirst(dash.count).split(
            separator: " ",
            omittingEmptySubsequences: false
        )
        guard line.hasPrefix(dash), parts.count == 2, NoteKey.isName(parts[0]),
            let bytes = Base64.bytes(of: parts[1]), bytes.count > 4
        else { throw .malformed("a line below the text is no signature") }
        return NoteSignature(
            name: String(parts[0]),
            keyID: Array(bytes.prefix(4)),
            bytes: Array(bytes.dropFirst(4))
        )
    }

    /// The note as it is stored.
    public var bytes: [UInt8] {
        let lines = signatures.map { signature in
            "\(Self.dash)\(signature.name) \(Base64.text(of: signature.keyID + signature.bytes))\n"
        }
        return Array((text + "\n" + lines.joined()).utf8)
    }

    /// Shows that a key signed the text; signatures of other keys are ignored.
    ///
    /// - Throws: ``NoteError/notSigned(by:)``, or ``NoteError/badSignature(of:)`` where any signature
    ///   under the key's name and id is not its own.
    public func requireSignature(of key: NoteKey) throws(NoteError) {
        let own = signatures.filter { $0.name == key.name && $0.keyID == key.id }
        guard !own.isEmpty else { throw .notSigned(by: key.name) }
        let message = Array(text.utf8)
        guard own.allSatisfy({ key.publicKey.vouches(for: message, signature: $0.bytes) }) else {
            throw .badSignature(of: key.name)
        }
    }
}

/// Why a note is not believed.
public enum NoteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is not in the one spelling that the format allows.
    case malformed(String)
    /// The expected key has not signed it.
    case notSigned(by: String)
    /// A signature in the expected key's name was not made by it.
    case badSignature(of: String)

    /// The reason in words.
    public var description: String {
        switch self {
        case .malformed(let detail): "it is no signed note: \(detail)"
        case .notSigned(let name): "it has no signature of \(name)"
        case .badSignature(let name): "its signature was not made by \(name) over this text"
        }
    }
}
