import Crypto
import StrictJSON
import TestSupport
import Testing
import Transparency

@Suite("Envelopes, statements and spellings of keys")
struct EnvelopeTests {
    // The key of RFC 8032's first Ed25519 test.
    private static let hex = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"

    @Test("what is signed is what DSSE's own example says")
    func encoding() {
        let encoded = Envelope.encoded(
            Array("hello world".utf8),
            type: "http://example.com/HelloWorld"
        )
        #expect(
            String(decoding: encoded, as: UTF8.self)
                == "DSSEv1 29 http://example.com/HelloWorld 11 hello world"
        )
        // A length is one of bytes.
        #expect(String(decoding: Envelope.encoded([], type: "ö"), as: UTF8.self) == "DSSEv1 2 ö 0 ")
    }

    @Test("an envelope holds bytes, type and one signature under the key's id")
    func envelope() throws {
        let key = Curve25519.Signing.PrivateKey()
        let publicKey = try #require(PublicKey(bytes: Array(key.publicKey.rawRepresentation)))
        let statement = Statement(
            subjects: [Statement.Subject(name: "agent/agent.py", digest: "ab")],
            predicateType: "urn:example:1",
            predicate: ["b": 1, "a": "ö"]
        )
        let envelope = try Envelope(
            signing: statement.bytes,
            type: Statement.payloadType,
            as: publicKey
        ) { (message) throws in Array(try key.signature(for: message)) }
        let signed = Envelope.encoded(statement.bytes, type: Statement.payloadType)
        #expect(publicKey.vouches(for: signed, signature: envelope.signature))
        #expect(!publicKey.vouches(for: signed + [0], signature: envelope.signature))
        let payload = try #require(envelope.json["payload"]?.stringValue.flatMap(Base64.bytes))
        let read = try JSONValue(parsing: payload, limits: .document)
        #expect(
            read == [
                "_type": "https://in-toto.io/Statement/v1",
                "subject": [["name": "agent/agent.py", "digest": ["sha256": "ab"]]],
                "predicateType": "urn:example:1", "predicate": ["a": "ö", "b": 1],
            ]
        )
        let signature = envelope.json["signatures"]?.arrayValue?.first
        #expect(signature?["keyid"]?.stringValue == publicKey.id)
    }

    @Test("a public key has the PEM, the id and the name that other programs compute")
    func keys() throws {
        let key = try #require(PublicKey(hex: Self.hex))
        #expect(
            key.pem == """
                -----BEGIN PUBLIC KEY-----
                MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
                -----END PUBLIC KEY-----

                """
        )
        // openssl pkey -pubin -outform DER | sha256sum
        #expect(key.id == "06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9")
        let note = NoteKey(ofLedger: key)
        #expect(note.name == "invigilator/ledger/\(key.id.prefix(32))")
        #expect(NoteKey(verifierKey: note.verifierKey) == note)
        #expect(PublicKey(hex: Self.hex.uppercased()) == nil)
        #expect(PublicKey(hex: String(Self.hex.dropLast(2))) == nil)
    }

    @Test("base 64 is that of RFC 4648, and has one spelling for each value")
    func base64() {
        let pairs = [
            "": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==",
            "fooba": "Zm9vYmE=", "foobar": "Zm9vYmFy",
        ]
        for (plain, text) in pairs {
            #expect(Base64.text(of: Array(plain.utf8)) == text)
            #expect(Base64.bytes(of: text) == Array(plain.utf8))
        }
        for text in ["Zg=", "Zg", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zm9v\n", "Zm9-"] {
            #expect(Base64.bytes(of: text) == nil, "\(text)")
        }
        var generator = SeededGenerator(seed: 6_962)
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(Base64.bytes(of: Base64.text(of: bytes)) == bytes)
        }
    }

    @Test("proofs are spelled as witnesses and verifiers read them")
    func proofTexts() throws {
        let note = try SignedNote(parsing: Array("log\n\n\u{2014} a AAAAAAA=\n".utf8))
        let hash = TreeHash.empty
        #expect(
            String(decoding: ProofText.inclusion(of: 4, path: [hash], in: note), as: UTF8.self)
                == "c2sp.org/tlog-proof@v1\nindex 4\n\(hash.base64)\n\nlog\n\n\u{2014} a AAAAAAA=\n"
        )
        #expect(
            String(decoding: ProofText.addition(to: 4, proof: [], of: note), as: UTF8.self)
                == "old 4\n\nlog\n\n\u{2014} a AAAAAAA=\n"
        )
    }
}
