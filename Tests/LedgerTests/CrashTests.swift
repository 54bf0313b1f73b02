import Foundation
import Glibc
import Ledger
import StrictJSON
import Testing

@Suite("Killed while appending")
struct CrashTests {
    @Test("no acknowledged row is lost and the ledger goes on", arguments: [3, 17, 60, 140])
    func killed(milliseconds: Int) async throws {
        let scratch = try Scratch()
        let path = scratch.path
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, milliseconds = milliseconds as Int] in
            let acknowledged = try #require(
                FileHandle(forWritingAtPath: try Self.newFile(path + "/acknowledged"))
            )
            let ledger = try Ledger.create(
                at: path + "/ledger.sqlite",
                keyAt: path + "/key.ed25519",
                time: 1
            )
            Thread.detachNewThread {
                usleep(UInt32(milliseconds) * 1_000)
                kill(getpid(), SIGKILL)
            }
            while true {
                let body: JSONValue = ["text": .string(String(repeating: "y", count: 3_000))]
                let entry = try ledger.append(.learning, body, time: 2)
                try acknowledged.write(contentsOf: Data("\(entry.sequence)\n".utf8))
            }
        }
        let text = try String(contentsOfFile: path + "/acknowledged", encoding: .utf8)
        let last = text.split(separator: "\n").last.flatMap { Int($0) } ?? 0
        #expect(try LedgerReader.open(at: scratch.database).verify().count >= last)
        let ledger = try scratch.open()
        let report = try ledger.verify(depth: .everySignature)
        #expect(report.isIntact)
        #expect(report.count == last || report.count == last + 1)
        #expect(try ledger.append(.runResumed, [:], time: 3).sequence == report.count + 1)
        #expect(Ledger.verifyExport(try ledger.exported()).isIntact)
    }

    static func newFile(_ path: String) throws -> String {
        try Data().write(to: URL(fileURLWithPath: path))
        return path
    }
}
