internal import SandboxPlan

/// Attacks on settings and counters of the kernel.
enum KernelFileProbes {
    static let all: [Probe] = settings + counters + system + own

    private static func hidden(
        _ names: [(String, String)],
        _ threat: String,
        _ severity: Severity,
        _ wall: Wall
    ) -> [Probe] {
        names.map { name, path in
            Probe(
                "kernel-files.\(name)",
                "opens \(path)",
                threat: threat,
                wall,
                severity,
                .everywhere,
                .refused("ENOENT")
            )
        }
    }

    private static let settings = hidden(
        [
            ("core-pattern", "/proc/sys/kernel/core_pattern"),
            ("modprobe", "/proc/sys/kernel/modprobe"),
            ("hotplug", "/proc/sys/kernel/hotplug"),
            ("system-requests", "/proc/sysrq-trigger"),
            ("binary-formats", "/proc/sys/fs/binfmt_misc/register"),
            ("last-process", "/proc/sys/kernel/ns_last_pid"),
            ("cache-drop", "/proc/sys/vm/drop_caches"),
        ],
        "the kernel runs a program, or does a thing, for whoever writes there",
        .critical,
        .layer(.pid)
    )

    private static let counters = hidden(
        [
            ("kernel-memory", "/proc/kcore"), ("symbols", "/proc/kallsyms"),
            ("configuration", "/proc/config.gz"), ("kernel-log", "/proc/kmsg"),
            ("timers", "/proc/timer_list"), ("statistics", "/proc/stat"),
            ("memory", "/proc/meminfo"), ("paging", "/proc/vmstat"), ("load", "/proc/loadavg"),
            ("disks", "/proc/diskstats"), ("interrupts", "/proc/interrupts"),
            ("softirqs", "/proc/softirqs"), ("pressure", "/proc/pressure/cpu"),
            ("uptime", "/proc/uptime"), ("locks", "/proc/locks"), ("slabs", "/proc/slabinfo"),
            ("command-line", "/proc/cmdline"), ("swap", "/proc/swaps"),
        ],
        "a number of the whole host: one sandbox moves it, the next reads it",
        .high,
        .layer(.pid)
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
        + hidden(
            [("connections", "/proc/net/unix")],
            "sockets of others are listed",
            .medium,
            .layer(.pid)
        )

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
