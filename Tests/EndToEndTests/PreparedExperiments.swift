import Foundation
import HostKernel
import LinuxKernel
import SandboxPlan

/// Experiments that are prepared once for all tests of a run, and copied.
///
/// The key is everything that a preparation is made of, in full: the program, the benchmark and the whole
/// text of the configuration. Only PROGRAM.md is not in it, which no preparation looks at, and which each
/// test writes anew. The copies are kept as long as the run, in which programs and fixtures stay what they are.
///
/// The record binds the path of the vault, so each copy has the path that its original had. Of one key there
/// is one at a time, therefore, in a directory for temporary files that each lane of `scripts/swift-tests`
/// has for itself under one name.
enum PreparedExperiments {
    private static let shared = ProcessInfo.processInfo.environment["INVIGILATOR_TESTS_SHARED"]
    // Without lanes, the originals are for this process alone.
    private static let folder: String = {
        if let shared { return shared + "/prepared" }
        // Nothing is left to tell when the process ends.
        atexit { try? FileManager.default.removeItem(atPath: PreparedExperiments.folderOfProcess) }
        return folderOfProcess
    }()
    private static let folderOfProcess =
        "\(NSTemporaryDirectory())prepared-\(ProcessInfo.processInfo.processIdentifier)"

    /// Where the state of a prepared experiment lies, original and copies.
    private static func place(_ key: Substring) -> String {
        (shared == nil ? folder : NSTemporaryDirectory()) + "/state-\(key)"
    }

    /// Makes an experiment that nothing has happened to yet by copying one of the same key.
    ///
    /// - Returns: its state directory; nil, and nothing was done, for an experiment that is not like any
    ///   other: in a directory or mounts of a test's own, of another program, beside another one of the same
    ///   key, or with a configuration that names its test's directory.
    static func copy(to night: Night, _ configuration: Configuration) throws -> String? {
        let key = [Stage.invigilator, Stage.fixture("sums"), configuration.text]
        let name = SHA256Digest(of: Array(key.joined(separator: "\n").utf8)).description.prefix(16)
        let state = place(name)
        let files = FileManager.default
        guard night.isAlone, night.room == nil, night.program == Stage.invigilator,
            !configuration.text.contains(night.scratch.path),
            !files.fileExists(atPath: night.directory), !files.fileExists(atPath: state)
        else { return nil }
        try files.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        let original = "\(folder)/\(name)"
        // Whoever comes first prepares it; the others wait.
        let lock = try Descriptor.open("\(original).lock", [.write, .create])
        try lock.lock()
        if !files.fileExists(atPath: original) {
            try prepare(configuration, state, original)
        }
        try lock.unlock()
        try shell(
            #"cp -a "$1/experiment" "$2" && cp -a "$1/state" "$3""#,
            original,
            night.directory,
            state
        )
        return state
    }

    private static func prepare(
        _ configuration: Configuration,
        _ state: String,
        _ original: String
    ) throws {
        let night = try Night(state: state)
        night.scratch.alsoRemove(state)
        try night.prepareAnew(configuration)
        try shell(
            #"mkdir "$3.new" && cp -a "$1" "$3.new/experiment" && mv "$2" "$3.new/state" && mv "$3.new" "$3""#,
            night.directory,
            state,
            original
        )
    }

    private static func shell(_ script: String, _ words: String...) throws {
        let ended = try Spawn.run("/bin/sh", arguments: ["-ec", script, "sh"] + words)
        guard ended.end.exitCode == 0 else {
            throw Stage.TimedOut(
                description: "copy an experiment: \(String(decoding: ended.errors, as: UTF8.self))"
            )
        }
    }
}
