internal import StrictYAML

/// What a `shim.yaml` says: files that a benchmark gets on both sides in addition to its own.
public struct ShimManifest: Sendable, Equatable {
    /// The shim's name, as a benchmark's manifest names it.
    public let shim: String
    /// The version, from 1.
    public let version: Int
    /// The files that go to `/candidate`, sorted.
    public let candidateFiles: [BeneathPath]
    /// The files that go to `/examiner`, sorted.
    public let examinerFiles: [BeneathPath]

    /// Reads a manifest.
    ///
    /// - Parameters:
    ///   - bytes: the file's bytes.
    ///   - file: the file's name, for error texts.
    /// - Throws: ``WorkspaceError/document(_:)`` with every problem at once.
    public init(parsing bytes: [UInt8], file: String) throws(WorkspaceError) {
        let list = ProblemList(file: file, operation: "read the shim's manifest")
        var top = try list.top(of: bytes)
        shim = top.required("shim") { $0.name("shim") } ?? ""
        version =
            top.required("version") { $0.integer("version", in: 1...1_000_000) }?.value ?? 0
        candidateFiles = Self.files("candidate", &top)
        examinerFiles = Self.files("examiner", &top)
        top.finish()
        try list.check()
    }

    private static func files(_ key: String, _ top: inout MappingReader) -> [BeneathPath] {
        guard var section = top.required(key, { $0.mapping(key) }) else { return [] }
        let files = section.required("files") { $0.paths("files") }
        section.finish()
        return files ?? []
    }
}
