import Foundation
import Testing

/// The coding agents that these tests run as they are, put there by `scripts/agents`, which does
/// nothing where they lie already.
enum InstalledAgents {
    /// Whether the tests can run; where a skip is not allowed, they run and fail.
    static let canRun: Bool = {
        guard case .unreachable = outcome else { return true }
        return ProcessInfo.processInfo.environment["REQUIRE_PRIVILEGED"] == "1"
    }()

    /// Fails where the agents could not be installed.
    static func require() throws {
        switch outcome {
        case .installed: return
        case .unreachable(let notes), .failed(let notes): throw NotInstalled(description: notes)
        }
    }

    private enum Outcome {
        case installed
        case unreachable(String)
        case failed(String)
    }

    private struct NotInstalled: Error, CustomStringConvertible {
        let description: String
    }

    private static let outcome: Outcome = {
        guard Stage.isPrivileged else { return .failed("needs root") }
        do { return try install() } catch { return .failed("scripts/agents: \(error)") }
    }()

    // With the environment of the test: it may say where packages come from.
    private static func install() throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "\(Stage.repository)/scripts/agents")
        let notes = Pipe()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = notes
        try process.run()
        let bytes = try notes.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus != 0 else { return .installed }
        let text = String(decoding: bytes, as: UTF8.self)
        let signs = ["error sending request", "dns error", "connect", "resolve", "timed out"]
        let isUnreachable = signs.contains { text.lowercased().contains($0) }
        return isUnreachable ? .unreachable(text) : .failed(text)
    }
}
