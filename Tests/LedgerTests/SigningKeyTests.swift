import Foundation
import Glibc
import Ledger
import Testing

@Suite("The signing key")
struct SigningKeyTests {
    private func refusal(_ prepare: (Scratch) throws -> Void) throws -> String? {
        let scratch = try Scratch()
        try scratch.filled(1).close()
        _ = try scratch.open()
        try prepare(scratch)
        let error = #expect(throws: LedgerError.self) { try scratch.open() }
        guard case .unsafeKey(_, let reason) = error else { return nil }
        return reason
    }

    @Test("a key that the group or others may touch is refused", arguments: [0o640, 0o604, 0o620])
    func mode(_ mode: Int) throws {
        let reason = try refusal {
            try FileManager.default.setAttributes(
                [.posixPermissions: mode],
                ofItemAtPath: $0.key
            )
        }
        #expect(reason == "its mode is 0\(String(mode, radix: 8)), it must be 0600")
    }

    @Test("a key behind a symbolic link is refused")
    func link() throws {
        let reason = try refusal {
            try FileManager.default.moveItem(atPath: $0.key, toPath: $0.path + "/moved")
            try FileManager.default.createSymbolicLink(
                atPath: $0.key,
                withDestinationPath: $0.path + "/moved"
            )
        }
        #expect(reason == "it is a symbolic link")
    }

    @Test("a key with a second name is refused")
    func hardLink() throws {
        let reason = try refusal {
            try FileManager.default.linkItem(atPath: $0.key, toPath: $0.path + "/second")
        }
        #expect(reason == "it has 2 names, not one")
    }

    @Test("a key of another length is refused", arguments: [0, 31, 33])
    func length(_ length: Int) throws {
        let reason = try refusal {
            let file = try #require(FileHandle(forWritingAtPath: $0.key))
            try file.truncate(atOffset: UInt64(length))
        }
        #expect(reason == "it holds \(length) bytes, not 32")
    }

    @Test("a directory in the key's place is refused")
    func directory() throws {
        let reason = try refusal {
            try FileManager.default.removeItem(atPath: $0.key)
            try FileManager.default.createDirectory(
                atPath: $0.key,
                withIntermediateDirectories: false
            )
        }
        #expect(reason == "it is not a regular file")
    }

    @Test(
        "a key of another user is refused",
        .enabled(if: geteuid() == 0, "only root can give a file away")
    )
    func owner() throws {
        let reason = try refusal {
            try FileManager.default.setAttributes([.ownerAccountID: 4711], ofItemAtPath: $0.key)
        }
        #expect(reason == "it belongs to user 4711, not to user 0")
    }
}
