import Foundation
import HostKernel
import LinuxKernel
import Supervisor
import Testing
import Workspace

@Suite("What root reads of a user's folder")
final class UserFileTests {
    private let root: String

    init() throws {
        root = try Descriptor.resolvedPath(NSTemporaryDirectory()) + "/user-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    deinit {
        // A test that leaves its directory behind must not hide its own failure.
        try? FileManager.default.removeItem(atPath: root)
    }

    // Every key that holds a path is there, and each path has a folder that can become a link.
    private static let manifest = """
        benchmark: linked
        version: 1
        title: One file for each key
        examiner: { command: [/usr/bin/python3, /examiner/e.py], files: [a/e.py] }
        candidate: { command: [/usr/bin/python3, /candidate/c.py], files: [b/c.py] }
        tasks: c/tasks.json
        agent: d/agent.py
        program: e/PROGRAM.md
        limits: { turns: 4, seconds: 20 }
        deterministic: true
        floors: { do-nothing: f/floor.py }
        conformance: { oracle: g/oracle.py }

        """
    private static let packaged = manifest.replacing(
        "tasks: c/tasks.json",
        with: """
            packages: { python: "3.12", requirements: h/requirements.txt }
            tasks: { packaged: p/tasks.json, splits: p/split.json }
            """
    )
    private static let paths = [
        "a/e.py", "b/c.py", "c/tasks.json", "d/agent.py", "e/PROGRAM.md", "f/floor.py",
        "g/oracle.py",
    ]

    private func write(_ text: String, to name: String) throws {
        let url = URL(fileURLWithPath: "\(root)/\(name)")
        let folder = url.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// A benchmark of the user's, which can be read.
    private func benchmark(_ manifest: String = manifest) throws -> BenchmarkFiles.Reading {
        for path in Self.paths + ["h/requirements.txt"] {
            try write("# \(path)\n", to: "b/\(path)")
        }
        let tasks = #"{"tasks": [{"id": "1", "family": "x"}, {"id": "2", "family": "y"}]}"#
        try write(tasks, to: "b/c/tasks.json")
        try write(manifest, to: "b/benchmark.yaml")
        return BenchmarkFiles.Reading(
            directory: "\(root)/b",
            installation: Installation(
                resources: "/nowhere",
                policies: "/nowhere",
                launcher: "/nowhere"
            ),
            layout: StateLayout(root: "\(root)/state")
        )
    }

    private func refusal(_ reading: BenchmarkFiles.Reading) -> String {
        do throws(SupervisorError) {
            _ = try BenchmarkFiles(reading)
            return "it was read"
        } catch {
            return error.description
        }
    }

    /// Every path in a value, whatever key it came from.
    private func paths(in value: Any) -> Set<String> {
        if let path = value as? BeneathPath { return [path.text] }
        return Mirror(reflecting: value).children.reduce(into: []) {
            $0.formUnion(paths(in: $1.value))
        }
    }

    // MARK: - every key

    @Test("every key of a manifest that holds a path is one that the next tests give a link")
    func everyKey() throws {
        let text = Array(Self.manifest.utf8)
        let read = try BenchmarkManifest(parsing: text, file: "benchmark.yaml")
        #expect(paths(in: read) == Set(Self.paths))
        #expect(read.allFiles.map(\.text) == Self.paths)
        let packaged = Array(Self.packaged.utf8)
        let other = try BenchmarkManifest(parsing: packaged, file: "benchmark.yaml")
        #expect(paths(in: other).subtracting(Self.paths) == ["h/requirements.txt"])
    }

    /// Puts a link in place of a file's folder or of the file itself, to what looks the same.
    private func link(_ path: String, atFolder: Bool) throws {
        let place = atFolder ? String(path.prefix { $0 != "/" }) : path
        let (from, to) = ("\(root)/b/\(place)", "\(root)/elsewhere-\(UUID().uuidString)")
        try FileManager.default.moveItem(atPath: from, toPath: to)
        try FileManager.default.createSymbolicLink(atPath: from, withDestinationPath: to)
    }

    @Test(
        "no path of a benchmark is followed through a link",
        arguments: paths + ["benchmark.yaml", "h/requirements.txt"],
        [true, false]
    )
    func links(path: String, atFolder: Bool) throws {
        guard !atFolder || path.contains("/") else { return }
        let isPackaged = path.hasPrefix("h/")
        let reading = try benchmark(isPackaged ? Self.packaged : Self.manifest)
        if !isPackaged { #expect(refusal(reading) == "it was read") }
        try link(path, atFolder: atFolder)
        // The hole: a joined path of which only the last component is looked at.
        if atFolder {
            let joined = try Descriptor.open("\(root)/b/\(path)", .read).readAll(limit: 1 << 16)
            #expect(!joined.isEmpty)
        }
        let text = refusal(reading)
        #expect(text.contains("read a file: \(root)/b/\(path): "), "\(text)")
        #expect(text.contains("a part of the path is a symbolic link; copy"), "\(text)")
    }

    @Test("a pipe is no file, and nobody waits for it", arguments: paths)
    func pipes(path: String) throws {
        let reading = try benchmark()
        try FileManager.default.removeItem(atPath: "\(root)/b/\(path)")
        let made = try Spawn.run(
            "/usr/bin/mkfifo",
            arguments: ["\(root)/b/\(path)"],
            environment: []
        )
        #expect(made.end.exitCode == 0)
        #expect(refusal(reading).contains("it is no regular file"))
    }

    // MARK: - whose rights

    private static let user: UInt32 = 4711

    private func give(_ path: String) throws {
        try FileManager.default.setAttributes(
            [.ownerAccountID: Self.user, .groupOwnerAccountID: Self.user],
            ofItemAtPath: path
        )
    }

    @Test(
        "a second name of a file that the folder's owner may not read is not read",
        .enabled(if: Identity.effectiveUser == 0, "only root can read for others"),
        arguments: paths
    )
    func secondNames(path: String) throws {
        let reading = try benchmark()
        try write("rootonly\n", to: "secret")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600],
            ofItemAtPath: "\(root)/secret"
        )
        try give("\(root)/b")
        #expect(refusal(reading) == "it was read")
        try FileManager.default.removeItem(atPath: "\(root)/b/\(path)")
        try FileManager.default.linkItem(atPath: "\(root)/secret", toPath: "\(root)/b/\(path)")
        // The hole: the same without the owner's rights.
        let folder = try Descriptor.openWithoutLinks("\(root)/b", [.read, .directory])
        #expect(try folder.contents(of: path, limit: 100) == Array("rootonly\n".utf8))
        let text = refusal(reading)
        #expect(text.contains("uid 4711, whose directory this is, may not read it"), "\(text)")
        #expect(text.contains("give it to that user"), "\(text)")
        // As root's folder it is root's to choose.
        try FileManager.default.setAttributes([.ownerAccountID: 0], ofItemAtPath: "\(root)/b")
        #expect(!refusal(reading).contains("may not read it"))
    }

    @Test("this thread's rights come back, whatever happened with another's")
    func rightsComeBack() throws {
        guard Identity.effectiveUser == 0 else { return }
        try write("rootonly\n", to: "secret")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600],
            ofItemAtPath: "\(root)/secret"
        )
        let read = { [root] () throws(SystemError) in
            try Descriptor.openWithoutLinks("\(root)/secret", .read).readAll(limit: 100)
        }
        #expect(throws: SystemError.self) { try FileRights(of: Self.user).perform(read) }
        #expect(try FileRights.ours.perform(read).isEmpty == false)
        #expect(try read().isEmpty == false)
        let nested = try FileRights(of: Self.user).perform { () throws(SystemError) -> Bool in
            try FileRights(of: Self.user + 1).perform { () throws(SystemError) in }
            do throws(SystemError) { return try read().isEmpty } catch { return error.isRefused }
        }
        #expect(nested, "still the outer user's")
        #expect(try read().isEmpty == false)
    }
}
