internal import DenialEvents
public import ExamResults
internal import HostKernel
internal import IterationLoop
public import LauncherClient
public import Ledger
public import LinuxKernel
public import SandboxPlan
public import SelfCheck
public import Workspace

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
    /// Hears what Landlock refuses; nothing where no plan has it logged, and where the host cannot.
    let landlock: LandlockWatch?
    /// Why the host gives no records of that, though a plan has it logged.
    let landlockGap: String?
    /// What this host was shown to enforce, through this launcher.
    public let measured: MeasuredLevel
    /// The probes that every sealed exam begins with.
    let quickSet: QuickSet
    /// The record.
    public let ledger: Ledger
    /// Models for sandboxes; nothing where nobody has one.
    let models: ModelService?
    /// Keeps checkpoints elsewhere; nothing where the configuration names no place.
    let publisher: CheckpointPublisher?
    /// Tells the operator's hooks; nothing where the configuration has none.
    let notifier: Notifier?
    /// Where events are told; nothing where nobody asked for them.
    var events: EventStream?
    /// The number of the last row about what models were used for; 0 before the first.
    var lastUsageRow = 0
    /// The iteration that models are used in now.
    var iterationOfUse: () -> Int = { 0 }
    /// How lines about refusals stand apart for whoever watches.
    public var colours = RefusalColours.none
    /// Our place among the supervisors of this host.
    let turn: HostTurn
    /// What was told of waits for others.
    var waits = TurnTelling()
    /// Told a line for each wait that lasts.
    var reportWait: (String) -> Void = { _ in }
    /// Where outcomes of sealed exams are kept; nothing before the genesis row, and in experiments of
    /// versions that kept none.
    var sealedStore: SealedStore?
    /// The last exam that a row announced, with the number of that row.
    var announced: (record: ExamStartedRecord, number: Int)?
    /// Whether an exam runs or waits for its turn.
    var isExamining = false
    /// How many rollouts of the exam that runs have an outcome; nil where none runs.
    var settledRollouts: (() -> Int)?
    /// The train tasks, once the genesis row is known.
    public internal(set) var trainTasks: [TaskID] = []
    /// The sealed tasks that are held back for the final tier.
    var finalTasks: [TaskID] = []
    /// The bits that counters tell of the last sealed exam, where its sandboxes' numbers are not counted.
    var uncountedBits: Double?

    /// Starts the launcher, gives up every right, and opens the ledger.
    ///
    /// Order: the launcher first, because only root may start it; the self-check's program, and the
    /// host's locks, which are root's; who keeps checkpoints and who tells hooks as the operator; then the ids, because what follows would be root's; the level,
    /// measured in a sandbox, which must reach what every policy demands; then the ledger, whose lock
    /// refuses a second run.
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
        launcher = try LauncherClient.started(
            LauncherOptions(
                executable: installation.launcher,
                supervisor: StateLayout.supervisor,
                protected: [layout.root],
                vault: layout.vault,
                delegation: installation.delegation
            ),
            loop: loop
        )
        turn = try HostTurn(
            of: layout,
            experiment: inputs.experiment.id,
            isolation: inputs.config.isolation
        )
        let link = try PublisherLink(inputs)
        let hooks = try PublisherLink(notifying: inputs, installation)
        let plans = inputs.plans.all + (inputs.models.map { [$0.brokerPlan] } ?? [])
        (landlock, landlockGap) = try LandlockRecords.watch(for: plans, of: launcher)
        let quickSet = QuickSet(try installation.quickSetKit(layout), launcher: launcher)
        self.quickSet = quickSet
        try Self.giveUpRights()
        measured = try launched { () throws(LauncherError) in
            try quickSet.measuredLevel(under: inputs.plans.candidate)
        }
        for plan in inputs.plans.all { try Assurance.require(measured, for: plan) }
        let id = inputs.experiment.id
        ledger = try ledgered { () throws(LedgerError) in
            let ledger = try Ledger.open(at: layout.ledger(id), keyAt: layout.key(id))
            // Opening checks the newest row alone; what we go on from is every row.
            try ledger.verify().requireIntact(location: layout.ledger(id))
            return ledger
        }
        try inputs.experiment.requireBound(in: ledger.reader)
        // Before anybody opens one of them, and under the ledger's lock.
        let rotated = try Self.rotateLogs(inputs.config.retention.logs, of: id, in: layout)
        publisher = try Self.publisher(link, inputs, ledger.reader, layout.key(id), loop)
        notifier = Self.notifier(hooks, inputs, loop)
        let reader = ledger.reader
        let rows = try ledgered { () throws(LedgerError) in
            inputs.models == nil ? [] : try reader.entries()
        }
        let left = try UnbookedUsage(in: layout.experiment(id), after: rows)
        lastUsageRow = UnbookedUsage.lastRow(of: rows)
        models = try Self.startModels(inputs, layout, launcher, rows, left)
        if let rotated { try append(rotated, at: WallClock.milliseconds) }
        try bookLeft(left)
        watchUse()
    }

    /// What the walls of a sandbox refused and told, so far.
    func denials(of sandbox: RunningSandbox) -> [DenialEvent] {
        DenialEvent.events(in: sandbox.denials) + (landlock?.events(of: sandbox) ?? [])
    }

    private static func publisher(
        _ link: PublisherLink?,
        _ inputs: ExperimentInputs,
        _ reader: LedgerReader,
        _ key: String,
        _ loop: EventLoop
    ) throws(SupervisorError) -> CheckpointPublisher? {
        guard let link, let settings = inputs.config.ledger.publish else { return nil }
        return try CheckpointPublisher(link, settings, ledger: reader, keyAt: key, loop: loop)
    }

    private static func notifier(
        _ link: PublisherLink?,
        _ inputs: ExperimentInputs,
        _ loop: EventLoop
    ) -> Notifier? {
        guard let link, let settings = inputs.config.notify else { return nil }
        return Notifier(link, settings, loop: loop)
    }

    // After the record, which says what of a budget was used before.
    private static func startModels(
        _ inputs: ExperimentInputs,
        _ layout: StateLayout,
        _ launcher: LauncherClient,
        _ rows: [LedgerEntry],
        _ left: UnbookedUsage?
    ) throws(SupervisorError) -> ModelService? {
        guard let models = inputs.models else { return nil }
        return try ModelService(
            models,
            on: launcher,
            log: layout.brokerLog(inputs.experiment.id),
            used: ModelUsage(adding: rows.of(ModelUsage.kind) + (left.map { [$0.body] } ?? [])),
            extended: try looped { () throws(LoopError) in
                try BudgetExtension(adding: rows.of(.extended))
            }
        )
    }

    /// Becomes the supervisor's user, without any capability and for good.
    public static func giveUpRights() throws(SupervisorError) {
        try system("give up root", "uid \(StateLayout.supervisor)") { () throws(SystemError) in
            // Trees must be readable for other users inside; state lies below a directory of mode 0700.
            CurrentProcess.setMask(0o022)
            let (user, group) = (StateLayout.supervisor, StateLayout.supervisorGroup)
            var missing: [String] = []
            if Identity.effectiveUser == 0 {
                try Identity.confine(keeping: [], becoming: user)
                missing = try Identity.missingWalls()
            } else {
                missing = try Identity.confineOrdinaryUser()
            }
            guard try Identity.isExactly(uid: user, gid: group), missing.isEmpty else {
                CurrentProcess.exitNow(ExitStatus.hostFailed.rawValue)
            }
        }
    }

    /// Ends the launcher and closes the record; nothing of ours runs after this.
    public func end() throws(SupervisorError) {
        launcher.onLost = {}
        publisher?.end()
        notifier?.end()
        try models?.end()
        try launched { () throws(LauncherError) in try launcher.shutDown() }
        try ledgered { () throws(LedgerError) in try ledger.close() }
    }
}

/// The comparison of what a policy demands with what was measured of this host.
public enum Assurance {
    /// Refuses to go on where the host enforces less than a plan demands.
    ///
    /// - Throws: ``SupervisorError`` with ``ExitStatus/hostFailed``.
    public static func require(
        _ measured: MeasuredLevel,
        for compiled: CompiledPlan
    ) throws(SupervisorError) {
        let plan: SandboxPlan
        do throws(PlanError) { plan = try compiled.plan() } catch {
            throw SupervisorError(.hostFailed, error)
        }
        guard measured.level < plan.demandedLevel else { return }
        let reached =
            "this host reaches \(measured.level.name), the policy demands "
            + plan.demandedLevel.name
        let doctor = "`invigilator doctor` shows every control"
        throw SupervisorError(
            .hostFailed,
            operation: "check the assurance level",
            location: "policy \(plan.name)",
            reason: measured.shortfall.map { "\(reached): \($0.reason)" } ?? reached,
            remedy: measured.shortfall.map { "\($0.remedy); \(doctor)" } ?? doctor
        )
    }
}
