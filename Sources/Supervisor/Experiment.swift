internal import HostKernel
internal import LinuxKernel
internal import StrictJSON
public import Workspace

/// An experiment directory: the user's side of an experiment.
public struct Experiment: Sendable, Equatable {
    /// The directory, absolute and without symbolic links.
    public let directory: String
    /// Names the experiment's state.
    public let id: String
    /// A benchmark of the user's own; absent for one that ships.
    public let benchmarkDirectory: String?

    static let markerName = ".invigilator"
    private static let schema = "invigilator.experiment/1"

    init(directory: String, id: String, benchmarkDirectory: String?) {
        self.directory = directory
        self.id = id
        self.benchmarkDirectory = benchmarkDirectory
    }

    /// Finds the experiment of a directory.
    public static func open(_ directory: String) throws(SupervisorError) -> Experiment {
        let path = try absolute(directory)
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try Descriptor.open("\(path)/\(markerName)", [.read, .nonBlocking])
                .readAll(limit: 4096)
        } catch {
            throw SupervisorError(
                .usage,
                operation: "open an experiment",
                location: path,
                reason: "\(error)",
                remedy: "make one with `invigilator init DIR --benchmark NAME`"
            )
        }
        let found: String
        let experiment: Experiment
        do throws(JSONError) {
            var reader = try ObjectReader(
                JSONValue(parsing: bytes, limits: .request),
                location: markerName
            )
            found = try reader.requiredString("schema")
            experiment = Experiment(
                directory: path,
                id: try reader.requiredString("experiment"),
                benchmarkDirectory: try reader.optionalString("benchmark_directory")
            )
            try reader.finish()
        } catch {
            throw malformed(path, "\(error)")
        }
        guard found == schema, isID(experiment.id) else {
            throw malformed(path, "unknown schema or id")
        }
        return experiment
    }

    private static func malformed(_ path: String, _ reason: String) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "open an experiment",
            location: "\(path)/\(markerName)",
            reason: reason,
            remedy: "restore the file that `invigilator init` wrote"
        )
    }

    private static func isID(_ text: String) -> Bool {
        text.utf8.count == 16
            && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    /// The bytes of the marker file.
    var marker: [UInt8] {
        var members: [String: JSONValue] = [
            "schema": .string(Self.schema), "experiment": .string(id),
        ]
        if let benchmarkDirectory { members["benchmark_directory"] = .string(benchmarkDirectory) }
        return JSONValue.object(members).canonicalBytes + [10]
    }

    /// A directory's absolute path, seen from the working directory.
    static func absolute(_ path: String) throws(SupervisorError) -> String {
        do throws(SystemError) { return try Descriptor.resolvedPath(path) } catch {
            guard error.isMissing else {
                throw SupervisorError(error, "find a directory", path)
            }
            throw SupervisorError(
                .usage,
                operation: "find a directory",
                location: path,
                reason: "there is none of this name",
                remedy: "name one that exists, or make an experiment with `invigilator init`"
            )
        }
    }
}

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
    /// SHA-256 over everything that a score depends on but the judged file: manifest, tasks, and the
    /// programs of both sides with the shim's.
    public let digest: String

    /// One file.
    public struct NamedBytes: Sendable, Equatable {
        /// Its path or name.
        public let name: String
        /// Its bytes.
        public let bytes: [UInt8]
    }

    /// Reads a benchmark by its directory.
    public init(directory: String, installation: Installation) throws(SupervisorError) {
        func read(_ path: String) throws(SupervisorError) -> [UInt8] {
            try Installation.contents("\(directory)/\(path)")
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
        let taskBytes = try read(manifest.tasks.text)
        tasks = try workspace { () throws(WorkspaceError) in
            try TaskCatalog(parsing: taskBytes, file: "\(directory)/\(manifest.tasks.text)")
        }
        template = try read(manifest.agent.text)
        program = try read(manifest.program.text)
        var floors: [NamedBytes] = []
        for (name, path) in manifest.floors.sorted(by: { $0.key < $1.key }) {
            floors.append(NamedBytes(name: name, bytes: try read(path.text)))
        }
        self.floors = floors
        if let path = manifest.oracle { oracle = try read(path.text) } else { oracle = nil }
        digest = Self.digest(
            of: ["benchmark.yaml": text, manifest.tasks.text: taskBytes],
            examiner: examiner,
            candidate: candidate
        )
    }

    private static func digest(
        of files: [String: [UInt8]],
        examiner: [NamedBytes],
        candidate: [NamedBytes]
    ) -> String {
        func digests(_ named: [NamedBytes]) -> JSONValue {
            .array(
                named.map { [.string($0.name), .string(SHA256Digest.hex(of: $0.bytes))] }
            )
        }
        let parts: JSONValue = [
            "files": .object(files.mapValues { .string(SHA256Digest.hex(of: $0)) }),
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
