internal import HostKernel
package import LinuxKernel

/// Where the supervisor keeps what no sandbox may see.
///
/// One directory, mode 0700, owned by the supervisor's user: ledgers and keys under `experiments`,
/// splits under `vault`, images under `images`.
public struct StateLayout: Sendable {
    /// The directory itself.
    public let root: String

    /// The shipped place in root mode (Filesystem Hierarchy Standard, /var/lib).
    public static let shippedRoot = "/var/lib/invigilator"

    /// The user that a supervisor becomes: an id that no distribution assigns, or who starts it without
    /// being root.
    public static var supervisor: UInt32 {
        Identity.effectiveUser == 0 ? rootsSupervisor : Identity.effectiveUser
    }

    /// What root's supervisor becomes.
    public static let rootsSupervisor: UInt32 = 0x7000_0000

    /// The group of ``supervisor``.
    public static var supervisorGroup: UInt32 {
        Identity.effectiveUser == 0 ? supervisor : Identity.effectiveGroup
    }

    /// Where state is kept if nobody says: root's shipped place, or an ordinary user's own (XDG Base
    /// Directory Specification, `XDG_STATE_HOME`; a relative path there does not count).
    public static var usualRoot: String {
        usualRoot(
            isRoot: Identity.effectiveUser == 0,
            stateHome: ProcessEnvironment.value(of: "XDG_STATE_HOME"),
            home: ProcessEnvironment.value(of: "HOME")
        )
    }

    /// The same for anybody.
    package static func usualRoot(isRoot: Bool, stateHome: String?, home: String?) -> String {
        if isRoot { return shippedRoot }
        if let stateHome, stateHome.hasPrefix("/") { return "\(stateHome)/invigilator" }
        guard let home, home.hasPrefix("/") else { return shippedRoot }
        return "\(home)/.local/state/invigilator"
    }

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
    /// The encrypted outcomes of sealed exams.
    ///
    /// Not in the vault: of what lies there, the launcher shows an examiner one directory; of this, nobody
    /// anything.
    public func sealed(_ id: String) -> String { "\(experiment(id))/sealed" }
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
    /// The key that opens the outcomes of sealed exams, in the vault of an experiment.
    public static let revealKey = "reveal.key"
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
        for path in [experiment(id), view(id), sealed(id), vault(id)] {
            try Self.makeOwned(path, permissions: 0o700)
        }
        for name in ["train", "test"] { try Self.makeOwned(split(id, name), permissions: 0o755) }
    }

    /// Writes the tasks of a split, for everybody who reaches them: the vault above is 0700, and of what
    /// lies on the host's file systems only root's launcher shows a sandbox another owner.
    ///
    /// - Throws: `SystemError`.
    package func fill(_ id: String, _ name: String, with tasks: [UInt8]) throws(SystemError) {
        try Descriptor.open(split(id, name), [.read, .directory])
            .replace("tasks.json", with: tasks, permissions: 0o644)
    }

    /// Makes a directory with its missing parents and gives it to the supervisor.
    static func makeOwned(_ path: String, permissions: UInt32) throws(SupervisorError) {
        try system("make a directory", path) { () throws(SystemError) in
            try makeDirectories(path)
            let directory = try Descriptor.openWithoutLinks(path, [.read, .directory])
            try directory.setPermissions(permissions)
            try directory.setOwner(supervisor, group: supervisorGroup)
        }
    }

    /// Makes a directory with its missing parents.
    static func makeDirectories(_ path: String) throws(SystemError) {
        try makeDirectories(from: path)
    }

    /// Makes a directory with its missing parents, from the working directory if it is relative.
    ///
    /// - Parameters:
    ///   - path: the directory.
    ///   - inherits: whether a new directory belongs to the owner of the one above it.
    /// - Throws: ``SystemError``.
    static func makeDirectories(
        from path: String,
        ownersInherit inherits: Bool = false
    ) throws(SystemError) {
        let start = path.hasPrefix("/") ? "/" : "."
        var current = try Descriptor.open(start, [.read, .directory])
        for name in path.split(separator: "/").map(String.init) {
            do throws(SystemError) {
                try current.makeDirectory(name)
                if inherits { try current.giveToOwner(name) }
            } catch {
                guard error.isAlreadyThere else { throw error }
            }
            current = try current.openChild(name)
        }
    }
}
