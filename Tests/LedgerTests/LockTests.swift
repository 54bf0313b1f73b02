import Foundation
import Ledger
import StrictJSON
import Testing

@Suite("The right to append")
struct LockTests {
    @Test("a second opening is refused and names the process that holds the ledger")
    func second() throws {
        let scratch = try Scratch()
        let ledger = try scratch.filled(1)
        let holder = ProcessInfo.processInfo.processIdentifier
        #expect(
            throws: LedgerError.locked(location: scratch.database + ".lock", holder: holder)
        ) { try scratch.open() }
        try ledger.append(.pause, [:], time: 2)
    }

    @Test("a lock file that a dead process left behind does not hold the ledger")
    func stale() throws {
        let scratch = try Scratch()
        try scratch.filled(1).close()
        try Data("1\n".utf8).write(to: URL(fileURLWithPath: scratch.database + ".lock"))
        #expect(try scratch.open().entries().count == 1)
    }

    @Test("a lock file that is a symbolic link is refused")
    func link() throws {
        let scratch = try Scratch()
        try scratch.filled(1).close()
        let lock = scratch.database + ".lock"
        try FileManager.default.removeItem(atPath: lock)
        try FileManager.default.createSymbolicLink(
            atPath: lock,
            withDestinationPath: scratch.path + "/elsewhere"
        )
        #expect(throws: LedgerError.self) { try scratch.open() }
        #expect(!FileManager.default.fileExists(atPath: scratch.path + "/elsewhere"))
    }
}
