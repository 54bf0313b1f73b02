import ExamResults
import Foundation
import LinuxKernel
import SandboxPolicy
import Testing
import Workspace

@Suite("Copying the candidate out")
struct CandidateSnapshotTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func read(limit: Int = CandidateSnapshot.defaultSizeLimit) throws -> CandidateSnapshot {
        try CandidateSnapshot(
            reading: .standard,
            beneath: try scratch.open(),
            sizeLimit: limit
        )
    }

    private func refusal(limit: Int = 1 << 20) -> CandidateRefusal? {
        do {
            _ = try read(limit: limit)
            return nil
        } catch WorkspaceError.candidate(let refusal) {
            return refusal
        } catch {
            Issue.record("another error: \(error)")
            return nil
        }
    }

    @Test("a plain file is read whole and named by its SHA-256")
    func plain() throws {
        try scratch.write("print('hello')\n", to: "agent.py")
        let snapshot = try read()
        #expect(snapshot.text == "print('hello')\n")
        let tool = try Scratch.run("/usr/bin/sha256sum", ["\(scratch.path)/agent.py"])
        #expect(String(decoding: tool.output, as: UTF8.self).hasPrefix(snapshot.digest.hex))
    }

    @Test("a missing file is refused")
    func missing() { #expect(refusal() == .missing) }

    @Test("an empty file is refused")
    func empty() throws {
        try scratch.write("", to: "agent.py")
        #expect(refusal() == .empty)
    }

    @Test("a directory is refused")
    func directory() throws {
        try FileManager.default.createDirectory(
            atPath: "\(scratch.path)/agent.py",
            withIntermediateDirectories: false
        )
        #expect(refusal() == .notRegular(kind: .directory))
    }

    @Test("a named pipe is refused without waiting for a writer")
    func pipe() throws {
        try Scratch.run("/usr/bin/mkfifo", ["\(scratch.path)/agent.py"])
        #expect(refusal() == .notRegular(kind: .special))
    }

    @Test("a symbolic link is refused, though its target could be read")
    func symbolicLink() throws {
        try scratch.write("secret = 1\n", to: "target.py")
        try scratch.open().makeLink("agent.py", to: "target.py")
        #expect(try scratch.read("agent.py") == "secret = 1\n")
        #expect(refusal() == .symbolicLink)
    }

    @Test("a file with a second name is refused")
    func hardLink() throws {
        try scratch.write("x = 1\n", to: "agent.py")
        try FileManager.default.linkItem(
            atPath: "\(scratch.path)/agent.py",
            toPath: "\(scratch.path)/other.py"
        )
        #expect(refusal() == .hardLinked(count: 2))
    }

    @Test("a file of 50 MB is refused before it is read")
    func huge() throws {
        try scratch.write("x", to: "agent.py")
        let file = try scratch.open().openBeneath("agent.py", [.write])
        try file.writeAll([UInt8](repeating: 0x23, count: 50_000_000))
        #expect(refusal() == .tooLarge(size: 50_000_000, limit: 1 << 20))
    }

    @Test("a file of exactly the limit is read")
    func exactLimit() throws {
        try scratch.write("0123456789", to: "agent.py")
        #expect(refusal(limit: 9) == .tooLarge(size: 10, limit: 9))
        #expect(try read(limit: 10).size == 10)
    }

    @Test("bytes that are not UTF-8 and zero bytes are refused")
    func encoding() throws {
        try scratch.write([0x61, 0xFF, 0x62], to: "agent.py")
        #expect(refusal() == .notUTF8)
        try scratch.write([0x61, 0x62, 0x00, 0x63], to: "agent.py")
        #expect(refusal() == .zeroByte(offset: 2))
    }

    @Test("a syntax error is the candidate's affair, not the copy's")
    func syntaxError() throws {
        try scratch.write("def broken(:\n", to: "agent.py")
        #expect(try read().text == "def broken(:\n")
    }

    @Test("every refusal names a remedy and a code of its own")
    func remedies() {
        let all: [CandidateRefusal] = [
            .missing, .symbolicLink, .notRegular(kind: .special), .hardLinked(count: 2), .empty,
            .tooLarge(size: 2, limit: 1), .changedWhileRead, .notUTF8, .zeroByte(offset: 0),
            .unreadable(reason: "EACCES"), .badName(reason: "a blank"), .notADirectory,
            .tooMany(count: 2, limit: 1),
        ]
        #expect(Set(all.map(\.code)).count == all.count)
        #expect(all.allSatisfy { $0.description.contains("remedy: ") })
    }
}
