import Foundation
import LinuxKernel
import TestSupport
import Testing

/// What every end-to-end test hangs under: one at a time, because they count what is left behind.
///
/// Without root the tests skip; with `REQUIRE_PRIVILEGED=1` they run whatever the user is, and fail.
@Suite("The whole program", .serialized, .enabled(if: Stage.isPrivileged, "needs root"))
struct EndToEnd {}

/// The machine that the tests run on.
enum Stage {
    static let isPrivileged: Bool =
        Identity.effectiveUser == 0
        || ProcessInfo.processInfo.environment["REQUIRE_PRIVILEGED"] == "1"

    /// The programs that ship.
    static let programs = BuiltPrograms.shipped

    static var invigilator: String { programs + "/invigilator" }

    /// The repository's root.
    static let repository = BuiltPrograms.repository

    /// A file or directory beside these tests.
    static func fixture(_ name: String) -> String {
        "\(repository)/Tests/EndToEndTests/Fixtures/\(name)"
    }

    /// The text of a fixture.
    static func fixtureText(_ name: String) throws -> String {
        try String(contentsOfFile: fixture(name), encoding: .utf8)
    }

    struct TimedOut: Error, CustomStringConvertible {
        let description: String
    }

    /// Looks again and again until something holds, for what no event tells.
    static func wait(
        _ what: String,
        seconds: Int = 30,
        until condition: () throws -> Bool
    ) throws {
        let end = MonotonicTime.now.advanced(by: .milliseconds(UInt64(seconds) * 1000))
        let loop = EventLoop()
        while try !condition() {
            guard MonotonicTime.now < end else {
                throw TimedOut(description: "waited \(seconds) s for \(what)")
            }
            try loop.turn(atMost: .milliseconds(5))
        }
    }
}

/// A directory of one test's own, removed with it.
final class Scratch {
    let path: String
    private var others: [String] = []

    init() throws {
        // Short, because programs put sockets below it, whose paths have at most 107 bytes (unix(7)).
        path = NSTemporaryDirectory() + "e-\(UUID().uuidString.prefix(13))"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        _ = try directory("tmp")
    }

    deinit {
        // A directory that stays behind is a nuisance, not a wrong test.
        for path in [path] + others { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Has a directory elsewhere removed together with this one.
    func alsoRemove(_ path: String) { others.append(path) }

    /// Makes a directory below, with those above it.
    func directory(_ name: String, permissions: Int = 0o755) throws -> String {
        let made = "\(path)/\(name)"
        try FileManager.default.createDirectory(
            atPath: made,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: permissions]
        )
        return made
    }
}

extension String {
    /// Writes this text to a file.
    func write(toFile path: String) throws {
        try Data(utf8).write(to: URL(fileURLWithPath: path))
    }
}
