internal import HostKernel
internal import Benchmarks
internal import LauncherClient
public import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan
internal import SandboxPolicy
internal import SelfCheck
internal import ModelDialects
internal import Workspace

/// The sandbox of the untrusted coding agent, with the trees that it sees.
///
/// `/work` is read-only inside and written only by us through a directory descriptor; `/work/agent`
/// is the agent's, and of it the files of the policy's surface are ever read back. Its home is its own,
/// and stays when the agent is started again.
final class CodingSandbox {
    let supervision: Supervision
    private let view: SandboxTree
    let surface: SandboxTree
    let home: SandboxTree
    let socket: RequestSocket
    private let onResistance: (LaunchFailure) -> Void
    /// Told what went wrong where nobody waits for an answer.
    var onTrouble: (SupervisorError) -> Void = { _ in }
    private(set) var sandbox: RunningSandbox?
    /// The number of the listener at which it reaches its model, while it is served.
    private(set) var listener: Int?
    private var isFreezeWanted = false
    private var holds = 0
    /// The transcript as it was when the agent was frozen for the last time.
    var heldTranscript: AgentTranscript?
    private var mayRun = false

    private static let viewSize = ByteCount.mebibytes(256)
    private static let surfaceSize = ByteCount.mebibytes(32)
    private static let homeSize = ByteCount.mebibytes(512)
    private static let socketFolder = ".exam"
    private static let agentFolder = ".coding-agent"

    /// Makes both trees, fills them, and opens the request socket.
    ///
    /// - Parameters:
    ///   - supervision: the supervisor.
    ///   - agent: the judged files.
    ///   - onRequest: told each request.
    ///   - onEnd: told the end of each connection.
    ///   - onResistance: told that the agent could not be frozen, before it is killed for it.
    /// - Throws: ``SupervisorError``.
    init(
        _ supervision: Supervision,
        agent: CandidateSnapshot,
        onRequest: @escaping RequestSocket.Handler,
        onEnd: @escaping (Int) -> Void,
        onResistance: @escaping (LaunchFailure) -> Void
    ) throws(SupervisorError) {
        self.supervision = supervision
        self.onResistance = onResistance
        let launcher = supervision.launcher
        let (view, surface, home) = try launched { () throws(LauncherError) in
            (
                try launcher.makeTree(size: Self.viewSize, inodes: 65536),
                try launcher.makeTree(size: Self.surfaceSize, inodes: 4096),
                try launcher.makeTree(size: Self.homeSize, inodes: 65536)
            )
        }
        self.view = view
        self.surface = surface
        self.home = home
        try Self.fill(view, supervision.inputs)
        try Self.layBait(in: view, supervision)
        try system("place the agent's files", "agent") { () throws(SystemError) in
            for file in agent.files {
                try surface.directory.place(file.bytes, at: Self.beneath(file))
            }
        }
        socket = try system("open the request socket", ".exam/exam.sock") {
            () throws(SystemError) in
            let folder = try view.directory.openBeneath(Self.socketFolder, [.read, .directory])
            return try RequestSocket(
                path: "\(folder.procPath)/exam.sock",
                loop: supervision.loop,
                onRequest: onRequest,
                onEnd: onEnd
            )
        }
    }

    private static func layBait(
        in view: SandboxTree,
        _ supervision: Supervision
    ) throws(SupervisorError) {
        guard let bait = try supervision.honeyGold() else { return }
        try system("lay the bait", BaitPlace.codingView) { () throws(SystemError) in
            try view.directory.place(bait.bytes, at: BaitPlace.codingView)
        }
    }

    private static func fill(
        _ view: SandboxTree,
        _ inputs: ExperimentInputs
    ) throws(SupervisorError) {
        try system("fill the coding agent's view", "/work") { () throws(SystemError) in
            try fill(view.directory, inputs)
        }
    }

    private static func fill(
        _ root: borrowing Descriptor,
        _ inputs: ExperimentInputs
    ) throws(SystemError) {
        for name in ["agent", "workspace", socketFolder, agentFolder] {
            try root.makeDirectory(name)
            try root.openBeneath(name, [.read, .directory]).setPermissions(0o755)
        }
        try root.replace("PROGRAM.md", with: inputs.program)
        try root.replace(
            "experiment_config.yaml",
            with: Array(inputs.config.agentText(packages: inputs.packages?.names ?? []).utf8)
        )
        for stub in inputs.stubs {
            try root.replace(stub.name, with: stub.bytes, permissions: 0o755)
        }
        for file in inputs.codingAgent.files {
            try root.place(file.bytes, at: "\(agentFolder)/\(file.name)")
        }
        // Something for each file to lie on.
        guard inputs.plans.surface.save == .inPlace else { return }
        for pattern in inputs.plans.surface.patterns { try root.place([], at: pattern.text) }
    }

    // MARK: - running

    /// Starts the coding agent; its output goes to the experiment's log.
    ///
    /// - Parameters:
    ///   - isAgain: whether it was started before in this run: its home is as it left it.
    ///   - onExit: told its end.
    /// - Throws: ``SupervisorError``.
    func start(
        isAgain: Bool,
        onExit: @escaping (SandboxExit) -> Void
    ) throws(SupervisorError) {
        let log = supervision.layout.agentLog(supervision.inputs.experiment.id)
        let agent = supervision.inputs.codingAgent
        let command = isAgain ? agent.continueCommand : agent.command
        let plan = supervision.inputs.plans.coding
        let (input, output) = try system("open the agent's log", log) { () throws(SystemError) in
            (
                Descriptor?.Box(try Descriptor.open("/dev/null", .read)),
                Descriptor?.Box(
                    try Descriptor.open(log, [.write, .create, .append], permissions: 0o600)
                )
            )
        }
        guard let source = input.take(), let sink = output.take() else { return }
        var descriptors = DescriptorPlacements()
        descriptors.add(source)
        descriptors.add(sink)
        descriptors.add(sink)
        do throws(LauncherError) {
            sandbox = try supervision.launcher.launch(
                plan,
                trees: [view, surface, home],
                command: command,
                window: .codingAgent,
                descriptors: descriptors,
                onExit: { [weak self] exit in
                    self?.leave()
                    onExit(exit)
                }
            )
        } catch { throw SupervisorError(error) }
        try serveModel()
        // Another experiment's sealed exam may have begun before there was anything to freeze.
        try applyFreeze()
    }

    // Without a model the endpoint is closed, so that whoever asks there is refused at once.
    private func serveModel() throws(SupervisorError) {
        guard let sandbox else { return }
        guard let models = supervision.models, models.hasModel(for: [.codingAgent]) else {
            do { _ = sandbox.endpoint?.take() }
            return
        }
        let path = supervision.layout.agentCalls(supervision.inputs.experiment.id)
        let bodies = try system("open the file of calls", path) { () throws(SystemError) in
            Descriptor?.Box(
                try Descriptor.open(path, [.write, .create, .append], permissions: 0o600)
            )
        }
        listener = try models.serve(sandbox, roles: [.codingAgent], bodies: bodies)
    }

    // Closes the listener, which would keep the network of a sandbox that is gone, and keeps what the
    // agent wrote of its session.
    private func leave() {
        do throws(SupervisorError) {
            if let listener {
                self.listener = nil
                try supervision.models?.close(listener)
            }
            try keepTranscript()
        } catch { onTrouble(error) }
    }

    /// Whether the machine wants the agent frozen; a hold of another experiment keeps it frozen, too.
    func setFreezeWanted(_ isWanted: Bool) throws(SupervisorError) {
        isFreezeWanted = isWanted
        try applyFreeze()
    }

    /// Adds or ends a hold: another experiment of this host runs a sealed exam.
    ///
    /// - Throws: ``SupervisorError``; then nothing was added.
    func changeHolds(by difference: Int) throws(SupervisorError) {
        holds += difference
        do throws(SupervisorError) { try applyFreeze() } catch {
            holds -= difference
            throw error
        }
    }

    /// Whether this supervisor has the share of the host's turn that a running coding agent needs.
    func setMayRun(_ mayRun: Bool) throws(SupervisorError) {
        self.mayRun = mayRun
        try applyFreeze()
    }

    /// Whether it was started and has not ended.
    var isAlive: Bool { sandbox.map { $0.exit == nil } ?? false }

    /// Whether a process of the agent would have to stand still, and none may begin.
    var mustStandStill: Bool { isFreezeWanted || holds > 0 || !mayRun }

    private func applyFreeze() throws(SupervisorError) {
        // An ordinary user's launcher has no freezer, and every policy said that it demands none: the
        // agent runs on, which is why such scores are worth a demonstration and no more.
        guard let sandbox, sandbox.exit == nil, supervision.quickSet.canFreeze else { return }
        let isWanted = mustStandStill
        guard isWanted != sandbox.isFrozen else { return }
        guard isWanted else {
            return try launched { () throws(LauncherError) in try sandbox.thaw() }
        }
        do throws(LauncherError) { try sandbox.freeze() } catch {
            // A process can stay in one call of the kernel for as long as it likes. Whoever is not
            // frozen may not see a sealed exam: the agent ends, as if it had ended by itself.
            guard case .refused(let failure) = error else { throw SupervisorError(error) }
            onResistance(failure)
            try kill()
        }
        if sandbox.isFrozen { heldTranscript = readTranscript() }
    }

    /// Has its silence begin anew: it was heard in another way than by its output.
    ///
    /// The launcher counts from a thaw on, also of what is not frozen.
    func endSilence() throws(SupervisorError) {
        guard let sandbox, sandbox.exit == nil, !sandbox.isFrozen else { return }
        try launched { () throws(LauncherError) in try sandbox.thaw() }
    }

    private func kill() throws(SupervisorError) {
        guard let sandbox, sandbox.exit == nil else { return }
        try launched { () throws(LauncherError) in try sandbox.kill() }
        try system("end the coding agent", "sandbox") { () throws(SystemError) in
            try supervision.loop.run(until: { sandbox.exit != nil })
        }
    }

    /// Kills the agent and waits until every process of it is gone.
    func end() throws(SupervisorError) {
        socket.close()
        try kill()
        try launched { () throws(LauncherError) in
            try supervision.launcher.drop(view)
            try supervision.launcher.drop(surface)
            try supervision.launcher.drop(home)
        }
    }

    // MARK: - files

    /// The agent's `workspace/`, to copy files into.
    func workspaceDirectory() throws(SupervisorError) -> Descriptor?.Box {
        try system("open the agent's workspace", "/work/workspace") { () throws(SystemError) in
            Descriptor?.Box(
                try view.directory.openBeneath("workspace", [.read, .directory])
            )
        }
    }

    /// A sink that writes into the agent's `workspace/`.
    func workspaceSink() throws(SupervisorError) -> DirectorySink {
        try system("open the agent's workspace", "/work/workspace") { () throws(SystemError) in
            DirectorySink(
                adopting: try view.directory.openBeneath("workspace", [.read, .directory])
            )
        }
    }
}

extension WindowSize {
    /// The window of a coding agent's terminal: wide enough for lines of code, and nobody looks.
    public static let codingAgent = WindowSize(rows: 40, columns: 120)
}
