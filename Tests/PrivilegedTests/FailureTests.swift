import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    /// Every step of a launch that something outside the launcher can make fail.
    @Suite("A launch that fails leaves nothing")
    struct FailureTests {
        struct Case: CustomTestStringConvertible, Sendable {
            let name: String
            let step: SetupStep
            var words: [String] = [Lab.candidateProbe, "exit", "0"]
            var missing: String?
            let change: @Sendable (inout SandboxPlan) throws -> Void
            var testDescription: String { name }
        }

        static let cases: [Case] = [
            Case(name: "no wall clock", step: .check) { $0.limits.wallClock = Milliseconds(0) },
            Case(name: "a relative command", step: .check, words: ["probe"]) { _ in },
            Case(name: "no command at all", step: .check, words: []) { _ in },
            Case(name: "a tree that nobody named", step: .sources) { plan in
                plan.mounts.append(
                    PlannedMount(
                        target: try InsidePath("/candidate"),
                        source: .tree(index: 5),
                        access: .readOnly,
                        isExecutable: false
                    )
                )
            },
            Case(name: "a mount without a target", step: .mounts) { plan in
                plan.mounts.append(
                    PlannedMount(
                        target: try InsidePath("/absent"),
                        source: .tmpfs(size: .mebibytes(1), inodes: 16),
                        access: .readWrite,
                        isExecutable: false
                    )
                )
            },
            Case(name: "a target that is a file", step: .mounts) { plan in
                plan.mounts.append(
                    PlannedMount(
                        target: try InsidePath(Lab.candidateProbe),
                        source: .tmpfs(size: .mebibytes(1), inodes: 16),
                        access: .readWrite,
                        isExecutable: false
                    )
                )
            },
            Case(name: "a root without /proc", step: .proc, missing: "proc") { _ in },
            Case(name: "a constant file over a directory of procfs", step: .proc) { plan in
                plan.proc = .masked([.file(path: try InsidePath("/tty"), contents: [])])
            },
            Case(name: "a constant directory over a file of procfs", step: .proc) { plan in
                plan.proc = .masked([.directory(try InsidePath("/stat"))])
            },
            Case(name: "a root without /dev", step: .devices, missing: "dev") { _ in },
            Case(name: "no room for a second process", step: .payload) { plan in
                plan.limits.processes = 1
            },
            Case(name: "no such working directory", step: .credentials) { plan in
                plan.workingDirectory = try InsidePath("/absent")
            },
            Case(name: "a Landlock rule for what is not there", step: .landlock) { plan in
                let path = try InsidePath("/absent")
                plan.landlock.rules.append(LandlockRule(path: path, access: .read))
            },
            Case(name: "a Landlock that no kernel has", step: .landlock) { plan in
                plan.landlock.minimumABI = 250
            },
            Case(name: "a filter that the kernel refuses", step: .execution) { plan in
                // An instruction that nothing reaches: our evaluator never sees it, the kernel does.
                plan.filter = SeccompProgram(
                    bytes: plan.filter.bytes + [0xff, 0xff, 0, 0, 0, 0, 0, 0]
                )
            },
            Case(
                name: "a command that is not there",
                step: .execution,
                words: ["/usr/bin/absent"]
            ) { _ in },
            Case(name: "a command that is a directory", step: .execution, words: ["/usr"]) { _ in },
            Case(
                name: "a command that Landlock does not let run",
                step: .execution
            ) { plan in plan.landlock.rules[0].access = .read },
        ]

        @Test("whatever the step, with its name in the failure", arguments: cases)
        func step(_ example: Case) throws {
            try Lab.run { lab in
                let tree = try lab.rootTree { root in
                    if let name = example.missing { try root.remove(name, isDirectory: true) }
                }
                let plan = CompiledPlan(try Plans.candidate().with(example.change))
                // The instrument: a whole tree is good for the plan without the change.
                let whole = example.missing == nil ? tree : try lab.rootTree()
                let good = CompiledPlan(try Plans.candidate())
                #expect(try lab.refusal(good, [whole], [Lab.candidateProbe, "wait"]) == nil)
                let before = try Remains(of: lab)
                for _ in 0..<3 {
                    let failure = try lab.refusal(plan, [tree], example.words)
                    #expect(failure?.step == example.step, "\(String(describing: failure))")
                }
                let after = try Remains(of: lab)
                #expect(after == before)
                #expect(try lab.candidate(["exit", "5"]).exit?.code == 5)
            }
        }

        @Test("a skeleton that cannot be made fails at the root")
        func skeleton() throws {
            try Lab.run { lab in
                let plan = try Plans.coding().with { plan in
                    let path = try InsidePath("/twice")
                    plan.root = .skeleton([
                        .link(path: path, target: "a"), .directory(path),
                        .directory(try InsidePath("/twice/below")),
                    ])
                }
                let trees = try lab.codingTrees()
                let words = [Lab.codingProbe, "facts"]
                #expect(try lab.refusal(CompiledPlan(try Plans.coding()), trees, words) == nil)
                let before = try Remains(of: lab)
                #expect(try lab.refusal(CompiledPlan(plan), trees, words)?.step == .root)
                let after = try Remains(of: lab)
                #expect(after == before)
            }
        }

        @Test(
            "a kernel whose Landlock is older than the shipped policies demand is refused by name"
        )
        func oldLandlock() throws {
            try Lab.run { lab in
                let plan = try Plans.candidate().with { $0.landlock.minimumABI = 6 }
                let words = [Lab.candidateProbe, "wait"]
                let failure = try lab.refusal(CompiledPlan(plan), [try lab.rootTree()], words)
                let version = LandlockRuleset.kernelVersion
                #expect((failure == nil) == (version >= 6))
                guard let failure else { return }
                #expect(failure.step == .landlock && failure.location == "minimum ABI 6")
                #expect(failure.reason == "this kernel has Landlock ABI \(version)")
                #expect(failure.remedy.hasPrefix("use a newer kernel"))
            }
        }

        @Test(
            "a kernel that maps no owners on a tmpfs gets no coding sandbox, and is sent to doctor"
        )
        func oldMounts() throws {
            try Lab.run { lab in
                let plan = CompiledPlan(try Plans.coding())
                let words = [Lab.codingProbe, "wait"]
                let failure = try lab.refusal(plan, try lab.codingTrees(), words)
                // Linux 6.3 brought it, and 6.2 the third version of Landlock.
                #expect((failure == nil) == (LandlockRuleset.kernelVersion > 2))
                guard let failure else { return }
                #expect(failure.step == .sources && failure.reason == "mount_setattr: EINVAL")
                #expect(failure.remedy.contains("`invigilator doctor`"))
            }
        }

        @Test("a sandbox too small for its own set-up fails or ends, and leaves nothing")
        func tooLittleMemory() throws {
            try Lab.run { lab in
                let tree = try lab.rootTree()
                _ = try lab.run(try Plans.candidate(), [tree], [Lab.candidateProbe, "exit", "0"])
                let before = try Remains(of: lab)
                let plan = try Plans.candidate().with { plan in
                    plan.limits.memory = .mebibytes(4)
                }
                for _ in 0..<3 {
                    _ = try lab.refusal(
                        CompiledPlan(plan),
                        [tree],
                        [Lab.candidateProbe, "eat", "9"]
                    )
                }
                let after = try Remains(of: lab)
                #expect(after == before)
                let next = try lab.run(
                    try Plans.candidate(),
                    [tree],
                    [Lab.candidateProbe, "exit", "6"]
                )
                #expect(next.exit?.code == 6)
            }
        }
    }
}

/// What a launcher has: processes, descriptors, mounts.
struct Remains: Equatable, CustomStringConvertible {
    let processes: [Int32]
    let descriptors: [String]
    let mounts: [String]

    init(of lab: Lab) throws {
        // The answer comes when all of the request before it has been let go.
        try lab.client.drop(try lab.client.makeTree(size: .mebibytes(1), inodes: 16))
        let launcher = lab.client.pid
        processes = try Census.descendants(of: launcher)
        descriptors = try Census.descriptors(of: launcher)
        mounts = try Census.mounts(of: launcher)
    }

    var description: String {
        "processes \(processes), descriptors \(descriptors), \(mounts.count) mounts"
    }
}
