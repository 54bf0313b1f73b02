internal import HostKernel
internal import HostProbe
internal import StrictJSON
internal import Workspace

/// What of a benchmark depends on the experiment: its tasks, and the examiner's packages.
struct BenchmarkMaterial {
    /// The tasks, gold included.
    let tasks: TaskCatalog
    /// The examiner's packages, without what is hidden from it.
    let environment: Image?
    /// Digests by name, of everything that a score depends on.
    let digests: [String: String]

    init(
        _ manifest: BenchmarkManifest,
        _ reading: BenchmarkFiles.Reading
    ) throws(SupervisorError) {
        let variants = try workspace { () throws(WorkspaceError) in
            try manifest.chosenVariants(reading.settings, file: "experiment_config.yaml")
        }
        var digests = variants
        var packages: String?
        if let wanted = manifest.packages {
            let installed = try Self.install(wanted, manifest, reading)
            packages = installed.directory
            environment = installed.image
            digests["packages"] = installed.image.digest
        } else {
            environment = nil
        }
        switch manifest.tasks {
        case .file(let path):
            let file = "\(reading.directory)/\(path.text)"
            let bytes = try reading.folder.read(path.text)
            tasks = try workspace { () throws(WorkspaceError) in
                try TaskCatalog(parsing: bytes, file: file)
            }
            digests[path.text] = SHA256Digest.hex(of: bytes)
        case .packaged(let list, let splits):
            guard let packages else { throw Self.withoutPackages(reading.directory) }
            tasks = try Self.imported(list, splits, variants, packages)
            let all = Set(tasks.entries.map(\.id))
            digests["tasks"] = SHA256Digest.hex(of: tasks.file(of: all))
        }
        self.digests = digests
    }

    private static func install(
        _ packages: BenchmarkManifest.Packages,
        _ manifest: BenchmarkManifest,
        _ reading: BenchmarkFiles.Reading
    ) throws(SupervisorError) -> (directory: String, image: Image) {
        let file = "\(reading.directory)/\(packages.requirements.text)"
        let list = try reading.folder.read(packages.requirements.text)
        _ = try workspace { () throws(WorkspaceError) in try PackageList(parsing: list, file: file)
        }
        let python = try reading.interpreter(for: manifest)
        let directory = try PackagePlace.install(list, for: python)
        try reading.layout.create()
        do throws(HostProbeError) {
            let image = try ImageBuilder.build(
                PackageImage.manifest(
                    of: directory,
                    hiding: packages.hidden.map(\.text),
                    over: PythonImage.manifest(of: python)
                ),
                into: reading.layout.images
            )
            return (directory, image)
        } catch { throw SupervisorError(.hostFailed, error) }
    }

    private static func imported(
        _ list: String,
        _ splits: String?,
        _ variants: [String: String],
        _ packages: String
    ) throws(SupervisorError) -> TaskCatalog {
        func path(_ text: String) -> String {
            BenchmarkManifest.TaskSource.filled(text, variants)
        }
        let folder = UserFolder(packages)
        let tasks = try folder.read(path(list))
        var sides: [UInt8]?
        if let splits { sides = try folder.read(path(splits)) }
        return try workspace { () throws(WorkspaceError) in
            try TaskCatalog(
                importing: tasks,
                splits: sides,
                shared: variants,
                file: "\(packages)/\(path(list))"
            )
        }
    }

    private static func withoutPackages(_ directory: String) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "read the benchmark's tasks",
            location: "\(directory)/benchmark.yaml",
            reason: "they are packaged, and it has no packages",
            remedy: "name a file of tasks, or add packages"
        )
    }
}
