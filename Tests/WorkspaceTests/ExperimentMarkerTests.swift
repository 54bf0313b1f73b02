import TestSupport
import Testing
import Workspace

@Suite("The marker file of an experiment")
struct ExperimentMarkerTests {
    private static let number = "0123456789abcdef"
    private static let key = String(repeating: "a", count: 64)

    private func parsed(_ text: String) throws(ExperimentMarker.Malformed) -> ExperimentMarker {
        try ExperimentMarker(parsing: Array(text.utf8))
    }

    private func text(_ members: String) -> String { "{\(members)}" }

    private func made(_ seed: UInt64 = 1) throws -> ExperimentMarker {
        var generator = SeededGenerator(seed: seed)
        let bytes = (0..<MarkerKey.byteCount).map { _ in
            UInt8.random(in: .min ... .max, using: &generator)
        }
        return ExperimentMarker(
            experiment: Self.number,
            benchmarkDirectory: seed.isMultiple(of: 2) ? "/home/u/«b»" : nil,
            key: MarkerKey(bytes: bytes)
        )
    }

    @Test("what is written is read again, and one of an earlier version has no key")
    func roundTrip() throws {
        for seed in UInt64(1)...20 {
            let marker = try made(seed)
            #expect(try ExperimentMarker(parsing: marker.bytes) == marker)
        }
        let older = try parsed(
            #"{"experiment":"\#(Self.number)","schema":"invigilator.experiment/1"}"#
        )
        #expect(older.key == nil && older.experiment == Self.number)
        #expect(try ExperimentMarker(parsing: older.bytes) == older)
    }

    @Test("the digest is the SHA-256 of the key's bytes")
    func digest() throws {
        let marker = try parsed(
            #"{"experiment":"\#(Self.number)","key":"\#(String(repeating: "0", count: 64))","#
                + #""schema":"invigilator.experiment/2"}"#
        )
        // printf of 32 zero bytes into sha256sum(1).
        let known = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
        #expect(marker.key?.digest == known)
        #expect(marker.key?.has(digest: known) == true)
    }

    @Test(
        "anything else is refused with a reason",
        arguments: [
            ("", "it is empty"),
            ("\n", "malformed"),
            ("0123456789abcdef", "malformed"),
            (#"{"experiment":"N","schema":"invigilator.experiment/1"}"#, "16 hexadecimal digits"),
            (#"{"experiment":"0123456789ABCDEF","schema":"invigilator.experiment/1"}"#, "16 hex"),
            (#"{"experiment":"../0123456789abcd","schema":"invigilator.experiment/1"}"#, "16 hex"),
            (#"{"experiment":"0123456789abcdef","schema":"invigilator.experiment/3"}"#, "unknown"),
            (#"{"experiment":"0123456789abcdef","schema":"invigilator.experiment/2"}"#, "key"),
            (
                #"{"experiment":"0123456789abcdef","key":"","schema":"invigilator.experiment/2"}"#,
                "64 hexadecimal digits"
            ),
            (
                #"{"experiment":"0123456789abcdef","key":"\#(key)a","schema":"invigilator.experiment/2"}"#,
                "64 hexadecimal digits"
            ),
            (
                #"{"experiment":"0123456789abcdef","key":"\#(key)","schema":"invigilator.experiment/1"}"#,
                "key"
            ),
            (
                #"{"experiment":"0123456789abcdef","experiment":"0123456789abcdef","schema":"invigilator.experiment/1"}"#,
                "twice"
            ),
            (String(repeating: " ", count: ExperimentMarker.limit + 1), "more than 8192 bytes"),
        ]
    )
    func refused(text: String, reason: String) throws {
        do throws(ExperimentMarker.Malformed) {
            let marker = try parsed(text)
            Issue.record("it was read: \(marker)")
        } catch {
            #expect(reason == "malformed" || error.reason.contains(reason), "\(error.reason)")
            #expect(!error.reason.isEmpty)
        }
    }

    @Test(
        "a file with any byte changed or cut is refused, or says what it said, or has another key"
    )
    func everyByte() throws {
        for seed in UInt64(1)...4 {
            let marker = try made(seed)
            let digest = try #require(marker.key).digest
            var generator = SeededGenerator(seed: seed)
            for place in marker.bytes.indices {
                var changed = marker.bytes
                changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                for bytes in [changed, Array(marker.bytes[..<place])] {
                    do throws(ExperimentMarker.Malformed) {
                        let other = try ExperimentMarker(parsing: bytes)
                        let isSame =
                            other.experiment == marker.experiment
                            && other.key?.has(digest: digest) == true
                        #expect(
                            isSame || other.experiment != marker.experiment
                                || other.key?.has(digest: digest) == false
                        )
                    } catch { #expect(!error.reason.isEmpty) }
                }
            }
        }
    }

    @Test("a digest with any digit changed, dropped or added is not the key's")
    func comparison() throws {
        let key = try #require(try made().key)
        #expect(key.has(digest: key.digest))
        let digits = Array(key.digest.utf8)
        func isTaken(_ digits: [UInt8]) -> Bool {
            key.has(digest: String(decoding: digits, as: UTF8.self))
        }
        for place in digits.indices {
            var changed = digits
            changed[place] =
                digits[place] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            #expect(!isTaken(changed))
            changed.remove(at: place)
            #expect(!isTaken(changed))
        }
        #expect(!isTaken(digits + [UInt8(ascii: "0")]) && !isTaken([]))
        #expect(!isTaken(Array(key.digest.uppercased().utf8)))
        #expect(
            MarkerKey(bytes: []) == nil && MarkerKey(bytes: Array(repeating: 0, count: 33)) == nil
        )
    }

    @Test("a key is in no text about it")
    func secret() throws {
        let marker = try made()
        let text = String(decoding: marker.bytes, as: UTF8.self)
        let hex = try #require(text.components(after: #""key":""#)?.prefix(64))
        #expect(hex.count == 64 && !"\(marker) \(marker.key as Any)".contains(hex))
    }
}

extension String {
    fileprivate func components(after mark: String) -> Substring? {
        ranges(of: mark).first.map { self[$0.upperBound...] }
    }
}
