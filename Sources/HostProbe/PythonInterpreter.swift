internal import LinuxKernel

/// A CPython of the host, found without running it.
public struct PythonInterpreter: Sendable, Equatable {
    /// The program, without symbolic links.
    public let path: String
    /// The second number of its version; the first is 3.
    public let minorVersion: Int
    /// The installation prefix, such as `/usr`.
    public let prefix: String
    /// The directory of the standard library.
    public let standardLibrary: String

    /// `3.11` and the like.
    public var version: String { "3.\(minorVersion)" }

    /// The oldest version whose standard library the examination's programs can use.
    public static let oldestMinorVersion = 9

    /// Looks at one path.
    ///
    /// A real ELF program is asked for, since shims of version managers are scripts that depend on
    /// the user's home; the version comes from the name of the program or its library directory.
    ///
    /// - Parameter path: a program or a symbolic link to one.
    /// - Throws: ``HostProbeError`` saying what is wrong with it.
    public init(path: String) throws(HostProbeError) {
        func refusal(_ reason: String) -> HostProbeError {
            HostProbeError(
                operation: "look at a Python interpreter",
                location: path,
                reason: reason,
                remedy: "install CPython 3.9 or newer, or name another one"
            )
        }
        guard let real = HostFile.resolved(path), let status = HostFile.status(real) else {
            throw refusal("it does not exist")
        }
        guard status.kind == .regular, status.permissions & 0o111 != 0 else {
            throw refusal("it is no executable file")
        }
        guard ELFFile.isStart(HostFile.start(of: real, count: 4)) else {
            throw refusal("it is a script or a shim, not the interpreter itself")
        }
        let parts = real.split(separator: "/").map(String.init)
        guard parts.count >= 2 else { throw refusal("it has no prefix") }
        let prefix = "/" + parts.dropLast(2).joined(separator: "/")
        guard let library = Self.library(prefix: prefix, program: parts[parts.count - 1]) else {
            throw refusal("there is no standard library beside it")
        }
        guard library.minor >= Self.oldestMinorVersion else {
            throw refusal("version 3.\(library.minor) is too old")
        }
        // Examiners run this program: whoever can change it can change verdicts.
        for place in [real, library.path, library.path + "/os.py"]
        where HostFile.status(place).map({ $0.permissions & 0o002 != 0 }) ?? true {
            throw refusal("\(place) is writable by everyone")
        }
        self.path = real
        self.prefix = prefix
        minorVersion = library.minor
        standardLibrary = library.path
    }

    /// A place on the way to the program or its library that somebody besides root could change; nil where
    /// there is none.
    public func placeOfOthers() -> String? {
        for path in [self.path, standardLibrary + "/os.py"] {
            var place = ""
            let parts = path.split(separator: "/")
            for (index, part) in parts.enumerated() {
                place += "/\(part)"
                guard let status = HostFile.status(place), status.owner == 0 else { return place }
                // In a sticky directory nobody replaces what is root's (S_ISVTX in inode(7)).
                let isSticky = status.permissions & 0o1000 != 0 && index < parts.count - 1
                if status.permissions & 0o022 != 0, !isSticky { return place }
            }
        }
        return nil
    }

    /// The standard library of a program: the one its name tells, or the only one there is.
    private static func library(
        prefix: String,
        program: String
    ) -> (minor: Int, path: String)? {
        let named = minor(of: program)
        for directory in ["lib", "lib64"] {
            let found = HostFile.names(in: "\(prefix)/\(directory)").compactMap { name in
                minor(of: name).map { (minor: $0, path: "\(prefix)/\(directory)/\(name)") }
            }.filter { HostFile.isRegular($0.path + "/os.py") }
            let fitting = named == nil ? found : found.filter { $0.minor == named }
            if let library = fitting.first, fitting.count == 1 { return library }
        }
        return nil
    }

    /// The number of `python3.N`.
    private static func minor(of name: String) -> Int? {
        guard name.hasPrefix("python3.") else { return nil }
        let digits = name.dropFirst(8)
        return digits.count <= 3 ? Int(digits) : nil
    }
}

/// Finds the interpreter that images are made of.
public enum PythonSearch {
    /// Where interpreters are looked for when none is named, best first.
    ///
    /// The system's own come first because others may be under a home directory; of several
    /// versions of one manager the newest comes first.
    public static func candidates(homes: [String]) -> [String] {
        var paths = ["/usr/bin/python3", "/usr/local/bin/python3"]
        for home in homes {
            for manager in [".pyenv/versions", ".local/share/uv/python", ".asdf/installs/python"] {
                let directory = "\(home)/\(manager)"
                let versions = HostFile.names(in: directory).sorted {
                    numbers(of: $1).lexicographicallyPrecedes(numbers(of: $0))
                }
                paths += versions.map { "\(directory)/\($0)/bin/python3" }
            }
        }
        return paths + ["/opt/python/bin/python3", "/usr/libexec/platform-python"]
    }

    /// The named interpreter, or the first fitting one of ``candidates(homes:)``.
    ///
    /// - Parameters:
    ///   - named: a path from the configuration, which is then the only one looked at.
    ///   - homes: home directories whose version managers are looked at.
    ///   - oldest: the second number of the oldest version that will do.
    /// - Returns: an interpreter.
    /// - Throws: ``HostProbeError`` with what was wrong with each one.
    public static func find(
        named: String?,
        homes: [String],
        oldest: Int = PythonInterpreter.oldestMinorVersion
    ) throws(HostProbeError) -> PythonInterpreter {
        if let named { return try newEnough(PythonInterpreter(path: named), oldest) }
        var reasons: [String] = []
        for path in candidates(homes: homes) {
            do throws(HostProbeError) {
                return try newEnough(PythonInterpreter(path: path), oldest)
            } catch {
                reasons.append("\(path): \(error.reason)")
            }
        }
        throw HostProbeError(
            operation: "find a Python interpreter",
            location: homes.joined(separator: ", "),
            reason: reasons.joined(separator: "; "),
            remedy: "install CPython 3.\(oldest) or newer (apt-get install python3), or name one"
        )
    }

    private static func newEnough(
        _ python: PythonInterpreter,
        _ oldest: Int
    ) throws(HostProbeError) -> PythonInterpreter {
        guard python.minorVersion >= oldest else {
            throw HostProbeError(
                operation: "look at a Python interpreter",
                location: python.path,
                reason: "version \(python.version), and the benchmark needs 3.\(oldest)",
                remedy: "install CPython 3.\(oldest) or newer, or name one with sandbox.python"
            )
        }
        return python
    }

    private static func numbers(of version: String) -> [Int] {
        version.split { !$0.isNumber }.map { Int($0) ?? 0 }
    }
}
