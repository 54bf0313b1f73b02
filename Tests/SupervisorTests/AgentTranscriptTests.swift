import Foundation
import HostKernel
import LinuxKernel
import StrictJSON
import Supervisor
import Testing
import Workspace

@Suite("What is kept of a coding agent's session")
struct AgentTranscriptTests {
    private let home: URL

    init() throws {
        home = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        let folder = home.appending(path: ".agent/sessions/deep")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write("one", "sessions/a.jsonl")
        try write("two", "sessions/deep/b.jsonl")
    }

    private func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: home.appending(path: ".agent/\(name)"))
    }

    private func kept(_ path: String = ".agent/sessions", limit: Int = 1 << 20) throws
        -> [JSONValue]
    {
        let directory = try Descriptor.open(home.path, [.read, .directory])
        let transcript = AgentTranscript(of: try BeneathPath(path), in: directory, limit: limit)
        return try transcript.lines.split(separator: 0x0A).map { line in
            try JSONValue(parsing: Array(line), limits: .document)
        }
    }

    @Test("every regular file is a line, whatever lies beside it")
    func files() throws {
        defer { try? FileManager.default.removeItem(at: home) }
        let lines = try kept()
        #expect(
            lines.map { $0["path"] } == [".agent/sessions/a.jsonl", ".agent/sessions/deep/b.jsonl"]
        )
        #expect(lines.map { $0["text"] } == ["one", "two"])
        #expect(lines.allSatisfy { $0["cut"] == false && $0["problem"] == .null })
        #expect(try kept(".agent/sessions/a.jsonl").count == 1)
        #expect(try kept(".agent/none").first?["problem"] == "ENOENT")
    }

    @Test("a file that its writer's end left empty is kept as it was when the agent was frozen")
    func emptied() throws {
        defer { try? FileManager.default.removeItem(at: home) }
        let path = try BeneathPath(".agent/sessions")
        let directory = try Descriptor.open(home.path, [.read, .directory])
        let frozen = AgentTranscript(of: path, in: directory, limit: 1 << 20)
        try write("", "sessions/a.jsonl")
        try write("two and more", "sessions/deep/b.jsonl")
        try write("", "sessions/new.jsonl")
        var ended = AgentTranscript(of: path, in: directory, limit: 1 << 20)
        ended.fill(from: frozen)
        let lines = try ended.lines.split(separator: 0x0A).map { line in
            try JSONValue(parsing: Array(line), limits: .document)
        }
        #expect(lines.map { $0["text"] } == ["one", "two and more", ""])
    }

    @Test("no link is followed, no pipe is waited for, and both are told")
    func odd() throws {
        defer { try? FileManager.default.removeItem(at: home) }
        let folder = home.appending(path: ".agent/sessions").path
        let secret = home.appending(path: "secret").path
        try Data("secret".utf8).write(to: URL(fileURLWithPath: secret))
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/link",
            withDestinationPath: secret
        )
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/out",
            withDestinationPath: "/etc"
        )
        _ = try Spawn.run("/usr/bin/mkfifo", arguments: ["\(folder)/pipe"])
        let lines = try kept()
        #expect(lines.count == 5)
        #expect(!lines.contains { $0["text"] == "secret" })
        #expect(lines.filter { $0["problem"] != .null }.count == 3)
    }

    @Test("what is longer than the limit is cut, and said to be")
    func limit() throws {
        defer { try? FileManager.default.removeItem(at: home) }
        let lines = try kept(limit: 4)
        #expect(lines.map { $0["text"] } == ["one", "t"])
        #expect(lines.map { $0["cut"] } == [false, true])
    }
}
