import HostKernel
import Foundation
import LinuxKernel
import SandboxPlan
import TestSupport
import Testing

/// What every privileged test hangs under: one at a time, because several count what is left behind.
///
/// Without root the tests skip; with `REQUIRE_PRIVILEGED=1` they run whatever the user is, and fail.
@Suite("Invariants of a sandbox", .serialized, .enabled(if: Host.isPrivileged, "needs root"))
struct Privileged {}

/// The machine that the tests run on.
enum Host {
    static let isPrivileged: Bool =
        Identity.effectiveUser == 0
        || ProcessInfo.processInfo.environment["REQUIRE_PRIVILEGED"] == "1"

    /// The programs that ship.
    static let programs = BuiltPrograms.shipped

    static var launcher: String { programs + "/invigilator-launcher" }
    static var probe: String { BuiltPrograms.besideTests + "/SyscallProbe" }

    /// The repository's root.
    static let repository = BuiltPrograms.repository

    /// The host's namespace of a kind, as a link's text.
    static func namespace(_ name: String, of process: String = "self") throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/ns/\(name)")
    }

    /// Runs the probe uncontained but in a mount namespace of its own, to show that what a sandbox
    /// refuses works where the sandbox is absent.
    static func control(_ words: [String], unshare more: [String] = []) throws -> Facts {
        let text = try namespace("mnt")
        let inode = text.filter(\.isNumber)
        let outcome = try Spawn.run(
            "/usr/bin/unshare",
            arguments: ["--mount", "--propagation", "private"] + more
                + ["--", probe, "--control", inode] + words,
            environment: ["PATH=/usr/bin:/bin"]
        )
        return Facts(String(decoding: outcome.output, as: UTF8.self))
    }
}

/// Lines of the form `key=value` that the probe printed.
struct Facts: CustomStringConvertible {
    let text: String
    private let values: [Substring: Substring]

    init(_ text: String) {
        self.text = text
        var found: [Substring: Substring] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { found[parts[0]] = parts[1] }
        }
        values = found
    }

    subscript(key: String) -> String? { values[key[...]].map(String.init) }

    var keys: [String] { values.keys.map(String.init).sorted() }
    var lines: [String] { text.split(separator: "\n").map(String.init) }
    var description: String { text }
}

/// A directory of one test's own, removed with it.
final class Scratch {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "privileged-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
    }

    deinit {
        // A directory that stays behind is a nuisance, not a wrong test.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Makes a directory below, with those above it.
    func directory(_ name: String) throws -> String {
        let made = path + "/" + name
        try FileManager.default.createDirectory(atPath: made, withIntermediateDirectories: true)
        return made
    }

    /// Makes a file below.
    func file(_ name: String, _ text: String = "secret\n") throws -> String {
        let made = path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: made))
        return made
    }

    /// A launcher in a mount namespace of its own, in which a line of the shell runs first.
    func launcher(after line: String) throws -> String {
        let script = """
            #!/bin/sh
            exec /usr/bin/unshare --mount sh -c '\(line) && exec "\(Host.launcher)" "$@"' sh "$@"
            """
        let path = try file("launcher", script)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }
}
