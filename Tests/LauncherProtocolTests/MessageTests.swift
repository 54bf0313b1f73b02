import LauncherClient
import LauncherProtocol
import SandboxPlan
import TestSupport
import Testing

@Suite("LauncherRequest")
struct LauncherRequestTests {
    static let requests: [LauncherRequest] = [
        .makeTree(id: 1, size: .mebibytes(3), inodes: 77), .dropTree(id: .max),
        .launch(
            LaunchRequest(
                id: 5,
                plan: SamplePlan.compiled,
                trees: [1, 2, .max],
                command: ["/bin/true", "", "ä b"],
                window: WindowSize(rows: 7, columns: 80)
            )
        ),
        .launch(LaunchRequest(id: 0, plan: SamplePlan.compiled, trees: [], command: [])),
        .freeze(id: 9), .thaw(id: 10), .kill(id: 11),
        .resize(id: 12, WindowSize(rows: 41, columns: .max)),
    ]

    @Test("every request comes back as it was", arguments: requests)
    func roundTrip(_ request: LauncherRequest) throws {
        #expect(try LauncherRequest(bytes: request.bytes) == request)
    }

    @Test("a request that is cut or goes on is refused", arguments: requests)
    func lengths(_ request: LauncherRequest) {
        let bytes = request.bytes
        for count in 0..<bytes.count {
            #expect(throws: PlanError.self) {
                try LauncherRequest(bytes: Array(bytes.prefix(count)))
            }
        }
        #expect(throws: PlanError.self) { try LauncherRequest(bytes: bytes + [0]) }
    }

    @Test("a verb that names nothing is refused")
    func verbs() {
        for verb in [UInt8(0)] + Array(8...255) {
            #expect(throws: PlanError.self) { try LauncherRequest(bytes: [verb, 1, 0, 0, 0]) }
        }
    }

    @Test("a plan that changed on its way is refused by its digest")
    func digest() throws {
        let request = Self.requests[2]
        let bytes = request.bytes
        let (first, length) = (1 + 4 + 4 + 32 + 4, SamplePlan.compiled.bytes.count)
        for at in first..<first + length {
            var changed = bytes
            changed[at] ^= 0x10
            #expect(throws: PlanError.self) { try LauncherRequest(bytes: changed) }
        }
    }

    @Test("whatever comes is refused or has one encoding", arguments: 0..<30)
    func fuzz(_ seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed) + 1000)
        for _ in 0..<200 {
            var bytes = generator.pick(Self.requests).bytes
            for _ in 0...generator.below(3) {
                bytes[generator.below(bytes.count)] = UInt8(generator.below(256))
            }
            do throws(PlanError) {
                #expect(try LauncherRequest(bytes: bytes).bytes == bytes, "seed \(seed)")
            } catch {
                #expect(!error.remedy.isEmpty)
            }
        }
    }
}

@Suite("LauncherReply")
struct LauncherReplyTests {
    static let failure = LaunchFailure(
        step: .landlock,
        location: "rules",
        reason: "openat2 /absent: ENOENT",
        remedy: "look at the rule"
    )

    static let replies: [LauncherReply] = {
        var full = SandboxExit(kind: .outOfMemory)
        full.code = -1
        full.signal = 9
        full.wasRequested = true
        full.isTruncated = true
        full.cpuMicroseconds = 1
        full.userMicroseconds = 2
        full.systemMicroseconds = 3
        full.peakResidentKiB = 4
        full.wallMicroseconds = 5
        full.outputBytes = 6
        full.memoryKills = 7
        full.refusedProcesses = .max
        let steps = SetupStep.allCases.map { step in
            StepTime(step: step, microseconds: UInt32(step.rawValue))
        }
        return [
            .ready(hasLayerSwitches: false), .ready(hasLayerSwitches: true), .treeMade(id: 3),
            .ended(id: 9), .denied(id: 10, []), .denied(id: 11, [1, 2, 3]),
            .launched(id: 4, user: .max, steps: steps), .launched(id: 4, user: 0, steps: []),
            .done(id: 5),
            .refused(id: 6, failure), .exited(id: 7, full),
        ] + ExitKind.allCases.map { .exited(id: 8, SandboxExit(kind: $0)) }
    }()

    @Test("every reply comes back as it was", arguments: replies)
    func roundTrip(_ reply: LauncherReply) throws {
        #expect(try LauncherReply(bytes: reply.bytes) == reply)
    }

    @Test("a reply that is cut or goes on is refused", arguments: replies)
    func lengths(_ reply: LauncherReply) {
        let bytes = reply.bytes
        for count in 0..<bytes.count {
            #expect(throws: PlanError.self) { try LauncherReply(bytes: Array(bytes.prefix(count))) }
        }
        #expect(throws: PlanError.self) { try LauncherReply(bytes: bytes + [0]) }
    }

    @Test("whatever comes is refused or has one encoding", arguments: 0..<30)
    func fuzz(_ seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed) + 2000)
        for _ in 0..<300 {
            var bytes = generator.pick(Self.replies).bytes
            for _ in 0...generator.below(3) {
                bytes[generator.below(bytes.count)] = UInt8(generator.below(256))
            }
            do throws(PlanError) {
                let reply = try LauncherReply(bytes: bytes)
                // `ready` has an id of its own that nothing reads.
                if case .ready = reply { continue }
                #expect(reply.bytes == bytes, "seed \(seed)")
            } catch {
                #expect(!error.remedy.isEmpty)
            }
        }
    }

    @Test("kinds of exit have one name each, as JSON and ledger show them")
    func names() {
        let names = ExitKind.allCases.map(\.name)
        #expect(
            names == [
                "exited", "signalled", "oom", "wall", "cpu", "idle", "output", "pids", "violation",
                "setup",
            ]
        )
    }

    @Test("a failure says step, place, reason and remedy")
    func description() {
        let text = Self.failure.description
        for part in ["landlock", "rules", "ENOENT", "look at the rule"] {
            #expect(text.contains(part))
        }
    }
}

/// A plan that travels; it is never launched.
enum SamplePlan {
    static let compiled: CompiledPlan = {
        do { return CompiledPlan(try make()) } catch { fatalError("a sample is a plan: \(error)") }
    }()

    private static func make() throws -> SandboxPlan {
        SandboxPlan(
            name: "sample",
            role: .candidate,
            demandedLevel: .full,
            root: .tree,
            mounts: [],
            proc: .pidOnly,
            devices: [.null],
            limits: SandboxLimits(
                memory: .mebibytes(64),
                processes: 8,
                cpuPercent: 100,
                wallClock: .seconds(5),
                cpuTime: nil,
                idle: nil,
                output: .mebibytes(1),
                killsOnOutput: false,
                openFiles: 64,
                fileSize: .mebibytes(1)
            ),
            streams: .pipes,
            landlock: LandlockPlan(
                minimumABI: 6,
                rules: [LandlockRule(path: try InsidePath("/"), access: .read)],
                allowsTCP: false,
                isLogged: true
            ),
            filter: SeccompProgram(bytes: [6, 0, 0, 0, 0, 0, 0, 0x80]),
            environment: [],
            workingDirectory: try InsidePath("/"),
            command: [],
            descriptors: []
        )
    }
}
