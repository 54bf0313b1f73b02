import Foundation
import Ledger
import StrictJSON
import Testing

@Suite("Ledger")
struct LedgerTests {
    @Test("a row comes back as it was appended, also after closing and opening")
    func roundTrip() throws {
        let scratch = try Scratch()
        let ledger = try scratch.create()
        let first = try ledger.append(.genesis, ["experiment": "e1"], time: 5)
        let second = try ledger.append(.baseline, Scratch.body(2), time: 6)
        #expect(first.sequence == 1 && second.sequence == 2)
        #expect(second.kind == .baseline && second.time == 6 && second.body == Scratch.body(2))
        try ledger.close()
        let again = try scratch.open()
        #expect(try again.entries() == [first, second])
        #expect(try again.entries(after: 1) == [second])
        #expect(try again.entries(after: 2).isEmpty)
    }

    @Test("an untouched ledger verifies at both depths")
    func verifies() throws {
        let scratch = try Scratch()
        let ledger = try scratch.filled(20)
        let chain = try ledger.verify()
        #expect(chain.isIntact && chain.count == 20 && chain.signaturesChecked == 1)
        let every = try ledger.verify(depth: .everySignature)
        #expect(every.isIntact && every.signaturesChecked == 20)
        #expect(every.head == chain.head && every.publicKey == ledger.publicKey)
    }

    @Test("an empty ledger verifies and exports")
    func empty() throws {
        let scratch = try Scratch()
        let ledger = try scratch.create()
        #expect(try ledger.verify().isIntact)
        #expect(Ledger.verifyExport(try ledger.exported()).isIntact)
    }

    @Test("a body that is no object, or is beyond the limits, is refused and leaves no row")
    func badBodies() throws {
        let scratch = try Scratch()
        let ledger = try scratch.create()
        let deep = (0..<40).reduce(JSONValue.null) { inner, _ in ["x": inner] }
        for body: JSONValue in ["text", deep] {
            #expect(throws: LedgerError.self) { try ledger.append(.void, body, time: 1) }
        }
        #expect(throws: LedgerError.self) { try ledger.append(.void, [:], time: -1) }
        #expect(try ledger.entries().isEmpty)
    }

    @Test("creating over an existing ledger or key is refused and changes neither")
    func createTwice() throws {
        let scratch = try Scratch()
        try scratch.filled(1).close()
        let key = try Data(contentsOf: URL(fileURLWithPath: scratch.key))
        #expect(throws: LedgerError.exists(location: scratch.database)) { try scratch.create() }
        #expect(throws: LedgerError.exists(location: scratch.key)) {
            try Ledger.create(at: scratch.path + "/other", keyAt: scratch.key, time: 1)
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.path + "/other"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.key)) == key)
        #expect(try scratch.open().entries().count == 1)
    }

    @Test("opening says when there is no ledger, or when the file is none")
    func missing() throws {
        let scratch = try Scratch()
        #expect(throws: LedgerError.missing(location: scratch.database)) { try scratch.open() }
        try Data("not a database".utf8).write(to: URL(fileURLWithPath: scratch.database))
        let error = #expect(throws: LedgerError.self) { try scratch.open() }
        #expect(error?.operation == "open the ledger")
        #expect(error?.remedy.isEmpty == false)
    }

    @Test("a ledger is refused with another ledger's key")
    func foreignKey() throws {
        let scratch = try Scratch()
        let other = try Scratch()
        try scratch.filled(2).close()
        try other.filled(2).close()
        #expect(throws: LedgerError.foreignKey(location: other.key)) {
            try Ledger.open(at: scratch.database, keyAt: other.key)
        }
    }

    @Test("the database, its log and the key can be read by their owner alone")
    func modes() throws {
        let scratch = try Scratch()
        let ledger = try scratch.filled(1)
        for path in [scratch.database, scratch.database + "-wal", scratch.key] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
            #expect((mode as? NSNumber)?.intValue == 0o600, "\(path)")
        }
        try ledger.close()
    }

    @Test("a reader sees rows while the ledger is held, and rows that come later")
    func reader() throws {
        let scratch = try Scratch()
        let ledger = try scratch.filled(2)
        let reader = try LedgerReader.open(at: scratch.database)
        #expect(try reader.entries().count == 2)
        try ledger.append(.pause, [:], time: 9)
        #expect(try reader.entries(after: 2).map(\.kind) == [.pause])
        #expect(try reader.verify().isIntact)
        var bytes: [UInt8] = []
        try reader.export(signedWithKeyAt: scratch.key) { bytes += $0 }
        #expect(try bytes == ledger.exported())
        try ledger.close()
    }

    @Test("a reader opens a ledger that was closed in order")
    func readerAfterClose() throws {
        let scratch = try Scratch()
        try scratch.filled(3).close()
        #expect(try LedgerReader.open(at: scratch.database).entries().count == 3)
    }
}
