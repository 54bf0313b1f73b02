/// Finds the shared libraries that programs need, as the dynamic loader would (ld.so(8)).
///
/// The loader's own listing mode would run it on files that nobody has checked; reading the dynamic
/// sections does not.
struct SharedLibraries {
    /// Directories searched after those that a file names itself.
    let systemDirectories: [String]
    /// Library name to real path, for everything found so far.
    private(set) var found: [String: String] = [:]
    /// The loader that the programs name; nil before the first program.
    private(set) var loader: String?

    /// Reads the host's list of library directories.
    init() {
        let configured = Self.configuredDirectories("/etc/ld.so.conf", depth: 0)
        let standard = Machine.native.libraryDirectories
        // Compatibility libraries for single programs (libfakeroot and the like) hold no libraries
        // that others need, and standard places come first.
        systemDirectories = standard + configured.filter { !standard.contains($0) }
    }

    /// Adds a program or library with everything that it needs.
    ///
    /// - Throws: ``HostProbeError`` when a library cannot be found.
    mutating func add(_ path: String) throws(HostProbeError) {
        let operation = "find shared libraries"
        let bytes = try HostFile.contents(path, operation: operation)
        guard let file = ELFFile(bytes) else {
            throw HostProbeError(
                operation: operation,
                location: path,
                reason: "it is no ELF file for \(Machine.native.name)",
                remedy: "install a Python for this machine"
            )
        }
        if let interpreter = file.interpreter { loader = interpreter }
        let own = file.searchPath.map { directory in
            directory.replacing("$ORIGIN", with: parent(of: path))
                .replacing("${ORIGIN}", with: parent(of: path))
        }
        for name in file.needed where found[name] == nil && !isLoader(name) {
            guard let library = locate(name, in: own + systemDirectories) else {
                throw HostProbeError(
                    operation: operation,
                    location: path,
                    reason: "\(name) is not installed",
                    remedy: "install the package that has it"
                )
            }
            found[name] = library
            try add(library)
        }
    }

    /// Adds a library that is loaded by name at run time, where the host has it.
    mutating func addIfPresent(_ name: String) throws(HostProbeError) {
        guard found[name] == nil, let library = locate(name, in: systemDirectories) else { return }
        found[name] = library
        try add(library)
    }

    private func isLoader(_ name: String) -> Bool {
        name.hasPrefix("ld-linux")
    }

    private func locate(_ name: String, in directories: [String]) -> String? {
        guard !name.contains("/") else { return nil }
        for directory in directories {
            guard let path = HostFile.resolved("\(directory)/\(name)") else { continue }
            let start = HostFile.start(of: path, count: 20)
            // A 32-bit library of the same name is passed over.
            if Machine.native.runs(start) { return path }
        }
        return nil
    }

    private func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    private static func configuredDirectories(_ path: String, depth: Int) -> [String] {
        guard depth < 4, let real = HostFile.resolved(path) else { return [] }
        let text: String
        do throws(HostProbeError) {
            let bytes = try HostFile.contents(
                real,
                atMost: 65_536,
                operation: "read library directories"
            )
            text = String(decoding: bytes, as: UTF8.self)
        } catch {
            return []
        }
        return text.split(separator: "\n").flatMap { line -> [String] in
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" || $0 == "," }
            guard words.first == "include" else { return words.map(String.init) }
            return words.dropFirst().flatMap { pattern in
                included(String(pattern)).flatMap { configuredDirectories($0, depth: depth + 1) }
            }
        }
    }

    /// The files of an include line, whose pattern is a directory and `*.conf`.
    private static func included(_ pattern: String) -> [String] {
        guard let slash = pattern.lastIndex(of: "/"), pattern.hasSuffix("/*.conf") else {
            return [pattern]
        }
        let directory = String(pattern[..<slash])
        return HostFile.names(in: directory).filter { $0.hasSuffix(".conf") }
            .map { "\(directory)/\($0)" }
    }
}
