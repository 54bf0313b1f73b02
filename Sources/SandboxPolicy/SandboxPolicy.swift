// SandboxPolicy: policy documents as values, their lint, their resolution into plans, their explanation.

public import SandboxPlan
public import SeccompCompiler
public import StrictYAML

/// What an administrator wrote about one kind of sandbox, read and checked but not yet resolved
/// against a host.
public struct SandboxPolicy: Sendable, Equatable {
    /// The document it was read from.
    public let file: String
    /// The policy's name.
    public let name: String
    /// What the payload is.
    public let role: SandboxRole
    /// The assurance level below which a host must refuse.
    public let assurance: AssuranceLevel
    /// What `/` is inside.
    public let root: PolicyRoot
    /// Mounts in the order of the document.
    public internal(set) var mounts: [PolicyMount]
    /// What of the writable tree is kept, and how it is shown; of a coding policy only.
    public let surface: Surface
    /// What `/proc` shows.
    public let proc: PolicyProc
    /// Device nodes.
    public let devices: [DeviceName]
    /// Environment variables, sorted by name; values may contain variables.
    public let environment: [Placed<EnvironmentVariable>]
    /// The payload's working directory.
    public let workingDirectory: InsidePath
    /// Program and arguments; empty when the launch names them.
    public let command: [String]
    /// How standard streams are connected.
    public let streams: StreamMode
    /// What of a network there is.
    public let network: NetworkView
    /// Resource limits.
    public let limits: SandboxLimits
    /// Socket families that may be made.
    public let sockets: [SocketFamily]
    /// Allowed system calls.
    public internal(set) var syscalls: PolicySyscalls
    /// The lowest Landlock ABI accepted.
    public let minimumABI: UInt8
    /// Whether what Landlock refuses becomes audit records of the host.
    public let logsLandlock: Bool
    /// Descriptors above 2.
    public let descriptors: [DescriptorSlot]
    /// Why it allows what needs a reason.
    public internal(set) var because: Justifications
    /// Where each top-level key stands, for errors found later.
    public let places: [String: DocumentPlace]

    /// Where a top-level key stands; the first line when the document does not have it.
    public func place(of key: String) -> DocumentPlace {
        places[key] ?? DocumentPlace(line: 1, key: key)
    }

    /// The policy with more of the host shown, read-only, each path at its own place; one that is
    /// missing is among ``ResolvedPolicy/missingSources``.
    public func showing(_ paths: [String]) -> SandboxPolicy {
        var policy = self
        policy.mounts += paths.map {
            PolicyMount(
                source: .host($0),
                target: $0,
                access: .readOnly,
                isExecutable: true,
                isOptional: true,
                place: place(of: "mounts")
            )
        }
        let reason = "the experiment's configuration shows it"
        policy.because.add(reason, forMountsAt: paths, place(of: "mounts"))
        return policy
    }
}

/// What `/` is made of.
public enum PolicyRoot: Sendable, Equatable {
    /// A tree that the supervisor filled.
    case tree
    /// A private tmpfs with these entries.
    case skeleton([SkeletonEntry])
}

/// One mount of a policy.
public struct PolicyMount: Sendable, Equatable {
    /// What is mounted.
    public let source: PolicyMountSource
    /// Where it appears inside; may contain variables.
    public let target: String
    /// Whether the payload may write to it.
    public let access: MountAccess
    /// Whether programs on it may be executed.
    public let isExecutable: Bool
    /// Whether a missing source, or one that an earlier mount shows already, drops the mount.
    public let isOptional: Bool
    /// Where it is said.
    public let place: DocumentPlace
}

/// What a mount of a policy shows.
public enum PolicyMountSource: Sendable, Equatable {
    /// A host path; may contain variables.
    case host(String)
    /// The split of the vault that the exam is about.
    case vaultSplit
    /// A tree of the launch request.
    case tree(UInt8)
    /// A private tmpfs.
    case tmpfs(size: ByteCount, inodes: UInt32)
}

/// What a policy says about `/proc`.
public enum PolicyProc: String, Sendable, Equatable, CaseIterable {
    /// Nothing: an empty directory.
    case none
    /// Processes of the sandbox only.
    case pidOnly = "pid-only"
    /// A full procfs with constant files over the host's counters.
    case masked
}

/// What a policy says about system calls, besides sockets.
public struct PolicySyscalls: Sendable, Equatable {
    /// Named groups.
    public let groups: [Placed<String>]
    /// Single rules beside the groups.
    public let allow: [Placed<SyscallRule>]
    /// Calls taken out of the groups again.
    public let refuse: [Placed<String>]
}

/// A named list of system calls with the reason why a payload gets them.
public struct SyscallGroup: Sendable, Equatable {
    /// The group's name.
    public let name: String
    /// Why a payload gets these calls.
    public let reason: String
    /// The calls, each with where it stands.
    public let rules: [Placed<SyscallRule>]
    /// The document it was read from.
    public let file: String
}
