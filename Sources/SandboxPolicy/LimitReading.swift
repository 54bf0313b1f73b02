internal import SandboxPlan
internal import StrictYAML

extension SandboxLimits {
    /// Reads the key `limits`.
    ///
    /// - Parameters:
    ///   - node: the mapping.
    ///   - role: what the payload is, which says how many objects it gets unless the key does.
    init?(_ node: YAMLNode, role: SandboxRole?) {
        guard var reader = node.mapping() else { return nil }
        let memory = reader.required("memory")?.size()
        let processes: UInt32? = reader.required("processes")?.integer(in: 1...32_768)
        let cpu: UInt32? = reader.required("cpu")?.integer(in: 1...25_600)
        let wall = reader.required("wall")?.time()
        let cpuTime = reader.optional("cpu-time")?.time()
        let idle = reader.optional("idle")?.time()
        let output = reader.required("output")?.size()
        let kills = reader.required("output-action")?.choice(["truncate": false, "kill": true])
        let files: UInt32? = reader.required("files")?.integer(in: 8...1_048_576)
        let fileSize = reader.required("file-size")?.size()
        let objects: UInt32? = reader.optional("objects")?.integer(in: 0...CountedCalls.most)
        reader.finish()
        guard let memory, let processes, let cpu, let wall, let output, let kills, let files,
            let fileSize
        else { return nil }
        self.init(
            memory: memory,
            processes: processes,
            cpuPercent: cpu,
            wallClock: wall,
            cpuTime: cpuTime,
            idle: idle,
            output: output,
            killsOnOutput: kills,
            openFiles: files,
            fileSize: fileSize,
            objects: objects ?? Self.usualObjects(of: role)
        )
    }

    // Enough for a hundred subprocesses of Python, or as many connections.
    private static func usualObjects(of role: SandboxRole?) -> UInt32 {
        switch role {
        case .candidate: 512
        case .examiner: 4096
        case .coding, .broker, nil: 0
        }
    }
}
