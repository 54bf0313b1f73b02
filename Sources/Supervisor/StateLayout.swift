internal import HostKernel
internal import LinuxKernel

/// Where the supervisor keeps what no sandbox may see.
///
/// One directory, mode 0700, owned by the supervisor's user: ledgers and keys under `experiments`,
/// splits under `vault`, images under `images`.
public struct StateLayout: Sendable {
    /// The directory itself.
    public let root: String

    /// The shipped place in root mode (Filesystem Hierarchy Standard, /var/lib).
    public static let shippedRoot = "/var/lib/invigilator"

    /// The user and group that a supervisor becomes: an id that no distribution assigns.
    public static let supervisor: UInt32 = 0x7000_0000

    /// Names the layout below a directory.
    public init(root: String = shippedRoot) {
        self.root = root
    }

    /// The directory of one experiment.
    public func experiment(_ id: String) -> String { "\(root)/experiments/\(id)" }
    /// The ledger of an experiment.
    public func ledger(_ id: String) -> String { "\(experiment(id))/ledger.sqlite" }
    /// The signing key of an experiment.
    public func key(_ id: String) -> String { "\(experiment(id))/key.ed25519" }
    /// The supervisor's repository of an experiment.
    public func repository(_ id: String) -> String { "\(experiment(id))/repository" }
    /// The traces of train exams, kept for the next run.
    public func view(_ id: String) -> String { "\(experiment(id))/view" }
    /// What the coding agent printed.
    public func agentLog(_ id: String) -> String { "\(experiment(id))/agent.log" }
    /// What the coding agent said to its model, and what it was answered.
    public func agentCalls(_ id: String) -> String { "\(experiment(id))/agent-calls.jsonl" }
    /// What the broker printed.
    public func brokerLog(_ id: String) -> String { "\(experiment(id))/broker.log" }
    /// The socket on which a running supervisor takes commands.
    public func control(_ id: String) -> String { "\(experiment(id))/\(ControlFile.name)" }
    /// All experiments.
    public var experiments: String { "\(root)/experiments" }
    /// All vaults.
    public var vault: String { "\(root)/vault" }
    /// The vault of one experiment.
    public func vault(_ id: String) -> String { "\(root)/vault/\(id)" }
    /// One split of one vault.
    public func split(_ id: String, _ name: String) -> String { "\(vault(id))/\(name)" }
    /// All images.
    public var images: String { "\(root)/images" }

    /// Makes the directories that every experiment shares, as root.
    public func create() throws(SupervisorError) {
        try Self.makeOwned(root, permissions: 0o700)
        for path in [experiments, vault, images] { try Self.makeOwned(path, permissions: 0o700) }
    }

    /// Makes the directories of one experiment, as root.
    public func create(experiment id: String) throws(SupervisorError) {
        for path in [
            experiment(id), view(id), vault(id), split(id, "train"), split(id, "test"),
        ] { try Self.makeOwned(path, permissions: 0o700) }
    }

    /// Makes a directory with its missing parents and gives it to the supervisor.
    static func makeOwned(_ path: String, permissions: UInt32) throws(SupervisorError) {
        try system("make a directory", path) { () throws(SystemError) in
            try makeDirectories(path)
            let directory = try Descriptor.openWithoutLinks(path, [.read, .directory])
            try directory.setPermissions(permissions)
            try directory.setOwner(supervisor, group: supervisor)
        }
    }

    /// Makes a directory with its missing parents.
    static func makeDirectories(_ path: String) throws(SystemError) {
        try makeDirectories(from: path)
    }

    /// Makes a directory with its missing parents, from the working directory if it is relative.
    static func makeDirectories(from path: String) throws(SystemError) {
        let start = path.hasPrefix("/") ? "/" : "."
        var current = try Descriptor.open(start, [.read, .directory])
        for name in path.split(separator: "/").map(String.init) {
            do throws(SystemError) { try current.makeDirectory(name) } catch {
                guard error.isAlreadyThere else { throw error }
            }
            current = try current.openChild(name)
        }
    }
}
