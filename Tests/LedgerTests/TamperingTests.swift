import Foundation
import Ledger
import StrictJSON
import TestSupport
import Testing
import Transparency

/// THREATS C02, L4: an export of 200 rows, changed in every way, alone and against a checkpoint of it
/// that was kept elsewhere.
@Suite("Tampering with a record of 200 rows")
struct TamperingTests {
    private static let count = 200

    private let lines: [[UInt8]]
    private let checkpoint: Checkpoint

    init() throws {
        let scratch = try Scratch()
        lines = Lines(try Self.grown(try scratch.create(), to: Self.count).exported()).lines
        checkpoint = Checkpoint(origin: "log", of: Self.tree(lines))
        try #require(checkpoint.size == Self.count)
    }

    private static func grown(
        _ ledger: Ledger,
        to count: Int,
        _ text: String = "note"
    ) throws -> Ledger {
        for number in try ledger.verify().count..<count {
            let body: JSONValue = ["text": .string("\(text) \(number)")]
            try ledger.append(.learning, body, time: Int64(number))
        }
        return ledger
    }

    private static func tree(_ lines: [[UInt8]]) -> MerkleTree {
        ExportedRows.tree(of: lines.flatMap { $0 + [10] })
    }

    private func fault(_ lines: [[UInt8]]) -> VerificationFault? {
        Ledger.verifyExport(lines.flatMap { $0 + [10] }).fault
    }

    /// What a change of lines is to a reader who trusts every line and only has the checkpoint.
    private func departure(_ lines: [[UInt8]]) -> CheckpointFault? {
        checkpoint.fault(in: Self.tree(lines))
    }

    private static func location(of line: Int) -> FaultLocation {
        line == 0 ? .header : line == count + 1 ? .footer : .row(line)
    }

    @Test("every byte, changed in turn, is found in its row, and is another leaf")
    func flips() throws {
        let trial = try ExportTrial(lines)
        let tree = Self.tree(lines)
        for (index, line) in lines.enumerated() {
            let path = tree.inclusionProof(of: index - 1, in: Self.count)
            var wrong: [Int] = []
            for place in line.indices {
                var changed = line
                changed[place] ^= 1
                let fault = trial.fault(of: changed, at: index)
                // Of the first row's `previous` the header is the source, whichever of both changed.
                if index > 0, fault?.location != Self.location(of: index) { wrong.append(place) }
                if index == 0, fault == nil, try self.fault(replacing(0, changed)) == nil {
                    wrong.append(place)
                }
                let isLeaf = path.map { path in
                    MerkleProof.isIncluded(
                        .leaf(changed),
                        at: index - 1,
                        inTreeOf: Self.count,
                        root: checkpoint.root,
                        path: path
                    )
                }
                if isLeaf == true { wrong.append(place) }
            }
            #expect(wrong.isEmpty, "line \(index): \(wrong)")
        }
    }

    private func replacing(_ index: Int, _ line: [UInt8]) throws -> [[UInt8]] {
        var changed = lines
        changed[index] = line
        return changed
    }

    @Test("every line feed, changed in turn, is found where two lines became one")
    func lineFeeds() {
        let bytes: [UInt8] = lines.flatMap { $0 + [10] }
        var line = 0
        for place in bytes.indices where bytes[place] == 10 {
            var changed = bytes
            changed[place] = 11
            let fault = Ledger.verifyExport(changed).fault
            // The last row's line ends as a footer then, and is taken for a bad one.
            let named = Self.location(of: line == Self.count ? line + 1 : line)
            #expect(fault?.location == named, "after line \(line)")
            line += 1
        }
        #expect(line == Self.count + 2)
    }

    @Test("the same is found without looking at each row's signature, for bytes drawn by a seed")
    func drawnFlips() throws {
        var generator = SeededGenerator(seed: 20_261_123)
        for _ in 0..<150 {
            let index = Int.random(in: 1...Self.count, using: &generator)
            var changed = lines[index]
            changed[Int.random(in: changed.indices, using: &generator)] ^= 1
            #expect(try fault(replacing(index, changed))?.location == .row(index))
        }
    }

    @Test("each dropped row is found and named, and is missed by the checkpoint")
    func drops() {
        for row in 1...Self.count {
            var changed = lines
            changed.remove(at: row)
            #expect(fault(changed)?.location == .row(row))
            #expect(departure(changed) == .rolledBack(rows: 199, checkpoint: 200))
        }
    }

    @Test("each row swapped with the next one, and with one drawn by a seed, is found and named")
    func swaps() {
        var generator = SeededGenerator(seed: 54)
        for row in 1..<Self.count {
            for other in [row + 1, Int.random(in: (row + 1)...Self.count, using: &generator)] {
                var changed = lines
                changed.swapAt(row, other)
                #expect(
                    fault(changed) == VerificationFault(.row(row), .replacedBy(row: other))
                )
                #expect(departure(changed) == .forked(size: 200))
            }
        }
    }

    @Test("each row written twice is found and named")
    func duplicates() {
        for row in 1...Self.count {
            var changed = lines
            changed.insert(lines[row], at: row + 1)
            #expect(fault(changed) == VerificationFault(.row(row + 1), .repeats(row: row)))
            // A row beyond its size is none of the checkpoint's.
            #expect(departure(changed) == (row == Self.count ? nil : .forked(size: 200)))
        }
    }

    @Test("a file that is cut at any row is found, with its footer and without")
    func cuts() {
        for count in 0..<Self.count {
            let short = Array(lines.prefix(count + 1))
            #expect(fault(short) == VerificationFault(.footer, .missingFooter))
            #expect(
                fault(short + [lines[Self.count + 1]])
                    == VerificationFault(.row(count + 1), .missing)
            )
            #expect(departure(short) == .rolledBack(rows: count, checkpoint: 200))
        }
    }

    @Test("an older state of the ledger is whole, and only the checkpoint shows that it is older")
    func rolledBack() throws {
        let scratch = try Scratch()
        let ledger = try scratch.create()
        var states: [[UInt8]] = []
        for size in 0...40 { states.append(try Self.grown(ledger, to: size).exported()) }
        let newest = Checkpoint(origin: "log", of: ExportedRows.tree(of: try #require(states.last)))
        for (size, export) in states.enumerated() {
            #expect(Ledger.verifyExport(export, publicKey: ledger.publicKey).isIntact)
            let found = newest.fault(in: ExportedRows.tree(of: export))
            #expect(found == (size == 40 ? nil : .rolledBack(rows: size, checkpoint: 40)))
        }
    }

    @Test("rows written anew with the ledger's own key are whole, and only the checkpoint shows it")
    func forked() throws {
        for size in [0, 1, 17, 29] {
            let scratch = try Scratch()
            let first = try Self.grown(try scratch.create(), to: size)
            try first.close()
            let copy = try Scratch()
            for (from, to) in [(scratch.database, copy.database), (scratch.key, copy.key)] {
                try FileManager.default.copyItem(atPath: from, toPath: to)
            }
            let honest = try Self.grown(try scratch.open(), to: 30)
            let other = try Self.grown(try copy.open(), to: 35, "another note")
            let kept = Checkpoint(origin: "log", of: ExportedRows.tree(of: try honest.exported()))
            let forged = try other.exported()
            #expect(Ledger.verifyExport(forged, publicKey: honest.publicKey).isIntact)
            #expect(kept.fault(in: ExportedRows.tree(of: forged)) == .forked(size: 30))
            let shared = MerkleTree(Lines(forged).lines[1..<(size + 1)])
            let common = Checkpoint(origin: "log", of: shared)
            #expect(common.fault(in: ExportedRows.tree(of: try honest.exported())) == nil)
        }
    }

    @Test("the lines of rows that are stored are those of an export")
    func exportLines() throws {
        let scratch = try Scratch()
        let ledger = try Self.grown(try scratch.create(), to: 9)
        let exported = Lines(try ledger.exported()).lines
        #expect(try ledger.reader.exportLines() == Array(exported[1...9]))
        let tree = MerkleTree(try ledger.reader.exportLines())
        #expect(tree.root == ExportedRows.tree(of: try ledger.exported()).root)
    }

    @Test("nothing that rows and footers are signed over is signed as a statement")
    func statements() throws {
        let scratch = try Scratch()
        let ledger = try Self.grown(try scratch.create(), to: 1)
        let key = try #require(PublicKey(hex: ledger.publicKey))
        let message = Array("invigilator/ledger/x\n1\n".utf8)
        let signature = try ledger.reader.signature(over: message, withKeyAt: scratch.key)
        #expect(key.vouches(for: message, signature: signature))
        for name in ["signed-row", "footer", "row", "seal", "origin", "anything"] {
            let domain = Array("invigilator.ledger.\(name)/1\0".utf8)
            #expect(throws: LedgerError.self) {
                try ledger.reader.signature(over: domain + [1], withKeyAt: scratch.key)
            }
        }
        let other = try Scratch()
        _ = try other.create()
        #expect(throws: LedgerError.foreignKey(location: other.key)) {
            try ledger.reader.signature(over: message, withKeyAt: other.key)
        }
    }
}
