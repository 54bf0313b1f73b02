internal import Crypto
internal import HostKernel
internal import LinuxKernel

/// Installs Python packages from a list with hashes, by uv (https://docs.astral.sh/uv).
///
/// Nothing of a package is run: wheels only, so no build script, and byte-compiling parses and writes.
/// Every file is held against its hash in the list, so it does not matter where it came from.
public struct PackageInstaller: Sendable {
    private let requirements: [UInt8]
    private let python: PythonInterpreter
    private let place: String

    // Raised when the same list would be installed in another way.
    private static let form = 1
    private static let mark = ".installed"
    private static let packages = "packages"

    /// Where packages are installed: a benchmark's bring tasks of both splits, so for root alone.
    public static let shippedPlace = "/var/cache/invigilator/packages"

    /// Where uv is looked for; no environment variable adds a place.
    public static let programs = [
        "/usr/local/bin/uv", "/usr/bin/uv", "/opt/uv/bin/uv", "/root/.local/bin/uv",
        "/var/cache/invigilator/agents/.uv/bin/uv",
    ]

    // What says where an index is and how it is reached, and nothing else of the environment.
    private static let passedOn = [
        "UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS",
        "UV_OFFLINE", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "HTTP_PROXY",
        "ALL_PROXY", "NO_PROXY",
    ]

    /// Describes an installation.
    ///
    /// - Parameters:
    ///   - requirements: the list, every version exact and every file with its SHA-256.
    ///   - python: the interpreter that will run them.
    ///   - place: the directory of all installations; it must exist and be writable.
    public init(requirements: [UInt8], python: PythonInterpreter, in place: String) {
        self.requirements = requirements
        self.python = python
        self.place = place
    }

    private var name: String {
        let key = Array("form \(Self.form)\nPython \(python.version)\n".utf8) + requirements
        let digits: [Character] = Array("0123456789abcdef")
        return String(
            SHA256.hash(data: key).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        )
    }

    /// Installs the packages where they are not there yet; one installation at a time.
    ///
    /// - Returns: the directory of the packages.
    /// - Throws: ``HostProbeError``; half an installation is not taken for a whole one.
    public func install() throws(HostProbeError) -> String {
        let directory = "\(place)/\(name)/\(Self.packages)"
        try requireOwn()
        let lock = try attempt("wait for another installation") { () throws(SystemError) in
            let file = try Descriptor.open("\(place)/.lock", [.write, .create])
            try file.lock()
            return file
        }
        let done = Result { () throws(HostProbeError) in
            guard HostFile.status("\(place)/\(name)/\(Self.mark)") == nil else { return }
            try installAnew(directory)
        }
        try attempt("end an installation") { () throws(SystemError) in try lock.unlock() }
        try done.get()
        return directory
    }

    // Whoever may write there could have the examiner run what he likes, and root read what he likes.
    private func requireOwn() throws(HostProbeError) {
        let status = try attempt("look at the place for packages") { () throws(SystemError) in
            try Descriptor.openWithoutLinks(place, [.read, .directory]).status()
        }
        guard status.owner == Identity.effectiveUser, status.permissions & 0o022 == 0 else {
            throw refusal(
                "look at the place for packages",
                place,
                "it belongs to uid \(status.owner), or others may write to it",
                "remove it; it is made again"
            )
        }
    }

    private func installAnew(_ directory: String) throws(HostProbeError) {
        guard let uv = Self.programs.first(where: HostFile.isRegular) else {
            throw refusal(
                "find uv",
                Self.programs.joined(separator: ", "),
                "none of them is there",
                "install uv, see https://docs.astral.sh/uv"
            )
        }
        try ImageFiles.remove(name, in: place)
        try attempt("make a directory for packages") { () throws(SystemError) in
            let parent = try Descriptor.open(place, [.read, .directory])
            try parent.makeDirectory(name)
            let own = try parent.openBeneath(name, [.read, .directory])
            try own.replace("requirements.txt", with: requirements, permissions: 0o644)
        }
        let list = "\(place)/\(name)/requirements.txt"
        try run(
            uv,
            [
                "pip", "install", "--quiet", "--no-config", "--no-deps", "--only-binary", ":all:",
                "--require-hashes", "--link-mode", "copy", "--python", python.path,
                "--target", directory, "--requirements", list,
            ]
        )
        // Marked as not to be compared with the source's time, which is another one in an image.
        try run(
            python.path,
            [
                "-I", "-S", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash",
                directory,
            ]
        )
        try attempt("finish an installation") { () throws(SystemError) in
            try Descriptor.open("\(place)/\(name)", [.read, .directory])
                .replace(Self.mark, with: [], permissions: 0o644)
        }
    }

    private func run(_ program: String, _ arguments: [String]) throws(HostProbeError) {
        var environment = [
            "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=\(place)/\(name)",
            "UV_CACHE_DIR=\(place)/.cache",
            // The host's certificates, by the old and the new name of the setting.
            "UV_NATIVE_TLS=1", "UV_SYSTEM_CERTS=1",
        ]
        for name in Self.passedOn {
            if let value = ProcessEnvironment.value(of: name) {
                environment.append("\(name)=\(value)")
            }
        }
        let outcome: Spawn.Outcome
        do throws(SystemError) {
            outcome = try Spawn.run(program, arguments: arguments, environment: environment)
        } catch {
            throw refusal("install packages", program, error.description, "try again")
        }
        guard outcome.end.exitCode != 0 else { return }
        let words = String(decoding: outcome.errors + outcome.output, as: UTF8.self)
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
        throw refusal(
            "install packages",
            "\(place)/\(name)",
            "\(program) said: \(words.count > 900 ? "…" : "")\(words.suffix(900))",
            remedy(for: words)
        )
    }

    // By what uv 0.13 says; another version's words get the remedy that is right most often.
    private func remedy(for words: String) -> String {
        if words.contains("Hash mismatch") {
            return "the file is not the one of the list: find out why, or write the list anew"
        }
        if words.contains("no usable wheels") || words.contains("matching Python") {
            return
                "name a version with a wheel for Python \(python.version) on \(Machine.native.name), "
                + "or another Python with sandbox.python; nothing is built here"
        }
        if words.contains("there is no version of")
            || words.contains("not found in the package registry")
        {
            return "name a version that the index has"
        }
        return "see that the index can be reached and the disk is not full, then run this again"
    }

    private func attempt<Answer: ~Copyable>(
        _ operation: String,
        _ body: () throws(SystemError) -> Answer
    ) throws(HostProbeError) -> Answer {
        do throws(SystemError) { return try body() } catch {
            throw refusal(operation, place, error.description, "check owner and mode of it")
        }
    }

    private func refusal(
        _ operation: String,
        _ location: String,
        _ reason: String,
        _ remedy: String
    ) -> HostProbeError {
        HostProbeError(operation: operation, location: location, reason: reason, remedy: remedy)
    }
}
