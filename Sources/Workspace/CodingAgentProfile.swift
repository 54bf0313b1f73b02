public import ModelDialects
public import StrictYAML

/// What a coding agent's `profile.yaml` says: the program that edits the candidate, and what it needs.
///
/// Texts may hold variables; ``CodingAgentLaunch`` has them replaced.
public struct CodingAgentProfile: Sendable, Equatable {
    /// The profile's name.
    public let name: String
    /// The version, from 1.
    public let version: Int
    /// One line for people.
    public let title: String
    /// The program that must be installed; absent where the command names what every host has.
    public let executable: Executable?
    /// The arguments with which the program says its version and ends.
    public let versionArguments: [String]
    /// The files of the profile that are shown read-only below `/work/.coding-agent`, sorted.
    public let files: [BeneathPath]
    /// Texts below `/work/.coding-agent`, with variables.
    public let workTexts: [BeneathPath: String]
    /// Texts that are copied into its home before it starts, with variables.
    public let homeTexts: [BeneathPath: String]
    /// The program and its arguments, with variables; the first word becomes an absolute path.
    public let command: [String]
    /// What is started in place of the command after a restart; absent for the command itself.
    public let continueCommand: [String]?
    /// The directory in which it is started, an absolute path in the sandbox.
    public let directory: String
    /// Its home, an absolute path in the sandbox.
    public let home: String
    /// Variables beside the policy's, or in their place, with variables in their values.
    public let environment: [String: String]
    /// Further paths of the host that it may read, with variables; shown at their own place.
    public let reads: [String]
    /// Where the profile says so, for what the host is found to lack.
    public let readsPlace: DocumentPlace
    /// The forms in which it can ask a model, the first preferred; empty for a program that asks none.
    ///
    /// Its upstream has to speak one of them.
    public let dialects: [Dialect]
    /// Whether its standard streams are a terminal of its sandbox's own.
    public let hasTerminal: Bool
    /// What it is told to do; empty where the program knows.
    public let task: String
    /// What is kept of it at its end, if anything.
    public let transcript: Transcript?
    /// Whether it is started again when it ends.
    public let restart: Restart
    /// The longest that it may be silent; absent for no limit beside the policy's.
    public let idle: Duration?
    /// How long its own client waits for one answer; longer than an exam, during which it is frozen.
    public let clientTimeout: Duration

    /// A program that must be installed.
    public enum Executable: Sendable, Equatable {
        /// An absolute path on the host, which the sandbox shows.
        case path(String)
        /// A program of a package in the cache of agents, `PACKAGE/bin/NAME`.
        case packaged(name: String, package: String)
    }

    /// What is kept of a session.
    public struct Transcript: Sendable, Equatable {
        /// A file or directory in its home.
        public let path: BeneathPath
        /// The most bytes that are kept.
        public let limit: Int
    }

    /// Whether a program is started again when it ends before the run does.
    public struct Restart: Sendable, Equatable {
        /// After which end.
        public let after: After
        /// How often in one run.
        public let limit: Int
        /// How long it waits before.
        public let pause: Duration

        /// The rule with another limit; none at all where that is 0.
        ///
        /// - Parameter count: how often in one run.
        /// - Returns: the rule; one that knew no restart has one after failures.
        public func limited(to count: Int) -> Restart {
            Restart(
                after: count == 0 ? .never : after == .never ? .failure : after,
                limit: count,
                pause: pause
            )
        }

        /// Never again.
        public static let none = Restart(after: .never, limit: 0, pause: .seconds(5))

        /// After which end a program is started again.
        public enum After: String, Sendable, CaseIterable {
            /// After none: its end is the run's.
            case never
            /// After an exit status other than 0, or a signal.
            case failure
            /// After any.
            case anyEnd = "any-end"
        }
    }
}
