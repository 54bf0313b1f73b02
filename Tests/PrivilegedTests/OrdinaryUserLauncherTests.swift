import Foundation
import HostKernel
import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    /// What a launcher enforces that an ordinary user started, beside the same of root's.
    @Suite("The launcher of an ordinary user")
    struct OrdinaryUserLauncherTests {
        // Of a range that no distribution assigns: nobody's own processes or files.
        private static let user: UInt32 = 61_348

        /// The programs where the user can reach them, whatever the checkout's path is.
        private let scratch: Scratch
        private let launcher: String
        private let probe: String

        init() throws {
            scratch = try Scratch()
            probe = scratch.path + "/probe"
            try FileManager.default.copyItem(atPath: Host.probe, toPath: probe)
            let program = scratch.path + "/invigilator-launcher"
            try FileManager.default.copyItem(atPath: Host.launcher, toPath: program)
            launcher = try scratch.file(
                "launcher",
                "#!/bin/sh\nexec \(Self.becoming.joined(separator: " ")) \(program) \"$@\"\n"
            )
            for path in [probe, program, launcher] {
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o755],
                    ofItemAtPath: path
                )
            }
        }

        private static let becoming = [
            "/usr/bin/setpriv", "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups",
        ]

        private static func plan(
            _ change: (inout SandboxPlan) throws -> Void = { _ in }
        ) throws -> SandboxPlan {
            try Plans.coding().with { $0.demandedLevel = .singleUID }.with(change)
        }

        // A tree of the user's own namespace takes files of nobody else, root included.
        private func trees(_ lab: Lab) throws -> [SandboxTree] {
            let trees = try (0..<3).map { _ in
                try lab.client.makeTree(size: .mebibytes(32), inodes: 512)
            }
            let null = try Descriptor.open("/dev/null", .readWrite)
            var placements = DescriptorPlacements()
            placements.add(null)
            placements.add(null)
            placements.add(null)
            placements.add(trees[0].directory)
            let work = "/proc/self/fd/3"
            let pid = try Spawn.start(
                Self.becoming[0],
                arguments: Self.becoming.dropFirst() + [
                    "sh", "-c", "mkdir \(work)/agent && cp \(probe) \(work)/probe",
                ],
                environment: ["PATH=/usr/bin:/bin"],
                descriptors: placements
            )
            try #require(try ProcessEnd.wait(for: pid).exitCode == 0)
            return trees
        }

        private func run(
            _ lab: Lab,
            _ words: [String],
            _ change: (inout SandboxPlan) throws -> Void = { _ in }
        ) throws -> Guest {
            try lab.run(Self.plan(change), try trees(lab), [Lab.codingProbe] + words)
        }

        @Test("a model's socket file is there, and nobody can replace it")
        func socketFile() throws {
            try Lab.run(launcher: launcher) { lab in
                let place = "/dev/\(NetworkView.socketName)"
                let guest = try run(lab, ["unix", place]) { $0.network = .modelSocket }
                #expect(guest.facts["connect"] == "OK", "\(guest.text)")
                #expect(guest.facts["peer-name"] == NetworkView.socketName)
                #expect(guest.facts["unlink"] == "EROFS" && guest.sandbox.endpoint != nil)
            }
        }

        @Test("its payload has no capability, and is the one user of namespaces of its own")
        func identity() throws {
            let none = String(repeating: "0", count: 16)
            let control = try Host.control(["facts"])
            #expect(control["CapEff"] != none && control["NoNewPrivs"] == "0")
            try Lab.run(launcher: launcher) { lab in
                let facts = try run(lab, ["facts"]).facts
                for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
                    #expect(facts[set] == none, "\(set)")
                }
                #expect(facts["bounding"] == "" && facts["NoNewPrivs"] == "1")
                #expect(facts["uids"] == "1000,1000,1000" && facts["gids"] == "1000,1000,1000")
                let guest = try lab.start(Self.plan(), try trees(lab), [Lab.codingProbe, "wait"])
                try guest.waitFor("waiting")
                let family = try Census.descendants(of: lab.client.pid)
                let payload = try #require(family.last)
                for kind in ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"] {
                    let own = try Host.namespace(kind, of: "\(payload)")
                    #expect(own != (try Host.namespace(kind)), "\(kind) is the host's")
                    guard !["user", "mnt"].contains(kind) else { continue }
                    let launchers = try Host.namespace(kind, of: "\(lab.client.pid)")
                    #expect(
                        launchers == (try Host.namespace(kind)),
                        "\(kind) is not the launcher's"
                    )
                }
                try guest.sandbox.kill()
                try guest.waitForEnd()
            }
        }

        @Test("CPU time that the policy allows ends a process that spins, without a control group")
        func processorTime() throws {
            try Lab.run(launcher: launcher) { lab in
                let free = try run(lab, ["spin"]) { plan in
                    plan.limits.cpuTime = nil
                    plan.limits.wallClock = Milliseconds(2500)
                }
                #expect(free.exit?.kind == .wallClock, "\(String(describing: free.exit))")
                let limited = try run(lab, ["spin"]) { plan in
                    plan.limits.cpuTime = Milliseconds(1000)
                    plan.limits.wallClock = Milliseconds(30_000)
                }
                let exit = try #require(limited.exit)
                #expect(exit.kind != .wallClock && exit.kind != .exited, "\(exit)")
            }
        }

        @Test("freezing is refused, which root's launcher does, and the sandbox goes on")
        func freezing() throws {
            try Lab.run { lab in
                try lab.withWaiting { guest, _, _ in
                    try guest.sandbox.freeze()
                    #expect(guest.sandbox.isFrozen)
                }
            }
            try Lab.run(launcher: launcher) { lab in
                let words = [Lab.codingProbe, "tick", "1"]
                let guest = try lab.start(Self.plan(), try trees(lab), words)
                try lab.wait("the first output") { !guest.output.isEmpty }
                do {
                    try guest.sandbox.freeze()
                    Issue.record("it froze")
                } catch LauncherError.refused(let failure) {
                    #expect(failure.reason.contains("EOPNOTSUPP"), "\(failure)")
                    #expect(!failure.remedy.isEmpty)
                }
                #expect(!guest.sandbox.isFrozen)
                let before = guest.output.count
                try lab.wait("more output") { guest.output.count > before }
                try guest.sandbox.kill()
                try guest.waitForEnd()
            }
        }

        @Test("a plan that demands more than single-uid is refused with the cure")
        func demands() throws {
            try Lab.run(launcher: launcher) { lab in
                let words = [Lab.codingProbe, "exit", "0"]
                for level in [AssuranceLevel.delegated, .full] {
                    let plan = CompiledPlan(try Self.plan { $0.demandedLevel = level })
                    let refusal = try lab.refusal(plan, try trees(lab), words)
                    #expect(refusal?.step == .check, "\(level)")
                    #expect(refusal?.reason.contains("reaches single-uid") == true, "\(level)")
                    #expect(refusal?.remedy.contains("run as root") == true, "\(level)")
                }
                #expect(try run(lab, ["exit", "7"]).exit?.code == 7, "what it reaches is launched")
            }
        }

        @Test("when it kills, no process, mount or descriptor of a sandbox is left")
        func leftovers() throws {
            try Lab.run(launcher: launcher) { lab in
                #expect(try run(lab, ["exit", "0"]).exit?.code == 0)
                let pid = lab.client.pid
                let trees = try trees(lab)
                let before = try Remains(of: lab)
                for _ in 0..<3 {
                    let guest = try lab.start(
                        Self.plan(),
                        trees,
                        [Lab.codingProbe, "crowd", "5"]
                    )
                    try guest.waitFor("made=5")
                    let family = try Census.descendants(of: pid)
                    // Init, payload and its five, all of which ignore signals.
                    #expect(try Census.living(family).count >= 7)
                    try guest.sandbox.kill()
                    try guest.waitForEnd()
                    #expect(try Census.waitUntilGone(family).isEmpty)
                }
                #expect(before.processes.isEmpty && !before.descriptors.isEmpty)
                #expect(try Remains(of: lab) == before)
            }
        }
    }
}
