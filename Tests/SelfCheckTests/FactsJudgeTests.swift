import LauncherClient
import SandboxPlan
import SelfCheck
import Testing

@Suite("FactsJudge")
struct FactsJudgeTests {
    private static let host: [String: UInt64] = [
        "user": 1, "mnt": 2, "pid": 3, "net": 4, "ipc": 5, "uts": 6, "cgroup": 7,
    ]

    private static let calls = [
        "keyctl EPERM", "mount EPERM", "ptrace EPERM", "clone3 ENOSYS", "socket-vsock EPERM",
    ]

    /// What the program says in a sandbox with every wall.
    static let sound: [String] =
        [
            "status Uid: 1000 1000 1000 1000", "status Gid: 1000 1000 1000 1000",
            "status CapInh: 0000000000000000", "status CapPrm: 0000000000000000",
            "status CapEff: 0000000000000000", "status CapBnd: 0000000000000000",
            "status CapAmb: 0000000000000000", "status NoNewPrivs: 1", "status Seccomp: 2",
            "uid-map       1000       1000          1", "securebits 239", "parent 1",
            "namespace user 101", "namespace mnt 102", "namespace pid 103", "namespace net 104",
            "namespace ipc 105", "namespace uts 106", "namespace cgroup 107", "interface lo",
            "mount / ro,nosuid,nodev,noatime tmpfs", "mount /tmp rw,nosuid,nodev,noexec tmpfs",
            "mount /proc rw,nosuid,nodev,noexec,relatime proc", "mount /dev ro,nosuid tmpfs",
            "landlock EACCES", "descriptor 0", "descriptor 1", "descriptor 2", "descriptor 3",
            "limit core 0 0", "limit files 256 256", "limit size 1048576 1048576",
            "limit signals 256 256",
            "net-file open dev", "net-file open tcp", "net-file EACCES softnet_stat",
            "procfs link self", "procfs link thread-self", "procfs link net", "foreign x32 SIGSYS",
            "foreign 32-bit SIGSYS", "path ENOENT /var/lib/invigilator",
            "objects 64 EMFILE", "threads 30 EAGAIN", "ready",
        ] + calls.map { "call \($0)" }

    static func plan() throws -> SandboxPlan {
        SandboxPlan(
            name: "candidate",
            role: .candidate,
            demandedLevel: .full,
            root: .tree,
            mounts: [
                PlannedMount(
                    target: try InsidePath("/tmp"),
                    source: .tmpfs(size: .mebibytes(1), inodes: 16),
                    access: .readWrite,
                    isExecutable: false
                )
            ],
            proc: .pidOnly,
            devices: [.null],
            limits: SandboxLimits(
                memory: .mebibytes(64),
                processes: 32,
                cpuPercent: 100,
                wallClock: Milliseconds(60_000),
                cpuTime: nil,
                idle: nil,
                output: .mebibytes(1),
                killsOnOutput: false,
                openFiles: 256,
                fileSize: .mebibytes(1),
                objects: 64
            ),
            streams: .pipes,
            landlock: LandlockPlan(minimumABI: 6, rules: [], allowsTCP: false, isLogged: false),
            filter: SeccompProgram(bytes: []),
            counted: [CountedCall(22)],
            environment: [],
            workingDirectory: try InsidePath("/candidate"),
            command: [],
            descriptors: [DescriptorSlot(number: 3, purpose: .frames)]
        )
    }

    private static func findings(_ lines: [String]) throws -> [QuickFinding] {
        let text = lines.map { $0 + "\n" }.joined()
        return FactsJudge(
            SandboxFacts(Array(text.utf8)),
            plan: try plan(),
            host: host,
            makesDevices: true
        ).findings
    }

    /// Probes that are missing once some lines were taken out and others put in.
    private static func missing(
        without prefix: String,
        with lines: [String] = []
    ) throws -> [QuickProbe] {
        let said = sound.filter { !$0.hasPrefix(prefix) } + lines
        return try findings(said).filter { $0.shortfall != nil }.map(\.probe)
    }

    @Test("a sandbox with every wall has every wall, but for those that are tried from outside")
    func everything() throws {
        let found = try Self.findings(Self.sound)
        #expect(found.allSatisfy { $0.state == .enforced }, "\(found.shortfalls)")
        #expect(Set(found.map(\.probe)) == Set(QuickProbe.allCases).subtracting([.freeze, .kill]))
        #expect(found.shortfalls.isEmpty)
    }

    @Test("a filter around ours may refuse in its own words, where there is one")
    func others() throws {
        let answers = ["call mount ENOSYS", "status Seccomp_filters: 2"]
        #expect(try Self.missing(without: "call mount", with: answers).isEmpty)
        let alone = ["call mount ENOSYS", "status Seccomp_filters: 1"]
        #expect(try Self.missing(without: "call mount", with: alone) == [.filter])
        let open = ["call mount EFAULT", "status Seccomp_filters: 2"]
        #expect(try Self.missing(without: "call mount", with: open) == [.filter])
    }

    @Test("each missing wall is named, and no other")
    func each() throws {
        for (prefix, lines, probe) in [
            ("namespace uts", ["namespace uts 6"], QuickProbe.namespaces),
            ("namespace cgroup", [], .namespaces),
            ("namespace net", ["namespace net 4"], .network),
            ("nothing", ["interface eth0"], .network),
            ("nothing", ["net-file open sockstat"], .netFiles),
            ("net-file", [], .netFiles),
            ("namespace ipc", ["namespace ipc 5"], .ipc),
            ("namespace pid", ["namespace pid 3"], .pid),
            ("parent", ["parent 4242"], .pid),
            ("nothing", ["procfs file stat"], .pid),
            ("nothing", ["procfs link device-tree"], .pid),
            ("procfs", [], .pid),
            ("uid-map", ["uid-map 0 7000 1", "uid-map 1000 7001 1"], .payloadNamespace),
            ("status CapBnd", ["status CapBnd: 000001ffffffffff"], .capabilities),
            ("securebits", ["securebits 0"], .capabilities),
            ("status NoNewPrivs", [], .capabilities),
            ("status Seccomp", ["status Seccomp: 0"], .filter),
            ("call mount", ["call mount EFAULT"], .filter),
            ("call clone3", ["call clone3 EPERM"], .filter),
            ("call", [], .filter),
            ("foreign x32", ["foreign x32 returns"], .filter),
            ("landlock", ["landlock allows"], .landlock),
            ("nothing", ["mount /vault ro,nosuid,nodev tmpfs"], .privateRoot),
            ("path", ["path exists /var/lib/invigilator"], .privateRoot),
            ("mount / ", ["mount / rw,nosuid,nodev tmpfs"], .readOnlyMounts),
            ("mount /tmp", ["mount /tmp rw,nosuid,nodev tmpfs"], .readOnlyMounts),
            ("nothing", ["descriptor 9"], .descriptors),
            ("descriptor 3", [], .descriptors),
            ("objects", ["objects 65 none"], .objects),
            ("objects", ["objects 65 EMFILE"], .objects),
            ("objects", [], .objects),
            ("threads", ["threads 32 none"], .limits),
            ("threads", ["threads 31 EAGAIN"], .limits),
            ("limit signals", ["limit signals 96365 96365"], .limits),
            ("limit core", ["limit core 0 18446744073709551615"], .limits),
        ] {
            #expect(try Self.missing(without: prefix, with: lines) == [probe], "\(prefix) \(lines)")
        }
        #expect(try Self.missing(without: "mount") == [.privateRoot, .readOnlyMounts])
    }

    @Test("a program that did not say everything shows nothing")
    func cutShort() throws {
        let found = try Self.findings(Self.sound.filter { $0 != "ready" })
        #expect(
            found.allSatisfy { finding in
                if case .unknown = finding.state { true } else { false }
            }
        )
        #expect(found.shortfalls.count == found.count)
    }

    @Test("a wall that is missing in two sandboxes is one line with both")
    func lines() {
        let findings = [SandboxRole.coding, .candidate, .examiner].map { role in
            QuickFinding(
                .freeze,
                role,
                role == .candidate ? .enforced : .missing("it answered while frozen"),
                evidence: ""
            )
        }
        let lines = findings.shortfalls
        #expect(lines.map(\.location) == ["probe freeze, sandbox coding, examiner"])
        #expect(lines.map(\.reason) == ["it answered while frozen"])
    }
}

@Suite("MeasuredLevel")
struct MeasuredLevelTests {
    @Test(
        "full needs a closed network, limits, freezing and killing, no more; the reason names what lacks"
    )
    func levels() {
        let sound = QuickProbe.allCases.map {
            QuickFinding($0, .candidate, .enforced, evidence: "")
        }
        #expect(MeasuredLevel(sound, reach: .full) == MeasuredLevel(.full))
        for probe in QuickProbe.allCases {
            let lacking = sound.map { finding in
                finding.probe == probe
                    ? QuickFinding(probe, .candidate, .missing("why"), evidence: "") : finding
            }
            let measured = MeasuredLevel(lacking, reach: .full)
            guard [.netFiles, .limits, .freeze, .kill].contains(probe) else {
                #expect(measured.level == .full)
                continue
            }
            #expect(measured.level == .singleUID)
            #expect(
                measured.shortfall?.reason == "probe \(probe.rawValue), sandbox candidate: why"
            )
            #expect(measured.shortfall?.remedy == probe.cure)
        }
    }

    @Test("an ordinary user's launcher reaches delegated at the most, and is told to run as root")
    func ordinaryUser() {
        let sound = QuickProbe.allCases.map {
            QuickFinding($0, .candidate, .enforced, evidence: "")
        }
        let delegated = MeasuredLevel(sound, reach: .delegated)
        #expect(delegated.level == .delegated)
        #expect(delegated.shortfall?.remedy.contains("run as root") == true)
        let lacking = sound.map {
            $0.probe == .freeze
                ? QuickFinding(.freeze, .candidate, .missing("why"), evidence: "") : $0
        }
        let single = MeasuredLevel(lacking, reach: .singleUID)
        #expect(single.level == .singleUID)
        #expect(single.shortfall?.reason.hasSuffix("probe freeze, sandbox candidate: why") == true)
        #expect(single.shortfall?.remedy.contains("--assurance single-uid") == true)
    }

    @Test(
        "single-uid promises every wall but files of the network, limits, freezer and its kill; no-userns none"
    )
    func promises() {
        for probe in QuickProbe.allCases {
            let needsGroup = [.netFiles, .limits, .freeze, .kill].contains(probe)
            #expect(probe.stands(at: .full) && probe.stands(at: .delegated))
            #expect(probe.stands(at: .singleUID) == !needsGroup)
            #expect(!probe.stands(at: .noUserNamespace))
        }
    }
}

@Suite("PlanTrial")
struct PlanTrialTests {
    @Test("each broken plan breaks a rule of the plan or asks for what is compared on the host")
    func broken() throws {
        let state = PinnedSource(path: "/state", device: 1, inode: 2, isDirectory: true)
        for trial in PlanTrial.allCases where trial.role == .candidate {
            let plan = try trial.broken(FactsJudgeTests.plan(), state: state)
            #expect(throws: PlanError.self, "\(trial)") { try PlanInvariants.check(plan) }
        }
    }

    @Test("a plan in which nothing of ours could be started is shown one tree more")
    func ownTree() throws {
        var plan = try FactsJudgeTests.plan()
        #expect(try CheckablePlan(CompiledPlan(plan)).program == "/invigilator-selfcheck")
        var free = plan
        free.demandedLevel = .noUserNamespace
        #expect(try CheckablePlan(CompiledPlan(plan)).plan == free, "it stays as it is")
        plan.role = .coding
        plan.root = .skeleton([])
        let checkable = try CheckablePlan(CompiledPlan(plan))
        #expect(checkable.program == "/self-check/invigilator-selfcheck" && checkable.tree == 0)
        #expect(checkable.plan.mounts.count == plan.mounts.count + 1)
        plan.limits.output = ByteCount(bytes: 10)
        plan.limits.wallClock = Milliseconds(5)
        plan.limits.processes = 9000
        plan.command = ["/bin/true"]
        let widened = try CheckablePlan(CompiledPlan(plan)).plan
        #expect(widened.limits.output == .mebibytes(1) && widened.command.isEmpty)
        #expect(widened.limits.wallClock >= .seconds(20) && widened.limits.processes == 512)
    }
}
