import HostKernel
import Foundation
import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    @Suite("Lives and deaths")
    struct LifetimeTests {
        /// Several sandboxes that ignore every signal, one of them frozen, with what they are made of.
        private func crowd(_ lab: Lab) throws -> (
            guests: [Guest], family: [Int32], groups: Set<Census.Group>
        ) {
            let tree = try lab.rootTree()
            let plan = try Plans.candidate()
            var guests: [Guest] = []
            for _ in 0..<4 {
                let guest = try lab.start(plan, [tree], [Lab.candidateProbe, "crowd", "5"])
                try guest.waitFor("made=5")
                guests.append(guest)
            }
            try guests[0].sandbox.freeze()
            let family = try Census.descendants(of: lab.client.pid)
            #expect(family.count == 4 * 7)
            var groups: Set<Census.Group> = []
            for pid in family { groups.formUnion(try Census.groups(of: pid)) }
            return (guests, family, groups)
        }

        @Test("when the launcher is killed, every process of every sandbox dies; a sweep clears up")
        func launcherKilled() throws {
            let lab = try Lab()
            var isLost = false
            lab.client.onLost = { isLost = true }
            let (guests, family, groups) = try crowd(lab)
            #expect(!groups.isEmpty)
            #expect(kill(lab.client.pid, SIGKILL) == 0)
            // What version 1 froze dies when the sweep thaws it.
            let isThawed = try ControlGroupHierarchies.detect().mode != .v1
            if isThawed { #expect(try Census.waitUntilGone(family).isEmpty) }
            try lab.wait("the loss to be noticed") { isLost }
            #expect(throws: LauncherError.self) { try guests[1].sandbox.freeze() }
            #expect(try ProcessEnd.wait(for: lab.client.pid).signal == SIGKILL)
            // The leaves are left, and their names; the next start of a launcher removes them.
            #expect(groups.contains { $0.exists })
            let outcome = try Spawn.run(Host.launcher, arguments: ["sweep"])
            #expect(outcome.end.exitCode == 0, "\(String(decoding: outcome.errors, as: UTF8.self))")
            #expect(try Census.waitUntilGone(family).isEmpty)
            for group in groups {
                #expect(!group.exists, "\(group)")
            }
        }

        @Test("a new launcher sweeps what a killed one left")
        func nextLauncherSweeps() throws {
            let lab = try Lab()
            let (_, family, groups) = try crowd(lab)
            #expect(kill(lab.client.pid, SIGKILL) == 0)
            _ = try ProcessEnd.wait(for: lab.client.pid)
            try Lab.run { next in
                #expect(try Census.waitUntilGone(family).isEmpty)
                for group in groups {
                    #expect(!group.exists, "\(group)")
                }
                let guest = try next.candidate(["exit", "3"])
                #expect(guest.exit?.code == 3)
            }
        }

        @Test(
            "when the supervisor goes, the launcher kills everything, removes its groups and ends"
        )
        func supervisorGone() throws {
            let lab = try Lab()
            let (guests, family, groups) = try crowd(lab)
            #expect(guests.count == 4)
            let pid = lab.client.pid
            try lab.client.shutDown()
            #expect(try Census.living([pid] + family).isEmpty)
            for group in groups {
                #expect(!group.exists, "\(group)")
            }
        }

        @Test(
            "a launcher asked to end by a signal does the same",
            arguments: [SIGTERM, SIGINT, SIGHUP]
        )
        func signalled(_ signal: Int32) throws {
            let lab = try Lab()
            let (_, family, groups) = try crowd(lab)
            #expect(kill(lab.client.pid, signal) == 0)
            #expect(try ProcessEnd.wait(for: lab.client.pid).exitCode == 0)
            #expect(try Census.living(family).isEmpty)
            for group in groups {
                #expect(!group.exists, "\(group)")
            }
        }

        // Under emulation a launch takes twenty times as long.
        private static let launches =
            ProcessInfo.processInfo.environment["INVIGILATOR_TESTS_LAUNCHES"].flatMap { Int($0) }
            ?? 1000

        @Test("a thousand launches leave no process, mount, descriptor or populated group")
        func thousand() throws {
            try Lab.run { lab in
                let tree = try lab.rootTree()
                let plan = CompiledPlan(try Plans.candidate())
                // Five at once before counting, as many as there will be: leaves are kept for reuse.
                let crowd = try (0..<5).map { _ in
                    try Guest(lab, plan, [tree], [Lab.candidateProbe, "wait"])
                }
                var groups: Set<Census.Group> = []
                for pid in try Census.descendants(of: lab.client.pid) {
                    // A process of the launcher's own, which makes a network namespace, ends meanwhile.
                    groups.formUnion((try? Census.groups(of: pid)) ?? [])
                }
                for guest in crowd { try guest.sandbox.kill() }
                for guest in crowd { try guest.waitForEnd() }
                let before = try Remains(of: lab)
                #expect(before.processes.isEmpty)
                try launchMany(lab, plan, tree, Self.launches)
                let after = try Remains(of: lab)
                #expect(after == before)
                #expect(!groups.isEmpty)
                for group in groups where group.exists {
                    #expect(Census.members(of: group).isEmpty, "\(group)")
                }
            }
        }

        // Four at a time, every tenth killed, every tenth ended by a limit.
        private func launchMany(
            _ lab: Lab,
            _ plan: CompiledPlan,
            _ tree: SandboxTree,
            _ count: Int
        ) throws {
            var living: [Guest] = []
            for number in 0..<count {
                let isKilled = number % 10 == 9
                let words = [Lab.candidateProbe] + (isKilled ? ["wait"] : ["exit", "7"])
                let guest = try Guest(lab, plan, [tree], words)
                if isKilled { try guest.sandbox.kill() }
                living.append(guest)
                if living.count == 4 {
                    let oldest = living.removeFirst()
                    try oldest.waitForEnd()
                    #expect(oldest.exit?.wasRequested == true || oldest.exit?.code == 7)
                }
            }
            for guest in living { try guest.waitForEnd() }
        }

        @Test("forty sandboxes at once each end with their own code and their own output")
        func manyAtOnce() throws {
            try Lab.run { lab in
                let tree = try lab.rootTree()
                let plan = CompiledPlan(try Plans.candidate())
                let echoes = try (0..<20).map { _ in
                    try Guest(lab, plan, [tree], [Lab.candidateProbe, "echo"])
                }
                let codes = try (0..<20).map { number in
                    try Guest(lab, plan, [tree], [Lab.candidateProbe, "exit", "\(number + 50)"])
                }
                for (number, guest) in echoes.enumerated() {
                    guest.send(String(repeating: "sandbox \(number)\n", count: 1000))
                    guest.closeInput()
                }
                for (number, guest) in echoes.enumerated() {
                    try guest.waitForEnd()
                    let wanted = String(repeating: "sandbox \(number)\n", count: 1000)
                    #expect(guest.text == wanted, "\(number)")
                }
                for (number, guest) in codes.enumerated() {
                    try guest.waitForEnd()
                    #expect(guest.exit?.code == Int32(number + 50))
                }
                #expect(try Census.descendants(of: lab.client.pid).isEmpty)
            }
        }

        @Test("trees that were dropped are gone with their last sandbox")
        func trees() throws {
            try Lab.run { lab in
                _ = try lab.candidate(["exit", "0"])
                let before = try Remains(of: lab)
                for _ in 0..<20 {
                    let tree = try lab.rootTree()
                    let guest = try lab.start(
                        try Plans.candidate(),
                        [tree],
                        [Lab.candidateProbe, "wait"]
                    )
                    try guest.waitFor("waiting")
                    try lab.client.drop(tree)
                    try guest.sandbox.kill()
                    try guest.waitForEnd()
                }
                let after = try Remains(of: lab)
                #expect(after == before)
            }
        }
    }
}
