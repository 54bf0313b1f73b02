import Foundation
import LinuxKernel

/// A directory of its own for one test, gone when the test is.
final class Scratch {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "front-door-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        // A directory that stays behind is a nuisance, not a wrong test.
        try? FileManager.default.removeItem(atPath: path)
    }

    func text(of name: String) throws -> String {
        let bytes = try Descriptor.open("\(path)/\(name)", .read).readAll(limit: 1 << 20)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The text of a file beside the tests that a change is reviewed against.
func golden(_ name: String) throws -> String {
    let bytes = try Descriptor.open("\(repository)/Tests/InvigilatorTests/Goldens/\(name)", .read)
        .readAll(limit: 1 << 20)
    return String(decoding: bytes, as: UTF8.self)
}

/// The checkout that these tests belong to.
var repository: String {
    "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
}
