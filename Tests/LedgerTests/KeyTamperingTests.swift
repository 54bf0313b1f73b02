import Foundation
import GRDB
import Ledger
import StrictJSON
import Testing

// What is found where rows were changed behind the guards and the key changes, too.
extension KeyRotationTests {
    private static func tamper(_ scratch: Scratch, _ statements: [String]) throws {
        let queue = try DatabaseQueue(path: scratch.database)
        try queue.inDatabase { database in
            for statement in statements { try database.execute(sql: statement) }
        }
        try queue.close()
    }

    @Test(
        "rows that the first key never signed are not made its own by a replaced key after them",
        arguments: [VerificationDepth.chain, .everySignature]
    )
    func foreignRowsBeforeBreak(_ depth: VerificationDepth) throws {
        // Another key signs rows that follow from the first key's header: the row that gave it the
        // right is taken out behind the guards, and a break is put after the rows.
        let scratch = try Scratch()
        try scratch.create().close()
        let keys = try Ledger.rotateKey(of: scratch.database, keyAt: scratch.key, time: 1)
        let ledger = try scratch.open()
        try Self.tamper(scratch, ["DROP TRIGGER entry_is_never_deleted", "DELETE FROM entry"])
        for number in 1...3 { try ledger.append(.learning, Scratch.body(number), time: 2) }
        try ledger.append(
            .keyReplaced,
            ["public_key": .string(keys.new), "reason": "lost"],
            time: 3
        )
        try ledger.append(.learning, Scratch.body(5), time: 4)
        let export = try ledger.exported()
        let known: [String?] = [nil, keys.old, keys.new]
        for key in known {
            for report in [
                try ledger.reader.verify(depth: depth, publicKey: key),
                Ledger.verifyExport(export, publicKey: key, depth: depth),
            ] {
                #expect(report.fault == VerificationFault(.row(1), .badSignature), "\(report)")
                #expect(report.count == 0)
                #expect(report.keys.map(\.publicKey) == [keys.old])
            }
        }
    }

    @Test("a new key is kept where the rows are damaged, so that none says whether it is named")
    func damagedRows() throws {
        let scratch = try Scratch()
        _ = try Self.begun(scratch)
        try Self.tamper(
            scratch,
            [
                "DROP TRIGGER entry_is_never_changed",
                "UPDATE entry SET time = time + 1 WHERE sequence = 1",
            ]
        )
        let next = scratch.key + ".next"
        let there = try Self.bytes(next)
        for rekey in Self.rekeyings(scratch) {
            #expect(
                throws: LedgerError.damaged(
                    location: scratch.database,
                    fault: VerificationFault(.row(1), .contentChanged)
                )
            ) { try rekey() }
            #expect(try Self.bytes(next) == there)
        }
    }
}
