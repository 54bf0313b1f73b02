internal import Benchmarks
internal import ExamResults
internal import IterationLoop
internal import Ledger
internal import LinuxKernel
internal import SandboxPlan
internal import SandboxPolicy
internal import SelfCheck
internal import StrictJSON
internal import Workspace

extension Supervision {
    /// Appends an event of the loop or the preparation.
    func append(_ event: LedgerEvent, at time: Int64) throws(SupervisorError) {
        guard let kind = EventKind(rawValue: event.kind) else {
            fatalError("every event of the loop has a kind of the ledger")
        }
        let entry = try ledgered { () throws(LedgerError) in
            try ledger.append(kind, event.body, time: time)
        }
        if case .examStarted(let record) = event { announced = (record, entry.sequence) }
        tell(entry)
    }

    /// The sealed tasks of the gate's exams: every task that is neither train nor held back.
    var testTasks: [TaskID] {
        let others = Set(trainTasks + finalTasks)
        return inputs.benchmark.tasks.entries.map(\.id).filter { !others.contains($0) }
    }

    /// Notes which tasks are of which tier, before the first exam.
    ///
    /// - Parameter genesis: the genesis row; which tasks are held back follows from the vault's key.
    /// - Throws: ``SupervisorError`` where the vault does not agree with the row.
    func noteTiers(_ genesis: GenesisRecord) throws(SupervisorError) {
        trainTasks = genesis.train
        guard genesis.finalCount > 0 else { return }
        let key = try system("read the split's key", layout.vault(inputs.experiment.id)) {
            () throws(SystemError) in
            let vault = try Descriptor.open(
                layout.vault(inputs.experiment.id),
                [.read, .directory]
            )
            return try vault.contents(of: "split.key", limit: 64)
        }
        let draw = try workspace { () throws(WorkspaceError) in
            let twins = inputs.benchmark.manifest.watchful.twins
            return try SplitDraw(of: inputs.benchmark.tasks.entries, key: key, twins: twins)
                .holdingBack(genesis.finalCount, key: key, keeping: twins)
        }
        guard draw.train == genesis.train, draw.test.count == genesis.testCount else {
            throw SupervisorError(
                .integrity,
                operation: "find the tasks that are held back",
                location: "vault",
                reason: "its key draws another split than the genesis row names",
                remedy: "do not trust this state directory; restore it from a copy"
            )
        }
        finalTasks = draw.final
    }

    /// Runs an exam; a sealed one behind the host-wide guard, after the quick set of probes, and with
    /// padded counters.
    ///
    /// - Parameters:
    ///   - split: which split its tasks are of.
    ///   - tasks: what is run.
    ///   - arms: the judged files, and how often and beside whom they run.
    ///   - iteration: the iteration that it belongs to; 0 for the preparation's.
    ///   - goesOn: asked again and again while another experiment's sealed exam runs.
    ///   - onStart: told the running exam, so that it can be cancelled.
    ///   - onExceeded: told when a sealed exam was ended because of the host's counters.
    /// - Returns: how it ended; nothing where `goesOn` said no before it began.
    /// - Throws: ``SupervisorError``.
    func guardedExam(
        _ split: Split,
        _ tasks: [TaskID],
        _ arms: ExamArms,
        iteration: Int = 0,
        goesOn: () throws(SupervisorError) -> Bool = { () throws(SupervisorError) in true },
        onStart: (ExamRun) -> Void = { _ in },
        onExceeded: () -> Void = {}
    ) throws(SupervisorError) -> Benchmarks.ExamReport? {
        guard split == .test else {
            let report = try runExam(split, tasks, arms, onStart: onStart)
            try recordModelUsage(iteration: iteration)
            return report
        }
        let guarded = try SealedExamGuard(
            inputs.experiment.id,
            turn: turn,
            layout: layout,
            loop: loop,
            hasFreezer: quickSet.canFreeze,
            goesOn: goesOn
        )
        guard let guarded else { return nil }
        let report: Benchmarks.ExamReport
        do throws(SupervisorError) {
            try requireWalls(iteration: iteration)
            // A turn is a call of the candidate and one of the user, where both have a model.
            let calls = models == nil ? 0 : 2 * inputs.benchmark.manifest.limits.turns
            let rollouts = tasks.count * arms.trials * (arms.incumbent == nil ? 1 : 2)
            let watch = try CounterWatch(
                rollouts: rollouts,
                calls: calls,
                grid: inputs.config.release.grid.wholeMilliseconds,
                loop: loop
            )
            defer { watch.end() }
            report = try runExam(split, tasks, arms) { run in
                watch.exam = run
                onStart(run)
            }
            try watch.pad()
            if watch.isExceeded { onExceeded() }
        } catch {
            try guarded.release()
            throw error
        }
        try guarded.release()
        try recordModelUsage(iteration: iteration)
        return report
    }

    /// Refuses to go on under a configuration, a benchmark, policies or an assurance level other than
    /// those of the genesis row: scores that were measured under different walls are not compared.
    func requireUnchanged(_ genesis: GenesisRecord) throws(SupervisorError) {
        sealedStore = try SealedStore(of: genesis, in: layout)
        guard genesis.assurance == measured.level.name else {
            throw SupervisorError(
                .hostFailed,
                operation: "compare with the genesis row",
                location: "assurance level",
                reason: "this host reaches \(measured.level.name), the experiment was prepared at "
                    + genesis.assurance,
                remedy: "run `sudo invigilator doctor`, or make a new experiment on this host"
            )
        }
        if let reason = ConfigurationDifference.reason(inputs.config, genesis) {
            throw changed("experiment_config.yaml", reason)
        }
        guard genesis.benchmarkDigest == inputs.benchmark.digest else {
            throw changed(
                "benchmark \(genesis.benchmark)",
                "its tasks or programs are not those of the genesis row"
            )
        }
        guard genesis.surface == inputs.plans.surface.description else {
            throw changed(
                "policies, surface of coding-agent",
                "it was \(genesis.surface), and is \(inputs.plans.surface.description)"
            )
        }
        let packages = CandidatePackages.name
        guard genesis.policyDigests[packages] == inputs.digests[packages] else {
            throw changed(
                inputs.config.candidate.packages?.text ?? packages,
                "the candidate's packages are not those of the genesis row"
            )
        }
        // Bounds may change: what was resolved within those of now is the same, or is told below.
        let site = ExperimentInputs.siteName
        let agreed = genesis.policyDigests.filter { $0.key != site }
        guard agreed == inputs.digests.filter({ $0.key != site }) else {
            let names = agreed.filter { inputs.digests[$0.key] != $0.value }
            throw changed("policies", "changed: \(names.keys.sorted().joined(separator: ", "))")
        }
    }

    private func changed(_ location: String, _ reason: String) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "compare with the genesis row",
            location: location,
            reason: reason,
            remedy: "restore what it was, or make a new experiment with `invigilator init`"
        )
    }
}
