import Foundation
import GRDB
import Ledger
import StrictJSON
import Testing

@Suite("The database")
struct StoreTests {
    private func tamper(_ scratch: Scratch, _ statements: [String]) throws {
        let queue = try DatabaseQueue(path: scratch.database)
        try queue.inDatabase { database in
            for statement in statements { try database.execute(sql: statement) }
        }
        try queue.close()
    }

    @Test(
        "rows are never changed, deleted, replaced or put in between",
        arguments: [
            "UPDATE entry SET time = 0 WHERE sequence = 2",
            "DELETE FROM entry WHERE sequence = 3",
            "DELETE FROM entry",
            "REPLACE INTO entry SELECT sequence, 0, kind, body, previous, hash, signature FROM entry",
            "INSERT INTO entry SELECT 9, time, kind, body, previous, hash, signature FROM entry "
                + "WHERE sequence = 3",
            "UPDATE identity SET created = 0",
            "DELETE FROM identity",
            "REPLACE INTO identity VALUES (1, 0, zeroblob(32))",
        ]
    )
    func appendOnly(_ statement: String) throws {
        let scratch = try Scratch()
        let ledger = try scratch.filled(3)
        #expect(throws: DatabaseError.self) { try tamper(scratch, [statement]) }
        #expect(try ledger.verify().count == 3)
    }

    @Test("a ledger whose guards were removed is not opened for appending")
    func guards() throws {
        let scratch = try Scratch()
        try scratch.filled(1).close()
        try tamper(scratch, ["DROP TRIGGER entry_is_never_deleted"])
        #expect(
            throws: LedgerError.unknownFormat(
                location: scratch.database,
                reason: "the guard 'entry_is_never_deleted' is not in place"
            )
        ) { try scratch.open() }
    }

    @Test("a schema newer than this program is refused")
    func newer() throws {
        let scratch = try Scratch()
        try scratch.filled(1).close()
        try tamper(scratch, ["INSERT INTO grdb_migrations VALUES ('999')"])
        #expect(
            throws: LedgerError.unknownFormat(
                location: scratch.database,
                reason: "its schema is newer than this program"
            )
        ) { try scratch.open() }
    }

    @Test(
        "verification names the first row that was changed behind the guards",
        arguments: [
            ("UPDATE entry SET time = time + 1 WHERE sequence = 4", "row 4: the content does not"),
            ("UPDATE entry SET kind = 'stop' WHERE sequence = 5", "row 5: the content does not"),
            ("DELETE FROM entry WHERE sequence = 6", "row 6: row 7 stands in its place"),
            (
                "UPDATE entry SET signature = zeroblob(64) WHERE sequence = 3",
                "row 3: its signature was not made"
            ),
            (
                "UPDATE entry SET signature = zeroblob(64) WHERE sequence = 8",
                "row 8: its signature was not made"
            ),
            (
                "UPDATE identity SET created = 1",
                "header: the header does not belong to these rows"
            ),
        ]
    )
    func tampered(_ statement: String, _ finding: String) throws {
        let scratch = try Scratch()
        try scratch.filled(8).close()
        try tamper(
            scratch,
            [
                "DROP TRIGGER entry_is_never_changed", "DROP TRIGGER entry_is_never_deleted",
                "DROP TRIGGER identity_is_never_changed", statement,
            ]
        )
        for depth in [VerificationDepth.chain, .everySignature] {
            let report = try LedgerReader.open(at: scratch.database).verify(depth: depth)
            #expect(report.fault?.description.hasPrefix(finding) == true, "\(report)")
        }
    }

    @Test("a cut tail verifies alone, and a witness shows the cut")
    func witness() throws {
        let scratch = try Scratch()
        let ledger = try scratch.filled(8)
        let report = try ledger.verify()
        let witness = LedgerWitness(count: report.count, head: report.head)
        try tamper(
            scratch,
            ["DROP TRIGGER entry_is_never_deleted", "DELETE FROM entry WHERE sequence > 6"]
        )
        #expect(try ledger.verify().isIntact)
        let fault = try ledger.verify(witness: witness).fault
        #expect(fault?.description == "row 7: it is missing")
    }

    @Test("a full disk is an error with a remedy, and the row is not there by half")
    func fullDisk() throws {
        let scratch = try Scratch()
        let ledger = try scratch.filled(3)
        try ledger.simulateFullDisk(afterPages: 1)
        let body: JSONValue = ["text": .string(String(repeating: "z", count: 200_000))]
        let error = #expect(throws: LedgerError.self) {
            try ledger.append(.learning, body, time: 9)
        }
        #expect(error == .storageFull(operation: "append a row", location: scratch.database))
        #expect(error?.remedy.contains("free space") == true)
        #expect(try ledger.verify().count == 3)
        try ledger.simulateFullDisk(afterPages: 1_000_000)
        #expect(try ledger.append(.learning, body, time: 9).sequence == 4)
        #expect(try ledger.verify().isIntact)
    }
}
