internal import LinuxKernel

/// Chooses what of a directory of Python packages goes into the image of an examiner or a candidate.
public enum PackageImage {
    /// Where the packages are inside, without a leading slash.
    public static let inside = "environment"

    /// The most files of an image: litellm with all it needs has 11,000, bytecode included.
    ///
    /// Every exam copies them into memory; beyond this the host's would be spent on packages.
    public static let largestFileCount = 20_000
    /// The most bytes of an image, for the same reason.
    public static let largestByteCount = 512 << 20
    // What uv leaves at the top: programs that name the host's interpreter, and its lock.
    private static let omitted: Set<String> = ["bin", ".lock", "__pycache__"]

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
        var size = 0
        var libraries = SharedLibraries()
        while let relative = pending.popLast() {
            for name in HostFile.names(in: directory + "/" + relative) {
                let path = relative.isEmpty ? name : "\(relative)/\(name)"
                if relative.isEmpty, omitted.contains(name) { continue }
                if unseen.remove(path) != nil { continue }
                if hidden.contains(path) { continue }
                let source = "\(directory)/\(path)"
                let found = status(source)
                switch found?.kind {
                case .directory: pending.append(path)
                case .regular:
                    count += 1
                    size += Int(found?.size ?? 0)
                    manifest.add("\(inside)/\(path)", .file(source: source))
                    if name.hasSuffix(".so") { try libraries.add(source) }
                case .symbolicLink, .other, nil:
                    throw refusal(source, "it is neither a file nor a directory")
                }
                try requireRoom(directory, count, size)
            }
        }
        let place = PythonImage.libraryDirectory(of: libraries)
        for (name, path) in libraries.found
        where base.entries["\(place)/\(name)"] == nil && !path.hasPrefix(directory + "/") {
            manifest.add("\(place)/\(name)", .program(source: path, isExecutable: false))
        }
        if let missing = unseen.min() {
            throw refusal("\(directory)/\(missing)", "it is to be hidden and is not there")
        }
        return manifest
    }

    /// The names by which programs import what is in a directory of packages, sorted.
    ///
    /// - Parameter directory: the packages, absolute.
    /// - Returns: the names of modules and packages at its top.
    public static func moduleNames(in directory: String) -> [String] {
        let names = HostFile.names(in: directory).compactMap { name -> String? in
            guard !omitted.contains(name), !name.hasSuffix(".dist-info") else { return nil }
            return name.split(separator: ".").first.map(String.init)
        }
        return Set(names).sorted()
    }

    /// Looks through the files of an image's list.
    ///
    /// - Parameters:
    ///   - manifest: the list.
    ///   - isSought: is given each file's bytes.
    /// - Returns: the path of the first file of which it says yes; nothing where there is none.
    /// - Throws: ``HostProbeError`` where a file cannot be read.
    public static func firstFile(
        of manifest: ImageManifest,
        where isSought: ([UInt8]) -> Bool
    ) throws(HostProbeError) -> String? {
        for path in manifest.paths {
            guard case .file(let source)? = manifest.entries[path] else { continue }
            let bytes = try HostFile.contents(source, operation: "look through packages")
            if isSought(bytes) { return path }
        }
        return nil
    }

    private static func requireRoom(
        _ directory: String,
        _ count: Int,
        _ size: Int
    ) throws(HostProbeError) {
        guard count <= largestFileCount else {
            throw refusal(directory, "it has more than \(largestFileCount) files")
        }
        guard size <= largestByteCount else {
            throw refusal(directory, "it has more than \(largestByteCount >> 20) MiB")
        }
    }

    // Of the path itself: a link could lead anywhere.
    private static func status(_ path: String) -> FileStatus? {
        do throws(SystemError) { return try FileStatus(path: path) } catch {
            return nil  // the caller refuses what cannot be looked at
        }
    }

    private static func refusal(_ location: String, _ reason: String) -> HostProbeError {
        HostProbeError(
            operation: "list the files of packages",
            location: location,
            reason: reason,
            remedy: "name other packages, or remove the directory to install it anew"
        )
    }
}
