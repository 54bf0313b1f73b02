import Foundation
import LinuxKernel

/// A directory of one test's own, removed with it.
final class Scratch {
    let path: String
    let directory: Descriptor

    init() throws {
        path = NSTemporaryDirectory() + "kernel-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        directory = try Descriptor.open(path, [.directory])
    }

    deinit {
        // A directory that stays behind is a nuisance, not a wrong test.
        try? FileManager.default.removeItem(atPath: path)
    }

    func makeDirectory(_ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: path + "/" + name,
            withIntermediateDirectories: true
        )
    }

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
    }

    func text(_ name: String) throws -> String {
        try String(contentsOfFile: path + "/" + name, encoding: .utf8)
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: path + "/" + name,
            withDestinationPath: target
        )
    }
}
