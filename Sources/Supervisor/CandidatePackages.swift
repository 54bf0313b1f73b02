internal import HostKernel
internal import HostProbe
internal import LinuxKernel
internal import StrictJSON
internal import Workspace

/// The place that packages are installed in, for examiners and candidates alike.
enum PackagePlace {
    /// Installs the packages of a list, as root, where they are not there yet.
    ///
    /// - Returns: their directory.
    static func install(
        _ list: [UInt8],
        for python: PythonInterpreter
    ) throws(SupervisorError) -> String {
        // Root's own, with nobody else's directory above it: root reads there what it copies.
        let place = PackageInstaller.shippedPlace
        try system("make a directory", place) { () throws(SystemError) in
            try StateLayout.makeDirectories(place)
            try Descriptor.openWithoutLinks(place, [.read, .directory]).setPermissions(0o700)
        }
        do throws(HostProbeError) {
            return try PackageInstaller(requirements: list, python: python, in: place).install()
        } catch { throw SupervisorError(.hostFailed, error) }
    }
}

/// The Python packages that an experiment gives its candidates: read, refused or installed in the root
/// phase, and laid over the image of every candidate's sandbox, train or sealed.
struct CandidatePackages {
    /// By this name digests of an experiment and of an exam hold them.
    static let name = "candidate-packages"
    /// What is copied.
    let image: Image
    /// The packages with their versions, as the list names them.
    let names: [String]
    /// SHA-256 of the list's bytes and of everything in the image.
    let digest: String

    /// Reads the list that the configuration names and installs it; nothing where it names none.
    ///
    /// - Throws: ``SupervisorError``.
    init?(
        _ config: ExperimentConfig,
        of directory: UserFolder,
        _ benchmark: BenchmarkFiles,
        _ python: PythonInterpreter,
        _ layout: StateLayout
    ) throws(SupervisorError) {
        guard let path = config.candidate.packages else { return nil }
        let file = "\(directory.path)/\(path.text)"
        let bytes = try directory.read(
            path.text,
            "read the list of packages",
            limit: PackageList.largestSize,
            namedBy: "candidate.packages"
        )
        let list = try workspace { () throws(WorkspaceError) in
            try PackageList(
                parsing: bytes,
                file: file,
                refusing: (
                    benchmark.manifest.refusedPackages,
                    "the benchmark \(benchmark.manifest.benchmark) keeps it from candidates"
                )
            )
        }
        let place = try PackagePlace.install(bytes, for: python)
        try Self.requireApart(PackageImage.moduleNames(in: place), from: benchmark, file)
        do throws(HostProbeError) {
            let manifest = try PackageImage.manifest(
                of: place,
                hiding: [],
                over: PythonImage.manifest(of: python)
            )
            let needles = TaskNeedles(benchmark.tasks, publicTexts: benchmark.shownToCandidates)
            if let found = try PackageImage.firstFile(of: manifest, where: needles.areFound) {
                throw HostProbeError(
                    operation: "look for tasks in packages",
                    location: "\(file): /\(found)",
                    reason: "it holds words of the benchmark's tasks",
                    remedy: "remove the package that brings this file from the list"
                )
            }
            image = try ImageBuilder.build(manifest, into: layout.images)
        } catch { throw SupervisorError(.hostFailed, error) }
        names = list.entries.map { "\($0.name)==\($0.version)" }
        let parts: JSONValue = [
            "image": .string(image.digest), "list": .string(SHA256Digest.hex(of: bytes)),
        ]
        digest = SHA256Digest.hex(of: parts.canonicalBytes)
    }

    // The benchmark's own modules come first, so a package of that name would never be found, or, in
    // part, be taken for one of them.
    private static func requireApart(
        _ names: [String],
        from benchmark: BenchmarkFiles,
        _ file: String
    ) throws(SupervisorError) {
        let own = Set(benchmark.candidate.map { moduleName(of: $0.name) } + ["agent"])
        guard let shared = names.first(where: own.contains) else { return }
        throw SupervisorError(
            .usage,
            operation: "compare packages with the benchmark",
            location: file,
            reason: "a package brings a module \(shared), which is one of the benchmark's own",
            remedy: "remove the package that brings it from the list"
        )
    }

    private static func moduleName(of path: String) -> String {
        let parts = path.split(separator: "/").drop { $0 == "lib" }
        return parts.first?.split(separator: ".").first.map(String.init) ?? ""
    }
}

extension BenchmarkFiles {
    /// What every candidate holds anyway.
    fileprivate var shownToCandidates: [[UInt8]] { [template, program] + candidate.map(\.bytes) }
}
