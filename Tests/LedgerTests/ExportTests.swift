import Foundation
import Ledger
import StrictJSON
import TestSupport
import Testing

@Suite("Export and offline verification")
struct ExportTests {
    static func export(_ count: Int) throws -> (bytes: [UInt8], publicKey: String) {
        let scratch = try Scratch()
        let ledger = try scratch.filled(count)
        return (try ledger.exported(), ledger.publicKey)
    }

    @Test("an export is one JSON object a line: a header, the rows, a signed footer")
    func format() throws {
        let (bytes, publicKey) = try Self.export(3)
        let lines = try Lines(bytes).lines.map { try JSONValue(parsing: $0, limits: .ledgerBody) }
        #expect(Lines(bytes).lines.map { Array($0) } == lines.map(\.canonicalBytes))
        #expect(lines.count == 5)
        #expect(lines[0]["schema"] == "invigilator.ledger/1")
        #expect(lines[0]["public_key"]?.stringValue == publicKey)
        #expect(lines[2]["sequence"]?.integerValue == 2)
        #expect(lines[2]["body"] == Scratch.body(2))
        #expect(lines[4]["count"]?.integerValue == 3)
    }

    @Test("an untouched export verifies at both depths, from memory and from a file")
    func intact() throws {
        let (bytes, publicKey) = try Self.export(9)
        for depth in [VerificationDepth.chain, .everySignature] {
            let report = Ledger.verifyExport(bytes, publicKey: publicKey, depth: depth)
            #expect(report.isIntact && report.count == 9)
            #expect(report.signaturesChecked == (depth == .chain ? 2 : 10))
        }
        let scratch = try Scratch()
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.path + "/export"))
        #expect(try Ledger.verifyExport(atPath: scratch.path + "/export").isIntact)
        #expect(try Ledger.entries(inExport: bytes).map(\.sequence) == Array(1...9))
    }

    @Test("an export that was signed by another key is refused when the key is known")
    func otherKey() throws {
        let (bytes, _) = try Self.export(2)
        let (_, other) = try Self.export(2)
        let report = Ledger.verifyExport(bytes, publicKey: other)
        #expect(report.fault?.description == "header: the public key is not the expected one")
    }

    @Test("each changed byte is found, and its line is named")
    func flips() throws {
        let (bytes, _) = try Self.export(10)
        var lineOf: [Int] = []
        var line = 0
        for byte in bytes {
            lineOf.append(line)
            if byte == 10 { line += 1 }
        }
        var generator = SeededGenerator(seed: 20_260_101)
        for _ in 0..<1_500 {
            let index = Int.random(in: bytes.indices, using: &generator)
            var copy = bytes
            copy[index] ^= UInt8.random(in: 1...255, using: &generator)
            let report = Ledger.verifyExport(copy)
            let name = lineOf[index] == 0 ? "header" : "row \(lineOf[index])"
            let expected = lineOf[index] == 11 ? "footer" : name
            #expect(
                report.fault?.location.description == expected,
                "byte \(index) of line \(lineOf[index]) became \(copy[index]): \(report)"
            )
        }
    }

    @Test("each dropped row is found and named")
    func drops() throws {
        let (bytes, _) = try Self.export(10)
        for row in 1...10 {
            var lines = Lines(bytes)
            lines.lines.remove(at: row)
            let fault = Ledger.verifyExport(lines.bytes).fault
            #expect(fault?.location == .row(row))
            #expect(fault?.reason == (row == 10 ? .missing : .replacedBy(row: row + 1)))
        }
    }

    @Test("each pair of swapped rows is found and named")
    func swaps() throws {
        let (bytes, _) = try Self.export(10)
        for first in 1...9 {
            for second in (first + 1)...10 {
                var lines = Lines(bytes)
                lines.lines.swapAt(first, second)
                let fault = Ledger.verifyExport(lines.bytes).fault
                #expect(fault == Self.fault(.row(first), .replacedBy(row: second)))
            }
        }
    }

    @Test("each duplicated row is found and named")
    func duplicates() throws {
        let (bytes, _) = try Self.export(10)
        for row in 1...10 {
            for place in row...10 {
                var lines = Lines(bytes)
                lines.lines.insert(lines.lines[row], at: place + 1)
                let fault = Ledger.verifyExport(lines.bytes).fault
                #expect(fault == Self.fault(.row(place + 1), .repeats(row: row)))
            }
        }
    }

    @Test("each shortened copy is found, wherever it is cut")
    func truncations() throws {
        let (bytes, _) = try Self.export(4)
        for length in stride(from: 0, to: bytes.count, by: 7) {
            #expect(!Ledger.verifyExport(Array(bytes.prefix(length))).isIntact, "\(length)")
        }
        #expect(!Ledger.verifyExport(Array(bytes.dropLast())).isIntact)
    }

    @Test("a missing footer is named, and how many rows in front of it are good")
    func cutTail() throws {
        let (bytes, _) = try Self.export(6)
        var lines = Lines(bytes)
        lines.lines.removeLast(3)
        let report = Ledger.verifyExport(lines.bytes)
        #expect(report.count == 4)
        #expect(report.fault == Self.fault(.footer, .missingFooter))
    }

    @Test("rows and other bytes after the footer are found")
    func trailing() throws {
        let (bytes, _) = try Self.export(3)
        let lines = Lines(bytes)
        for tail in [lines.lines[3] + [10], lines.lines[4] + [10], [10], [32]] {
            let fault = Ledger.verifyExport(bytes + tail).fault
            #expect(fault == Self.fault(.footer, .trailingBytes))
        }
    }

    @Test("a row beyond the footer's count is found")
    func beyond() throws {
        let scratch = try Scratch()
        let ledger = try scratch.filled(3)
        let early = Lines(try ledger.exported())
        try ledger.append(.stop, [:], time: 3)
        var late = Lines(try ledger.exported())
        late.lines[5] = early.lines[4]
        #expect(Ledger.verifyExport(late.bytes).fault == Self.fault(.row(4), .beyondCount(3)))
    }

    @Test("rows of two ledgers do not mix, although each is signed")
    func mixed() throws {
        let one = Lines(try Self.export(5).bytes)
        let other = Lines(try Self.export(5).bytes)
        var mixed = one
        mixed.lines[3] = other.lines[3]
        #expect(Ledger.verifyExport(mixed.bytes).fault == Self.fault(.row(3), .brokenLink))
        mixed = one
        mixed.lines[0] = other.lines[0]
        #expect(Ledger.verifyExport(mixed.bytes).fault == Self.fault(.header, .foreignHeader))
        mixed = one
        mixed.lines[6] = other.lines[6]
        #expect(Ledger.verifyExport(mixed.bytes).fault == Self.fault(.footer, .badSignature))
    }

    @Test("an older head is a witness for a newer export, and against a rewritten one")
    func witness() throws {
        let scratch = try Scratch()
        let ledger = try scratch.filled(3)
        let old = try ledger.verify()
        let witness = LedgerWitness(count: old.count, head: old.head)
        try ledger.append(.stop, [:], time: 3)
        #expect(Ledger.verifyExport(try ledger.exported(), witness: witness).isIntact)
        let other = try Self.export(4).bytes
        #expect(
            Ledger.verifyExport(other, witness: witness).fault
                == Self.fault(.row(3), .otherThanWitnessed)
        )
    }

    @Test("a receiver that fails is an error of its own")
    func receiver() throws {
        let scratch = try Scratch()
        let ledger = try scratch.filled(1)
        struct Full: Error {}
        let error = #expect(throws: LedgerError.self) { try ledger.export { _ in throw Full() } }
        #expect(error == .exportRefused(location: scratch.database, reason: "Full()"))
    }

    static func fault(_ location: FaultLocation, _ reason: FaultReason) -> VerificationFault {
        VerificationFault(location, reason)
    }
}
