import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

/// A resident launcher of one test's own, and what the test starts with it.
final class Lab {
    let loop = EventLoop()
    let client: LauncherClient
    /// Where the probe lies in the sandboxes of this lab, by role.
    static let candidateProbe = "/usr/bin/probe"
    static let codingProbe = "/work/probe"

    struct TimedOut: Error, CustomStringConvertible {
        let description: String
    }

    static let supervisor: UInt32 = 0x7000_0000

    init(
        protected: [String] = [],
        vault: String? = nil,
        launcher: String = Host.launcher,
        delegation: Delegation? = nil
    ) throws {
        // A payload may end before it has read what a test sends it.
        CurrentProcess.ignorePipeSignal()
        var options = LauncherOptions(
            executable: launcher,
            supervisor: Self.supervisor,
            protected: protected,
            vault: vault,
            delegation: delegation
        )
        options.hasLayerSwitches = false
        client = try LauncherClient.start(options, loop: loop)
    }

    /// Runs a test with a launcher, ends the launcher, and expects that no process of it is left.
    static func run(
        protected: [String] = [],
        vault: String? = nil,
        launcher: String = Host.launcher,
        delegation: Delegation? = nil,
        _ body: (Lab) throws -> Void
    ) throws {
        let lab = try Lab(
            protected: protected,
            vault: vault,
            launcher: launcher,
            delegation: delegation
        )
        let pid = lab.client.pid
        do {
            try body(lab)
        } catch {
            try lab.client.shutDown()
            throw error
        }
        let family = try Census.descendants(of: pid)
        try lab.client.shutDown()
        #expect(try Census.living(family).isEmpty, "processes outlived their launcher")
    }

    /// Runs the loop until something holds.
    func wait(_ what: String, seconds: Int = 60, until condition: () -> Bool) throws {
        var isLate = false
        let span = Nanoseconds(Int64(seconds) * 1_000_000_000)
        let token = loop.at(MonotonicTime.now.advanced(by: span)) { isLate = true }
        try loop.run(until: { isLate || condition() })
        loop.forget(token)
        guard condition() else { throw TimedOut(description: "waited \(seconds) s for \(what)") }
    }

    // MARK: - trees

    /// A root for candidates and examiners that holds the probe and the targets of mounts.
    func rootTree(
        _ fill: (borrowing Descriptor) throws -> Void = { _ in }
    ) throws -> SandboxTree {
        let tree = try client.makeTree(size: .mebibytes(32), inodes: 512)
        for name in ["proc", "dev", "tmp", "usr", "candidate", "examiner", "vault"] {
            try tree.directory.makeDirectory(name)
        }
        let usr = try tree.directory.openBeneath("usr", [.directory])
        try usr.makeDirectory("bin")
        try Self.install(in: usr.openBeneath("bin", [.directory]), "probe")
        try fill(tree.directory)
        return tree
    }

    /// The trees of a coding sandbox: `/work` with the probe, and, writable, `/work/agent` and its home.
    func codingTrees() throws -> [SandboxTree] {
        let work = try client.makeTree(size: .mebibytes(32), inodes: 512)
        try work.directory.makeDirectory("agent")
        try Self.install(in: work.directory, "probe")
        let agent = try client.makeTree(size: .mebibytes(32), inodes: 64)
        let home = try client.makeTree(size: .mebibytes(32), inodes: 512)
        return [work, agent, home]
    }

    private static func install(
        in directory: borrowing Descriptor,
        _ name: String
    ) throws {
        let file = try directory.openBeneath(name, [.write, .createNew], permissions: 0o755)
        try file.writeAll(try Descriptor.open(Host.probe, .read).readAll(limit: 1 << 25))
        try file.setPermissions(0o755)
    }

    // MARK: - guests

    /// Starts a command in a sandbox with pipes.
    func start(
        _ plan: SandboxPlan,
        _ trees: [SandboxTree],
        _ words: [String]
    ) throws -> Guest {
        try Guest(self, CompiledPlan(plan), trees, words)
    }

    /// Runs a command in a sandbox to its end.
    func run(
        _ plan: SandboxPlan,
        _ trees: [SandboxTree],
        _ words: [String],
        input: String = ""
    ) throws -> Guest {
        let guest = try start(plan, trees, words)
        guest.send(input)
        guest.closeInput()
        try guest.waitForEnd()
        return guest
    }

    /// Runs the probe in a candidate's sandbox under the shipped plan.
    func candidate(
        _ words: [String],
        _ change: (inout SandboxPlan) throws -> Void = { _ in }
    ) throws -> Guest {
        let plan = try Plans.candidate().with(change)
        return try run(plan, [try rootTree()], [Self.candidateProbe] + words)
    }

    /// Runs the probe in a coding agent's sandbox under the shipped plan.
    func coding(
        _ words: [String],
        _ change: (inout SandboxPlan) throws -> Void = { _ in }
    ) throws -> Guest {
        let plan = try Plans.coding().with(change)
        return try run(plan, try codingTrees(), [Self.codingProbe] + words)
    }

    /// The failure with which the launcher refuses a launch; nil when it launches.
    func refusal(
        _ plan: CompiledPlan,
        _ trees: [SandboxTree],
        _ words: [String]
    ) throws -> LaunchFailure? {
        do {
            let guest = try Guest(self, plan, trees, words)
            try guest.sandbox.kill()
            try guest.waitForEnd()
            return nil
        } catch LauncherError.refused(let failure) {
            return failure
        }
    }
}

extension Lab {
    /// Calls a body while a candidate's sandbox waits, with host process ids of init and payload.
    func withWaiting(
        _ plan: SandboxPlan? = nil,
        _ body: (Guest, _ initial: Int32, _ payload: Int32) throws -> Void
    ) throws {
        let before = try Census.descendants(of: client.pid)
        let chosen = try plan ?? Plans.candidate()
        let guest: Guest
        if chosen.role == .coding {
            guest = try start(chosen, try codingTrees(), [Self.codingProbe, "wait"])
        } else {
            guest = try start(chosen, [try rootTree()], [Self.candidateProbe, "wait"])
        }
        try guest.waitFor("waiting")
        let family = try Census.descendants(of: client.pid).filter { !before.contains($0) }
        try #require(family.count == 2, "init and payload: \(family)")
        try body(guest, family[0], family[1])
        try guest.sandbox.kill()
        try guest.waitForEnd()
    }
}

extension Lab {
    /// Serves the loop for a span of time.
    func pass(_ span: Nanoseconds) throws {
        var isOver = false
        _ = loop.at(MonotonicTime.now.advanced(by: span)) { isOver = true }
        try loop.run(until: { isOver })
    }

    /// Serves the loop until nothing more comes out of a sandbox that cannot run.
    func settle(_ guest: Guest) throws {
        var before = -1
        while guest.output.count != before {
            before = guest.output.count
            try pass(.milliseconds(30))
        }
    }
}
