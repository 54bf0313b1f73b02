internal import SandboxPlan

/// Attacks with kernel keyrings.
enum KeyProbes {
    static let all: [Probe] = [
        ("add", "adds a key", Wall.layer(.filter), "EPERM"),
        ("request", "asks for a key", .layer(.filter), "EPERM"),
        ("join-session", "joins a session keyring", .layer(.filter), "EPERM"),
        ("list", "lists keys", .layer(.pid), "ENOENT"),
        ("count", "counts keys", .layer(.pid), "ENOENT"),
    ].map { name, title, wall, error in
        Probe(
            "keys.\(name)",
            title,
            threat: "a key outlives the sandbox and is found by the next one",
            wall,
            .high,
            .everywhere,
            .refused(error),
            exceptions: wall == .layer(.pid) ? KernelFileProbes.covered : [:]
        )
    }
}

/// Attacks through System V and POSIX objects.
enum ObjectProbes {
    static let all: [Probe] = [
        ("host-memory", "opens shared memory of the host"),
        ("host-queue", "opens a message queue of the host"),
        ("host-semaphore", "opens a semaphore of the host"),
        ("host-posix-queue", "opens a POSIX queue of the host"),
        ("new-memory", "makes shared memory"),
        ("new-queue", "makes a message queue"),
        ("count-objects", "counts shared memory"),
    ].map { name, title in
        Probe(
            "ipc.\(name)",
            title,
            threat: "an object outlives the sandbox and is found by the next one",
            .layer(.filter),
            .high,
            .everywhere,
            .refused("EPERM")
        )
    }
}
