import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    /// Not only each step: each system call of the launcher, of init and of the payload's process up
    /// to its program is failed once, and each of the three is killed at each of its calls.
    @Suite("A system call that fails leaves nothing, and no wall out")
    struct CallFaultTests {
        /// A call whose failure changes nothing of a sandbox, with the reason.
        struct Harmless {
            let names: [String]
            var process: String?
            var isLate: Bool?
            let reason: String

            func covers(_ call: LaunchCall) -> Bool {
                names.contains(call.name) && process ?? call.process == call.process
                    && isLate ?? call.isLate == call.isLate
            }
        }

        static let harmless: [Harmless] =
            [
                Harmless(names: ["close"], reason: "the kernel closes whatever it answers"),
                Harmless(names: ["munmap"], reason: "memory stays mapped"),
                Harmless(
                    names: ["brk", "mmap"],
                    reason: "the C library asks once more, elsewhere"
                ),
                Harmless(
                    names: ["capget"],
                    reason: "libcap asks for a version that it also assumes"
                ),
                Harmless(
                    names: ["umask"],
                    reason: "it never fails; what it answers is not looked at"
                ),
                Harmless(
                    names: ["rt_sigaction"],
                    process: "0",
                    reason: "then a broken pipe ends the launcher, and with it the sandbox"
                ),
                Harmless(
                    names: ["read", "write"],
                    process: "0",
                    isLate: true,
                    reason: "output that cannot be passed on is lost, as with any pipe"
                ),
                Harmless(
                    names: ["recvmsg"],
                    process: "0",
                    isLate: true,
                    reason: "the payload's end is asked for once more when init is gone"
                ),
            ] + told(by: "0.1")

        // What init does while the program runs: a failure costs the name of a program or one table of
        // refused calls, of which the next holds all; a call that was not answered is looked at again.
        static func told(by initial: String) -> [Harmless] {
            [
                Harmless(
                    names: ["poll", "ioctl", "openat", "read", "sendmsg"],
                    process: initial,
                    isLate: true,
                    reason: "refused calls are looked at again"
                )
            ]
        }

        static func isHarmless(_ call: LaunchCall) -> Bool { harmless.contains { $0.covers(call) } }

        // What the C library and the Swift runtime do before the first call of ours, in which a broken
        // pipe is made an error. A failure there is theirs to report, or is none.
        static func start(_ calls: [LaunchCall]) -> Int {
            calls.first { $0.process == "0" && $0.name == "rt_sigaction" && $0.detail == "13" }?
                .number ?? 0
        }

        static func isTyped(_ errors: String) -> Bool {
            errors.split(separator: "\n").contains { line in
                line.hasPrefix("invigilator-launcher: launch a sandbox, step ")
                    && line.split(separator: ": ", maxSplits: 3).count == 4 && line.contains("; ")
            }
        }

        /// Processes in leaves of the pool.
        static func members() throws -> [Int32] {
            let hierarchies = try ControlGroupHierarchies.detect()
            let root = hierarchies.unified ?? hierarchies.controllers[.freezer] ?? ""
            return (0..<8).flatMap { Census.members(of: "\(root)/invigilator/\($0)") }
        }

        // MARK: - one launch

        @Test("of a one-shot launch: each is failed")
        func oneShot() throws {
            try oneShot(.refused) { run, call, normal in
                let isBefore = call.process == "0" && call.number < Self.start(normal.report.calls)
                if run.report.end == 0 {
                    #expect(run.output == normal.output || call.isLate, "\(call)")
                    #expect(run.report.walls == normal.report.walls, "\(call)")
                    #expect(isBefore || Self.isHarmless(call), "swallowed: \(call)")
                } else if isBefore || (call.process == "0" && call.isAllocation) {
                    #expect(run.report.walls.isEmpty || call.isLate, "\(call)")
                } else {
                    #expect(run.report.end == 3 && Self.isTyped(run.errors), "\(call): \(run)")
                }
            }
        }

        @Test("of a one-shot launch: at each its process is killed")
        func oneShotKilled() throws {
            try oneShot(.killed) { run, call, normal in
                // From its last word on, with the filter's listener, the payload's process is the program's.
                let word = normal.report.calls.last {
                    $0.process == "0.1.1" && $0.name == "sendmsg"
                }
                let isProgram = call.process == "0.1.1" && call.number > word?.number ?? .max
                switch call.process {
                case "0": #expect(run.report.end == -9, "\(call)")
                case _ where isProgram: #expect(run.report.end == 137, "\(call)")
                default:
                    #expect(run.report.end == 3 && Self.isTyped(run.errors), "\(call): \(run)")
                }
                // Init dies of its parent's end, or the payload of init's, when the kernel gets to it.
                let isRunning = call.isLate || call.process != "0.1.1"
                #expect(isRunning || run.report.walls.isEmpty, "\(call)")
            }
        }

        @Test("of a one-shot launch: each is interrupted once, which nobody notices")
        func oneShotInterrupted() throws {
            // Only calls that wait or can be made to, as signal(7) lists them.
            let waiting = ["poll", "read", "recvmsg", "sendmsg", "wait4", "write", "openat"]
            try oneShot(.interrupted, only: waiting) { run, call, normal in
                let isBefore = call.process == "0" && call.number < Self.start(normal.report.calls)
                #expect(run.report.end == 0 && run.output == normal.output, "\(call): \(run)")
                #expect(run.report.walls == normal.report.walls || isBefore, "\(call)")
            }
        }

        private func oneShot(
            _ fault: CallFault,
            only names: [String]? = nil,
            _ check: (OneShotStage.Run, LaunchCall, _ normal: OneShotStage.Run) throws -> Void
        ) throws {
            let stage = try OneShotStage(CompiledPlan(try Plans.candidate()).file)
            _ = try stage.run(["facts"])  // makes the leaf of the pool
            let normal = try stage.run(["facts"])
            try #require(normal.report.end == 0 && normal.report.calls.count > 400)
            try #require(normal.report.walls.contains { $0 == "payload landlock on" })
            let remains = try stage.remains()
            let chosen = normal.report.calls.filter {
                $0.canFail && names?.contains($0.name) ?? true
            }
            var hits = 0
            func met(_ run: OneShotStage.Run) -> LaunchCall? {
                guard let hit = run.report.calls.first?.settled(by: normal.report), hit.canFail,
                    names?.contains(hit.name) ?? true
                else { return nil }
                return hit
            }
            for call in chosen {
                var run = try stage.run(["facts"], fault, at: call)
                // What comes after the program's start does so in no fixed order: it is tried again.
                for _ in 0..<3 where met(run) == nil {
                    run = try stage.run(["facts"], fault, at: call)
                }
                guard let hit = met(run) else { continue }
                hits += 1
                #expect(run.report.left.isEmpty, "\(hit)")
                #expect(try Self.members().isEmpty, "\(hit)")
                #expect(run.report.isWalled(like: normal.report), "\(hit)")
                try check(run, hit, normal)
            }
            // How often init looks at the filter's listener depends on when the program asks.
            let settled = chosen.count { !$0.isLate }
            #expect(hits * 10 > settled * 9, "\(hits) of \(settled), \(chosen.count) in all")
            #expect(try stage.remains() == remains)
            #expect(try stage.run(["exit", "7"]).report.end == 7)
        }
    }
}
