import Foundation
import LinuxKernel
import Workspace

/// A directory of its own for one test, removed when its owner ends.
final class Scratch {
    let path: String

    init() throws {
        path = "/tmp/workspace-tests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        // A test that leaves its directory behind must not hide its own failure.
        try? FileManager.default.removeItem(atPath: path)
    }

    func open() throws -> Descriptor {
        try Descriptor.open(path, [.read, .directory])
    }

    func write(_ text: String, to name: String) throws {
        try write(Array(text.utf8), to: name)
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    }

    func read(_ name: String) throws -> String {
        try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
    }

    /// Runs a program to its end and gives its exit code and output.
    @discardableResult
    static func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        input: [UInt8] = []
    ) throws -> GitAnswer {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = environment
        let (input1, output, errors) = (Pipe(), Pipe(), Pipe())
        process.standardInput = input1
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        try input1.fileHandleForWriting.write(contentsOf: Data(input))
        try input1.fileHandleForWriting.close()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        let complaint = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return GitAnswer(
            exitCode: Int(process.terminationStatus),
            output: Array(text),
            errors: Array(complaint)
        )
    }
}
