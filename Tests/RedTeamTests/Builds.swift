import Foundation
import LinuxKernel
import TestSupport
import Testing

/// What every test here hangs under: one at a time, because each runs a whole experiment.
///
/// A cheat that is stopped proves little as long as nobody has seen it work. So the same programs
/// run twice: with the build that ships, and with a test-only build that leaves one layer out.
/// Without root, or without the build that ships, the tests skip; with `REQUIRE_PRIVILEGED=1` they
/// run whatever is missing, and fail.
@Suite(
    "Cheats with and without the layer that stops them",
    .serialized,
    .enabled(if: Builds.arePresent, "needs root and scripts/build"),
    HallOpened()
)
struct RedTeam {}

/// The two builds whose behaviour is compared.
enum Builds {
    private static let variables = ProcessInfo.processInfo.environment

    /// The programs that ship.
    static let shipped = BuiltPrograms.shipped

    /// The programs with layer switches.
    static let testOnly = BuiltPrograms.besideTests

    /// The repository's root.
    static let repository = BuiltPrograms.repository

    static let fixtures = repository + "/Tests/RedTeamTests/Fixtures"

    static let arePresent: Bool =
        variables["REQUIRE_PRIVILEGED"] == "1"
        || (Identity.effectiveUser == 0
            && FileManager.default.isExecutableFile(atPath: shipped + "/invigilator"))
}

/// A directory of one suite's own, removed with it.
final class Scratch: Sendable {
    let path: String

    init() throws {
        // Short: the path of a socket below it has 107 bytes at most (unix(7)).
        path = NSTemporaryDirectory() + "red-team-\(UUID().uuidString.prefix(8))"
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
}
