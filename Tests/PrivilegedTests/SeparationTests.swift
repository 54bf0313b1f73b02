import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    @Suite("Between two sandboxes")
    struct SeparationTests {
        @Test("a listener of one cannot be reached from the other")
        func abstractSockets() throws {
            // The instrument: two processes of one network namespace do reach each other.
            let together = try Host.control(["facts"])
            #expect(together["ns.net"] == (try Host.namespace("net")))
            try Lab.run { lab in
                let tree = try lab.rootTree()
                let plan = try Plans.candidate()
                let probe = Lab.candidateProbe
                let listener = try lab.start(plan, [tree], [probe, "abstract", "listen", "name"])
                try listener.waitFor("listen=OK")
                let other = try lab.run(plan, [tree], [probe, "abstract", "connect", "name"])
                #expect(other.facts["connect"] == "ECONNREFUSED")
                let own = try lab.run(plan, [tree], [probe, "abstract", "both", "name"])
                #expect(own.facts["connect"] == "OK", "\(own.text)")
                listener.closeInput()
                try listener.waitForEnd()
            }
        }

        @Test("A15: what one leaves in its scratch directories the next does not find")
        func scratch() throws {
            try Lab.run { lab in
                let first = try lab.candidate(["change", "/tmp"]).facts
                #expect(first["create"] == "OK")
                let fill = try lab.candidate(["fill", "/tmp"]).facts
                #expect(fill["fill"] == "ENOSPC" || fill["fill"] == "EFBIG")
                #expect(try lab.candidate(["list", "/tmp"]).facts.lines.isEmpty)
            }
        }

        @Test("neither sees or can signal processes of the other")
        func processes() throws {
            try Lab.run { lab in
                try lab.withWaiting { _, initial, payload in
                    let facts = try lab.coding(["find", "\(payload + 50)"]).facts
                    #expect(facts.lines == ["found.1", "found.2"])
                    let kill = try lab.coding(["kill", "\(payload)", "0"]).facts
                    #expect(kill["kill"] == "ESRCH")
                    _ = initial
                }
            }
        }

        @Test("no keyring and no System V object can be made at all")
        func keysAndObjects() throws {
            let control = try Host.control(["call", "add_key", "keyctl", "shmget", "msgget"])
            for key in control.keys { #expect(control[key] == "OK", "\(key) on the control") }
            try Lab.run { lab in
                for guest in [
                    try lab.candidate(["call", "add_key", "keyctl", "shmget", "msgget"]),
                    try lab.coding(["call", "add_key", "keyctl", "shmget", "msgget"]),
                ] {
                    #expect(guest.facts.keys.count == 4)
                    for key in guest.facts.keys {
                        #expect(["EPERM", "ENOSYS"].contains(guest.facts[key]), "\(key)")
                    }
                }
            }
        }

        @Test("one tree is never shown to a coding agent and to anybody else")
        func treesOfTwoRoles() throws {
            try Lab.run { lab in
                let trees = try lab.codingTrees()
                let root = try lab.rootTree()
                let coding = try Plans.coding()
                let candidate = try Plans.candidate()
                let words = [Lab.codingProbe, "facts"]
                #expect(try lab.refusal(CompiledPlan(coding), trees, words) == nil)
                let asRoot = try lab.refusal(CompiledPlan(candidate), [trees[0]], words)
                #expect(asRoot?.step == .check, "a candidate got the coding agent's tree")
                let probe = [Lab.candidateProbe, "facts"]
                #expect(try lab.refusal(CompiledPlan(candidate), [root], probe) == nil)
                let asWork = try lab.refusal(CompiledPlan(coding), [root, trees[1]], words)
                #expect(asWork?.step == .check, "a coding agent got the candidate's tree")
            }
        }

        @Test("a coding agent's root cannot be a tree, nor a candidate's anything else")
        func roots() throws {
            try Lab.run { lab in
                let coding = try Plans.coding().with { plan in
                    plan.root = .tree
                    // Its own trees would be refused for being shown twice.
                    plan.mounts.removeAll { mount in
                        if case .tree = mount.source { true } else { false }
                    }
                }
                let candidate = try Plans.candidate().with { $0.root = .skeleton([]) }
                for plan in [coding, candidate] {
                    let failure = try lab.refusal(
                        CompiledPlan(plan),
                        [try lab.rootTree(), try lab.rootTree()],
                        [Lab.candidateProbe, "facts"]
                    )
                    #expect(
                        failure?.location == "check the plan's invariants, root",
                        "\(plan.name): \(failure as Any)"
                    )
                }
            }
        }
    }

    @Suite("Freezing and killing")
    struct FreezeTests {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @Test("nothing of a frozen sandbox runs; thawed, it goes on")
        func freeze() throws {
            try Lab.run { lab in
                let guest = try lab.start(
                    try Plans.candidate(),
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "tick", "4"]
                )
                try guest.waitFor("t\nt\nt\n")
                try guest.sandbox.freeze()
                try lab.settle(guest)
                let frozen = guest.output.count
                // Two hundred ticks long; the instrument is the same wait after the thaw.
                try lab.pass(.milliseconds(400))
                #expect(guest.output.count == frozen)
                try guest.sandbox.thaw()
                try lab.wait("the count to go on") { guest.output.count > frozen + 100 }
                try guest.sandbox.kill()
                try guest.waitForEnd()
            }
        }

        // Version 1 does not let a frozen process die, version 2 does: each is a way of its own.
        @Test(
            "a frozen sandbox dies when it is killed, and when its time is up after the thaw",
            arguments: [false, true]
        )
        func killFrozen(_ hidesVersionTwo: Bool) throws {
            if hidesVersionTwo, try ControlGroupHierarchies.detect().mode != .hybrid { return }
            let launcher =
                hidesVersionTwo
                ? try scratch.launcher(after: "umount -l /sys/fs/cgroup/unified") : Host.launcher
            try Lab.run(launcher: launcher) { lab in
                let plan = try Plans.candidate()
                let tree = try lab.rootTree()
                let words = [Lab.candidateProbe, "tick", "4"]
                let killed = try lab.start(plan, [tree], words)
                try killed.waitFor("t\n")
                try killed.sandbox.freeze()
                try killed.sandbox.kill()
                try killed.waitForEnd()
                #expect(killed.exit?.kind == .signalled && killed.exit?.wasRequested == true)
                let short = plan.with { $0.limits.wallClock = Milliseconds(400) }
                let late = try lab.start(short, [tree], words)
                try late.waitFor("t\n")
                try late.sandbox.freeze()
                try lab.pass(.milliseconds(700))
                #expect(late.exit == nil, "frozen time is not used")
                try late.sandbox.thaw()
                try late.waitForEnd()
                #expect(late.exit?.kind == .wallClock)
                #expect(try Census.descendants(of: lab.client.pid).isEmpty)
                // The leaves that were frozen serve the next sandboxes.
                for _ in 0..<3 {
                    let next = try lab.run(plan, [tree], [Lab.candidateProbe, "exit", "4"])
                    #expect(next.exit?.code == 4)
                }
            }
        }

        @Test("a frozen sandbox is not idle")
        func frozenIsNotIdle() throws {
            try Lab.run { lab in
                let plan = try Plans.candidate().with { $0.limits.idle = Milliseconds(250) }
                let guest = try lab.start(
                    plan,
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "tick", "1"]
                )
                try guest.waitFor("t\n")
                try guest.sandbox.freeze()
                try lab.pass(.milliseconds(700))
                #expect(guest.exit == nil)
                try guest.sandbox.thaw()
                let before = guest.output.count
                try lab.wait("the count to go on") { guest.output.count > before + 50 }
                try guest.sandbox.kill()
                try guest.waitForEnd()
            }
        }

        @Test("time that was spent frozen does not count as silence afterwards")
        func silenceAfterThaw() throws {
            try Lab.run { lab in
                let plan = try Plans.candidate().with { $0.limits.idle = Milliseconds(700) }
                let words = [Lab.candidateProbe, "wait"]
                let guest = try lab.start(plan, [try lab.rootTree()], words)
                try guest.waitFor("waiting")
                try guest.sandbox.freeze()
                try lab.pass(.milliseconds(1200))
                try guest.sandbox.thaw()
                let thawed = MonotonicTime.now
                try guest.waitForEnd()
                #expect(guest.exit?.kind == .idle)
                #expect(MonotonicTime.now.since(thawed) >= .milliseconds(650))
            }
        }

        @Test("five hundred processes that ignore every signal die at once")
        func crowd() throws {
            try Lab.run { lab in
                let plan = try Plans.candidate().with { plan in
                    plan.limits.processes = 520
                    plan.limits.memory = .mebibytes(1024)
                }
                let guest = try lab.start(
                    plan,
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "crowd", "500"]
                )
                try guest.waitFor("made=500")
                #expect(try Census.descendants(of: lab.client.pid).count == 502)
                try guest.sandbox.kill()
                try guest.waitForEnd(seconds: 20)
                #expect(try Census.descendants(of: lab.client.pid).isEmpty)
            }
        }
    }
}
