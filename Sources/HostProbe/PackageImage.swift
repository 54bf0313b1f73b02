internal import LinuxKernel

/// Chooses what of a directory of Python packages goes into the image of an examiner.
public enum PackageImage {
    /// Where the packages are inside, without a leading slash.
    public static let inside = "environment"

    // Beyond this the memory of an examiner's tree would be spent on packages.
    private static let largestFileCount = 12_000

    /// Puts together the list of an image: every file of a directory at the same path below
    /// ``inside``, without what is hidden.
    ///
    /// - Parameters:
    ///   - directory: the packages, absolute.
    ///   - hidden: paths below it, of files or whole directories, that are left out.
    ///   - base: the image that this one is laid over; shared libraries that it lacks are added.
    /// - Returns: the list.
    /// - Throws: ``HostProbeError`` where a name is strange, something is neither file nor directory,
    ///   or a hidden path is not there: a rule that hides nothing is a mistake.
    public static func manifest(
        of directory: String,
        hiding hidden: [String],
        over base: ImageManifest
    ) throws(HostProbeError) -> ImageManifest {
        var manifest = ImageManifest()
        manifest.add(inside, .directory)
        var unseen = Set(hidden)
        var pending = [""]
        var count = 0
        var libraries = SharedLibraries()
        while let relative = pending.popLast() {
            for name in HostFile.names(in: directory + "/" + relative) {
                let path = relative.isEmpty ? name : "\(relative)/\(name)"
                if unseen.remove(path) != nil { continue }
                if hidden.contains(path) { continue }
                let source = "\(directory)/\(path)"
                switch status(source)?.kind {
                case .directory: pending.append(path)
                case .regular:
                    count += 1
                    manifest.add("\(inside)/\(path)", .file(source: source))
                    if name.hasSuffix(".so") { try libraries.add(source) }
                case .symbolicLink, .other, nil:
                    throw refusal(source, "it is neither a file nor a directory")
                }
                guard count <= largestFileCount else {
                    throw refusal(directory, "it has more than \(largestFileCount) files")
                }
            }
        }
        let place = PythonImage.libraryDirectory(of: libraries)
        for (name, path) in libraries.found where base.entries["\(place)/\(name)"] == nil {
            manifest.add("\(place)/\(name)", .program(source: path, isExecutable: false))
        }
        if let missing = unseen.min() {
            throw refusal("\(directory)/\(missing)", "it is to be hidden and is not there")
        }
        return manifest
    }

    // Of the path itself: a link could lead anywhere.
    private static func status(_ path: String) -> FileStatus? {
        do throws(SystemError) { return try FileStatus(path: path) } catch {
            return nil  // the caller refuses what cannot be looked at
        }
    }

    private static func refusal(_ location: String, _ reason: String) -> HostProbeError {
        HostProbeError(
            operation: "list the benchmark's packages",
            location: location,
            reason: reason,
            remedy: "correct packages in benchmark.yaml, or remove the directory to install it anew"
        )
    }
}
