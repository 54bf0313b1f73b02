import SandboxPlan

/// Plans that keep every invariant, to be changed in one place.
enum SamplePlans {
    static let candidate: SandboxPlan = {
        do { return try make(.candidate) } catch { fatalError("a sample is a plan: \(error)") }
    }()
    static let coding: SandboxPlan = {
        do { return try make(.coding) } catch { fatalError("a sample is a plan: \(error)") }
    }()
    static let examiner: SandboxPlan = {
        do { return try make(.examiner) } catch { fatalError("a sample is a plan: \(error)") }
    }()

    static let hostSource = PinnedSource(path: "/usr", device: 1, inode: 2, isDirectory: true)
    static let split = PinnedSource(path: "/v/one/test", device: 1, inode: 3, isDirectory: true)

    static func mount(
        _ target: String,
        _ source: MountSource,
        _ access: MountAccess = .readOnly
    ) throws -> PlannedMount {
        PlannedMount(
            target: try InsidePath(target),
            source: source,
            access: access,
            isExecutable: false
        )
    }

    private static func make(_ role: SandboxRole) throws -> SandboxPlan {
        var mounts = [
            try mount("/tmp", .tmpfs(size: .mebibytes(8), inodes: 64), .readWrite)
        ]
        if role == .coding {
            mounts.append(try mount("/usr", .host(hostSource)))
            mounts.append(try mount("/work", .tree(index: 0)))
            mounts.append(try mount("/work/agent", .tree(index: 1), .readWrite))
        }
        if role == .examiner { mounts.append(try mount("/vault", .vault(split))) }
        return SandboxPlan(
            name: "sample",
            role: role,
            demandedLevel: .full,
            root: role == .coding
                ? .skeleton([.link(path: try InsidePath("/bin"), target: "usr/bin")]) : .tree,
            mounts: mounts,
            proc: .pidOnly,
            devices: [.null, .urandom],
            limits: limits(of: role),
            streams: .pipes,
            landlock: LandlockPlan(
                minimumABI: 6,
                rules: [
                    LandlockRule(path: try InsidePath("/"), access: .readExecute),
                    LandlockRule(path: try InsidePath("/tmp"), access: .readWrite),
                ],
                allowsTCP: false,
                isLogged: false
            ),
            filter: FilterBuilder.filter(),
            environment: [EnvironmentVariable(name: "HOME", value: "/tmp")],
            workingDirectory: try InsidePath("/tmp"),
            command: [],
            descriptors: [DescriptorSlot(number: 3, purpose: .frames)]
        )
    }

    private static func limits(of role: SandboxRole) -> SandboxLimits {
        var limits = limits
        if role != .coding { limits.objects = 512 }
        return limits
    }

    private static let limits = SandboxLimits(
        memory: .mebibytes(64),
        processes: 8,
        cpuPercent: 100,
        wallClock: .seconds(5),
        cpuTime: nil,
        idle: .seconds(1),
        output: .mebibytes(1),
        killsOnOutput: false,
        openFiles: 64,
        fileSize: .mebibytes(1)
    )
}
