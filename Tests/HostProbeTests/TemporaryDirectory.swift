import HostKernel
import LinuxKernel

/// A directory of a test's own, removed with all that is in it.
final class TemporaryDirectory {
    let path: String

    init() throws {
        let name = "hostprobe-\(UInt64.random(in: 0...UInt64.max))"
        try Descriptor.open("/tmp", [.read, .directory]).makeDirectory(name, permissions: 0o700)
        path = "/tmp/\(name)"
    }

    deinit {
        do {
            try Self.remove(
                String(path.dropFirst(5)),
                in: try Descriptor.open("/tmp", [.read, .directory])
            )
        } catch {
            // A test that leaves something behind must not pass.
            fatalError("a temporary directory cannot be removed: \(error)")
        }
    }

    private static func remove(_ name: String, in parent: borrowing Descriptor) throws {
        guard try FileStatus(of: name, in: parent).kind == .directory else {
            try parent.remove(name)
            return
        }
        let directory = try parent.openBeneath(name, [.read, .directory])
        for entry in try directory.entries() { try remove(entry, in: directory) }
        try parent.remove(name, isDirectory: true)
    }

    /// Makes directories, each below the one before it.
    func makeDirectories(_ relative: String) throws {
        var done = ""
        for part in relative.split(separator: "/") {
            try makeDirectory(String(part), in: path + done)
            done += "/\(part)"
        }
    }

    private func makeDirectory(_ name: String, in parent: String) throws {
        let directory = try Descriptor.open(parent, [.read, .directory])
        guard try !directory.entries().contains(name) else { return }
        try directory.makeDirectory(name)
    }

    /// Writes a file and the directories above it.
    func write(_ relative: String, _ bytes: [UInt8], permissions: UInt32 = 0o644) throws {
        let parts = relative.split(separator: "/").map(String.init)
        try makeDirectories(parts.dropLast().joined(separator: "/"))
        let parent = try Descriptor.open(
            path + parts.dropLast().map { "/\($0)" }.joined(),
            [.read, .directory]
        )
        try parent.replace(parts[parts.count - 1], with: bytes, permissions: permissions)
    }

    func link(_ relative: String, to target: String) throws {
        let parts = relative.split(separator: "/").map(String.init)
        try makeDirectories(parts.dropLast().joined(separator: "/"))
        let parent = try Descriptor.open(
            path + parts.dropLast().map { "/\($0)" }.joined(),
            [.read, .directory]
        )
        try parent.makeLink(parts[parts.count - 1], to: target)
    }
}
