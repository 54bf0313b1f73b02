internal import SandboxPlan

/// Reads the key `limits`.
struct LimitReading {
    let problems: ProblemList

    func limits(_ node: PolicyNode) -> SandboxLimits? {
        let scalars = ScalarReading(problems: problems)
        var reader = MappingReader(node, problems)
        let memory = scalars.size(reader.required("memory"))
        let processes: UInt32? = scalars.integer(reader.required("processes"), in: 1...32_768)
        let cpu: UInt32? = scalars.integer(reader.required("cpu"), in: 1...25_600)
        let wall = scalars.time(reader.required("wall"))
        let cpuTime = scalars.time(reader.optional("cpu-time"))
        let idle = scalars.time(reader.optional("idle"))
        let output = scalars.size(reader.required("output"))
        let kills = scalars.choice(
            reader.required("output-action"),
            ["truncate": false, "kill": true]
        )
        let files: UInt32? = scalars.integer(reader.required("files"), in: 8...1_048_576)
        let fileSize = scalars.size(reader.required("file-size"))
        reader.finish()
        guard let memory, let processes, let cpu, let wall, let output, let kills, let files,
            let fileSize
        else { return nil }
        return SandboxLimits(
            memory: memory,
            processes: processes,
            cpuPercent: cpu,
            wallClock: wall,
            cpuTime: cpuTime,
            idle: idle,
            output: output,
            killsOnOutput: kills,
            openFiles: files,
            fileSize: fileSize
        )
    }
}
