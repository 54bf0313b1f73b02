// The wire form of a plan: every field in declaration order, enumerations by number. The launcher only
// reads it; LauncherClient writes it, and a test round-trips every field.

extension SandboxPlan {
    init(from decoder: inout WireDecoder) throws(PlanError) {
        name = try decoder.text("name", limit: 64)
        role = try decoder.choice("role")
        demandedLevel = try decoder.choice("assurance level")
        root = try RootSource(from: &decoder)
        mounts = try decoder.list("mounts", limit: 256, PlannedMount.init(from:))
        proc = try ProcView(from: &decoder)
        devices = try decoder.list("devices", limit: 16) { input throws(PlanError) in
            try input.word("device")
        }
        limits = try SandboxLimits(from: &decoder)
        streams = try decoder.choice("streams")
        network = try decoder.word("network")
        landlock = LandlockPlan(
            minimumABI: try decoder.integer("landlock ABI"),
            rules: try decoder.list("landlock rules", limit: 256) { input throws(PlanError) in
                LandlockRule(
                    path: try InsidePath(input.text("landlock path")),
                    access: try input.choice("landlock access")
                )
            },
            allowsTCP: try decoder.bool("landlock TCP"),
            isLogged: try decoder.bool("landlock log")
        )
        filter = SeccompProgram(bytes: try decoder.counted("filter", limit: 4096 * 8))
        counted = try decoder.list("counted calls", limit: 64) { input throws(PlanError) in
            CountedCall(
                try input.integer("counted call"),
                argument: try input.optional("counted argument") { value throws(PlanError) in
                    try value.integer("counted argument")
                }
            )
        }
        environment = try decoder.list("environment", limit: 128) { input throws(PlanError) in
            EnvironmentVariable(
                name: try input.text("variable name", limit: 128),
                value: try input.text("variable value", limit: 4096)
            )
        }
        workingDirectory = try InsidePath(decoder.text("working directory"))
        command = try decoder.list("command", limit: 256) { input throws(PlanError) in
            try input.text("argument")
        }
        descriptors = try decoder.list("descriptors", limit: 16) { input throws(PlanError) in
            DescriptorSlot(
                number: try input.integer("descriptor"),
                purpose: try input.choice("purpose")
            )
        }
    }
}

extension RootSource {
    fileprivate init(from decoder: inout WireDecoder) throws(PlanError) {
        switch try decoder.integer("root") as UInt8 {
        case 1: self = .tree
        case 2:
            self = .skeleton(
                try decoder.list("skeleton", limit: 256, SkeletonEntry.init(from:))
            )
        case let other: throw decoder.malformed("root", "\(other) names nothing")
        }
    }
}

extension SkeletonEntry {
    fileprivate init(from decoder: inout WireDecoder) throws(PlanError) {
        let kind: UInt8 = try decoder.integer("skeleton entry")
        let path = try InsidePath(decoder.text("skeleton path"))
        switch kind {
        case 1: self = .directory(path)
        case 2: self = .link(path: path, target: try decoder.text("link target", limit: 1024))
        case 3: self = .file(path: path, contents: try decoder.counted("file", limit: 65536))
        default: throw decoder.malformed("skeleton entry", "\(kind) names nothing")
        }
    }
}

extension PlannedMount {
    fileprivate init(from decoder: inout WireDecoder) throws(PlanError) {
        target = try InsidePath(decoder.text("mount target"))
        switch try decoder.integer("mount source") as UInt8 {
        case 1: source = .host(try PinnedSource(from: &decoder))
        case 2: source = .vault(try PinnedSource(from: &decoder))
        case 3: source = .tree(index: try decoder.integer("tree index"))
        case 4:
            source = .tmpfs(
                size: ByteCount(bytes: try decoder.integer("tmpfs size")),
                inodes: try decoder.integer("tmpfs inodes")
            )
        case 5:
            source = .treeFile(
                index: try decoder.integer("tree index"),
                path: try InsidePath(decoder.text("tree file"))
            )
        case let other: throw decoder.malformed("mount source", "\(other) names nothing")
        }
        access = try decoder.choice("mount access")
        isExecutable = try decoder.bool("mount executable")
    }
}

extension PinnedSource {
    fileprivate init(from decoder: inout WireDecoder) throws(PlanError) {
        path = try decoder.text("source path", limit: 4096)
        device = try decoder.integer("source device")
        inode = try decoder.integer("source inode")
        isDirectory = try decoder.bool("source kind")
    }
}

extension ProcView {
    fileprivate init(from decoder: inout WireDecoder) throws(PlanError) {
        switch try decoder.integer("proc view") as UInt8 {
        case 0: self = .none
        case 1: self = .pidOnly
        case 2:
            self = .masked(try decoder.list("masks", limit: 256, SkeletonEntry.init(from:)))
        case let other: throw decoder.malformed("proc view", "\(other) names nothing")
        }
    }
}

extension SandboxLimits {
    fileprivate init(from decoder: inout WireDecoder) throws(PlanError) {
        memory = ByteCount(bytes: try decoder.integer("memory"))
        processes = try decoder.integer("processes")
        cpuPercent = try decoder.integer("cpu")
        wallClock = Milliseconds(try decoder.integer("wall clock"))
        cpuTime = try decoder.optional("cpu time", Milliseconds.init(from:))
        idle = try decoder.optional("idle", Milliseconds.init(from:))
        output = ByteCount(bytes: try decoder.integer("output"))
        killsOnOutput = try decoder.bool("output action")
        openFiles = try decoder.integer("open files")
        fileSize = ByteCount(bytes: try decoder.integer("file size"))
        objects = try decoder.integer("objects")
    }
}

extension Milliseconds {
    fileprivate init(from decoder: inout WireDecoder) throws(PlanError) {
        self.init(try decoder.integer("milliseconds"))
    }
}
