internal import Benchmarks
internal import HostKernel
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
        if kind == ModelUsage.kind { lastUsageRow = entry.sequence }
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
    /// the host's counters moved on afterwards.
    ///
    /// - Parameters:
    ///   - split: which split its tasks are of.
    ///   - tasks: what is run.
    ///   - arms: the judged files, and how often and beside whom they run.
    ///   - iteration: the iteration that it belongs to; 0 for the preparation's.
    ///   - goesOn: asked again and again while another experiment's sealed exam runs.
    ///   - onStart: told the running exam, so that it can be cancelled.
    /// - Returns: how it ended; nil where `goesOn` said no before it began.
    /// - Throws: ``SupervisorError``.
    func guardedExam(
        _ split: Split,
        _ tasks: [TaskID],
        _ arms: ExamArms,
        iteration: Int = 0,
        goesOn: () throws(SupervisorError) -> Bool = { () throws(SupervisorError) in true },
        onStart: (ExamRun) -> Void = { _ in }
    ) throws(SupervisorError) -> Benchmarks.ExamReport? {
        isExamining = true
        defer { isExamining = false }
        guard split == .test else {
            let report = try runExam(split, tasks, arms, onStart: onStart)
            try recordModelUsage(iteration: iteration)
            return report
        }
        try requireOwnSplit()
        let guarded = try SealedExamGuard(
            inputs.experiment.id,
            turn: turn,
            layout: layout,
            loop: loop,
            hasFreezer: quickSet.canFreeze,
            goesOn: { () throws(SupervisorError) in
                tellWaits()
                return try goesOn()
            }
        )
        tellWaits()
        guard let guarded else { return nil }
        let report: Benchmarks.ExamReport
        do throws(SupervisorError) {
            try requireNoNeighbour()
            try requireWalls(iteration: iteration)
            let traces = try counterTraces(of: tasks.count * arms.rolloutsOfTask)
            do throws(SupervisorError) {
                report = try runExam(split, tasks, arms, onStart: onStart)
            } catch {
                // What was begun may have written, however it ended.
                try outwaitPorts()
                try hide(traces)
                throw error
            }
            try outwaitPorts()
            try hide(traces)
        } catch {
            try guarded.release()
            throw error
        }
        try guarded.release()
        try recordModelUsage(iteration: iteration)
        return report
    }

    /// Whether coding agents can be told something of sealed exams by other ways than answers.
    var liveChannels: LiveChannels {
        turn.isolation == .host && inputs.plans.internet.isEmpty ? .closed : .unbounded
    }

    // The kernel draws a new salt for its table of ports every 10 s (net/core/secure_seq.c,
    // EPHEMERAL_PORT_SHUFFLE_PERIOD); what was written there before is not found again.
    private static let portsTime = Nanoseconds.milliseconds(10_500)

    /// Keeps every coding agent waiting until no port tells of the exam any more, where those who knew its
    /// tasks could choose some.
    private func outwaitPorts() throws(SupervisorError) {
        guard !inputs.plans.internet.isEmpty else { return }
        var isOver = false
        let token = loop.at(MonotonicTime.now.advanced(by: Self.portsTime)) { isOver = true }
        defer { loop.forget(token) }
        try system("wait until the host's ports are salted anew", "sealed exam") {
            () throws(SystemError) in try loop.run(until: { isOver })
        }
    }

    // A rollout of ours makes some seventy objects, and how many rollouts begin is the candidate's to say.
    private static let objectsOfRollout: UInt64 = 96
    // What the broker makes for a call on a new connection: the connection, and the look-up of its name.
    private static let objectsOfCall: UInt64 = 16

    /// What a sealed exam can leave in the host's counters.
    private enum CounterTraces {
        /// So much, whatever it does.
        case counted(CounterNoise)
        /// Nobody knows before: its candidate or its examiner has a procfs.
        case uncounted(CounterMark)
    }

    /// What a sealed exam can leave in the host's counters, found out before it.
    ///
    /// - Parameter rollouts: how many it has.
    /// - Returns: what is to be hidden afterwards.
    /// - Throws: ``SupervisorError``.
    private func counterTraces(of rollouts: Int) throws(SupervisorError) -> CounterTraces {
        let (turns, limits) = (inputs.benchmark.manifest.limits.turns, inputs.plans.objects)
        var own = Self.objectsOfRollout
        var objects = UInt64(limits.candidate) + UInt64(limits.examiner)
        if models != nil {
            own += 2 * UInt64(ModelService.callsOfSealedRollout(turns: turns)) * Self.objectsOfCall
            // The broker accepts what they connect.
            objects *= 2
        }
        let memory =
            UInt64(CountedCalls.memoryShare(of: limits.candidate))
            + UInt64(CountedCalls.memoryShare(of: limits.examiner))
        return try system("hide what is written into the host's counters", "sealed exam") {
            () throws(SystemError) in
            guard limits.areComplete else { return .uncounted(try CounterMark()) }
            return .counted(
                try CounterNoise(
                    CounterNoise.Writable(
                        inodes: UInt64(rollouts) * (objects + own),
                        sharedMemory: UInt64(rollouts) * memory
                    ),
                    bits: inputs.config.release.counterBits
                )
            )
        }
    }

    /// Moves the counters on; notes what they tell all the same, where that is not what is always charged.
    private func hide(_ traces: CounterTraces) throws(SupervisorError) {
        try system("move the host's counters on", "sealed exam") { () throws(SystemError) in
            var moving: CounterMoving
            switch traces {
            case .counted(let noise):
                uncountedBits = nil
                moving = try noise.moving()
            case .uncounted(let mark):
                let found = try mark.noise(bits: inputs.config.release.counterBits)
                uncountedBits = found.bits
                moving = try found.noise.moving()
            }
            while let pause = try moving.next() { try loop.turn(atMost: pause) }
        }
    }

    /// Moves the counters on after a sealed exam whose run was cut off, before a coding agent can read them.
    ///
    /// - Parameter exam: the exam that has no end in the record; nothing is done where it was no sealed one.
    /// - Throws: ``SupervisorError``.
    func hideCutOff(_ exam: ExamStartedRecord?) throws(SupervisorError) {
        guard let exam, exam.split == .test else { return }
        let arms = exam.incumbent == nil ? 1 : 2
        try hide(try counterTraces(of: exam.count * exam.trials * arms))
    }

    /// What counters tell of a sealed exam whose end nobody saw, beyond what every exam is charged with: all that
    /// they hold, where its sandboxes take numbers that nobody counts.
    var bitsOfCutOff: Double {
        inputs.plans.objects.areComplete ? 0 : Double(ObjectCounter.allCases.count * 32)
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
        let profile = ExperimentInputs.profileName
        guard genesis.policyDigests[profile] == inputs.digests[profile] else {
            throw changed(
                inputs.codingAgent.own?.directory ?? profile,
                "the files of the coding agent's profile are not those of the genesis row"
            )
        }
        // Scores of other requests are not compared; a record of an older version does not say which they were.
        let forms = ExperimentInputs.formsName
        if let agreed = genesis.policyDigests[forms], agreed != inputs.digests[forms] {
            throw changed(
                "models, \(ModelTable.file)",
                "requests would hold another effort, thinking, temperature or length than those of the genesis"
                    + " row, because the table or takes says something else of a model"
            )
        }
        // Bounds may change: what was resolved within those of now is the same, or is told below.
        let apart = [ExperimentInputs.siteName, forms]
        let agreed = genesis.policyDigests.filter { !apart.contains($0.key) }
        guard agreed == inputs.digests.filter({ !apart.contains($0.key) }) else {
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
