import Foundation
import HostKernel
import LinuxKernel
import Testing
import Workspace

@Suite("A cassette's file")
struct CassetteFileTests {
    private let scratch: Scratch
    private let host = ModelKeyHost(owners: [Identity.effectiveUser], environment: { _ in nil })

    init() throws { scratch = try Scratch() }

    private static let key = [UInt8](1...32)
    private static let header =
        #"{"schema":"invigilator.cassette/1","split_key":"\#(String(repeating: "0a", count: 32))"}"#

    private func open(_ cassette: ModelCassette) throws -> CassetteFile {
        try CassetteFile(cassette, seenFrom: scratch.path, on: host)
    }

    private func permit(_ permissions: Int, _ name: String) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: permissions],
            ofItemAtPath: "\(scratch.path)/\(name)"
        )
    }

    /// Expects a refusal that names the file, a reason and a remedy.
    private func expectRefusal(
        _ cassette: ModelCassette,
        _ reason: String,
        _ remedy: String,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: WorkspaceError.self, sourceLocation: location) {
            _ = try open(cassette)
        }
        guard case .setting(let operation, let place, let why, let cure) = error else {
            Issue.record("\(String(describing: error))", sourceLocation: location)
            return
        }
        #expect(operation == "open the cassette", sourceLocation: location)
        #expect(place.hasPrefix(scratch.path), sourceLocation: location)
        #expect(why.contains(reason), "\(why)", sourceLocation: location)
        #expect(cure.contains(remedy), "\(cure)", sourceLocation: location)
    }

    @Test(
        "a user's configuration records and replays with that user's rights alone",
        .enabled(if: Identity.effectiveUser == 0, "only root writes for others")
    )
    func rights() throws {
        let theirs = ModelKeyHost(
            owners: [4711],
            environment: { _ in nil },
            rights: FileRights(of: 4711)
        )
        func refusal(_ cassette: ModelCassette) -> String {
            do {
                _ = try CassetteFile(cassette, seenFrom: scratch.path, on: theirs)
                return "it was opened"
            } catch { return "\(error)" }
        }
        try permit(0o755, "")
        // The hole: root makes a file in any directory, and reads any file.
        try open(.record("of-root")).begin(splitKey: Self.key)
        for cassette: ModelCassette in [.record("new"), .record("of-root"), .replay("of-root")] {
            #expect(refusal(cassette).contains("uid 4711, whose configuration names it, may not"))
        }
        #expect(!FileManager.default.fileExists(atPath: "\(scratch.path)/new"))
        try Descriptor.open(scratch.path, .read).setOwner(4711, group: 4711)
        #expect(refusal(.record("new")) == "it was opened")
        let made = try FileManager.default.attributesOfItem(atPath: "\(scratch.path)/new")
        #expect(made[.ownerAccountID] as? Int == 4711)
    }

    @Test("a recording is made for its owner alone, and its replay has the split's key")
    func begun() throws {
        let recording = try open(.record("night.cassette"))
        #expect(recording.isEmpty && recording.splitKey == nil)
        try recording.begin(splitKey: Self.key)
        let status = try FileManager.default.attributesOfItem(atPath: recording.path)
        #expect(status[.posixPermissions] as? Int == 0o600)
        #expect(try open(.replay("night.cassette")).splitKey == Self.key)
        #expect(try open(.replay("\(scratch.path)/night.cassette")).splitKey == Self.key)
        // A later command goes on with the same file.
        let further = try open(.record("night.cassette"))
        #expect(!further.isEmpty)
        let text = try scratch.read("night.cassette")
        try further.file.withDescriptor { (file) throws(SystemError) in
            try file.writeAll(Array("more\n".utf8))
        }
        // Who is handed it while it is recorded cannot read the split's key.
        #expect(throws: SystemError.self) {
            _ = try further.file.withDescriptor { (file) throws(SystemError) in
                try file.contents(limit: 1)
            }
        }
        #expect(try scratch.read("night.cassette") == text + "more\n")
    }

    @Test("a night is recorded into an empty file only")
    func full() throws {
        try scratch.write("something of somebody else\n", to: "full")
        try permit(0o600, "full")
        let recording = try open(.record("full"))
        let error = #expect(throws: WorkspaceError.self) {
            try recording.begin(splitKey: Self.key)
        }
        let text = "\(String(describing: error))"
        #expect(text.contains("holds a recording already") && text.contains("another file"))
        #expect(try scratch.read("full") == "something of somebody else\n")
    }

    @Test("what is missing is to be recorded first, and a directory is made by nobody")
    func missing() throws {
        expectRefusal(.replay("none"), "there is no such file", "record it first")
        expectRefusal(.record("none/night"), "there is no such file", "a directory that is there")
        #expect(!FileManager.default.fileExists(atPath: "\(scratch.path)/none"))
    }

    @Test(
        "what no recording began is no cassette, and its text is not repeated",
        arguments: [
            "", "secret words\n", "{}\n", #"{"schema":"invigilator.cassette/1"}"#,
            header.replacing("/1", with: "/2"), header.replacing("0a0a", with: "0a"),
            header.replacing("0a0a", with: "0x0a"), header.replacing("0a0a", with: "+1+2"),
        ]
    )
    func corrupt(text: String) throws {
        try scratch.write(text, to: "night")
        expectRefusal(.replay("night"), "its first line is not that of a cassette", "record it")
        try scratch.write(Self.header, to: "night")
        #expect(try open(.replay("night")).splitKey?.count == 32)
    }

    @Test("a file that others may write to, that is a link or no plain file, is refused")
    func untrusted() throws {
        try scratch.write(Self.header + "\n", to: "night")
        for mode in [0o620, 0o602, 0o666] {
            try permit(mode, "night")
            expectRefusal(.replay("night"), "may write to it", "chmod go-w \(scratch.path)/night")
            expectRefusal(.record("night"), "may write to it", "chmod go-w")
        }
        try permit(0o644, "night")
        #expect(try open(.replay("night")).splitKey != nil)
        try FileManager.default.createSymbolicLink(
            atPath: "\(scratch.path)/link",
            withDestinationPath: "night"
        )
        for cassette in [ModelCassette.replay("link"), .record("link")] {
            expectRefusal(cassette, "ELOOP", "symbolic link")
        }
        try Scratch.run("/usr/bin/mkfifo", ["-m", "600", "\(scratch.path)/pipe"])
        expectRefusal(.replay("pipe"), "no regular file", "plain file")
        expectRefusal(.replay("."), "no regular file", "plain file")
    }

    @Test("a file of somebody else is refused")
    func foreign() throws {
        try scratch.write(Self.header + "\n", to: "night")
        let nobody = ModelKeyHost(owners: [], environment: { _ in nil })
        guard Identity.effectiveUser != 0 else {
            try FileManager.default.setAttributes(
                [.ownerAccountID: 4242],
                ofItemAtPath: "\(scratch.path)/night"
            )
            expectRefusal(.replay("night"), "belongs to uid 4242", "chown root")
            return
        }
        #expect(throws: WorkspaceError.self) {
            _ = try CassetteFile(.replay("night"), seenFrom: scratch.path, on: nobody)
        }
    }
}
