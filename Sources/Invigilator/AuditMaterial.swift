internal import HostKernel
internal import LinuxKernel
internal import Reveal
internal import Supervisor
internal import Transparency

/// What an auditor holds a record against, read with the auditor's own rights.
struct AuditMaterial {
    /// A file that was named, and its bytes.
    typealias NamedBytes = (name: String, bytes: [UInt8])

    /// The name of the file in ``outcomes`` that opens the commitment to the split.
    static let split = "split.json"
    // An exam of a million rollouts.
    private static let largestFile = 256 << 20

    /// The key that opens sealed outcomes; nothing where none are opened.
    let key: RevealKey?
    /// The files of the folder of sealed outcomes; nothing where the experiment's own are taken.
    let outcomes: [String: [UInt8]]?
    /// A configuration in place of the experiment's own.
    let configuration: NamedBytes?
    /// A checkpoint that the record must continue.
    let checkpoint: NamedBytes?

    /// Reads what was named.
    init(
        key: String?,
        sealed: String?,
        configuration: String?,
        checkpoint: String?
    ) throws(SupervisorError) {
        self.key = try key.map { path throws(SupervisorError) in try Self.key(path) }
        outcomes = try sealed.map { path throws(SupervisorError) in try Self.files(in: path) }
        self.configuration = try configuration.map { path throws(SupervisorError) in
            (path, try Self.bytes(of: path, limit: 1 << 20))
        }
        self.checkpoint = try checkpoint.map { path throws(SupervisorError) in
            (path, try CheckpointFile.bytes(path))
        }
    }

    /// Where `ledger reveal` puts the outcomes: beside the key.
    static func folder(beside key: String) -> String {
        let parts = key.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return (parts + [Substring(RevealedBundle.folder)]).joined(separator: "/")
    }

    private static func key(_ path: String) throws(SupervisorError) -> RevealKey {
        let bytes = try bytes(of: path, limit: 1 << 12)
        do throws(RevealError) { return try RevealKey(bytes) } catch {
            throw SupervisorError(.usage, error)
        }
    }

    private static func bytes(of path: String, limit: Int) throws(SupervisorError) -> [UInt8] {
        try kernel("read what the record is held against", path) { () throws(SystemError) in
            try Descriptor.open(path, [.read, .nonBlocking]).readAll(limit: limit)
        }
    }

    private static func files(in folder: String) throws(SupervisorError) -> [String: [UInt8]] {
        try kernel("read sealed outcomes", folder) { () throws(SystemError) in
            let directory = try Descriptor.open(folder, [.read, .directory])
            var files: [String: [UInt8]] = [:]
            for (name, kind) in try directory.listing() where kind == .regular {
                files[name] = try directory.contents(of: name, limit: largestFile)
            }
            return files
        }
    }
}
