public import StrictJSON

/// A signed document: DSSE 1.0, signed over its type and its bytes.
public struct Envelope: Hashable, Sendable {
    /// What the bytes are.
    public let payloadType: String
    /// The bytes.
    public let payload: [UInt8]
    /// The signer's ``PublicKey/id``.
    public let keyID: String
    /// The signature.
    public let signature: [UInt8]

    /// Signs a document.
    ///
    /// - Parameters:
    ///   - payload: its bytes.
    ///   - payloadType: what they are.
    ///   - key: the signer's public key.
    ///   - sign: makes the signature over ``encoded(_:type:)``.
    /// - Throws: what `sign` throws.
    public init<Failure: Error>(
        signing payload: [UInt8],
        type payloadType: String,
        as key: PublicKey,
        _ sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) {
        self.payload = payload
        self.payloadType = payloadType
        keyID = key.id
        signature = try sign(Self.encoded(payload, type: payloadType))
    }

    /// What is signed: the pre-authentication encoding of type and bytes, each after its length.
    public static func encoded(_ payload: [UInt8], type: String) -> [UInt8] {
        Array("DSSEv1 \(type.utf8.count) \(type) \(payload.count) ".utf8) + payload
    }

    /// The envelope as it is stored.
    public var json: JSONValue {
        [
            "payload": .string(Base64.text(of: payload)), "payloadType": .string(payloadType),
            "signatures": [
                ["keyid": .string(keyID), "sig": .string(Base64.text(of: signature))]
            ],
        ]
    }
}

/// A statement about files (in-toto attestation framework, Statement version 1).
public struct Statement: Equatable, Sendable {
    /// The type of an envelope's payload that is a statement.
    public static let payloadType = "application/vnd.in-toto+json"

    /// A file that the statement is about.
    public struct Subject: Hashable, Sendable {
        /// Its path.
        public let name: String
        /// SHA-256 of its bytes, as hexadecimal digits.
        public let digest: String

        /// Names a file.
        public init(name: String, digest: String) {
            self.name = name
            self.digest = digest
        }
    }

    /// The files.
    public let subjects: [Subject]
    /// What kind of statement it is: a URI.
    public let predicateType: String
    /// What is said of the files.
    public let predicate: JSONValue

    /// Makes a statement.
    public init(subjects: [Subject], predicateType: String, predicate: JSONValue) {
        self.subjects = subjects
        self.predicateType = predicateType
        self.predicate = predicate
    }

    /// The statement as it is signed: canonical JSON, so that equal statements have equal bytes.
    public var bytes: [UInt8] {
        let named = subjects.map { subject -> JSONValue in
            ["name": .string(subject.name), "digest": ["sha256": .string(subject.digest)]]
        }
        let statement: JSONValue = [
            "_type": "https://in-toto.io/Statement/v1", "subject": .array(named),
            "predicateType": .string(predicateType), "predicate": predicate,
        ]
        return statement.canonicalBytes
    }
}
