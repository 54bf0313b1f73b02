internal import HostKernel
internal import HostProbe
internal import LinuxKernel
internal import ModelDialects
internal import SandboxPlan
internal import StrictYAML
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
        /// Whether its standard streams are a terminal.
        public let hasTerminal: Bool
        /// Where its profile says so; absent for a command.
        let origin: ProfileOrigin?
        /// Where its profile lies, and the digest of its files; absent for one that ships.
        let own: (directory: String, digest: String)?
    }
}

extension ExperimentInputs.CodingAgentFiles {
    /// Reads what the configuration says, as root.
    ///
    /// - Parameters:
    ///   - config: the configuration.
    ///   - owner: whose it is: what it names is opened with this user's rights.
    ///   - installation: where templates lie.
    ///   - python: the interpreter of the experiment.
    /// - Throws: ``SupervisorError``.
    init(
        _ config: ExperimentConfig,
        of owner: FileRights,
        _ installation: Installation,
        _ python: PythonInterpreter
    ) throws(SupervisorError) {
        switch config.codingAgent.program {
        case .command(let command):
            self.init(command: command, settings: config.codingAgent)
        case .profile(let name):
            let files = try ProfileFiles(named: name, installation, namedBy: owner)
            let found = try AgentsCache(config.sandbox.agents).find(files)
            let launch = try workspace { () throws(WorkspaceError) in
                try CodingAgentLaunch(
                    files.profile,
                    found: found,
                    pin: config.models.pin(of: .codingAgent),
                    port: NetworkView.port
                )
            }
            if config.sandbox.agents != nil {
                try files.requireReach(of: launch.reads, by: owner)
            } else if files.place == .directory {
                try files.requireReach(of: launch.named, by: owner)
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
        hasTerminal = false
        origin = nil
        own = nil
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
        hasTerminal = launch.hasTerminal
        origin = files.origin
        own = files.digest.map { (files.directory, $0) }
    }
}
