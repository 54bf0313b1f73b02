import SandboxPlan
import TestSupport
import Testing

@Suite("PlanInvariants")
struct PlanInvariantTests {
    /// One change to a good plan, and the place that the refusal names.
    struct Change: Sendable, CustomTestStringConvertible {
        let what: String
        let location: String
        let plan: SandboxPlan

        init(
            _ what: String,
            _ location: String,
            of plan: SandboxPlan = SamplePlans.candidate,
            _ change: (inout SandboxPlan) throws -> Void
        ) {
            self.what = what
            self.location = location
            var changed = plan
            do { try change(&changed) } catch { Issue.record("\(what): \(error)") }
            self.plan = changed
        }

        var testDescription: String { what }
    }

    @Test("the plans that are changed below keep every rule")
    func good() throws {
        for plan in [SamplePlans.candidate, SamplePlans.coding, SamplePlans.examiner] {
            try PlanInvariants.check(plan)
        }
    }

    private func expectRefused(_ change: Change) {
        let error = #expect(throws: PlanError.self) { try PlanInvariants.check(change.plan) }
        #expect(error?.location.contains(change.location) == true, "\(String(describing: error))")
        #expect(error?.remedy.isEmpty == false)
    }

    static let texts: [Change] = [
        Change("an empty name", "name") { $0.name = "" },
        Change("a name with capitals", "name") { $0.name = "Sample" },
        Change("a name with a slash", "name") { $0.name = "a/b" },
        Change("a long name", "name") { $0.name = String(repeating: "a", count: 65) },
        Change("an empty variable name", "environment") { $0.environment[0].name = "" },
        Change("a variable name with a digit first", "environment") {
            $0.environment[0].name = "1A"
        },
        Change("a variable name with an equals sign", "environment") {
            $0.environment[0].name = "A=B"
        },
        Change("a variable given twice", "environment") { $0.environment += $0.environment },
        Change("LD_PRELOAD", "LD_PRELOAD") { $0.environment[0].name = "LD_PRELOAD" },
        Change("LD_LIBRARY_PATH", "LD_LIBRARY") { $0.environment[0].name = "LD_LIBRARY_PATH" },
        Change("GCONV_PATH", "GCONV_PATH") { $0.environment[0].name = "GCONV_PATH" },
    ]

    @Test("text that could be read as something else is refused", arguments: texts)
    func text(_ change: Change) { expectRefused(change) }

    private static func tmpfs(_ target: String) throws -> PlannedMount {
        try SamplePlans.mount(target, .tmpfs(size: .mebibytes(1), inodes: 4), .readWrite)
    }

    static let mounts: [Change] = [
        Change("one tree under two targets", "/b", of: SamplePlans.coding) {
            $0.mounts.append(try SamplePlans.mount("/b", .tree(index: 0)))
        },
        Change("the root's tree under a target", "/b") {
            $0.mounts.append(try SamplePlans.mount("/b", .tree(index: 0)))
        },
        Change("one file of a tree under two targets", "/c", of: SamplePlans.coding) {
            let source = MountSource.treeFile(index: 2, path: try InsidePath("/a"))
            $0.mounts.append(try SamplePlans.mount("/b", source, .readWrite))
            $0.mounts.append(try SamplePlans.mount("/c", source, .readWrite))
        },
        Change("a file beside its whole tree", "/b", of: SamplePlans.coding) {
            let source = MountSource.treeFile(index: 1, path: try InsidePath("/a"))
            $0.mounts.append(try SamplePlans.mount("/b", source, .readWrite))
        },
        Change("a whole tree beside a file of it", "/c", of: SamplePlans.coding) {
            let source = MountSource.treeFile(index: 2, path: try InsidePath("/a"))
            $0.mounts.append(try SamplePlans.mount("/b", source, .readWrite))
            $0.mounts.append(try SamplePlans.mount("/c", .tree(index: 2), .readWrite))
        },
        Change("a writable file of the view", "/b", of: SamplePlans.coding) {
            $0.mounts.remove(at: 2)
            let source = MountSource.treeFile(index: 0, path: try InsidePath("/a"))
            $0.mounts.append(try SamplePlans.mount("/b", source, .readWrite))
        },
        Change("a writable file of a tree for a candidate", "/t") {
            let source = MountSource.treeFile(index: 1, path: try InsidePath("/a"))
            $0.mounts.append(try SamplePlans.mount("/t", source, .readWrite))
        },
        Change("a mount on the root", "mounts") { $0.mounts.append(try tmpfs("/")) },
        Change("a mount on /proc", "/proc") { $0.mounts.append(try tmpfs("/proc")) },
        Change("a mount below /proc", "/proc/self") { $0.mounts.append(try tmpfs("/proc/self")) },
        Change("a mount below /dev", "/dev/shm") { $0.mounts.append(try tmpfs("/dev/shm")) },
        Change("one target twice", "/tmp") { $0.mounts += $0.mounts },
        Change("a parent after its child", "/a") {
            $0.mounts += [try tmpfs("/a/b"), try tmpfs("/a")]
        },
        Change("a source with ..", "/planted", of: SamplePlans.coding) { plan in
            var source = SamplePlans.hostSource
            source.path = "/usr/../etc"
            plan.mounts.append(try SamplePlans.mount("/planted", .host(source)))
        },
        Change("the host's root as source", "/planted", of: SamplePlans.coding) { plan in
            var source = SamplePlans.hostSource
            source.path = "/"
            plan.mounts.append(try SamplePlans.mount("/planted", .host(source)))
        },
        Change("a relative source", "/planted", of: SamplePlans.coding) { plan in
            var source = SamplePlans.hostSource
            source.path = "usr"
            plan.mounts.append(try SamplePlans.mount("/planted", .host(source)))
        },
        Change("a vault for a candidate", "mounts") {
            $0.mounts.append(try SamplePlans.mount("/v", .vault(SamplePlans.split)))
        },
        Change("a vault for a coding agent", "mounts", of: SamplePlans.coding) {
            $0.mounts.append(try SamplePlans.mount("/v", .vault(SamplePlans.split)))
        },
        Change("two splits for an examiner", "mounts", of: SamplePlans.examiner) {
            $0.mounts.append(try SamplePlans.mount("/v", .vault(SamplePlans.split)))
        },
        Change("a writable vault", "/vault", of: SamplePlans.examiner) {
            $0.mounts[1].access = .readWrite
        },
        Change("a writable host mount", "/usr", of: SamplePlans.coding) {
            $0.mounts[1].access = .readWrite
        },
        Change("a writable view", "/work", of: SamplePlans.coding) {
            $0.mounts[2].access = .readWrite
        },
        Change("a writable tree for a candidate", "/t") {
            $0.mounts.append(try SamplePlans.mount("/t", .tree(index: 1), .readWrite))
        },
        Change("a writable tree for an examiner", "/t", of: SamplePlans.examiner) {
            $0.mounts.append(try SamplePlans.mount("/t", .tree(index: 1), .readWrite))
        },
        Change("a host mount for a candidate", "/usr") {
            $0.mounts.append(try SamplePlans.mount("/usr", .host(SamplePlans.hostSource)))
        },
        Change("a tree as a coding agent's root", "root", of: SamplePlans.coding) {
            $0.root = .tree
            $0.mounts.remove(at: 2)
        },
        Change("a skeleton as a candidate's root", "root") { $0.root = .skeleton([]) },
    ]

    @Test("a mount that shows or keeps too much is refused", arguments: mounts)
    func mount(_ change: Change) { expectRefused(change) }

    static let limits: [Change] = [
        Change("no wall clock", "wall") { $0.limits.wallClock = Milliseconds(0) },
        Change("more than a week", "wall") { $0.limits.wallClock = .seconds(700_000) },
        Change("no memory", "memory") { $0.limits.memory = ByteCount(bytes: 0) },
        Change("more memory than there is", "memory") { $0.limits.memory = .mebibytes(1 << 21) },
        Change("no process", "limits") { $0.limits.processes = 0 },
        Change("too many processes", "limits") { $0.limits.processes = 32769 },
        Change("no processor", "limits") { $0.limits.cpuPercent = 0 },
        Change("too many processors", "limits") { $0.limits.cpuPercent = 25601 },
        Change("no descriptor", "files") { $0.limits.openFiles = 0 },
        Change("too many descriptors", "files") { $0.limits.openFiles = 1 << 21 },
        Change("a slot over a standard stream", "descriptors") { $0.descriptors[0].number = 2 },
        Change("a slot out of range", "descriptors") { $0.descriptors[0].number = 32 },
        Change("slots out of order", "descriptors") {
            $0.descriptors = [
                DescriptorSlot(number: 4, purpose: .frames),
                DescriptorSlot(number: 3, purpose: .frames),
            ]
        },
        Change("a slot twice", "descriptors") { $0.descriptors += $0.descriptors },
        Change("verdicts from a candidate", "descriptors") {
            $0.descriptors[0].purpose = .verdicts
        },
        Change("verdicts from a coding agent", "descriptors", of: SamplePlans.coding) {
            $0.descriptors[0].purpose = .verdicts
        },
        Change("a device rule for the root", "landlock") { $0.landlock.rules[0].access = .device },
        Change("no Landlock rule", "landlock") { $0.landlock.rules = [] },
        Change("a Landlock rule that writes to the root", "landlock") {
            $0.landlock.rules[0].access = .readWrite
        },
        Change("a Landlock rule that writes and runs", "landlock") {
            $0.landlock.rules[0].access = .readWriteExecute
        },
    ]

    @Test("limits, descriptors and rules out of bounds are refused", arguments: limits)
    func limit(_ change: Change) { expectRefused(change) }

    private static func filter(
        _ what: String,
        _ location: String,
        of plan: SandboxPlan = SamplePlans.candidate,
        _ change: @escaping (inout FilterBuilder.Choices) -> Void
    ) -> Change {
        Change(what, location, of: plan) { $0.filter = FilterBuilder.filter(change) }
    }

    private static let foreignFamilies = (0..<64).filter { ![1, 2, 10, 16].contains($0) }
        .map { UInt32($0) }

    private static let addressFamilies: [Change] = [
        filter("every socket", "filter, socket") { $0.allowed.append(41) },
        filter("every socket pair", "filter, socketpair") { $0.allowed.append(53) },
        filter("every socket but vsock", "filter, socket") { $0.excepted = [(41, 0, [40], false)] },
        filter("families that are listed as refused", "filter, socket") {
            $0.excepted = [(41, 0, foreignFamilies, false)]
        },
        filter("a family compared with its upper half", "filter, instruction") {
            $0.compared = [(41, 0, 1, true)]
        },
        filter("every ioctl", "filter, ioctl") { $0.allowed.append(16) },
        filter("every ioctl but TIOCSTI", "filter, ioctl") {
            $0.excepted = [(16, 1, [0x5412], false)]
        },
        filter("TIOCLINUX", "filter, ioctl") { $0.compared = [(16, 1, 0x541c, false)] },
        filter("every clone", "filter, clone") { $0.allowed.append(56) },
        filter("one namespace's flag", "filter, clone") {
            $0.compared = [(56, 0, 0x1000_0011, false)]
        },
        filter("every socket option", "filter, getsockopt") { $0.allowed.append(55) },
    ]

    static let filters: [Change] =
        addressFamilies + [
            Change("an empty filter", "length") { $0.filter = SeccompProgram(bytes: []) },
            Change("half an instruction", "length") { plan in
                plan.filter = SeccompProgram(bytes: plan.filter.bytes + [0, 0, 0, 0])
            },
            Change("a filter that is too long", "length") { plan in
                plan.filter = SeccompProgram(
                    bytes: [UInt8](repeating: 0, count: 4097 * 8)
                )
            },
            filter("foreign calls refused, not killed", "architecture") {
                $0.foreign = FilterBuilder.refuse(1)
            },
            filter("foreign calls allowed", "architecture") { $0.foreign = FilterBuilder.allow },
            filter("x32 calls refused, not killed", "architecture") {
                $0.x32 = FilterBuilder.refuse(1)
            },
            filter("unknown calls allowed", "default") { $0.otherwise = FilterBuilder.allow },
            filter("unknown calls logged", "default") { $0.otherwise = FilterBuilder.log },
            filter("clone3 answered EPERM", "clone3") { $0.clone3 = FilterBuilder.refuse(1) },
            filter("clone3 allowed", "clone3") { $0.clone3 = FilterBuilder.allow },
            filter("mount", "mount") { $0.allowed.append(165) },
            filter("bpf", "bpf") { $0.allowed.append(321) },
            filter("ptrace with one request", "ptrace") { $0.compared = [(101, 0, 0, false)] },
            filter("io_uring_setup", "io_uring_setup") { $0.allowed.append(425) },
            filter("userfaultfd", "userfaultfd") { $0.allowed.append(323) },
            filter("keyctl", "keyctl") { $0.allowed.append(250) },
            filter("mincore", "mincore") { $0.allowed.append(27) },
            filter("pidfd_open for a candidate", "pidfd_open") { $0.allowed.append(434) },
            filter("pidfd_send_signal for a candidate", "pidfd_send_signal") {
                $0.allowed.append(424)
            },
            filter("seccomp for a coding agent", "seccomp", of: SamplePlans.coding) {
                $0.allowed.append(317)
            },
            filter("every prctl", "filter, prctl") { $0.allowed.append(157) },
            filter("PR_SET_MM", "filter, prctl") { $0.compared = [(157, 0, 35, false)] },
            filter("PR_SET_PTRACER", "filter, prctl") {
                $0.compared = [(157, 0, 0x5961_6d61, false)]
            },
            filter("every madvise", "filter, madvise") { $0.allowed.append(28) },
            filter("MADV_PAGEOUT", "filter, madvise") { $0.compared = [(28, 2, 21, false)] },
            filter("every socket option to set", "filter, setsockopt") { $0.allowed.append(54) },
            filter("TCP_ULP", "filter, setsockopt") { $0.compared = [(54, 2, 31, false)] },
            filter("CLONE_PIDFD for a candidate", "filter, clone") {
                $0.compared = [(56, 0, 0x1011, false)]
            },
            filter("pidfd_open for a coding agent", "pidfd_open", of: SamplePlans.coding) {
                $0.allowed.append(434)
            },
            filter("an unknown call refused with success", "default") {
                $0.otherwise = FilterBuilder.refuse(0)
            },
        ]

    // Init lets a counted call through; so what it may let through is held to the same rules.
    static let counting: [Change] = [
        Change("a candidate without a limit", "limits.objects") { $0.limits.objects = 0 },
        Change("an examiner without a limit", "limits.objects", of: SamplePlans.examiner) {
            $0.limits.objects = 0
        },
        Change("more than a million", "limits.objects") { $0.limits.objects = 1 << 20 + 1 },
        Change("counted calls without a limit", "counted calls", of: SamplePlans.coding) {
            $0.counted = [CountedCall(22)]
        },
        Change("a counted mount", "counted calls") { $0.counted = [CountedCall(165)] },
        filter("pipes that nobody counts", "call 22") { $0.allowed.append(22) },
        filter("memory files that nobody counts", "call 319") { $0.allowed.append(319) },
        filter("mappings that nobody counts", "call 9") { $0.allowed.append(9) },
        filter("a socket of one family that nobody counts", "call 41") {
            $0.compared = [(41, 0, 1, false)]
        },
        Change("every socket, counted", "filter, socket") {
            $0.filter = FilterBuilder.filter { $0.told = [41] }
            $0.counted = [CountedCall(41)]
        },
        Change("a socket of a forbidden family, counted", "filter, socket") {
            $0.filter = FilterBuilder.filter { $0.told = [41] }
            $0.counted = [CountedCall(41, argument: 40)]
        },
    ]

    @Test("numbers that a sandbox could take uncounted are refused", arguments: counting)
    func uncounted(_ change: Change) { expectRefused(change) }

    @Test("what is left to init and not counted is a refusal, and a counted pipe is accepted")
    func told() throws {
        var plan = SamplePlans.candidate
        plan.filter = FilterBuilder.filter { $0.told = [22, 41, 165] }
        try PlanInvariants.check(plan)
        plan.counted = [CountedCall(22)]
        try PlanInvariants.check(plan)
    }

    @Test("no refused call can be counted")
    func apart() {
        let refused = Set(RefusedCalls.all.map(\.number))
        #expect(CountedCalls.all.allSatisfy { !refused.contains($0.number) })
    }

    @Test("a filter that lets one thing through is refused", arguments: filters)
    func filter(_ change: Change) { expectRefused(change) }

    @Test("what the rules leave to policies is accepted")
    func accepted() throws {
        var coding = SamplePlans.coding
        coding.filter = FilterBuilder.filter { choices in
            choices.compared = [
                (16, 1, 0x5401, false), (41, 0, 2, false), (56, 0, 17, false), (53, 0, 1, false),
            ]
        }
        try PlanInvariants.check(coding)
        coding.proc = .masked([])
        try PlanInvariants.check(coding)
        var examiner = SamplePlans.examiner
        examiner.descriptors.append(DescriptorSlot(number: 4, purpose: .verdicts))
        try PlanInvariants.check(examiner)
    }
}
