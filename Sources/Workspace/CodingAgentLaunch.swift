public import ModelDialects

/// What a coding sandbox is given of a profile, every variable replaced.
///
/// Files lie read-only below `/work/.coding-agent`. Those of the home lie there as well, and a start
/// script copies them: a home is made anew for each sandbox, and belongs to the program.
public struct CodingAgentLaunch: Sendable, Equatable {
    /// Program and arguments.
    public let command: [String]
    /// Program and arguments after a restart.
    public let continueCommand: [String]
    /// The program alone, which says its version and ends.
    public let versionCommand: [String]
    /// Variables beside the policy's, or in their place.
    public let environment: [String: String]
    /// The texts of files below `/work/.coding-agent`, besides those of the profile's directory.
    public let texts: [BeneathPath: String]
    /// Paths of the host to show read-only at their own place, sorted.
    public let reads: [String]
    /// Those among them that the profile itself names: neither its package nor that one's Python.
    public let named: [String]
    /// Whether its standard streams are a terminal.
    public let hasTerminal: Bool

    /// Where a profile's files lie in the sandbox.
    public static let folder = "/work/.coding-agent"

    private static let homeFolder = "home"
    private static let startName = "start"

    /// A program as it was found on this host.
    public struct Found: Sendable, Equatable {
        /// The program's path.
        public let executable: String
        /// The package's directory; absent for a program outside the cache.
        public let package: String?
        /// Where the Python lies that the package runs on; absent below /usr, which every sandbox shows.
        public let python: String?

        /// Names a program.
        ///
        /// - Parameters:
        ///   - executable: its absolute path.
        ///   - package: the directory of its package, if it has one.
        ///   - python: the prefix of the package's Python where that lies outside /usr.
        public init(executable: String, package: String?, python: String? = nil) {
            self.executable = executable
            self.package = package
            self.python = python
        }
    }

    /// Fills a profile in.
    ///
    /// - Parameters:
    ///   - profile: the profile.
    ///   - found: its program on this host; absent for a profile that names none.
    ///   - pin: the model of the role `coding-agent`; absent where it has none.
    ///   - port: the port of the model's endpoint in the sandbox.
    /// - Throws: ``WorkspaceError/setting(operation:location:reason:remedy:)`` where the profile asks a
    ///   model and there is none, or in a dialect that the upstream does not speak.
    public init(
        _ profile: CodingAgentProfile,
        found: Found?,
        pin: ModelPin?,
        port: UInt16
    ) throws(WorkspaceError) {
        try Self.check(profile, pin)
        let values = Values(profile: profile, found: found, pin: pin, port: port)
        func filled(_ words: [String]) -> [String] { words.map(values.filled) }
        var texts = profile.workTexts.mapValues(values.filled)
        var start: [String] = []
        if !profile.homeTexts.isEmpty {
            for (path, text) in profile.homeTexts {
                texts[try BeneathPath("\(Self.homeFolder)/\(path.text)")] = values.filled(text)
            }
            texts[try BeneathPath(Self.startName)] = Self.startScript
            start = ["/bin/sh", "\(Self.folder)/\(Self.startName)"]
        }
        self.texts = texts
        command = start + filled(profile.command)
        continueCommand = start + filled(profile.continueCommand ?? profile.command)
        let program = found?.executable ?? profile.command.first.map(values.filled) ?? ""
        versionCommand = start + [program] + filled(profile.versionArguments)
        var environment = profile.environment.mapValues(values.filled)
        environment["HOME"] = profile.home
        self.environment = environment
        var named = Set(filled(profile.reads))
        if found?.package == nil, let path = found?.executable, !path.hasPrefix("/usr/") {
            named.insert(path)
        }
        self.named = named.sorted()
        reads = named.union([found?.package, found?.python].compactMap { $0 }).sorted()
        hasTerminal = profile.hasTerminal
    }

    private static let startScript = """
        # Puts the profile's files into the home, then becomes the coding agent.
        cp -R \(folder)/\(homeFolder)/. "$HOME" || exit 70
        exec "$@"

        """

    private static func check(
        _ profile: CodingAgentProfile,
        _ pin: ModelPin?
    ) throws(WorkspaceError) {
        let dialects = profile.dialects
        guard !dialects.isEmpty else { return }
        guard let pin else {
            throw .setting(
                operation: "start the coding agent",
                location: "coding_agent.profile \(profile.name)",
                reason: "it asks a model, and the role coding-agent has none",
                remedy: "add models.upstreams and models.roles.coding-agent: {upstream: NAME,"
                    + " model: NAME} to experiment_config.yaml"
            )
        }
        guard pin.dialects.contains(where: dialects.contains) else {
            let spoken = pin.dialects.map(\.rawValue).joined(separator: ", ")
            throw .setting(
                operation: "start the coding agent",
                location: "coding_agent.profile \(profile.name)",
                reason: "it speaks \(dialects.map(\.rawValue).joined(separator: " and ")),"
                    + " its upstream \(spoken)",
                remedy: "name an upstream of \(dialects.count == 1 ? "this dialect" : "one")"
                    + " in models.roles.coding-agent, or add the dialect to the upstream if its"
                    + " provider speaks it"
            )
        }
    }
}

/// What variables stand for.
private struct Values {
    let profile: CodingAgentProfile
    let found: CodingAgentLaunch.Found?
    let pin: ModelPin?
    let port: UInt16

    // What the provider is asked for is decided outside; a program only needs to say something.
    private static let effortUnlessNamed = "medium"

    func filled(_ text: String) -> String {
        CodingAgentVariables.replaced(in: text) { name in value(of: name) }
    }

    private func value(of name: CodingAgentVariables.Name) -> String? {
        let seconds = profile.clientTimeout.wholeMilliseconds / 1000
        return switch name {
        case .executable: found?.executable
        case .package: found?.package
        case .task: profile.task
        case .home: profile.home
        case .agentFiles: CodingAgentLaunch.folder
        case .modelEndpoint: "http://127.0.0.1:\(port)"
        case .model: pin?.alias ?? pin?.model
        case .effort: pin?.effort ?? Self.effortUnlessNamed
        case .clientTimeoutSeconds: "\(seconds)"
        case .clientTimeoutMilliseconds: "\(profile.clientTimeout.wholeMilliseconds)"
        }
    }
}
