import Foundation
import HostKernel
import Ledger
import LinuxKernel
import StrictJSON
import Supervisor
import Testing
import Workspace

@Suite("Which record a directory may show")
final class ExperimentBindingTests {
    private static let number = "0123456789abcdef"
    private static let secret = "the exact score"
    private let root: String
    private let layout: StateLayout

    init() throws {
        root = try Descriptor.resolvedPath(NSTemporaryDirectory()) + "/bound-\(UUID().uuidString)"
        layout = StateLayout(root: "\(root)/state")
        try FileManager.default.createDirectory(
            atPath: layout.experiment(Self.number),
            withIntermediateDirectories: true
        )
    }

    deinit {
        // A test that leaves its directory behind must not hide its own failure.
        try? FileManager.default.removeItem(atPath: root)
    }

    private func key(_ byte: UInt8) throws -> MarkerKey {
        try #require(MarkerKey(bytes: Array(repeating: byte, count: MarkerKey.byteCount)))
    }

    /// A directory with a marker file.
    private func directory(
        _ name: String,
        _ key: MarkerKey?,
        permissions: Int = 0o600
    ) throws -> String {
        let marker = ExperimentMarker(
            experiment: Self.number,
            benchmarkDirectory: nil,
            key: key
        )
        return try directory(name, marker.bytes, permissions: permissions)
    }

    private func directory(_ name: String, _ bytes: [UInt8], permissions: Int) throws -> String {
        let path = "\(root)/\(name)"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true
        )
        let file = "\(path)/\(ExperimentMarker.name)"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file)
        return path
    }

    /// The record, with what nobody else may read.
    private func record(boundTo keys: MarkerKey...) throws {
        let ledger = try Ledger.create(
            at: layout.ledger(Self.number),
            keyAt: layout.key(Self.number),
            time: 1
        )
        for key in keys {
            let body: JSONValue = ["key_digest": .string(key.digest), "owner": 0]
            try ledger.append(.bound, body, time: 1)
        }
        try ledger.append(.learning, ["iteration": 1, "text": .string(Self.secret)], time: 1)
        try ledger.close()
    }

    private func reader() throws -> LedgerReader {
        try LedgerReader.open(at: layout.ledger(Self.number))
    }

    /// Why a directory is refused; nil where it is taken.
    private func refusal(_ directory: String) throws -> String? {
        let reader = try reader()
        do throws(SupervisorError) {
            try Experiment.open(directory).requireBound(in: reader)
            return nil
        } catch {
            #expect(error.status == .usage)
            return error.description
        }
    }

    @Test("neither the number alone nor another key shows a record; a copy with the key does")
    func attack() throws {
        let own = try key(1)
        try record(boundTo: own)
        let (home, copy) = (try directory("home", own), try directory("copy", own))
        #expect(try refusal(home) == nil && refusal(copy) == nil)
        let number = try directory("spy", nil, permissions: 0o644)
        // The hole: the number leads to the record, whoever wrote it into a file.
        let found = try Experiment.open(number)
        let rows = try LedgerReader.open(at: layout.ledger(found.id)).entries()
        #expect(rows.contains { $0.body["text"]?.stringValue == Self.secret })
        let text = try #require(try refusal(number))
        #expect(text.contains("it has no key"), "\(text)")
        let guessed = try #require(try refusal(try directory("guess", key(2))))
        #expect(guessed.contains("another key") && guessed.contains("ledger bind"), "\(guessed)")
    }

    @Test("the newest key counts alone")
    func newest() throws {
        try record(boundTo: key(1), key(2))
        #expect(try refusal(directory("old", key(1)))?.contains("another key") == true)
        #expect(try refusal(directory("new", key(2))) == nil)
    }

    @Test("a record of an earlier version is shown to nobody before it is bound")
    func older() throws {
        try record()
        for (name, key) in [("number", nil), ("key", try key(1))] {
            let text = try #require(try refusal(directory(name, key)))
            #expect(text.contains("earlier version, and knows no directory"), "\(text)")
            #expect(text.contains("ledger bind \(root)/\(name)"), "\(text)")
        }
        // Its owner's next command binds it where it has no key yet, and only there.
        #expect(try ExperimentBinding.isDue(Experiment.open("\(root)/number")))
        #expect(try !ExperimentBinding.isDue(Experiment.open("\(root)/key")))
    }

    @Test("a row without a digest is no row of ours")
    func damagedRow() throws {
        let ledger = try Ledger.create(
            at: layout.ledger(Self.number),
            keyAt: layout.key(Self.number),
            time: 1
        )
        try ledger.append(.bound, ["owner": 0], time: 1)
        try ledger.close()
        let reader = try reader()
        let experiment = try Experiment.open(directory("home", key(1)))
        do throws(SupervisorError) {
            try experiment.requireBound(in: reader)
            Issue.record("it was taken")
        } catch { #expect(error.status == .integrity) }
    }

    // MARK: - the file

    private func opening(_ directory: String) -> String {
        do throws(SupervisorError) {
            _ = try Experiment.open(directory)
            return "it was opened"
        } catch {
            return error.description
        }
    }

    @Test(
        "a marker file that holds something else is refused with a remedy",
        arguments: [
            (Array("".utf8), "it is empty"),
            (Array("{}".utf8), "schema"),
            (Array(repeating: UInt8(ascii: " "), count: 9000), "at most 8192 bytes"),
        ]
    )
    func damaged(bytes: [UInt8], reason: String) throws {
        let path = try directory("home", bytes, permissions: 0o600)
        let text = opening(path)
        #expect(text.contains("open an experiment: \(path)/.invigilator: "), "\(text)")
        #expect(text.contains(reason) && text.contains("put a copy of it back"), "\(text)")
    }

    @Test(
        "a key that others may read or write is refused",
        arguments: [0o644, 0o640, 0o620, 0o604]
    )
    func mode(permissions: Int) throws {
        let path = try directory("home", key(1), permissions: permissions)
        let text = opening(path)
        #expect(text.contains("lets others at it; chmod 600 \(path)/.invigilator"), "\(text)")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600],
            ofItemAtPath: "\(path)/.invigilator"
        )
        #expect(opening(path) == "it was opened")
        // A number is no secret.
        #expect(opening(try directory("older", nil, permissions: 0o644)) == "it was opened")
    }

    @Test("no link, pipe or directory stands for the file")
    func kinds() throws {
        let path = try directory("home", key(1))
        let file = "\(path)/\(ExperimentMarker.name)"
        try FileManager.default.moveItem(atPath: file, toPath: "\(root)/kept")
        try FileManager.default.createSymbolicLink(
            atPath: file,
            withDestinationPath: "\(root)/kept"
        )
        #expect(opening(path).contains("a part of the path is a symbolic link; copy"))
        try FileManager.default.removeItem(atPath: file)
        let made = try Spawn.run("/usr/bin/mkfifo", arguments: [file], environment: [])
        #expect(made.end.exitCode == 0)
        #expect(opening(path).contains("it is no regular file"))
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        #expect(opening(path).contains("it is no regular file"))
        try FileManager.default.removeItem(atPath: file)
        #expect(opening(path).contains("it holds no .invigilator; make one with"))
    }

    @Test(
        "the file is the directory's owner's",
        .enabled(if: Identity.effectiveUser == 0, "only root can give a file away"),
        arguments: [false, true]
    )
    func owner(isDirectory: Bool) throws {
        let path = try directory("home", key(1))
        let file = "\(path)/\(ExperimentMarker.name)"
        let given = isDirectory ? path : file
        try FileManager.default.setAttributes([.ownerAccountID: 4711], ofItemAtPath: given)
        let text = opening(path)
        // Of root's file in a user's directory the user may read nothing; another's in root's is not root's.
        #expect(
            text.contains(isDirectory ? "uid 4711, whose" : "it belongs to uid 4711"),
            "\(text)"
        )
        try FileManager.default.setAttributes(
            [.ownerAccountID: isDirectory ? 4711 : 0],
            ofItemAtPath: file
        )
        #expect(opening(path) == "it was opened")
    }
}
