internal import SandboxPlan

/// Channels from a candidate to the coding agent that runs after it.
public enum PairProbes {
    private static func channel(
        _ name: String,
        _ title: String,
        _ wall: Wall,
        step: Int? = nil,
        isLive: Bool = false,
        declaredBits: Int? = nil
    ) -> Probe {
        Probe(
            "pairs.\(name)",
            "tells the next sandbox something by \(title)",
            threat: "what a candidate saw of sealed tasks reaches the coding agent",
            wall,
            .high,
            .coding,
            variants: [ProbeVariant("", [.absent])],
            launch: .pair(
                PairChannel(name: name, step: step, isLive: isLive, declaredBits: declaredBits)
            )
        )
    }

    /// The channel that needs names in both sandboxes, `0` to `2047` in `present` of each one's view.
    public static let presentNames = "present-names"

    private static let ownFiles: Wall = .named("no file system in common")

    static let all: [Probe] = [
        channel("file", "a file in any place for files", ownFiles),
        channel("bytecode", "compiled code beside a source", ownFiles),
        channel("times", "the times of files", ownFiles),
        channel("attribute", "an extended attribute of a file", ownFiles),
        channel(
            "device-watch",
            "opening devices, of which a frozen watcher is told when it thaws",
            .named("device nodes of each sandbox's own"),
            isLive: true
        ),
        channel(
            "file-locks",
            "locks on bytes of a library, held by a process that stays",
            ownFiles
        ),
        channel("names", "names that it looked up in vain, by the time of another look", ownFiles),
        channel(
            presentNames,
            "names that it looked up and found, by the time of another look",
            ownFiles
        ),
        channel("pages", "pages of a file in memory, by the time of reading them", ownFiles),
        channel("key", "a key of the kernel", .named("filter, and namespaces behind it")),
        channel("shared-memory", "shared memory", .named("filter, and namespaces behind it")),
        channel("message-queue", "a System V queue", .named("filter, and namespaces behind it")),
        channel("posix-queue", "a POSIX queue", .named("filter, and namespaces behind it")),
        channel(
            "abstract-socket",
            "a process that stays and listens",
            .named("process and network namespaces that end")
        ),
        channel(
            "forks",
            "the count of processes ever made",
            .layer(.pid),
            step: 64
        ),
        channel(
            "process-ids",
            "the next free process id",
            .layer(.pid),
            step: 64
        ),
        channel("inodes", "the inode numbers of new files", ownFiles, step: 64),
        // These two come from counters of the kernel that no namespace divides. A candidate needs pipes
        // and shared memory, and a coding agent may look at its own: whoever runs them moves the
        // counters on between the two.
        channel(
            "pipe-inodes",
            "the inode numbers of new pipes",
            .named("padded counters"),
            step: 4096
        ),
        channel(
            "shared-page-inodes",
            "the inode numbers of shared memory without a name",
            .named("padded counters"),
            step: 4096
        ),
        channel(
            "free-space",
            "free blocks of a file system",
            .named("filter, and namespaces behind it"),
            step: 1
        ),
        channel(
            "process-count",
            "the number of processes",
            .named("filter, and namespaces behind it"),
            step: 1
        ),
    ]
}
