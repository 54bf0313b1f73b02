import Foundation
import HostProbe
import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import SelfCheck
import Testing

/// What an ordinary user's sandboxes are where subordinate ids and a control group were delegated.
///
/// `scripts/vm-tests` runs it as such a user of its machine; no other tier does.
@Suite("An ordinary user's sandboxes, where ids and a control group were delegated", .serialized)
struct DelegatedTests {
    private static let delegation = Delegation(
        unshare: DelegationProbe.unshare,
        ownGroups: Host.repository + "/container/own-groups"
    )

    private func run(
        protected: [String] = [],
        vault: String? = nil,
        _ body: (Lab) throws -> Void
    ) throws {
        try #require(Identity.effectiveUser != 0, "this is for an ordinary user")
        try Lab.run(protected: protected, vault: vault, delegation: Self.delegation, body)
    }

    private func demanding(
        _ plan: SandboxPlan,
        _ change: (inout SandboxLimits) -> Void = { _ in }
    ) -> SandboxPlan {
        var plan = plan
        plan.demandedLevel = .delegated
        change(&plan.limits)
        return plan
    }

    @Test("the host is seen to give both, and the quick set finds every wall; full is refused")
    func level() throws {
        #expect(DelegationProbe.probe().isWhole, "\(DelegationProbe.probe())")
        try run { lab in
            #expect(lab.client.reach == .delegated)
            let kit = try QuickSetKit(besideLauncher: Host.launcher, hidden: [])
            let quickSet = QuickSet(kit, launcher: lab.client)
            let plans = try [Plans.coding(), Plans.candidate()].map { CompiledPlan(demanding($0)) }
            let measured = try quickSet.measuredLevel(under: plans[1])
            #expect(measured.level == .delegated, "\(measured)")
            #expect(quickSet.canFreeze)
            let shortfalls = try quickSet.findings(under: plans).shortfalls
            #expect(shortfalls.isEmpty, "\(shortfalls)")
            let full = try Plans.candidate()
            let words = [Lab.candidateProbe, "facts"]
            let refusal = try lab.refusal(CompiledPlan(full), [try lab.rootTree()], words)
            #expect(refusal?.location == "assurance full")
        }
        // The same user's launcher, without what was delegated.
        try Lab.run { lab in
            #expect(lab.client.reach == .singleUID)
            let plan = CompiledPlan(try demanding(Plans.candidate()))
            let words = [Lab.candidateProbe, "facts"]
            let refusal = try lab.refusal(plan, [try lab.rootTree()], words)
            #expect(refusal?.location == "assurance delegated")
        }
    }

    @Test("each sandbox has two users of its own, and none is the caller")
    func users() throws {
        try run { lab in
            func users(of pid: Int32) throws -> Set<String> {
                let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
                let lines = status.split(separator: "\n").filter { $0.hasPrefix("Uid:") }
                return Set(lines.flatMap { $0.split(separator: "\t").dropFirst().map(String.init) })
            }
            var seen: Set<String> = ["\(Identity.effectiveUser)"]
            for _ in 0..<3 {
                try lab.withWaiting(demanding(Plans.candidate())) { _, initial, payload in
                    for pid in [initial, payload] {
                        let found = try users(of: pid)
                        #expect(found.count == 1 && seen.isDisjoint(with: found), "\(found)")
                        seen.formUnion(found)
                    }
                }
            }
            let given = seen.compactMap { Int($0) }.filter { (100_000..<165_536).contains($0) }
            #expect(given.count == 6)
        }
    }

    @Test("no counter of the host's network can be read, and no mode be set back")
    func networkFiles() throws {
        try run { lab in
            let words = [Lab.candidateProbe, "network-files"]
            let plan = try demanding(Plans.candidate())
            let facts = try lab.run(plan, [try lab.rootTree()], words).facts
            for name in NetworkView.readableFiles {
                #expect(facts["self/\(name)"] == "OK", "\(name)")
            }
            for name in ["softnet_stat", "sockstat", "protocols", "stat/rt_cache"] {
                #expect(facts["self/\(name)"] == "EACCES", "\(name)")
            }
            #expect(facts["chmod"] == "EPERM" && facts["again"] == "EACCES")
        }
    }

    @Test("memory, processes and processor time are limited for all of a sandbox together")
    func limits() throws {
        try run { lab in
            func ended(
                _ words: [String],
                _ change: (inout SandboxLimits) -> Void = { _ in }
            ) throws -> ExitKind? {
                let plan = try demanding(Plans.candidate(), change)
                let tree = try lab.rootTree()
                return try lab.run(plan, [tree], [Lab.candidateProbe] + words).exit?.kind
            }
            let fits = try ended(["eat", "64"]) { $0.memory = .mebibytes(128) }
            #expect(fits == .exited)
            let greedy = try ended(["eat", "512"]) { $0.memory = .mebibytes(128) }
            #expect(greedy == .outOfMemory)
            let few = try ended(["overfork", "10"])
            #expect(few == .exited)
            let crowd = try ended(["overfork", "200"])
            #expect(crowd == .processes)
            let busy = try ended(["spin"]) { $0.cpuTime = Milliseconds(500) }
            #expect(busy == .cpuTime)
        }
    }

    @Test("what a coding agent writes is the caller's; its network is its own, with an endpoint")
    func coding() throws {
        try run { lab in
            let trees = try lab.codingTrees()
            let plan = try demanding(Plans.coding())
            let words = [Lab.codingProbe, "open", "create", "/work/agent/made"]
            let guest = try lab.run(plan, trees, words)
            #expect(guest.facts["/work/agent/made"] == "OK", "\(guest.text)")
            let made = try trees[1].directory.openBeneath("made", .read).status()
            #expect(made.owner == Identity.effectiveUser)
            let called = try lab.run(
                plan,
                try lab.codingTrees(),
                [Lab.codingProbe, "tcp", "127.0.0.1", "\(NetworkView.port)"]
            )
            #expect(called.facts["connect"] == "OK" && called.sandbox.endpoint != nil)
        }
    }

    @Test("a candidate reaches its model at a socket file, which it cannot replace")
    func socketFile() throws {
        try run { lab in
            let guest = try lab.run(
                demanding(Plans.candidateWithModel()),
                [try lab.rootTree()],
                [Lab.candidateProbe, "unix", "/dev/\(NetworkView.socketName)"]
            )
            #expect(guest.facts["connect"] == "OK", "\(guest.text)")
            #expect(guest.facts["unlink"] == "EROFS" && guest.sandbox.endpoint != nil)
        }
    }

    @Test("an examiner reads its split of the vault, which no other user of the host reaches")
    func vault() throws {
        let scratch = try Scratch()
        let vault = try scratch.directory("vault")
        let split = try scratch.directory("vault/one/test")
        _ = try scratch.file("vault/one/test/tasks.json", "gold\n")
        // As the supervisor leaves them.
        for (path, mode) in [(vault, 0o700), (split, 0o755), (split + "/tasks.json", 0o644)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        try run(protected: [scratch.path], vault: vault) { lab in
            let plan = try demanding(Plans.examiner(split: split, state: scratch.path))
            let tree = try lab.rootTree()
            let words = [Lab.candidateProbe, "cat", "/vault/tasks.json"]
            let read = try lab.run(plan, [tree], words)
            #expect(read.text == "gold\n", "\(read.text)")
            let changed = try lab.run(plan, [tree], [Lab.candidateProbe, "change", "/vault"])
            #expect(changed.facts["create"] != "OK" && changed.facts["chmod"] != "OK")
        }
    }

    @Test("a launcher that is killed takes everything along; the next one sweeps its groups")
    func killed() throws {
        let lab = try Lab(delegation: Self.delegation)
        let words = [Lab.candidateProbe, "wait"]
        let guest = try lab.start(demanding(Plans.candidate()), [try lab.rootTree()], words)
        try guest.waitFor("waiting")
        let family = try Census.descendants(of: lab.client.pid)
        #expect(family.count == 2 && kill(lab.client.pid, SIGKILL) == 0)
        #expect(try ProcessEnd.wait(for: lab.client.pid).signal == SIGKILL)
        #expect(try Census.waitUntilGone(family).isEmpty)
        try run { lab in
            let plan = try demanding(Plans.candidate())
            let words = [Lab.candidateProbe, "exit", "0"]
            #expect(try lab.run(plan, [try lab.rootTree()], words).exit?.code == 0)
        }
    }
}
