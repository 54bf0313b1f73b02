// What `agent check` does as root: the plan of the coding sandbox with what the profile adds, then the
// launcher, then the supervisor's user; the program is started once and says its version.

internal import HostKernel
internal import LauncherClient
internal import LauncherProtocol
internal import LinuxKernel
internal import ModelDialects
internal import SandboxPlan
internal import SandboxPolicy
internal import SelfCheck
internal import Supervisor
internal import Workspace

/// One start of a coding agent's program.
struct AgentTrial {
    private let files: ProfileFiles
    private let launch: CodingAgentLaunch
    private let options: PolicyOptions
    private let installation: Installation

    // From a cold disk a program of 300 MB has taken more than a minute to start.
    private static let patience = Milliseconds(180_000)
    // No more than a pipe holds, so that nobody has to read while it runs.
    private static let mostOutput = ByteCount(bytes: 32_768)
    private static let policy = "coding-agent"

    /// Fills the profile in, with a stand-in for the model.
    init(
        _ files: ProfileFiles,
        _ found: CodingAgentLaunch.Found?,
        _ options: PolicyOptions,
        _ installation: Installation
    ) throws(SupervisorError) {
        self.files = files
        self.options = options
        self.installation = installation
        let pin = ModelPin(
            upstream: "none",
            dialects: files.profile.dialects,
            model: "model",
            maxOutputTokens: 1
        )
        do throws(WorkspaceError) {
            launch = try CodingAgentLaunch(
                files.profile,
                found: found,
                pin: pin,
                port: NetworkView.port
            )
        } catch {
            throw SupervisorError(error)
        }
    }

    /// Carries everything out and adds what was found.
    func carryOut(_ findings: inout AgentFindings) throws(SupervisorError) {
        if files.place == .directory {
            try files.requireReach(of: launch.named, by: files.owner())
        }
        let layout = options.state.layout()
        try layout.create()
        let resolved = try resolvedPolicy()
        let missing = resolved.missingSources.filter(launch.reads.contains)
        findings.add(paths: launch.reads, missing: missing)
        guard missing.isEmpty else { return }
        var plan = resolved.plan
        plan.limits.wallClock = min(plan.limits.wallClock, Self.patience)
        plan.limits.output = min(plan.limits.output, Self.mostOutput)
        plan.limits.killsOnOutput = false
        plan.environment = Self.merged(plan.environment, launch.environment)
        if launch.hasTerminal { plan.streams = .terminal }
        try files.origin.check(plan)
        let compiled = CompiledPlan(plan)
        let site = try SandboxSite(layout: layout, installation: installation, image: nil)
        let measured = try site.measure(under: compiled)
        try Assurance.require(measured, for: compiled)
        let (exit, said) = try start(compiled, plan, try trees(for: plan, site), site)
        findings.add(
            start: exit,
            said: said,
            command: launch.versionCommand,
            digest: "\(compiled.digest)",
            level: measured.level.name
        )
        try site.close()
    }

    private func resolvedPolicy() throws(SupervisorError) -> ResolvedPolicy {
        let library = try options.library()
        return try files.origin.resolve(
            options.policy(Self.policy, in: library),
            showing: launch.reads,
            PolicyResolver(groups: library.groups, context: options.context())
        )
    }

    private static func merged(
        _ old: [EnvironmentVariable],
        _ new: [String: String]
    ) -> [EnvironmentVariable] {
        let kept = old.filter { new[$0.name] == nil }
        let added = new.map { EnvironmentVariable(name: $0.key, value: $0.value) }
        return (kept + added).sorted { $0.name < $1.name }
    }

    private func trees(
        for plan: SandboxPlan,
        _ site: SandboxSite
    ) throws(SupervisorError) -> [SandboxTree] {
        let trees = try site.makeTrees(for: plan)
        let work = plan.mounts.first { $0.target.text == "/work" }
        guard case .tree(let index) = work?.source, trees.indices.contains(Int(index)) else {
            return trees
        }
        for file in files.all(launch) {
            try site.place(file.bytes, at: ".coding-agent/\(file.name)", in: trees[Int(index)])
        }
        return trees
    }

    private func start(
        _ compiled: CompiledPlan,
        _ plan: SandboxPlan,
        _ trees: [SandboxTree],
        _ site: SandboxSite
    ) throws(SupervisorError) -> (exit: SandboxExit, said: [UInt8]) {
        let (output, errors) = try kernel("hand over standard streams", "pipe") {
            () throws(SystemError) in
            (try SharedPair.pipe(), try SharedPair.pipe())
        }
        let null = try kernel("hand over standard streams", "/dev/null") {
            () throws(SystemError) in
            SharedDescriptor(try Descriptor.open("/dev/null", .readWrite))
        }
        var descriptors = DescriptorPlacements()
        descriptors.add(null.descriptor)
        descriptors.add(output.second.descriptor)
        descriptors.add(errors.second.descriptor)
        for _ in plan.descriptors { descriptors.add(null.descriptor) }
        let sandbox: RunningSandbox
        do throws(LauncherError) {
            sandbox = try site.launcher.launch(
                compiled,
                trees: trees,
                command: launch.versionCommand,
                window: .codingAgent,
                descriptors: descriptors,
                onExit: { _ in }
            )
        } catch {
            throw SupervisorError(error)
        }
        let exit = try site.wait(for: sandbox)
        let said = try kernel("read what the program said", "pipe") { () throws(SystemError) in
            let answer = try Self.everything(in: output.first.descriptor)
            let complaints = try Self.everything(in: errors.first.descriptor)
            // A program that runs says its version first; one that does not, its reason last.
            return exit.code == 0 && !answer.isEmpty ? answer : answer + complaints
        }
        return (exit, said)
    }

    // Our own end for writing is open still, so that the end of the pipe is that it is empty.
    private static func everything(
        in pipe: borrowing Descriptor
    ) throws(SystemError) -> [UInt8] {
        try pipe.setNonBlocking(true)
        var bytes: [UInt8] = []
        while true {
            do throws(SystemError) {
                let part = try pipe.read(atMost: 65_536)
                if part.isEmpty { return bytes }
                bytes += part
            } catch {
                guard error.isWouldBlock else { throw error }
                return bytes
            }
        }
    }
}
