import Invigilator
import LauncherClient
import LauncherProtocol
import SandboxPlan
import SandboxPolicy
import StrictJSON
import Testing

@Suite struct SandboxOutcomeTests {
    private func plan(_ name: String) throws -> SandboxPlan {
        let library = try PolicyLibrary(directory: "\(repository)/policies")
        let resolver = PolicyResolver(
            groups: library.groups,
            context: try .host(stateDirectory: "/nonexistent/state", variables: PolicyVariables())
        )
        return try resolver.preview(library.policy(named: name)).plan
    }

    private func outcome(_ exit: SandboxExit) throws -> SandboxOutcome {
        SandboxOutcome(
            plan: try plan("candidate"),
            digest: SHA256Digest(of: []),
            level: .full,
            exit: exit,
            steps: [
                StepTime(step: .check, microseconds: 12), StepTime(step: .clone, microseconds: 30),
            ]
        )
    }

    @Test(
        "the exit code is the command's own, 128 and a signal, 137 at a limit, 3 without a sandbox",
        arguments: [
            (ExitKind.exited, Int32?(7), Int32?.none, Int32(7)), (.signalled, nil, 15, 143),
            (.violation, nil, 31, 159), (.outOfMemory, nil, 9, 137), (.wallClock, nil, 9, 137),
            (.cpuTime, nil, 9, 137), (.idle, nil, 9, 137), (.output, nil, 9, 137),
            (.processes, 1, nil, 137), (.setup, nil, nil, 3),
        ]
    )
    func exitCodes(kind: ExitKind, code: Int32?, signal: Int32?, status: Int32) throws {
        var exit = SandboxExit(kind: kind)
        exit.code = code
        exit.signal = signal
        #expect(try outcome(exit).status == status)
    }

    @Test("a result is told to programs as the golden document says")
    func result() throws {
        var exit = SandboxExit(kind: .wallClock)
        exit.signal = 9
        exit.cpuMicroseconds = 1_500
        exit.wallMicroseconds = 60_000_000
        exit.peakResidentKiB = 2048
        exit.outputBytes = 1_048_577
        exit.isTruncated = true
        #expect(try outcome(exit).json.prettyText() + "\n" == golden("sandbox-result.json"))
    }

    @Test("only a limit is named as a limit")
    func limits() throws {
        #expect(try outcome(SandboxExit(kind: .idle)).limit == "idle")
        #expect(try outcome(SandboxExit(kind: .violation)).limit == nil)
    }

    @Test("the trees of a plan are those that it mounts, with every mount point in them")
    func trees() throws {
        let coding = try plan("coding-agent")
        #expect(TreeNeeds.count(of: coding) == 3)
        #expect(TreeNeeds.directories(ofTree: 0, in: coding) == ["agent", "workspace"])
        #expect(TreeNeeds.directories(ofTree: 1, in: coding) == [])
        let source = MountSource.treeFile(index: 1, path: try InsidePath("/lib/a.md"))
        var inPlace = coding
        inPlace.mounts.removeAll { $0.source == .tree(index: 1) }
        inPlace.mounts.append(
            PlannedMount(
                target: try InsidePath("/work/agent/lib/a.md"),
                source: source,
                access: .readWrite,
                isExecutable: false
            )
        )
        #expect(TreeNeeds.count(of: inPlace) == 3)
        #expect(TreeNeeds.files(ofTree: 0, in: inPlace) == ["agent/lib/a.md"])
        #expect(TreeNeeds.files(ofTree: 1, in: inPlace) == ["lib/a.md"])
        #expect(
            TreeNeeds.directories(ofTree: 0, in: inPlace) == ["agent", "agent/lib", "workspace"]
        )
        #expect(TreeNeeds.directories(ofTree: 1, in: inPlace) == ["lib"])
        let candidate = try plan("candidate")
        #expect(TreeNeeds.count(of: candidate) == 1)
        #expect(TreeNeeds.directories(ofTree: 0, in: candidate) == ["tmp"])
    }
}
