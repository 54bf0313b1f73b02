internal import SandboxPlan

/// The constant files over a full procfs; all else there that is not a process is shown empty.
enum ProcMasks {
    /// Files that tell a sandbox its own limits, and what programs ask for besides.
    ///
    /// Memory is the limit, all of it free. Every hundred percent of `cpu` that is begun is a processor.
    /// The kernel is the oldest that the shipped policies run on.
    static func standard(_ limits: SandboxLimits) -> [SkeletonEntry] {
        let processors = 0..<(limits.cpuPercent + 99) / 100
        let times = " 0 0 0 0 0 0 0 0 0 0\n"
        let free = ["MemTotal", "MemFree", "MemAvailable"]
        let none = ["Buffers", "Cached", "Active", "Inactive", "SwapTotal", "SwapFree", "Shmem"]
        let files: KeyValuePairs = [
            "cmdline": "\n", "loadavg": "0.00 0.00 0.00 1/1 1\n", "uptime": "1.00 1.00\n",
            "cpuinfo": processors.map {
                "processor\t: \($0)\nmodel name\t: sandbox\ncpu MHz\t\t: 1000.000\n"
                    + "physical id\t: 0\ncore id\t\t: \($0)\ncpu cores\t: \(processors.count)\n\n"
            }.joined(),
            "meminfo": free.map { "\($0): \(limits.memory.bytes / 1024) kB\n" }.joined()
                + none.map { "\($0): 0 kB\n" }.joined(),
            "stat": (["cpu "] + processors.map { "cpu\($0)" }).map { $0 + times }.joined()
                + "ctxt 0\nbtime 0\nprocesses 0\nprocs_running 1\nprocs_blocked 0\n",
            "sys/kernel/osrelease": "6.12.0\n", "sys/kernel/ostype": "Linux\n",
            "sys/kernel/cap_last_cap": "40\n", "sys/kernel/pid_max": "4194304\n",
            "sys/net/core/somaxconn": "4096\n", "sys/vm/overcommit_memory": "0\n",
            "version": "Linux version 6.12.0 (sandbox)\n", "vmstat": "pswpin 0\npswpout 0\n",
        ]
        do throws(PlanError) {
            return try files.map { name, text throws(PlanError) in
                .file(path: try InsidePath("/" + name), contents: Array(text.utf8))
            }
        } catch {
            fatalError("invariant: these names are plain paths: \(error)")
        }
    }
}
