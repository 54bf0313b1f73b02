internal import SandboxPlan

/// Attacks on settings and counters of the kernel.
enum KernelFileProbes {
    static let all: [Probe] =
        settings + requests + counters + pressure + system + own + listed + network

    /// What meets with nothing where procfs has processes only, and with a cover where it has more.
    static let covered: [SandboxRole: Set<Answer>] = [.coding: [.absent]]

    private static func hidden(
        _ names: [(String, String)],
        _ threat: String,
        _ severity: Severity,
        _ wall: Wall,
        _ exceptions: [SandboxRole: Set<Answer>] = [:]
    ) -> [Probe] {
        names.map { name, path in
            Probe(
                "kernel-files.\(name)",
                "opens \(path)",
                threat: threat,
                wall,
                severity,
                .everywhere,
                .refused("ENOENT"),
                exceptions: exceptions
            )
        }
    }

    private static let settingThreat =
        "the kernel runs a program, or does a thing, for whoever writes there"

    private static let settings = hidden(
        [
            ("core-pattern", "/proc/sys/kernel/core_pattern"),
            ("modprobe", "/proc/sys/kernel/modprobe"),
            ("hotplug", "/proc/sys/kernel/hotplug"),
            ("binary-formats", "/proc/sys/fs/binfmt_misc/register"),
            ("last-process", "/proc/sys/kernel/ns_last_pid"),
            ("cache-drop", "/proc/sys/vm/drop_caches"),
        ],
        settingThreat,
        .critical,
        .layer(.pid)
    )

    private static let requests = hidden(
        [("system-requests", "/proc/sysrq-trigger")],
        settingThreat,
        .critical,
        .layer(.pid),
        [.coding: [.refused("EACCES")]]
    )

    private static let counterThreat =
        "a number of the whole host: one sandbox moves it, the next reads it"

    private static let pressure = hidden(
        [("pressure", "/proc/pressure/cpu")],
        counterThreat,
        .high,
        .layer(.pid)
    )

    private static let counters = hidden(
        [
            ("kernel-memory", "/proc/kcore"), ("symbols", "/proc/kallsyms"),
            ("configuration", "/proc/config.gz"), ("kernel-log", "/proc/kmsg"),
            ("timers", "/proc/timer_list"), ("statistics", "/proc/stat"),
            ("memory", "/proc/meminfo"), ("paging", "/proc/vmstat"), ("load", "/proc/loadavg"),
            ("disks", "/proc/diskstats"), ("interrupts", "/proc/interrupts"),
            ("softirqs", "/proc/softirqs"), ("uptime", "/proc/uptime"), ("locks", "/proc/locks"),
            ("slabs", "/proc/slabinfo"),
            ("command-line", "/proc/cmdline"), ("swap", "/proc/swaps"),
        ],
        counterThreat,
        .high,
        .layer(.pid),
        covered
    )

    private static let system =
        hidden(
            [
                ("uevent-helper", "/sys/kernel/uevent_helper"), ("power-state", "/sys/power/state"),
                ("release-agent", "/sys/fs/cgroup/cgroup.procs"), ("thermal", "/sys/class/thermal"),
                ("frequency", "/sys/devices/system/cpu/cpu0"), ("debug", "/sys/kernel/debug"),
            ],
            "settings and sensors of the host",
            .high,
            .named("no sysfs")
        )

    private static let listed: [Probe] = [
        Probe(
            "kernel-files.connections",
            "looks for a socket of the host's in /proc/self/net/unix",
            threat: "sockets of others are listed",
            .layer(.network),
            .medium,
            .everywhere,
            .absent
        )
    ]

    private static let network: [Probe] = [
        ("packets", "/proc/self/net/softnet_stat"), ("socket-memory", "/proc/self/net/sockstat"),
        ("protocols", "/proc/self/net/protocols"), ("addresses", "/proc/self/net/stat/rt_cache"),
        ("thread-packets", "/proc/thread-self/net/softnet_stat"),
    ].map { name, path in
        Probe(
            "kernel-files.\(name)",
            "opens \(path)",
            threat: counterThreat,
            .layer(.netFiles, with: .network),
            .high,
            .everywhere,
            .refused("EACCES")
        )
    }

    private static let own: [Probe] = [
        ("own-name", "/proc/self/comm"), ("own-score", "/proc/self/oom_score_adj"),
        ("own-references", "/proc/self/clear_refs"),
        ("own-dump-filter", "/proc/self/coredump_filter"),
    ].map { name, path in
        Probe(
            "kernel-files.\(name)",
            "opens \(path) for writing",
            threat: "kernel code for settings of a process is reached",
            .layer(.landlock, with: .readOnlyMounts),
            .low,
            .everywhere,
            .refused("EACCES")
        )
    }
}
