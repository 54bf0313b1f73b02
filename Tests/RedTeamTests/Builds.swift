import Foundation
import LinuxKernel
import Testing

/// What every test here hangs under: one at a time, because each runs a whole experiment.
///
/// A cheat that is stopped proves little as long as nobody has seen it work. So the same programs
/// run twice: with the build that ships, and with a test-only build that leaves one layer out.
/// Without root, or without the test-only build, the tests skip; with `REQUIRE_PRIVILEGED=1` they
/// run whatever is missing, and fail.
@Suite(
    "Cheats with and without the layer that stops them",
    .serialized,
    .enabled(if: Builds.arePresent, "needs root and scripts/build --test-only"),
    HallOpened()
)
struct RedTeam {}

/// The two builds whose behaviour is compared.
enum Builds {
    private static let variables = ProcessInfo.processInfo.environment

    /// Where the build that ships put its programs: beside the test runner.
    static let shipped: String = {
        if let named = variables["INVIGILATOR_PROGRAMS"] { return named }
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: own).deletingLastPathComponent().path
    }()

    /// Where the test-only build put its programs.
    static let testOnly: String =
        variables["INVIGILATOR_TEST_ONLY_BINARIES"] ?? repository + "/.build/layer-switches/debug"

    /// The repository's root, found from this file.
    static let repository: String = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/")
    }()

    static let fixtures = repository + "/Tests/RedTeamTests/Fixtures"

    static let arePresent: Bool =
        variables["REQUIRE_PRIVILEGED"] == "1"
        || (Identity.effectiveUser == 0
            && FileManager.default.isExecutableFile(atPath: testOnly + "/invigilator"))
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
