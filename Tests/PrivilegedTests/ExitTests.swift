import Foundation
import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    @Suite("Exits and limits")
    struct ExitTests {
        @Test("an exit code comes through", arguments: [0, 1, 77, 255])
        func code(_ code: Int32) throws {
            try Lab.run { lab in
                let exit = try #require(try lab.candidate(["exit", "\(code)"]).exit)
                #expect(exit.kind == .exited && exit.code == code && exit.signal == nil)
                #expect(!exit.wasRequested && !exit.isTruncated)
            }
        }

        @Test("a signal comes through", arguments: [6, 9, 11, 15])
        func signal(_ signal: Int32) throws {
            try Lab.run { lab in
                let exit = try #require(try lab.candidate(["raise", "\(signal)"]).exit)
                #expect(exit.kind == .signalled && exit.signal == signal && exit.code == nil)
            }
        }

        @Test("a kill on request says so, whatever the payload ignores")
        func requested() throws {
            try Lab.run { lab in
                let tree = try lab.rootTree()
                let guest = try lab.start(
                    try Plans.candidate(),
                    [tree],
                    [Lab.candidateProbe, "wait"]
                )
                try guest.waitFor("waiting")
                try guest.sandbox.kill()
                try guest.waitForEnd()
                #expect(guest.exit?.kind == .signalled && guest.exit?.wasRequested == true)
            }
        }

        @Test("more memory than allowed ends the payload as oom; less does not")
        func memory() throws {
            try Lab.run { lab in
                let within = try lab.candidate(["eat", "64"]) { $0.limits.memory = .mebibytes(128) }
                #expect(within.exit?.kind == .exited && within.facts["eaten"] == "64")
                #expect(within.exit?.memoryKills == 0)
                let above = try lab.candidate(["eat", "512"]) { $0.limits.memory = .mebibytes(128) }
                #expect(above.exit?.kind == .outOfMemory)
                #expect((above.exit?.memoryKills ?? 0) > 0)
                // Where the kernel is slow to free a killed process, the launcher ends the sandbox
                // before init has told how the payload ended, and then nothing is known of it.
                let peak = above.exit?.peakResidentKiB ?? 0
                let isTold = above.exit?.signal != nil
                #expect((isTold ? 64 * 1024...130 * 1024 : 0...0).contains(peak), "\(peak) KiB")
            }
        }

        @Test(
            "the first kill for memory ends the sandbox, whoever was killed and however it ends",
            arguments: ["1", "1000000"]
        )
        func memoryAgain(times: String) throws {
            try Lab.run { lab in
                let guest = try lab.candidate(["eat-again", times]) { plan in
                    plan.limits.memory = .mebibytes(64)
                    plan.limits.wallClock = .seconds(10)
                }
                #expect(guest.exit?.kind == .outOfMemory, "\(String(describing: guest.exit))")
                #expect((1..<50).contains(guest.exit?.memoryKills ?? 0))
            }
        }

        @Test("a coding agent outlives its tools' kills for memory, and not the sixty-fifth")
        func memoryInANight() throws {
            try Lab.run { lab in
                let few = try lab.coding(["eat-again", "3"]) { plan in
                    plan.limits.memory = .mebibytes(64)
                }
                #expect(few.exit?.kind == .exited && few.exit?.code == 0, "\(few.exit as Any)")
                #expect((3...64).contains(few.exit?.memoryKills ?? 0))
                let many = try lab.coding(["eat-again", "1000000"]) { plan in
                    plan.limits.memory = .mebibytes(64)
                    plan.limits.wallClock = .seconds(60)
                }
                #expect(many.exit?.kind == .outOfMemory, "\(many.exit as Any)")
                #expect((65..<400).contains(many.exit?.memoryKills ?? 0))
            }
        }

        @Test("pages of a tmpfs count against the memory limit")
        func tmpfsMemory() throws {
            try Lab.run { lab in
                let guest = try lab.candidate(["fill", "/tmp"]) { plan in
                    plan.mounts[0].source = .tmpfs(size: .mebibytes(512), inodes: 16)
                    plan.limits.fileSize = .mebibytes(1024)
                    plan.limits.memory = .mebibytes(64)
                }
                #expect(guest.exit?.kind == .outOfMemory)
            }
        }

        @Test("a crowd meets the process limit; a smaller one does not")
        func processes() throws {
            try Lab.run { lab in
                let within = try lab.candidate(["overfork", "10"])
                #expect(within.exit?.kind == .exited && within.exit?.code == 0)
                let above = try lab.candidate(["overfork", "200"])
                #expect(above.exit?.kind == .processes && above.exit?.code == 11)
                #expect((above.exit?.refusedProcesses ?? 0) > 0)
            }
        }

        @Test("a fork bomb stays within its group and ends with the wall clock")
        func forkBomb() throws {
            try Lab.run { lab in
                let plan = try Plans.candidate().with { plan in
                    plan.limits.wallClock = Milliseconds(1500)
                    plan.limits.processes = 24
                }
                let guest = try lab.start(plan, [try lab.rootTree()], [Lab.candidateProbe, "bomb"])
                var most = 0
                var isOver = false
                let token = lab.loop.at(.now.advanced(by: .milliseconds(700))) {
                    most = (try? Census.descendants(of: lab.client.pid).count) ?? 0
                    isOver = true
                }
                try lab.wait("half time") { isOver }
                lab.loop.forget(token)
                try guest.waitForEnd()
                #expect(guest.exit?.kind == .wallClock)
                #expect((10...25).contains(most), "\(most) processes")
                #expect(try Census.descendants(of: lab.client.pid).isEmpty)
            }
        }

        @Test("the clock of a sandbox stands still while it is frozen, and goes on where it stood")
        func frozenWallClock() throws {
            try Lab.run { lab in
                let plan = try Plans.candidate().with { $0.limits.wallClock = Milliseconds(1000) }
                let guest = try lab.start(
                    plan,
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "tick", "1"]
                )
                // More than its whole time, in two parts.
                for _ in 0..<2 {
                    try guest.sandbox.freeze()
                    let end = MonotonicTime.now.advanced(by: .milliseconds(800))
                    while MonotonicTime.now < end {
                        try lab.client.loop.turn(atMost: .milliseconds(50))
                    }
                    #expect(guest.exit == nil, "it has run for no second")
                    try guest.sandbox.thaw()
                }
                try guest.waitForEnd()
                #expect(guest.exit?.kind == .wallClock)
                let wall = guest.exit?.wallMicroseconds ?? 0
                #expect(wall >= 2_600_000 && wall < 20_000_000, "\(wall) us")
            }
        }

        @Test("the wall clock ends what waits and what spins")
        func wallClock() throws {
            try Lab.run { lab in
                for verb in ["wait", "spin"] {
                    let guest = try lab.candidate([verb]) {
                        $0.limits.wallClock = Milliseconds(300)
                    }
                    #expect(guest.exit?.kind == .wallClock, "\(verb)")
                    let wall = guest.exit?.wallMicroseconds ?? 0
                    #expect(wall >= 300_000, "\(verb): \(wall) us")
                }
            }
        }

        @Test("CPU time ends what spins and not what waits")
        func processorTime() throws {
            try Lab.run { lab in
                let spinning = try lab.candidate(["spin"]) { plan in
                    plan.limits.cpuTime = Milliseconds(300)
                    plan.limits.wallClock = .seconds(30)
                }
                #expect(spinning.exit?.kind == .cpuTime)
                #expect((spinning.exit?.cpuMicroseconds ?? 0) >= 300_000)
                let waiting = try lab.candidate(["wait"]) { plan in
                    plan.limits.cpuTime = Milliseconds(300)
                    plan.limits.wallClock = Milliseconds(900)
                }
                #expect(waiting.exit?.kind == .wallClock)
            }
        }

        @Test("the CPU share bounds what a sandbox uses of a second")
        func processorShare() throws {
            try Lab.run { lab in
                let guest = try lab.candidate(["spin"]) { plan in
                    plan.limits.cpuPercent = 20
                    plan.limits.wallClock = .seconds(2)
                }
                let used = Double(guest.exit?.cpuMicroseconds ?? 0)
                let wall = Double(guest.exit?.wallMicroseconds ?? 1)
                #expect(used / wall < 0.35, "\(used / wall) of one CPU")
                #expect(used > 100_000)
            }
        }

        @Test("silence ends a sandbox that may not be idle; output keeps it alive")
        func idle() throws {
            try Lab.run { lab in
                let silent = try lab.candidate(["wait"]) { plan in
                    plan.limits.idle = Milliseconds(200)
                    plan.limits.wallClock = .seconds(30)
                }
                #expect(silent.exit?.kind == .idle)
                let talking = try lab.candidate(["tick", "1"]) { plan in
                    plan.limits.idle = Milliseconds(400)
                    plan.limits.wallClock = Milliseconds(1200)
                }
                #expect(talking.exit?.kind == .wallClock)
            }
        }

        @Test("output past the cap is drained, dropped and recorded")
        func truncation() throws {
            try Lab.run { lab in
                let guest = try lab.candidate(["print", "3000000"])
                #expect(guest.exit?.kind == .exited && guest.exit?.code == 0)
                #expect(guest.exit?.isTruncated == true && guest.exit?.outputBytes == 3_000_000)
                #expect(guest.output.count == 1 << 20)
                let whole = try lab.candidate(["print", "1000000"])
                #expect(whole.exit?.isTruncated == false && whole.output.count == 1_000_000)
            }
        }

        @Test("output past the cap ends the sandbox where the plan says so")
        func outputKill() throws {
            try Lab.run { lab in
                let guest = try lab.candidate(["print", "300000000"]) { plan in
                    plan.limits.killsOnOutput = true
                }
                #expect(guest.exit?.kind == .output && guest.exit?.isTruncated == true)
                #expect(guest.output.count <= 1 << 20)
            }
        }

        @Test("what was printed before the end arrives, however slowly it is read")
        func slowReader() throws {
            try Lab.run { lab in
                // More than the client's pipe and the launcher's buffer hold, less than these and
                // the payload's own pipe: the payload ends while most of it is unread.
                let plan = try Plans.candidate()
                let guest = try Guest(
                    lab,
                    CompiledPlan(plan),
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "print", "170000"],
                    collects: false
                )
                try guest.waitForExit()
                #expect(guest.exit?.outputBytes ?? 0 > 0)
                guest.collectNow()
                try guest.waitForEnd()
                #expect(guest.output.count == 170_000)
            }
        }

        @Test("a client that does not read holds up nobody else")
        func stuckReader() throws {
            try Lab.run { lab in
                let tree = try lab.rootTree()
                let plan = try Plans.candidate().with { $0.limits.wallClock = Milliseconds(800) }
                let stuck = try Guest(
                    lab,
                    CompiledPlan(plan),
                    [tree],
                    [Lab.candidateProbe, "print", "100000000"],
                    collects: false
                )
                let other = try lab.run(plan, [tree], [Lab.candidateProbe, "facts"])
                #expect(other.exit?.kind == .exited)
                try stuck.waitForExit()
                #expect(stuck.exit?.kind == .wallClock)
            }
        }

        @Test("an exit tells what was used")
        func usage() throws {
            try Lab.run { lab in
                let exit = try #require(try lab.candidate(["spin-for", "200"]).exit)
                #expect(exit.kind == .exited)
                #expect(exit.userMicroseconds + exit.systemMicroseconds >= 200_000)
                #expect(exit.cpuMicroseconds >= 200_000)
                #expect(exit.wallMicroseconds >= 200_000)
                #expect(exit.peakResidentKiB > 100)
            }
        }

        @Test(
            "a payload killed from outside is a signal's, an init killed from outside is the host's"
        )
        func killedFromOutside() throws {
            try Lab.run { lab in
                let plan = try Plans.candidate()
                let tree = try lab.rootTree()
                for (victim, kind) in [(0, ExitKind.setup), (1, ExitKind.signalled)] {
                    let guest = try lab.start(plan, [tree], [Lab.candidateProbe, "wait"])
                    try guest.waitFor("waiting")
                    let family = try Census.descendants(of: lab.client.pid)
                    try #require(family.count == 2)
                    #expect(kill(family[victim], SIGKILL) == 0)
                    try guest.waitForEnd()
                    #expect(guest.exit?.kind == kind && guest.exit?.wasRequested == false)
                    #expect(try Census.living(family).isEmpty)
                }
            }
        }

        @Test("a child that outlives the payload dies with it")
        func abandoned() throws {
            try Lab.run { lab in
                let guest = try lab.candidate(["abandon"])
                #expect(guest.exit?.kind == .exited && guest.exit?.code == 0)
                #expect(try Census.descendants(of: lab.client.pid).isEmpty)
            }
        }

        @Test("every step of a launch is timed, in order")
        func steps() throws {
            try Lab.run { lab in
                let guest = try lab.candidate(["exit", "0"])
                let steps = guest.sandbox.steps.map(\.step)
                #expect(steps == steps.sorted { $0.rawValue < $1.rawValue })
                #expect(Set(steps).isSuperset(of: [.check, .group, .sources, .clone, .pivot]))
                #expect(steps.last == .execution)
            }
        }
    }
}
