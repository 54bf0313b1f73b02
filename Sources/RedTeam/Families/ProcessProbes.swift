internal import SandboxPlan

/// Attacks on processes.
enum ProcessProbes {
    static let all: [Probe] = host + initial + own

    private static let host: [Probe] = [
        ("signal-host", "signals a host process", "the supervisor is killed or stopped", "ESRCH"),
        ("signal-thread", "signals a host thread", "as above, by another call", "ESRCH"),
        ("queue-signal", "queues a signal to a host process", "as above, by another call", "ESRCH"),
        (
            "see-host", "looks at a host process in procfs", "names and times of other work",
            "ENOENT"
        ),
        ("host-memory", "opens a host process's memory", "gold answers are in it", "ENOENT"),
        (
            "host-environment", "reads a host process's environment", "keys are often in it",
            "ENOENT"
        ),
        (
            "host-descriptors", "lists a host process's descriptors", "each can be reopened",
            "ENOENT"
        ),
        ("host-priority", "asks a host process's priority", "tells which ids are in use", "ESRCH"),
        (
            "host-affinity", "asks a host process's processors", "tells which ids are in use",
            "ESRCH"
        ),
        ("host-limits", "asks a host process's limits", "tells which ids are in use", "ESRCH"),
        ("host-session", "asks a host process's session", "tells which ids are in use", "ESRCH"),
        (
            "host-clock", "reads a host process's CPU clock", "how long others computed: a channel",
            "EINVAL"
        ),
    ].map { name, title, threat, error in
        Probe(
            "processes.\(name)",
            title,
            threat: threat,
            .layer(.pid),
            .high,
            .everywhere,
            .refused(error)
        )
    }

    private static let initial: [Probe] = [
        Probe(
            "processes.signal-init",
            "signals process 1 of its sandbox",
            threat: "a dead or stopped init leaves the sandbox without its keeper",
            .named("init has another user"),
            .high,
            .everywhere,
            .refused("EPERM")
        ),
        Probe(
            "processes.init-program",
            "opens the program of process 1",
            threat: "the launcher's own file is overwritten through it",
            .layer(.pid),
            .critical,
            .everywhere,
            .refused("ENOENT")
        ),
        Probe(
            "processes.init-namespaces",
            "opens a namespace of process 1",
            threat: "a namespace that is entered is left by the other door",
            .layer(.pid),
            .critical,
            .everywhere,
            .refused("ENOENT")
        ),
    ]

    private static func filtered(
        _ name: String,
        _ title: String,
        _ threat: String,
        _ roles: [SandboxRole] = .everywhere,
        _ severity: Severity = .high,
        variants: [String] = [""]
    ) -> Probe {
        Probe(
            "processes.\(name)",
            title,
            threat: threat,
            .layer(.filter),
            severity,
            roles,
            variants: variants.map { ProbeVariant($0, [.refused("EPERM")]) }
        )
    }

    private static let own: [Probe] = [
        filtered("attach-child", "traces its child", "a judge's process is steered"),
        filtered("seize-child", "seizes its child", "a judge's process is steered"),
        filtered("read-child", "reads its child's memory", "a judge's process is read"),
        filtered("write-child", "writes its child's memory", "a judge's process is changed"),
        filtered(
            "compare-child",
            "compares its child's descriptors",
            "kernel addresses leak",
            .everywhere,
            .low
        ),
        filtered("trace-me", "asks to be traced", "what no tracer expects happens"),
        filtered(
            "pidfd",
            "opens a descriptor of itself",
            "each moves a host-wide counter",
            .everywhere,
            .medium
        ),
        filtered(
            "pidfd-of-clone",
            "clones with a descriptor",
            "each moves a host-wide counter",
            .everywhere,
            .medium,
            variants: ["", "high"]
        ),
        filtered(
            "scheduler",
            "changes its scheduling class",
            "others get no time",
            .everywhere,
            .medium
        ),
        filtered(
            "lock-memory",
            "locks memory",
            "memory that cannot be taken back",
            .everywhere,
            .low
        ),
        filtered(
            "own-filter",
            "asks for filters of its own",
            "a filter that notifies sees calls",
            .everywhere,
            .low
        ),
        filtered(
            "personality",
            "makes all memory executable",
            "old binaries' bugs come back",
            .everywhere,
            .low,
            variants: ["", "high"]
        ),
        filtered(
            "host-totals",
            "asks the host's memory and load",
            "a channel between two sandboxes",
            .everywhere,
            .medium
        ),
        Probe(
            "processes.core-dumps",
            "allows itself core dumps",
            threat: "the host's pattern may start a program, or keep what was in memory",
            .named("a hard limit of 0"),
            .medium,
            .everywhere,
            .refused("EPERM")
        ),
    ]
}
