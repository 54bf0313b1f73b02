// HostProbe: what this host is, which Python it has, and the curated image that sandboxes start from.

internal import LinuxKernel

/// Chooses what of a host's Python goes into the image of candidates and examiners.
///
/// The image is as small as a benchmark's programs allow: it is copied into a tmpfs for every exam,
/// and each file in it is one more thing that a candidate can look at.
public enum PythonImage {
    /// Directories of the standard library that are left out, by name at any depth.
    static let omittedDirectories: Set<String> = [
        "__pycache__", "config", "dist-packages", "distutils", "ensurepip", "idlelib", "lib2to3",
        "msilib", "pydoc_data", "site-packages", "test", "tests", "tkinter", "turtledemo", "venv",
        "lib-dynload",
    ]
    /// Modules left out with the directories that they need.
    static let omittedModules: Set<String> = ["turtle.py", "sitecustomize.py", "usercustomize.py"]
    /// Beginnings of names of extension modules that are left out: tests, terminals, old databases.
    static let omittedExtensions = [
        "_test", "_ctypes_test", "_xx", "xx", "_tkinter", "_curses", "readline", "_dbm", "_gdbm",
        "nis", "ossaudiodev", "spwd", "_crypt", "audioop", "_lsprof",
    ]

    /// Puts together the list of an image.
    ///
    /// - Throws: ``HostProbeError`` when the interpreter, its libraries or `/usr/bin/true` cannot be
    ///   read.
    public static func manifest(of python: PythonInterpreter) throws(HostProbeError)
        -> ImageManifest
    {
        var manifest = ImageManifest()
        addSkeleton(to: &manifest)
        var libraries = SharedLibraries()
        let program = "usr/bin/python\(python.version)"
        manifest.add(program, .program(source: python.path, isExecutable: true))
        manifest.add("usr/bin/python3", .link("python\(python.version)"))
        try libraries.add(python.path)
        addStandardLibrary(of: python, to: &manifest)
        addExtensions(of: python, &libraries, to: &manifest)
        if let command = HostFile.resolved("/usr/bin/true"), HostFile.isRegular(command) {
            manifest.add("usr/bin/true", .program(source: command, isExecutable: true))
            try libraries.add(command)
        }
        // pthread_exit(3) loads it by name.
        try libraries.addIfPresent("libgcc_s.so.1")
        try add(libraries, to: &manifest)
        return manifest
    }

    /// Where the standard library is inside, without a leading slash.
    static func insideLibrary(of python: PythonInterpreter) -> String {
        let directory = python.standardLibrary.contains("/lib64/") ? "lib64" : "lib"
        return "usr/\(directory)/python\(python.version)"
    }

    private static func addSkeleton(to manifest: inout ImageManifest) {
        for path in [
            "candidate", "dev", "etc", "examiner", "home", "proc", "tmp", "usr/bin", "usr/lib",
            "usr/lib64", "var/tmp", "vault", "work",
        ] {
            manifest.add(path, .directory)
        }
        for name in ["bin", "lib", "lib64"] { manifest.add(name, .link("usr/\(name)")) }
        let files = [
            "etc/passwd":
                "root:x:0:0:root:/:/usr/sbin/nologin\nguest:x:1000:1000:guest:/tmp:/usr/bin/true\n",
            "etc/group": "root:x:0:\nguest:x:1000:\n",
            "etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
            "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        ]
        for (path, text) in files { manifest.add(path, .bytes(Array(text.utf8))) }
    }

    private static func addStandardLibrary(
        of python: PythonInterpreter,
        to manifest: inout ImageManifest
    ) {
        let inside = insideLibrary(of: python)
        var pending = [""]
        while let relative = pending.popLast() {
            let directory = python.standardLibrary + relative
            for name in HostFile.names(in: directory) {
                let path = "\(directory)/\(name)"
                guard let real = HostFile.resolved(path), let status = HostFile.status(real) else {
                    continue
                }
                // A link may lead to the host's configuration; only the library itself is taken.
                guard real.hasPrefix(python.standardLibrary + "/") else { continue }
                let target = "\(inside)\(relative)/\(name)"
                switch status.kind {
                case .directory where real == path && !isOmitted(directory: name):
                    pending.append("\(relative)/\(name)")
                case .regular where isWanted(module: name):
                    manifest.add(target, .file(source: real))
                    addBytecode(of: real, at: target, python, to: &manifest)
                case .directory, .regular, .symbolicLink, .other: break
                }
            }
        }
    }

    private static func isOmitted(directory name: String) -> Bool {
        omittedDirectories.contains(name) || name.hasPrefix("config-")
    }

    private static func isWanted(module name: String) -> Bool {
        !omittedModules.contains(name) && name.hasSuffix(".py")
    }

    /// Adds the host's own bytecode of a module when it was made from the source as it is now.
    private static func addBytecode(
        of source: String,
        at target: String,
        _ python: PythonInterpreter,
        to manifest: inout ImageManifest
    ) {
        guard source.hasSuffix(".py"), let slash = source.lastIndex(of: "/"),
            let targetSlash = target.lastIndex(of: "/")
        else { return }
        let module = source[source.index(after: slash)...].dropLast(3)
        let name = "\(module).cpython-3\(python.minorVersion).pyc"
        let path = "\(source[..<slash])/__pycache__/\(name)"
        guard let status = HostFile.status(source),
            Bytecode.isCurrent(header: HostFile.start(of: path, count: 16), source: status)
        else { return }
        manifest.add("\(target[..<targetSlash])/__pycache__/\(name)", .bytecode(source: path))
    }

    /// Adds the extension modules whose libraries the host has.
    private static func addExtensions(
        of python: PythonInterpreter,
        _ libraries: inout SharedLibraries,
        to manifest: inout ImageManifest
    ) {
        let directory = python.standardLibrary + "/lib-dynload"
        let inside = insideLibrary(of: python) + "/lib-dynload"
        manifest.add(inside, .directory)
        for name in HostFile.names(in: directory) where name.hasSuffix(".so") {
            guard !omittedExtensions.contains(where: name.hasPrefix),
                let real = HostFile.resolved("\(directory)/\(name)")
            else { continue }
            var extended = libraries
            do throws(HostProbeError) {
                try extended.add(real)
            } catch {
                manifest.omit("\(name): \(error.reason)")
                continue
            }
            libraries = extended
            manifest.add("\(inside)/\(name)", .program(source: real, isExecutable: false))
        }
    }

    /// Puts every library where the loader looks without a cache: beside the C library.
    private static func add(
        _ libraries: SharedLibraries,
        to manifest: inout ImageManifest
    ) throws(HostProbeError) {
        guard let loader = libraries.loader, loader == Machine.native.loader,
            let realLoader = HostFile.resolved(loader)
        else {
            throw HostProbeError(
                operation: "put together an image",
                location: libraries.loader ?? "no loader",
                reason: "the interpreter is not for glibc on \(Machine.native.name)",
                remedy: "install a Python that is linked with glibc"
            )
        }
        manifest.add("usr\(loader)", .program(source: realLoader, isExecutable: true))
        let directory = libraryDirectory(of: libraries)
        for (name, path) in libraries.found {
            manifest.add("\(directory)/\(name)", .program(source: path, isExecutable: false))
        }
    }

    /// The directory of the C library, below `usr` even where the host keeps it above.
    static func libraryDirectory(of libraries: SharedLibraries) -> String {
        let directory = libraries.found["libc.so.6"].flatMap { path in
            path.lastIndex(of: "/").map { String(path[..<$0].dropFirst()) }
        }
        guard let directory else { return "usr/lib" }
        return directory.hasPrefix("usr/") ? directory : "usr/\(directory)"
    }
}
