public import ExamResults
public import LauncherClient
public import Ledger
public import LinuxKernel
public import SandboxPlan

/// A supervisor after its root phase: its own user, no capability, a launcher at hand.
public final class Supervision {
    /// What it read as root.
    public let inputs: ExperimentInputs
    /// Where state lies.
    public let layout: StateLayout
    /// The one loop of this process.
    public let loop: EventLoop
    /// The launcher.
    public let launcher: LauncherClient
    /// The record.
    public let ledger: Ledger
    /// Our place among the supervisors of this host.
    let turn: HostTurn
    /// The train tasks, once the genesis row is known.
    public internal(set) var trainTasks: [TaskID] = []

    /// Starts the launcher, gives up every right, and opens the ledger.
    ///
    /// Order: the launcher first, because only root may start it, and what it measured of this host
    /// must reach what every policy demands; the host's locks, which are root's; then the ids, because a ledger opened as root would be
    /// root's; then the ledger, whose lock refuses a second run.
    ///
    /// - Parameters:
    ///   - inputs: what was read as root.
    ///   - layout: where state is kept.
    ///   - installation: where the launcher lies.
    /// - Throws: ``SupervisorError``.
    public init(
        _ inputs: ExperimentInputs,
        layout: StateLayout,
        installation: Installation
    ) throws(SupervisorError) {
        self.inputs = inputs
        self.layout = layout
        CurrentProcess.ignorePipeSignal()
        let loop = EventLoop()
        self.loop = loop
        launcher = try launched { () throws(LauncherError) in
            try LauncherClient.start(
                LauncherOptions(
                    executable: installation.launcher,
                    supervisor: StateLayout.supervisor,
                    protected: [layout.root],
                    vault: layout.vault
                ),
                loop: loop
            )
        }
        turn = try HostTurn()
        for plan in inputs.plans.all { try Assurance.require(launcher.level, for: plan) }
        try Self.giveUpRights()
        let id = inputs.experiment.id
        ledger = try ledgered { () throws(LedgerError) in
            let ledger = try Ledger.open(at: layout.ledger(id), keyAt: layout.key(id))
            // Opening checks the newest row alone; what we go on from is every row.
            try ledger.verify().requireIntact(location: layout.ledger(id))
            return ledger
        }
    }

    /// Becomes the supervisor's user, without any capability and for good.
    public static func giveUpRights() throws(SupervisorError) {
        try system("give up root", "uid \(StateLayout.supervisor)") { () throws(SystemError) in
            // Trees must be readable for other users inside; state lies below a directory of mode 0700.
            CurrentProcess.setMask(0o022)
            let user = StateLayout.supervisor
            try Identity.confine(keeping: [], becoming: user)
            guard try Identity.isExactly(uid: user, gid: user),
                try Identity.missingWalls().isEmpty
            else { CurrentProcess.exitNow(ExitStatus.hostFailed.rawValue) }
        }
    }

    /// Ends the launcher and closes the record; nothing of ours runs after this.
    public func end() throws(SupervisorError) {
        launcher.onLost = {}
        try launched { () throws(LauncherError) in try launcher.shutDown() }
        try ledgered { () throws(LedgerError) in try ledger.close() }
    }
}

/// The comparison of what a policy demands with what the launcher measured of this host.
public enum Assurance {
    /// Refuses to go on where the host enforces less than a plan demands.
    ///
    /// - Throws: ``SupervisorError`` with ``ExitStatus/hostFailed``.
    public static func require(
        _ level: AssuranceLevel,
        for compiled: CompiledPlan
    ) throws(SupervisorError) {
        let plan: SandboxPlan
        do throws(PlanError) { plan = try compiled.plan() } catch {
            throw SupervisorError(.hostFailed, error)
        }
        guard level < plan.demandedLevel else { return }
        throw SupervisorError(
            .hostFailed,
            operation: "check the assurance level",
            location: "policy \(plan.name)",
            reason:
                "this host reaches \(level.name), the policy demands \(plan.demandedLevel.name)",
            remedy: "run `sudo invigilator doctor`, which names what is missing and its cure"
        )
    }
}
