internal import HostKernel
public import HostProbe
internal import ExamResults
internal import StrictJSON
public import Workspace

/// What a benchmark's directory holds, read into memory before any right is given up.
public struct BenchmarkFiles: Sendable {
    /// The manifest.
    public let manifest: BenchmarkManifest
    /// Files of the examiner's side, by path below `/examiner`.
    public let examiner: [NamedBytes]
    /// Files of the candidate's side, by path below `/candidate`.
    public let candidate: [NamedBytes]
    /// The tasks, gold included.
    public let tasks: TaskCatalog
    /// The template of the judged file.
    public let template: [UInt8]
    /// The benchmark's part of PROGRAM.md.
    public let program: [UInt8]
    /// Agents that show what a score means, by name.
    public let floors: [NamedBytes]
    /// An agent that knows the answers, for conformance checks only.
    public let oracle: [UInt8]?
    /// The examiner's Python packages, if it needs any.
    public let environment: Image?
    /// SHA-256 over everything that a score depends on but the judged file: manifest, tasks, and the
    /// programs of both sides with the shim's.
    public let digest: String

    /// The families of tasks: the clusters that a cap of the suite counts.
    ///
    /// - Parameter tasks: train tasks.
    /// - Returns: the family of each of them.
    func families(of tasks: [TaskID]) -> [TaskID: String] {
        let named = Set(tasks)
        let known = self.tasks.entries.filter { named.contains($0.id) }
        return Dictionary(uniqueKeysWithValues: known.map { ($0.id, $0.family) })
    }

    /// One file.
    public struct NamedBytes: Sendable, Equatable {
        /// Its path or name.
        public let name: String
        /// Its bytes.
        public let bytes: [UInt8]
    }

    /// Where a benchmark is, and under which experiment it is read.
    public struct Reading {
        /// The benchmark's directory.
        public let directory: String
        /// What ships.
        public let installation: Installation
        /// Keys of the configuration that may choose a variant.
        public var settings: [String: String] = [:]
        /// Where packages are installed.
        public let layout: StateLayout
        /// The interpreter that a configuration names, if it does.
        public var python: String?
        /// Whose file names the directory; absent where the operator does, or where it ships.
        var namedBy: FileRights?

        /// The directory, whose files are read with its user's rights.
        var folder: UserFolder { UserFolder(directory, namedBy: namedBy) }

        /// Names a benchmark.
        public init(directory: String, installation: Installation, layout: StateLayout) {
            self.directory = directory
            self.installation = installation
            self.layout = layout
        }

        /// Reads the manifest.
        public func manifest() throws(SupervisorError) -> BenchmarkManifest {
            let file = "\(directory)/benchmark.yaml"
            let text = try folder.read("benchmark.yaml")
            return try workspace { () throws(WorkspaceError) in
                try BenchmarkManifest(parsing: text, file: file)
            }
        }

        /// Finds the interpreter that images are made of: one that the benchmark's packages run on.
        public func interpreter(
            for manifest: BenchmarkManifest
        ) throws(SupervisorError) -> PythonInterpreter {
            do throws(HostProbeError) {
                return try PythonSearch.find(
                    named: python,
                    homes: ["/root"],
                    oldest: manifest.packages?.oldestPython ?? PythonInterpreter.oldestMinorVersion
                )
            } catch { throw SupervisorError(.hostFailed, error) }
        }
    }

    /// Reads a benchmark, as root, and installs the packages that it names.
    ///
    /// - Throws: ``SupervisorError``.
    public init(_ reading: Reading) throws(SupervisorError) {
        let directory = reading.directory
        let installation = reading.installation
        func read(_ path: String) throws(SupervisorError) -> [UInt8] {
            try reading.folder.read(path)
        }
        func named(_ paths: [BeneathPath]) throws(SupervisorError) -> [NamedBytes] {
            var files: [NamedBytes] = []
            for path in paths {
                files.append(NamedBytes(name: path.text, bytes: try read(path.text)))
            }
            return files
        }
        let text = try read("benchmark.yaml")
        let manifest = try workspace { () throws(WorkspaceError) in
            try BenchmarkManifest(parsing: text, file: "\(directory)/benchmark.yaml")
        }
        self.manifest = manifest
        var examiner = try named(manifest.examiner.files)
        var candidate = try named(manifest.candidate.files)
        if let shim = manifest.shim {
            let shimFiles = try ShimFiles(shim, installation)
            examiner += shimFiles.examiner
            candidate += shimFiles.candidate
        }
        self.examiner = examiner
        self.candidate = candidate
        let material = try BenchmarkMaterial(manifest, reading)
        tasks = material.tasks
        try workspace { () throws(WorkspaceError) in
            try manifest.requireWatchful(in: material.tasks, file: "\(directory)/benchmark.yaml")
        }
        environment = material.environment
        template = try read(manifest.agent.text)
        program = try read(manifest.program.text)
        var floors: [NamedBytes] = []
        for (name, path) in manifest.floors.sorted(by: { $0.key < $1.key }) {
            floors.append(NamedBytes(name: name, bytes: try read(path.text)))
        }
        self.floors = floors
        if let path = manifest.oracle { oracle = try read(path.text) } else { oracle = nil }
        digest = Self.digest(
            of: material.digests.merging(["benchmark.yaml": SHA256Digest.hex(of: text)]) { $1 },
            examiner: examiner,
            candidate: candidate
        )
    }

    private static func digest(
        of files: [String: String],
        examiner: [NamedBytes],
        candidate: [NamedBytes]
    ) -> String {
        func digests(_ named: [NamedBytes]) -> JSONValue {
            .array(
                named.map { [.string($0.name), .string(SHA256Digest.hex(of: $0.bytes))] }
            )
        }
        let parts: JSONValue = [
            "files": .object(files.mapValues { .string($0) }),
            "examiner": digests(examiner), "candidate": digests(candidate),
        ]
        return SHA256Digest.hex(of: parts.canonicalBytes)
    }

    private struct ShimFiles {
        let examiner: [NamedBytes]
        let candidate: [NamedBytes]

        init(_ name: String, _ installation: Installation) throws(SupervisorError) {
            let folder = "templates/\(name)"
            let text = try installation.contents(of: "\(folder)/shim.yaml")
            let manifest = try workspace { () throws(WorkspaceError) in
                try ShimManifest(parsing: text, file: "\(folder)/shim.yaml")
            }
            func named(_ paths: [BeneathPath]) throws(SupervisorError) -> [NamedBytes] {
                var files: [NamedBytes] = []
                for path in paths {
                    let bytes = try installation.contents(of: "\(folder)/\(path.text)")
                    files.append(NamedBytes(name: path.text, bytes: bytes))
                }
                return files
            }
            examiner = try named(manifest.examinerFiles)
            candidate = try named(manifest.candidateFiles)
        }
    }

    /// The directory of a benchmark that ships.
    public static func shippedDirectory(_ name: String, _ installation: Installation) -> String {
        "\(installation.resources)/templates/benchmarks/\(name)"
    }
}
