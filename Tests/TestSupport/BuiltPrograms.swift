import Foundation

/// Where the builds put what tests start.
///
/// Tests are of the debug build with layer switches, which nobody ships. What they start is the release
/// build, unless they ask for switches by name.
package enum BuiltPrograms {
    /// The repository's root, found from this file.
    package static let repository: String = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/")
    }()

    /// The programs that ship: those of the release build, or of the folder that
    /// `INVIGILATOR_PROGRAMS` names.
    ///
    /// Without symbolic links, which no sandbox takes as a mount's source.
    package static let shipped: String =
        variable("INVIGILATOR_PROGRAMS")
        ?? URL(fileURLWithPath: repository + "/.build/release").resolvingSymlinksInPath().path

    /// The programs of the build that these tests are of: they have layer switches.
    ///
    /// What only tests start is here too.
    package static let besideTests: String = {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: own).deletingLastPathComponent().path
    }()

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name]
    }
}
