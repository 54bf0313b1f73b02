internal import HostKernel
internal import LinuxKernel
public import Workspace

/// The directory that `scripts/agents` fills: one directory a package, its programs in `bin`.
public struct AgentsCache: Sendable {
    /// The directory.
    public let directory: String

    // Written last by scripts/agents: a package without it is half installed.
    private static let mark = ".installed"

    /// Names it.
    ///
    /// - Parameter directory: the directory; the shipped place where there is none.
    public init(_ directory: String?) {
        self.directory = directory ?? SandboxSettings.shippedAgents
    }

    /// Whether the program of a profile is there.
    public enum Outcome: Sendable, Equatable {
        /// The profile names none.
        case notNeeded
        /// It is there.
        case found(CodingAgentLaunch.Found)
        /// It is not, with the reason and what to do.
        case missing(program: String, reason: String, remedy: String)

        /// The program, where one is needed and there.
        public var program: CodingAgentLaunch.Found? {
            if case .found(let found) = self { found } else { nil }
        }

        /// Whether something must be installed first.
        public var isMissing: Bool {
            if case .missing = self { true } else { false }
        }
    }

    /// Finds the program of a profile.
    ///
    /// - Parameter files: the profile.
    /// - Returns: the program; nil for a profile that names none.
    /// - Throws: ``SupervisorError`` that says what to install.
    func find(_ files: ProfileFiles) throws(SupervisorError) -> CodingAgentLaunch.Found? {
        switch look(for: files) {
        case .notNeeded: return nil
        case .found(let found): return found
        case .missing(let program, let reason, let remedy):
            throw SupervisorError(
                .hostFailed,
                operation: "find the coding agent's program",
                location: program,
                reason: reason,
                remedy: remedy
            )
        }
    }

    /// Looks for the program of a profile.
    ///
    /// - Parameter files: the profile.
    /// - Returns: whether it is there.
    public func look(for files: ProfileFiles) -> Outcome {
        switch files.profile.executable {
        case nil: return .notNeeded
        case .path(let path):
            guard Self.isProgram(path) else {
                return .missing(
                    program: path,
                    reason: "there is no such program on this host",
                    remedy: "install it, or name another coding agent"
                )
            }
            return .found(CodingAgentLaunch.Found(executable: path, package: nil))
        case .packaged(let name, let package):
            let folder = "\(directory)/\(package)"
            let program = "\(folder)/bin/\(name)"
            let reason: String? =
                if !Self.exists(folder) {
                    "the package is not installed"
                } else if !Self.exists("\(folder)/\(Self.mark)") {
                    "the installation of the package was not finished"
                } else if !Self.isProgram(program) {
                    "the package has no such program"
                } else {
                    nil
                }
            guard let reason else {
                return .found(
                    CodingAgentLaunch.Found(
                        executable: program,
                        package: folder,
                        python: Self.python(of: folder)
                    )
                )
            }
            return .missing(program: program, reason: reason, remedy: remedy(files, package))
        }
    }

    // An environment of Python's says where its interpreter lies (PEP 405).
    private static func python(of folder: String) -> String? {
        do throws(SystemError) {
            let file = try Descriptor.openWithoutLinks(
                "\(folder)/pyvenv.cfg",
                [.read, .nonBlocking]
            )
            let text = String(decoding: try file.readAll(limit: 4096), as: UTF8.self)
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: "=", maxSplits: 1).map { part in
                    String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
                }
                guard parts.count == 2, parts[0] == "home", parts[1].hasSuffix("/bin") else {
                    continue
                }
                let prefix = String(parts[1].dropLast(4))
                let isHosts = ["", "/usr"].contains(prefix) || prefix.hasPrefix("/usr/")
                return isHosts ? nil : prefix
            }
            return nil
        } catch {
            return nil  // no environment of Python's
        }
    }

    private func remedy(_ files: ProfileFiles, _ package: String) -> String {
        let place = directory == SandboxSettings.shippedAgents ? "" : " --cache \(directory)"
        // A profile without a list of packages has another one's package.
        let isOwn = Self.exists("\(files.directory)/requirements.txt")
        let word = files.place == .directory && isOwn ? files.directory : package
        return "run scripts/agents\(place) \(word)"
    }

    private static func exists(_ path: String) -> Bool {
        do throws(SystemError) {
            _ = try FileStatus(path: path)
            return true
        } catch {
            return false  // what cannot be looked at cannot be shown to a sandbox
        }
    }

    // A link of the package may lead to a program elsewhere in it; whether it runs is tried, not guessed.
    private static func isProgram(_ path: String) -> Bool {
        do throws(SystemError) {
            let status = try FileStatus(path: path)
            return status.kind == .symbolicLink
                || (status.kind == .regular && status.permissions & 0o111 != 0)
        } catch {
            return false  // as above
        }
    }
}
