// The one-shot form: `run PLAN -- CMD` starts one sandbox with the caller's own streams.

internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

/// Runs one command under a compiled plan and answers with its exit code.
struct OneShot {
    let planPath: String
    let treePaths: [String]
    let command: [String]

    /// Exit code of a sandbox or host that failed (DESIGN section 9).
    static let hostFailed: Int32 = 3

    /// Runs to the end; the caller's descriptors are taken before anything of ours is opened, or a
    /// slot that the caller left closed could be one of ours.
    func run(
        _ makeSite: () throws(LaunchFailure) -> LaunchSite
    ) throws(LaunchFailure) -> Int32 {
        let compiled = try readPlan()
        let client = try takeDescriptors(compiled)
        let site = try makeSite()
        let trees = try treePaths.map { path throws(LaunchFailure) in try tree(path) }
        let request = LaunchRequest(id: 1, plan: compiled, trees: [], command: command)
        var ended: SandboxExit?
        var launch = Launch(site: site, request: request, trees: trees, client: client)
        let running = try launch.run { _, exit in ended = exit }
        return try attempt(.execution, "waiting") { () throws(SystemError) in
            let signals = try SignalDescriptor([1, 2, 15])
            var isAsked = false
            let token = site.loop.watch(signals.descriptor, .readable) { _ in
                isAsked = true
                running.sandbox.kill()
            }
            try site.loop.run(until: {
                ended != nil && (running.sandbox.isFlushed || isAsked)
            })
            site.loop.forget(token)
            return Self.code(ended ?? SandboxExit(kind: .setup))
        }
    }

    private func takeDescriptors(_ compiled: CompiledPlan) throws(LaunchFailure) -> [Held] {
        let plan = try checking { () throws(PlanError) in try compiled.plan() }
        let slots = plan.descriptors.map { Int32($0.number) }
        return try attempt(.clone, "descriptors") { () throws(SystemError) in
            try ([0, 1, 2] + slots).map { number throws(SystemError) in try Self.own(number) }
        }
    }

    // A slot that the caller left closed is connected to nothing. Copies go above every slot, or the
    // copy of one would be taken for the caller's next.
    private static func own(_ number: Int32) throws(SystemError) -> Held {
        do throws(SystemError) {
            return Held(try Descriptor.copy(ofInherited: number))
        } catch {
            guard error.isNotOpen else { throw error }
            let nothing = try Descriptor.open("/dev/null", .readWrite)
            return Held(try nothing.duplicate(atLeast: 64))
        }
    }

    private func readPlan() throws(LaunchFailure) -> CompiledPlan {
        let bytes = try attempt(.check, "plan \(planPath)") { () throws(SystemError) in
            try Descriptor.open(planPath, [.read, .nonBlocking]).readAll(limit: 1 << 20)
        }
        return try checking { () throws(PlanError) in try CompiledPlan(file: bytes) }
    }

    // Only a tmpfs: a tree on the host's own file system would share its caches with every sandbox.
    private func tree(_ path: String) throws(LaunchFailure) -> HeldTree {
        let (tree, kind) = try attempt(.sources, "tree \(path)") { () throws(SystemError) in
            let directory = try Descriptor.openWithoutLinks(path, [.path, .directory])
            let kind = try MountStatus(of: directory).kind
            return (HeldTree(MountTree(at: directory)), kind)
        }
        guard kind == MountStatus.tmpfs else {
            let cure = "fill one with `invigilator image fill`"
            throw LaunchFailure("tree \(path)", "it is not a tmpfs", cure)
        }
        return tree
    }

    // What a shell makes of a process: its code, or 128 and the signal; our own ends are 3.
    private static func code(_ exit: SandboxExit) -> Int32 {
        switch exit.kind {
        case .exited: return exit.code ?? hostFailed
        case .signalled, .violation: return 128 + (exit.signal ?? 9)
        case .outOfMemory, .wallClock, .cpuTime, .idle, .output, .processes:
            printError("invigilator-launcher: ended by its limit: \(exit.kind.name)")
            return 137
        case .setup:
            printError("invigilator-launcher: \(LaunchFailure.endedUnsaid(.execution, "init"))")
            return hostFailed
        }
    }
}

/// Prints one line to standard error, or to another standard stream, past the C library's buffer:
/// `CurrentProcess.exitNow` does not flush one.
func printError(_ line: String, to number: Int32 = 2) {
    // Nothing is left to do when the stream is closed.
    do throws(SystemError) {
        try Descriptor.copy(ofInherited: number).writeAll(Array((line + "\n").utf8))
    } catch {}
}
