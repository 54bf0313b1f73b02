internal import HostKernel
internal import HostProbe
internal import LinuxKernel
internal import ModelDialects
internal import SandboxPlan
public import Workspace

extension ExperimentInputs {
    /// The coding agent's program, and what its sandbox is given beside the policy.
    public struct CodingAgentFiles: Sendable {
        /// Program and arguments.
        public let command: [String]
        /// Program and arguments after a restart.
        public let continueCommand: [String]
        /// Files below `/work/.coding-agent`.
        public let files: [BenchmarkFiles.NamedBytes]
        /// The name shown to people.
        public let name: String
        /// Variables beside the policy's, or in their place.
        public let environment: [String: String]
        /// Paths of the host that are shown read-only at their own place.
        public let reads: [String]
        /// Its home, where its transcript lies.
        public let home: String
        /// What is kept of it at its end, if anything.
        public let transcript: CodingAgentProfile.Transcript?
        /// Whether it is started again when it ends.
        public let restart: CodingAgentProfile.Restart
        /// The longest that it may be silent; absent for no limit beside the policy's.
        public let idle: Duration?
    }
}

extension ExperimentInputs.CodingAgentFiles {
    /// Reads what the configuration says, as root.
    init(
        _ config: ExperimentConfig,
        _ installation: Installation,
        _ python: PythonInterpreter
    ) throws(SupervisorError) {
        switch config.codingAgent.program {
        case .command(let command):
            self.init(command: command, settings: config.codingAgent)
        case .profile(let name):
            let files = try ProfileFiles(named: name, installation)
            let found = try AgentsCache(config.sandbox.agents).find(files.profile)
            let launch = try workspace { () throws(WorkspaceError) in
                try CodingAgentLaunch(
                    files.profile,
                    found: found,
                    pin: config.models.pin(of: .codingAgent),
                    port: NetworkView.port
                )
            }
            self.init(files, launch, settings: config.codingAgent, python)
        }
    }

    /// A command of the operator's, without a profile.
    private init(command: [String], settings: CodingAgentSettings) {
        self.command = command
        continueCommand = command
        files = []
        name = "command"
        environment = [:]
        reads = []
        home = "/home/agent"
        transcript = nil
        restart = settings.restarts.map(CodingAgentProfile.Restart.none.limited) ?? .none
        idle = settings.idle
    }

    private init(
        _ files: ProfileFiles,
        _ launch: CodingAgentLaunch,
        settings: CodingAgentSettings,
        _ python: PythonInterpreter
    ) {
        func adapted(_ command: [String]) -> [String] {
            command.map { $0 == "/usr/bin/python3" && !python.liesUnderUsr ? python.path : $0 }
        }
        let profile = files.profile
        command = adapted(launch.command)
        continueCommand = adapted(launch.continueCommand)
        self.files = files.all(launch)
        name = profile.name
        environment = launch.environment
        reads = launch.reads
        home = profile.home
        transcript = profile.transcript
        restart = settings.restarts.map(profile.restart.limited) ?? profile.restart
        idle = settings.idle ?? profile.idle
    }
}

/// A profile that ships, with the bytes of its files.
public struct ProfileFiles: Sendable {
    /// What it says.
    public let profile: CodingAgentProfile
    private let files: [BenchmarkFiles.NamedBytes]

    private static let folder = "templates/coding-agents"

    /// Reads a profile.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - installation: where templates lie.
    /// - Throws: ``SupervisorError`` where none of this name ships, or with what is wrong with it.
    public init(named name: String, _ installation: Installation) throws(SupervisorError) {
        let folder = "\(Self.folder)/\(name)"
        guard !name.contains("/"), installation.has("\(folder)/profile.yaml") else {
            throw SupervisorError(
                .usage,
                operation: "find the coding agent's profile",
                location: name.contains("/") ? "a path" : name,
                reason: "none of this name ships",
                remedy: "name one of: \(try Self.names(installation).joined(separator: ", "))"
            )
        }
        let text = try installation.contents(of: "\(folder)/profile.yaml")
        profile = try workspace { () throws(WorkspaceError) in
            try CodingAgentProfile(parsing: text, file: "\(folder)/profile.yaml")
        }
        var files: [BenchmarkFiles.NamedBytes] = []
        for path in profile.files {
            let bytes = try installation.contents(of: "\(folder)/\(path.text)")
            files.append(.init(name: path.text, bytes: bytes))
        }
        self.files = files
    }

    /// The names of all profiles that ship, sorted.
    ///
    /// - Parameter installation: where templates lie.
    /// - Returns: the names.
    /// - Throws: ``SupervisorError``.
    public static func names(_ installation: Installation) throws(SupervisorError) -> [String] {
        let path = "\(installation.resources)/\(folder)"
        let names = try system("list coding agents", path) { () throws(SystemError) in
            try Descriptor.open(path, [.read, .directory]).entries()
        }
        return names.filter { installation.has("\(folder)/\($0)/profile.yaml") }.sorted()
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
}
