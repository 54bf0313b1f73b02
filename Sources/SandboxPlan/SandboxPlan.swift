// SandboxPlan: the value that one sandbox is built from, its invariants, its bytes and its digest.

/// Everything the launcher needs to build one sandbox; nothing is decided after this value exists.
///
/// A plan is pure data: it can be printed, compared, encoded, hashed and refused. The launcher
/// checks ``PlanInvariants`` again before it acts, so a plan is never trusted for being a plan.
public struct SandboxPlan: Sendable, Equatable {
    /// The policy's name, 1 to 64 bytes of `[a-z0-9-]`; shown to people, never inside the sandbox.
    public var name: String
    /// What the payload is; most invariants hang on it.
    public var role: SandboxRole
    /// The assurance level below which the host must refuse the launch.
    public var demandedLevel: AssuranceLevel
    /// What `/` is inside.
    public var root: RootSource
    /// Mounts in order; parents before children.
    public var mounts: [PlannedMount]
    /// What `/proc` shows.
    public var proc: ProcView
    /// Device nodes bound from the host's `/dev`, by name.
    public var devices: [DeviceName]
    /// Resource limits.
    public var limits: SandboxLimits
    /// How standard streams are connected.
    public var streams: StreamMode
    /// What of a network there is.
    public var network: NetworkView
    /// The Landlock rule set.
    public var landlock: LandlockPlan
    /// The compiled system-call filter.
    public var filter: SeccompProgram
    /// Of what the filter leaves to init, the calls that it lets through and counts.
    public var counted: [CountedCall]
    /// The complete environment of the payload.
    public var environment: [EnvironmentVariable]
    /// The payload's working directory inside.
    public var workingDirectory: InsidePath
    /// Program and arguments; empty when the caller of a launch names them.
    public var command: [String]
    /// Descriptors above 2 that the payload receives, in ascending order of number.
    public var descriptors: [DescriptorSlot]

    /// Creates a plan from all of its parts.
    public init(
        name: String,
        role: SandboxRole,
        demandedLevel: AssuranceLevel,
        root: RootSource,
        mounts: [PlannedMount],
        proc: ProcView,
        devices: [DeviceName],
        limits: SandboxLimits,
        streams: StreamMode,
        network: NetworkView = .loopback,
        landlock: LandlockPlan,
        filter: SeccompProgram,
        counted: [CountedCall] = [],
        environment: [EnvironmentVariable],
        workingDirectory: InsidePath,
        command: [String],
        descriptors: [DescriptorSlot]
    ) {
        self.name = name
        self.role = role
        self.demandedLevel = demandedLevel
        self.root = root
        self.mounts = mounts
        self.proc = proc
        self.devices = devices
        self.limits = limits
        self.streams = streams
        self.network = network
        self.landlock = landlock
        self.filter = filter
        self.counted = counted
        self.environment = environment
        self.workingDirectory = workingDirectory
        self.command = command
        self.descriptors = descriptors
    }
}

/// The kinds of payload a sandbox can hold.
public enum SandboxRole: UInt8, Sendable, Equatable, CaseIterable {
    /// The untrusted coding agent.
    case coding = 1
    /// One frozen candidate in one rollout.
    case candidate = 2
    /// The benchmark's own code, with one split of the vault.
    case examiner = 3
    /// Our own program between the other sandboxes and models: the only one with the host's network.
    case broker = 4
}

/// What the host was shown to enforce, weakest first.
public enum AssuranceLevel: UInt8, Sendable, Equatable, Comparable, CaseIterable {
    /// No user namespace can be made: checks and dry runs only.
    case noUserNamespace = 0
    /// Rootless with one uid: train and demonstration only.
    case singleUID = 1
    /// Subordinate uids and a delegated control group.
    case delegated = 2
    /// Root or the short capability list, with limits and a freezer that kills what it froze.
    case full = 3

    /// Orders levels by what they enforce.
    public static func < (left: AssuranceLevel, right: AssuranceLevel) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The name used in policies, ledger rows and `doctor`.
    public var name: String {
        switch self {
        case .noUserNamespace: "no-userns"
        case .singleUID: "single-uid"
        case .delegated: "delegated"
        case .full: "full"
        }
    }
}

/// What the sandbox's `/` is made of.
public enum RootSource: Sendable, Equatable {
    /// A tmpfs that the launcher made earlier and the supervisor filled, attached read-only.
    ///
    /// The tree is the first one named in the launch request (index 0).
    case tree
    /// A fresh private tmpfs with these entries, made read-only once every mount is in place.
    case skeleton([SkeletonEntry])
}

/// One thing created in a skeleton root before it is made read-only.
public enum SkeletonEntry: Sendable, Equatable {
    /// An empty directory, mode 0755.
    case directory(InsidePath)
    /// A symbolic link at `path` whose text is `target`.
    case link(path: InsidePath, target: String)
    /// A small regular file, mode 0644, at most 64 KiB.
    case file(path: InsidePath, contents: [UInt8])
}

/// One mount below the root, besides `/proc` and `/dev`, which every sandbox has.
public struct PlannedMount: Sendable, Equatable {
    /// Where it appears inside.
    public var target: InsidePath
    /// What is mounted there.
    public var source: MountSource
    /// Whether the payload may write to it.
    public var access: MountAccess
    /// Whether programs on it may be executed.
    public var isExecutable: Bool

    /// Creates a mount.
    public init(
        target: InsidePath,
        source: MountSource,
        access: MountAccess,
        isExecutable: Bool
    ) {
        self.target = target
        self.source = source
        self.access = access
        self.isExecutable = isExecutable
    }
}

/// What a mount shows.
public enum MountSource: Sendable, Equatable {
    /// A host directory or file, pinned by device and inode.
    case host(PinnedSource)
    /// One split directory of a vault, pinned, shown through an id-mapped mount.
    case vault(PinnedSource)
    /// A tree of the launch request, by index into its list (0 is the root when the root is a tree).
    case tree(index: UInt8)
    /// One regular file of a tree of the launch request, by its path in it; any number of a tree's files,
    /// but never beside the whole tree.
    case treeFile(index: UInt8, path: InsidePath)
    /// A fresh private tmpfs.
    case tmpfs(size: ByteCount, inodes: UInt32)
}

/// A path on the host together with what it was when the plan was made.
///
/// The launcher opens the path without following any symbolic link and refuses when device or
/// inode differ, so a source cannot be swapped between check and launch.
public struct PinnedSource: Sendable, Equatable {
    /// An absolute host path without symbolic links.
    public var path: String
    /// `st_dev` when the plan was made.
    public var device: UInt64
    /// `st_ino` when the plan was made.
    public var inode: UInt64
    /// Whether it is a directory; a regular file otherwise.
    public var isDirectory: Bool

    /// Creates a pinned source.
    public init(path: String, device: UInt64, inode: UInt64, isDirectory: Bool) {
        self.path = path
        self.device = device
        self.inode = inode
        self.isDirectory = isDirectory
    }
}

/// Whether a mount can be written to.
public enum MountAccess: UInt8, Sendable, Equatable {
    /// Refuses every write, with the flag locked against change.
    case readOnly = 0
    /// Accepts writes as far as Landlock and file modes allow.
    case readWrite = 1
}

/// What `/proc` shows inside.
public enum ProcView: Sendable, Equatable {
    /// Nothing: an empty directory.
    case none
    /// Processes of the sandbox only (`subset=pid`, `hidepid=invisible`); see proc(5).
    case pidOnly
    /// The same, and over whatever else a full procfs has a file or directory of this skeleton, or an
    /// empty one: the launcher covers what it finds there, not what somebody listed.
    case masked([SkeletonEntry])
}

/// A device that may be shown inside.
public enum DeviceName: String, Sendable, Equatable, CaseIterable {
    /// Discards writes, reads as empty.
    case null
    /// Reads as zero bytes.
    case zero
    /// Refuses writes with ENOSPC.
    case full
    /// Random bytes.
    case random
    /// Random bytes, never blocking.
    case urandom
}

/// How the payload's standard streams are connected.
public enum StreamMode: UInt8, Sendable, Equatable {
    /// Three pipes that the launcher drains.
    case pipes = 0
    /// A terminal of the sandbox's own devpts.
    case terminal = 1
}

/// What of a network a payload has.
public enum NetworkView: String, Sendable, Equatable, CaseIterable {
    /// A loopback interface of its own, on which nobody else is.
    case loopback
    /// The same, and on ``port`` of 127.0.0.1 a listener of which the supervisor gets the descriptor.
    case endpoint
    /// As ``loopback``, and the listener is the Unix socket ``socketName`` in `/dev`: whoever knows a sealed
    /// task reaches its model without an internet socket, whose ports one table of the kernel hands out to
    /// all sandboxes of the host (net/ipv4/inet_hashtables.c, `table_perturb`).
    case modelSocket = "model-socket"
    /// The host's, which the broker alone has.
    case host

    /// The endpoint's TCP port, the same in each sandbox: a number that varied would tell something.
    public static let port: UInt16 = 8377
    /// The endpoint's name in `/dev`, where it is a Unix socket.
    public static let socketName = "model"

    /// The files of `/proc/self/net` that a payload can read; each tells of its own network alone.
    ///
    /// The others have mode 0: `softnet_stat` counts the packets of the whole host, `sockstat` and
    /// `protocols` the memory of its sockets, and what another kernel adds is nobody's to vouch for.
    public static let readableFiles = [
        // Its own listeners and connections: test suites look for a free port there.
        "tcp", "tcp6",
        // The same of its own Unix sockets.
        "unix",
        // Interfaces by name: psutil and ifconfig read it, and our own self-check.
        "dev",
        // Whether there is a way out: what looks before it tries finds none.
        "route",
        // Whether ::1 is there: test suites choose by it.
        "if_inet6",
    ]
}

/// One environment variable of the payload.
public struct EnvironmentVariable: Sendable, Equatable {
    /// Letters, digits and underscore, not beginning with a digit.
    public var name: String
    /// Any text without NUL.
    public var value: String

    /// Creates a variable.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// A descriptor above 2 that the payload receives.
public struct DescriptorSlot: Sendable, Equatable {
    /// The number inside, 3 to 31.
    public var number: UInt8
    /// What flows over it.
    public var purpose: DescriptorPurpose

    /// Creates a slot.
    public init(number: UInt8, purpose: DescriptorPurpose) {
        self.number = number
        self.purpose = purpose
    }
}

/// What flows over a descriptor that a payload receives.
public enum DescriptorPurpose: UInt8, Sendable, Equatable {
    /// Length-prefixed frames, both ways.
    case frames = 1
    /// Verdict frames, out of an examiner only.
    case verdicts = 2
    /// Messages with descriptors, both ways, of the broker only.
    case control = 3
}
