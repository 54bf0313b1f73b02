internal import SandboxPlan

/// The constant files shown over the counters of a full procfs.
enum ProcMasks {
    /// Masks for a sandbox with this much memory; programs size their caches by `meminfo`.
    static func standard(memory: ByteCount) -> [ProcMask] {
        let total = memory.bytes / 1024
        let contents = [
            "cmdline": "\n",
            "loadavg": "0.00 0.00 0.00 1/1 1\n",
            "meminfo": """
            MemTotal:       \(total) kB
            MemFree:        \(total) kB
            MemAvailable:   \(total) kB
            Buffers:        0 kB
            Cached:         0 kB
            SwapTotal:      0 kB
            SwapFree:       0 kB

            """,
            "stat": "cpu  0 0 0 0 0 0 0 0 0 0\nbtime 0\n",
            "uptime": "1.00 1.00\n",
        ]
        return ProcView.hidden.map { hidden in
            let text = Array((contents[hidden.name] ?? "").utf8)
            return ProcMask(name: hidden.name, contents: hidden.isDirectory ? nil : text)
        }
    }
}
