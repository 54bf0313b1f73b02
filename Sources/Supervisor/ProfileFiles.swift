public import HostKernel
internal import LauncherClient
internal import LinuxKernel
public import SandboxPlan
public import SandboxPolicy
internal import StrictJSON
internal import StrictYAML
public import Workspace

/// Where a profile asks for what its sandbox is given.
///
/// What is wrong with that is found when the plan is made, and said of the profile's line: the policy,
/// which the plan is otherwise made of, is right.
public struct ProfileOrigin: Sendable, Equatable {
    /// The profile's file.
    let file: String
    /// Where it lists paths of the host.
    let reads: DocumentPlace

    private static let operation = "read the coding agent's profile"

    /// Resolves the policy of a coding sandbox that shows further paths.
    ///
    /// - Parameters:
    ///   - policy: the policy.
    ///   - paths: the paths, each shown at its own place.
    ///   - resolver: what resolves it.
    /// - Returns: what the sandbox is made from.
    /// - Throws: ``SupervisorError``, of the profile where the policy alone is right.
    public func resolve(
        _ policy: SandboxPolicy,
        showing paths: [String],
        _ resolver: PolicyResolver
    ) throws(SupervisorError) -> ResolvedPolicy {
        let resolved: ResolvedPolicy
        do throws(PolicyRefusal) { resolved = try resolver.resolve(policy.showing(paths)) } catch {
            let problems = error.problems
            do throws(PolicyRefusal) { _ = try resolver.resolve(policy) } catch {
                throw SupervisorError(.usage, error)
            }
            throw SupervisorError(WorkspaceError.document(problems.map(ofProfile)))
        }
        // The launcher would look for these paths below what it has put there.
        let hidden = paths.flatMap { path in
            resolved.plan.mounts.filter { $0.hides(path) }.map { (path, $0.target.text) }
        }
        guard hidden.isEmpty else {
            let problems = hidden.map { path, target in
                DocumentProblem(
                    file: file,
                    line: reads.line,
                    key: reads.key,
                    operation: Self.operation,
                    reason: "\(path): the sandbox has a place of its own at \(target)",
                    remedy: "name a path that does not lie below it"
                )
            }
            throw SupervisorError(WorkspaceError.document(problems))
        }
        return resolved
    }

    private func ofProfile(_ problem: DocumentProblem) -> DocumentProblem {
        DocumentProblem(
            file: file,
            line: reads.line,
            key: reads.key,
            operation: Self.operation,
            reason: problem.reason,
            remedy: problem.remedy
        )
    }

    /// Refuses a plan that the launcher would refuse.
    ///
    /// - Parameter plan: a plan that was right before the profile's variables were added.
    /// - Throws: ``SupervisorError``.
    public func check(_ plan: SandboxPlan) throws(SupervisorError) {
        do throws(PlanError) {
            try PlanInvariants.check(plan)
            _ = try CompiledPlan(plan).plan()
        } catch {
            let problem = DocumentProblem(
                file: file,
                line: 1,
                key: error.location,
                operation: Self.operation,
                reason: error.reason,
                remedy: error.remedy
            )
            throw SupervisorError(WorkspaceError.document([problem]))
        }
    }
}

extension PlannedMount {
    /// Whether what it shows is none of the host's and lies above a path.
    fileprivate func hides(_ path: String) -> Bool {
        if case .host = source { return false }
        return path.hasPrefix(target.text + "/")
    }
}

/// A coding agent's profile, with the bytes of its files.
public struct ProfileFiles: Sendable {
    /// What it says.
    public let profile: CodingAgentProfile
    /// Where it lies.
    public let place: Place
    /// Its directory.
    public let directory: String
    /// SHA-256 over the profile and its files; nil for one that ships.
    ///
    /// Files of others change while the program stays the same, so a record says which they were.
    let digest: String?
    private let files: [BenchmarkFiles.NamedBytes]

    /// Who answers for a profile.
    public enum Place: String, Sendable {
        /// It ships.
        case shipped
        /// The administrator of the host put it into ``ProfileFiles/siteFolder``.
        case site
        /// A user named its directory.
        case directory
    }

    /// Where an administrator puts profiles, a directory each; they come before those that ship.
    public static let siteFolder = "/etc/invigilator/agents"

    private static let shippedFolder = "templates/coding-agents"
    private static let name = "profile.yaml"
    private static let operation = "read the coding agent's profile"
    private static let largestFile = 16 << 20

    /// Where it says what, for problems that are found with the plan.
    public var origin: ProfileOrigin {
        ProfileOrigin(file: "\(directory)/\(Self.name)", reads: profile.readsPlace)
    }

    /// Reads a profile.
    ///
    /// - Parameters:
    ///   - reference: its name, or the absolute path of its directory.
    ///   - installation: where templates lie.
    ///   - owner: whose configuration names it; absent where the operator does.
    /// - Throws: ``SupervisorError`` where there is none, or with what is wrong with it.
    init(
        named reference: String,
        _ installation: Installation,
        namedBy owner: FileRights? = nil
    ) throws(SupervisorError) {
        if reference.contains("/") {
            let folder = UserFolder(reference, namedBy: owner)
            try self.init(.directory, reference) { (name) throws(SupervisorError) in
                try folder.read(name, Self.operation, limit: Self.largestFile)
            }
        } else if try Self.isSites(reference) {
            let directory = "\(Self.siteFolder)/\(reference)"
            try self.init(.site, directory) { (name) throws(SupervisorError) in
                try Self.rootsOwn(name, in: directory)
            }
            // Lists and packages have the name that it gives itself.
            guard profile.name == reference else {
                throw SupervisorError(
                    .usage,
                    operation: Self.operation,
                    location: "\(directory)/\(Self.name)",
                    reason: "it calls itself \(profile.name), and its directory \(reference)",
                    remedy: "write coding_agent: \(reference), or rename the directory"
                )
            }
        } else if installation.has("\(Self.shippedFolder)/\(reference)/\(Self.name)") {
            let directory = "\(Self.shippedFolder)/\(reference)"
            try self.init(.shipped, directory) { (name) throws(SupervisorError) in
                try installation.contents(of: "\(directory)/\(name)")
            }
        } else {
            throw SupervisorError(
                .usage,
                operation: "find the coding agent's profile",
                location: reference,
                reason: "none of this name ships, or lies in \(Self.siteFolder)",
                remedy:
                    "name one of: \(try Self.names(installation).joined(separator: ", ")); or the"
                    + " directory of your own with a slash"
            )
        }
    }

    /// Reads the profile that somebody names on a command line.
    ///
    /// - Parameters:
    ///   - word: its name, or a path of its directory, which has a slash.
    ///   - installation: where templates lie.
    /// - Throws: ``SupervisorError``.
    public init(
        onCommandLine word: String,
        _ installation: Installation
    ) throws(SupervisorError) {
        try self.init(named: Self.reference(word), installation)
    }

    /// What a configuration says in place of a word of the command line.
    static func reference(_ word: String) throws(SupervisorError) -> String {
        word.contains("/") ? try Experiment.absolute(word) : word
    }

    private init(
        _ place: Place,
        _ directory: String,
        reading read: (String) throws(SupervisorError) -> [UInt8]
    ) throws(SupervisorError) {
        let text = try read(Self.name)
        let profile = try workspace { () throws(WorkspaceError) in
            try CodingAgentProfile(parsing: text, file: "\(directory)/\(Self.name)")
        }
        var files: [BenchmarkFiles.NamedBytes] = []
        for path in profile.files {
            files.append(.init(name: path.text, bytes: try read(path.text)))
        }
        self.profile = profile
        self.place = place
        self.directory = directory
        self.files = files
        let all = [BenchmarkFiles.NamedBytes(name: Self.name, bytes: text)] + files
        let digests = JSONValue.array(
            all.map { [.string($0.name), .string(SHA256Digest.hex(of: $0.bytes))] }
        )
        digest = place == .shipped ? nil : SHA256Digest.hex(of: digests.canonicalBytes)
    }

    /// The names of all profiles that ship or that the administrator added, sorted.
    ///
    /// - Parameter installation: where templates lie.
    /// - Returns: the names.
    /// - Throws: ``SupervisorError``.
    public static func names(_ installation: Installation) throws(SupervisorError) -> [String] {
        let path = "\(installation.resources)/\(shippedFolder)"
        let shipped = try system("list coding agents", path) { () throws(SystemError) in
            try Descriptor.open(path, [.read, .directory]).entries()
        }.filter { installation.has("\(shippedFolder)/\($0)/\(name)") }
        return Set(shipped + siteNames()).sorted()
    }

    /// Refuses a profile that names a path which its user could not show to anybody.
    ///
    /// - Parameters:
    ///   - paths: what the sandbox is shown because of the profile.
    ///   - owner: the user.
    /// - Throws: ``SupervisorError``. What is missing or a link is not refused here, but with the plan.
    public func requireReach(of paths: [String], by owner: FileRights) throws(SupervisorError) {
        for path in paths {
            do throws(SystemError) {
                try owner.perform { () throws(SystemError) in
                    _ = try Descriptor.openWithoutLinks(path, [.path])
                }
            } catch {
                guard error.isRefused else { continue }
                throw SupervisorError(
                    .usage,
                    operation: Self.operation,
                    location: "\(origin.file):\(origin.reads.line): reads: \(path)",
                    reason: "uid \(owner.user), who names the profile, cannot reach it",
                    remedy: "take it out of the profile, let that user reach it, or have root own"
                        + " the configuration"
                )
            }
        }
    }

    /// The directory's owner, whose rights decide what a profile that somebody names by its directory may show.
    ///
    /// - Throws: ``SupervisorError``.
    public func owner() throws(SupervisorError) -> FileRights {
        let folder = UserFolder(directory)
        return try system(Self.operation, directory) { () throws(SystemError) in
            try folder.rights()
        }
    }

    /// Every file below `/work/.coding-agent`: those of the profile's directory, and its texts.
    ///
    /// - Parameter launch: the profile with its variables replaced.
    /// - Returns: the files.
    public func all(_ launch: CodingAgentLaunch) -> [BenchmarkFiles.NamedBytes] {
        files
            + launch.texts.keys.sorted().map { path in
                BenchmarkFiles.NamedBytes(
                    name: path.text,
                    bytes: Array((launch.texts[path] ?? "").utf8)
                )
            }
    }

    // MARK: - the administrator's

    // What others can write to would let them choose what root's own experiments start.
    private static func isSites(_ reference: String) throws(SupervisorError) -> Bool {
        let directory = "\(siteFolder)/\(reference)"
        guard isVisible("\(directory)/\(name)") else { return false }
        for path in ["/etc/invigilator", siteFolder, directory] {
            guard try isThere(path) else { return false }
        }
        return try isThere("\(directory)/\(name)", .regular)
    }

    /// What has a profile there; whether it is root's alone is looked at when somebody names it.
    private static func siteNames() -> [String] {
        do throws(SystemError) {
            return try Descriptor.open(siteFolder, [.read, .directory]).entries().filter { entry in
                !entry.hasPrefix(".") && isVisible("\(siteFolder)/\(entry)/\(name)")
            }
        } catch {
            return []  // there is none, or none for this user
        }
    }

    private static func isVisible(_ path: String) -> Bool {
        do throws(SystemError) {
            _ = try FileStatus(path: path)
            return true
        } catch {
            return false
        }
    }

    private static func rootsOwn(
        _ name: String,
        in directory: String
    ) throws(SupervisorError) -> [UInt8] {
        var place = directory
        let parts = name.split(separator: "/")
        for (index, part) in parts.enumerated() {
            place += "/\(part)"
            guard try isThere(place, index == parts.count - 1 ? .regular : .directory) else {
                throw SupervisorError(
                    .usage,
                    operation: operation,
                    location: place,
                    reason: "it does not exist",
                    remedy: "write it, or take it out of the profile's files"
                )
            }
        }
        return try system(operation, place) { () throws(SystemError) in
            try Descriptor.openWithoutLinks(directory, [.path, .directory])
                .openBeneath(name, [.read, .nonBlocking]).readAll(limit: largestFile)
        }
    }

    private static func isThere(
        _ path: String,
        _ kind: FileStatus.Kind = .directory
    ) throws(SupervisorError) -> Bool {
        let status: FileStatus
        do throws(SystemError) { status = try FileStatus(path: path) } catch {
            if error.isMissing { return false }
            throw SupervisorError(error, operation, path)
        }
        guard status.kind == kind, status.owner == 0, status.permissions & 0o022 == 0 else {
            throw SupervisorError(
                .usage,
                operation: operation,
                location: path,
                reason: "it is not root's alone (another owner, writable by others, or a link)",
                remedy:
                    "`chown root:root` and `chmod go-w` it: profiles of this place are started for"
                    + " everybody"
            )
        }
        return true
    }
}
