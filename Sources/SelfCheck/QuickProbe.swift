// SelfCheck: shows by doing what the sandboxes of this host enforce, quickly enough for every sealed exam.
//
// An honest program of ours is started under the plans that an exam is about to use, and says what it
// finds; what must be there is judged here, outside. `redteam` attacks instead, and takes minutes.

public import SandboxPlan

/// One wall of a sandbox that is looked at before every sealed exam; named as its layer is, where a
/// test-only build can leave it out.
public enum QuickProbe: String, Sendable, CaseIterable {
    /// User, mount, host-name and control-group namespaces are not the host's.
    case namespaces
    /// The network namespace is not the host's, and has loopback only.
    case network
    /// Of the files of `/proc/self/net` only those open that count nothing of the host's.
    case netFiles = "net-files"
    /// The namespace of System V and POSIX messages is not the host's.
    case ipc
    /// The process namespace is not the host's, the parent is its init, and procfs shows nothing else.
    case pid
    /// The payload has a user namespace below init's, with one id.
    case payloadNamespace = "payload-namespace"
    /// No capability, an empty bounding set, locked securebits, no_new_privs.
    case capabilities
    /// The filter answers as it must, foreign tables are killed.
    case filter
    /// Landlock refuses what no mount flag refuses.
    case landlock
    /// Nothing is mounted but what the plan lists, and no state is to be seen.
    case privateRoot = "private-root"
    /// Every mount has the flags of the plan.
    case readOnlyMounts = "read-only-mounts"
    /// No descriptor is open but those of the plan.
    case descriptors
    /// Of what takes numbers of the host, no more is given out than the plan allows.
    case objects
    /// The control group refuses one process more than the plan allows; core dumps are off.
    case limits
    /// A frozen sandbox does nothing, and goes on when it is thawed.
    case freeze
    /// A frozen sandbox dies when it is killed, and the next one starts in a fresh group.
    case kill

    /// Whether a level promises this wall: without a control group of its own a sandbox has no freezer,
    /// and limits of single processes; without a second user its payload owns the files of its network.
    public func stands(at level: AssuranceLevel) -> Bool {
        switch self {
        case .limits, .freeze, .kill, .netFiles: level >= .delegated
        case .namespaces, .network, .ipc, .pid, .payloadNamespace, .capabilities, .filter,
            .landlock,
            .privateRoot, .readOnlyMounts, .descriptors, .objects:
            level >= .singleUID
        }
    }

    /// What must be there, in a few words.
    public var title: String {
        switch self {
        case .namespaces: "namespaces of its own"
        case .network: "a network of its own, with loopback only"
        case .netFiles: "no counter of the host's network"
        case .ipc: "System V and POSIX messages of its own"
        case .pid: "processes of its own"
        case .payloadNamespace: "a second user namespace, which locks mount flags"
        case .capabilities: "no capability, and no way to one"
        case .filter: "the system-call filter"
        case .landlock: "Landlock"
        case .privateRoot: "a private root without any state"
        case .readOnlyMounts: "mount flags as planned"
        case .descriptors: "only the listed descriptors"
        case .objects: "a limit of pipes, sockets and memory files"
        case .limits: "limits of the control group"
        case .freeze: "a freezer that stops and lets go"
        case .kill: "a frozen sandbox can be killed"
        }
    }

    /// What to do where it is missing.
    public var cure: String {
        switch self {
        case .namespaces, .payloadNamespace:
            "sysctl -w user.max_user_namespaces=15000 and, where it exists, "
                + "kernel.unprivileged_userns_clone=1; boot a kernel with CONFIG_USER_NS=y"
        case .network: "boot a kernel with CONFIG_NET_NS=y; raise user.max_net_namespaces"
        case .ipc: "boot a kernel with CONFIG_IPC_NS=y; raise user.max_ipc_namespaces"
        case .pid: "boot a kernel with CONFIG_PID_NS=y; raise user.max_pid_namespaces"
        case .filter:
            "boot a kernel with CONFIG_SECCOMP_FILTER=y, and run `invigilator policy check`"
        case .landlock: "boot Linux 6.12 or newer with landlock in front of the list lsm="
        case .limits:
            "mount -t cgroup2 none /sys/fs/cgroup with memory, pids and cpu in "
                + "cgroup.subtree_control, and lower limits.processes if it is above kernel.threads-max"
        case .freeze, .kill:
            "mount -t cgroup2 none /sys/fs/cgroup, or the version 1 controller freezer, writable for "
                + "root; in a container, give it a control-group file system of its own"
        case .capabilities, .privateRoot, .readOnlyMounts, .descriptors, .objects, .netFiles:
            "install all programs of one build (`make install`); if it stays, report this"
        }
    }
}

/// What one probe came to in one sandbox.
public struct QuickFinding: Sendable, Equatable {
    /// Whether the wall stands.
    public enum State: Sendable, Equatable {
        /// It was seen to.
        case enforced
        /// It was seen not to; why.
        case missing(String)
        /// Nothing was seen; why.
        case unknown(String)
    }

    /// The probe.
    public let probe: QuickProbe
    /// The sandbox.
    public let role: SandboxRole
    /// Whether the wall stands.
    public let state: State
    /// What was done and seen.
    public let evidence: String

    /// Creates a finding.
    public init(_ probe: QuickProbe, _ role: SandboxRole, _ state: State, evidence: String) {
        self.probe = probe
        self.role = role
        self.state = state
        self.evidence = evidence
    }

    /// Why the wall is not known to stand; nothing where it does.
    public var shortfall: String? {
        switch state {
        case .enforced: nil
        case .missing(let reason), .unknown(let reason): reason
        }
    }
}

extension [QuickFinding] {
    /// A line for each wall that is not known to stand: probe and sandboxes, why, and the cure.
    public var shortfalls: [(probe: QuickProbe, location: String, reason: String)] {
        QuickProbe.allCases.compactMap { probe in
            let missing = filter { $0.probe == probe && $0.shortfall != nil }
            guard let first = missing.first, let reason = first.shortfall else { return nil }
            let roles = missing.map { "\($0.role)" }.joined(separator: ", ")
            return (probe, "probe \(probe.rawValue), sandbox \(roles)", reason)
        }
    }
}
