// `prepare`, once: the split is drawn before any score is seen, sealed in the vault, committed to in
// the genesis row; then the template and the floors are examined.

internal import HostKernel
internal import Benchmarks
internal import ExamResults
internal import Gate
internal import HostProbe
internal import IterationLoop
internal import LauncherClient
internal import Ledger
internal import LinuxKernel
internal import SandboxPlan
internal import SandboxPolicy
internal import SelfCheck
internal import StrictJSON
internal import Workspace

/// Prepares one experiment, or goes on with a preparation that was cut off.
public struct Preparation {
    private let supervision: Supervision
    private let progress: (String) -> Void

    /// Begins a preparation.
    public init(_ supervision: Supervision, progress: @escaping (String) -> Void) {
        self.supervision = supervision
        self.progress = progress
    }

    /// Carries out what is not recorded yet.
    public func run() throws(SupervisorError) {
        var state = try replayed()
        if state.genesis == nil {
            try recordGenesis()
            state = try replayed()
        }
        guard let genesis = state.genesis else { return }
        supervision.trainTasks = genesis.train
        try requireSame(genesis)
        if state.baseline == nil { try examineBaseline(genesis) }
        for floor in supervision.inputs.benchmark.floors
        where !state.floors.contains(where: { $0.name == floor.name }) {
            try examineFloor(floor, genesis)
        }
        try supervision.renderForOperator(try replayed().content)
    }

    private func replayed() throws(SupervisorError) -> CampaignState {
        let entries = try ledgered { () throws(LedgerError) in try supervision.ledger.entries() }
        return try looped { () throws(LoopError) in
            try CampaignState(replaying: entries.map(RecordedRow.init))
        }
    }

    // MARK: - genesis

    private func recordGenesis() throws(SupervisorError) {
        let inputs = supervision.inputs
        let id = inputs.experiment.id
        var secrets = try system("draw the split's secrets", "vault") { () throws(SystemError) in
            (key: try KernelRandom.bytes(32), salt: try KernelRandom.bytes(32))
        }
        secrets.key = try inputs.models?.splitKey(orFresh: secrets.key) ?? secrets.key
        let draw = try workspace { () throws(WorkspaceError) in
            try SplitDraw(of: inputs.benchmark.tasks.entries, key: secrets.key)
        }
        try seal(draw, secrets.key, secrets.salt, id)
        try createRepository(id)
        let record = try genesisRecord(draw, salt: secrets.salt)
        try append(.genesis(record))
        progress(
            "split drawn: \(draw.train.count) train and \(draw.test.count) test tasks, sealed in "
                + "the vault"
        )
    }

    // Before the row: a row that promises a split must find it.
    private func seal(
        _ draw: SplitDraw,
        _ key: [UInt8],
        _ salt: [UInt8],
        _ id: String
    ) throws(SupervisorError) {
        let tasks = supervision.inputs.benchmark.tasks
        let layout = supervision.layout
        try system("seal the split", layout.vault(id)) { () throws(SystemError) in
            for (name, ids) in [("train", draw.train), ("test", draw.test)] {
                let folder = try Descriptor.open(layout.split(id, name), [.read, .directory])
                try folder.replace("tasks.json", with: tasks.file(of: Set(ids)), permissions: 0o600)
            }
            let vault = try Descriptor.open(layout.vault(id), [.read, .directory])
            try vault.replace("split.key", with: key, permissions: 0o600)
            try vault.replace("split.salt", with: salt, permissions: 0o600)
        }
    }

    private func createRepository(_ id: String) throws(SupervisorError) {
        let path = supervision.layout.repository(id)
        try workspace { () throws(WorkspaceError) in try CandidateRepository(at: path).create() }
    }

    private func genesisRecord(
        _ draw: SplitDraw,
        salt: [UInt8]
    ) throws(SupervisorError) -> GenesisRecord {
        let inputs = supervision.inputs
        let config = inputs.config
        do throws(ExamError) {
            let rules = GateRules(
                threshold: try Proportion(config.gate.threshold),
                stepTwo: config.gate.step2 == .always ? .always : .afterStepOne
            )
            let quantum: Proportion? =
                config.release.score == .verdict ? nil : try Proportion(config.release.bucket)
            var record = GenesisRecord(
                experiment: inputs.experiment.id,
                benchmark: inputs.benchmark.manifest.benchmark,
                digests: (
                    config: config.digest, policies: inputs.digests,
                    agent: inputs.agent.digest
                ),
                split: (
                    train: draw.train, testCount: draw.test.count,
                    commitment: draw.commitment(salt: salt)
                ),
                rules: (gate: rules, releaseQuantum: quantum),
                host: (
                    facts: inputs.facts, assurance: supervision.measured.level.name
                )
            )
            record.benchmarkDigest = inputs.benchmark.digest
            record.surface = inputs.plans.surface.description
            return record
        } catch { throw SupervisorError(.usage, error) }
    }

    // What was agreed on before the first score may not change under it.
    private func requireSame(_ genesis: GenesisRecord) throws(SupervisorError) {
        try supervision.requireUnchanged(genesis)
        guard genesis.agentDigest == supervision.inputs.agent.digest else {
            throw SupervisorError(
                .usage,
                operation: "prepare an experiment",
                location: "agent",
                reason: "its files changed since the genesis row was written",
                remedy: "restore them, or make a new experiment with `invigilator init`"
            )
        }
    }

    // MARK: - exams

    private func examineBaseline(_ genesis: GenesisRecord) throws(SupervisorError) {
        let agent = supervision.inputs.agent
        let commit = try keepTemplate(agent)
        let train = try exam(.baseline, .train, genesis.train, agent)
        try supervision.publishTraces(train.traces, in: .baseline)
        try supervision.publishTraces(train.traces, in: .latest)
        let sealed = try exam(.baseline, .test, supervision.testTasks, agent)
        let score: Score
        let trainMean: Double
        do throws(ExamError) {
            score = try sealed.results.mean()
            trainMean = try train.results.mean().mean
        } catch { throw SupervisorError(.hostFailed, error) }
        var rewards: [TaskID: Reward] = [:]
        for (task, outcome) in train.results.all { rewards[task] = outcome.reward }
        try append(
            .baseline(
                BaselineRecord(
                    digest: agent.digest,
                    train: rewards,
                    trainMean: trainMean,
                    sealed: (
                        score: score,
                        released: genesis.releaseQuantum.map { score.released(quantum: $0) }
                    ),
                    commit: commit.hex
                )
            )
        )
    }

    private func keepTemplate(_ agent: CandidateSnapshot) throws(SupervisorError) -> CommitName {
        let path = supervision.layout.repository(supervision.inputs.experiment.id)
        return try workspace { () throws(WorkspaceError) in
            let repository = CandidateRepository(at: path)
            let commit = try repository.keep(
                agent,
                message: "template",
                time: WallClock.milliseconds
            )
            try repository.accept(commit)
            return commit
        }
    }

    private func examineFloor(
        _ floor: BenchmarkFiles.NamedBytes,
        _ genesis: GenesisRecord
    ) throws(SupervisorError) {
        let agent = try workspace { () throws(WorkspaceError) in
            try CandidateSnapshot(program: floor.bytes)
        }
        let sealed = try exam(.floor, .test, supervision.testTasks, agent)
        let score: Score
        do throws(ExamError) { score = try sealed.results.mean() } catch {
            throw SupervisorError(.hostFailed, error)
        }
        try append(
            .floor(
                FloorRecord(
                    name: floor.name,
                    sealed: score,
                    released: genesis.releaseQuantum.map { score.released(quantum: $0) }
                )
            )
        )
    }

    private func exam(
        _ purpose: ExamPurpose,
        _ split: Split,
        _ tasks: [TaskID],
        _ agent: CandidateSnapshot
    ) throws(SupervisorError) -> Benchmarks.ExamReport {
        let start = ExamStartedRecord(
            iteration: 0,
            purpose: purpose,
            split: split,
            count: tasks.count,
            digest: agent.digest,
            assurance: supervision.measured.level.name
        )
        try append(.examStarted(start))
        progress("\(purpose.rawValue) exam over \(tasks.count) \(split.rawValue) tasks")
        var isExceeded = false
        let ended = try supervision.guardedExam(
            split,
            tasks,
            agent,
            onExceeded: { isExceeded = true }
        )
        guard let report = ended else { fatalError("only a run gives up waiting for its turn") }
        if isExceeded { try append(.refusal(.exceededCounters(iteration: 0))) }
        guard !report.results.isVoid else {
            throw SupervisorError(
                .hostFailed,
                operation: "examine the \(purpose.rawValue)",
                location: "\(split.rawValue) split",
                reason: report.voidReason ?? "the exam is void",
                remedy: "look at the examiner's errors: \(report.examinerErrors.suffix(300))"
            )
        }
        try append(
            .examEnded(
                ExamEndedRecord(
                    of: start,
                    results: report.results,
                    durationMilliseconds: Int64(report.duration.milliseconds),
                    planDigests: supervision.planDigests(of: report)
                )
            )
        )
        return report
    }

    private func append(_ event: LedgerEvent) throws(SupervisorError) {
        try supervision.append(event, at: WallClock.milliseconds)
        if let line = ProgressLine.text(of: event) { progress(line) }
    }
}

extension Supervision {
    /// Appends an event of the loop or the preparation.
    func append(_ event: LedgerEvent, at time: Int64) throws(SupervisorError) {
        guard let kind = EventKind(rawValue: event.kind) else {
            fatalError("every event of the loop has a kind of the ledger")
        }
        try ledgered { () throws(LedgerError) in try ledger.append(kind, event.body, time: time) }
    }

    /// The sealed tasks: every task that the genesis row does not name as train.
    var testTasks: [TaskID] {
        let train = Set(trainTasks)
        return inputs.benchmark.tasks.entries.map(\.id).filter { !train.contains($0) }
    }

    /// Runs an exam; a sealed one behind the host-wide guard, after the quick set of probes, and with
    /// padded counters.
    ///
    /// - Parameters:
    ///   - split: which split its tasks are of.
    ///   - tasks: what is run.
    ///   - agent: the judged files.
    ///   - iteration: the iteration that it belongs to; 0 for the preparation's.
    ///   - goesOn: asked again and again while another experiment's sealed exam runs.
    ///   - onStart: told the running exam, so that it can be cancelled.
    ///   - onExceeded: told when a sealed exam was ended because of the host's counters.
    /// - Returns: how it ended; nothing where `goesOn` said no before it began.
    /// - Throws: ``SupervisorError``.
    func guardedExam(
        _ split: Split,
        _ tasks: [TaskID],
        _ agent: CandidateSnapshot,
        iteration: Int = 0,
        goesOn: () throws(SupervisorError) -> Bool = { () throws(SupervisorError) in true },
        onStart: (ExamRun) -> Void = { _ in },
        onExceeded: () -> Void = {}
    ) throws(SupervisorError) -> Benchmarks.ExamReport? {
        guard split == .test else {
            let report = try runExam(split, tasks, candidate: agent, onStart: onStart)
            try recordModelUsage(iteration: iteration)
            return report
        }
        let guarded = try SealedExamGuard(
            inputs.experiment.id,
            turn: turn,
            layout: layout,
            loop: loop,
            goesOn: goesOn
        )
        guard let guarded else { return nil }
        let report: Benchmarks.ExamReport
        do throws(SupervisorError) {
            try requireWalls(iteration: iteration)
            // A turn is a call of the candidate and one of the user, where both have a model.
            let calls = models == nil ? 0 : 2 * inputs.benchmark.manifest.limits.turns
            let watch = try CounterWatch(rollouts: tasks.count, calls: calls, loop: loop)
            defer { watch.end() }
            report = try runExam(split, tasks, candidate: agent) { run in
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
        guard genesis.configDigest == inputs.config.digest else {
            throw changed("experiment_config.yaml", "its digest is not the one of the genesis row")
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
        guard genesis.policyDigests == inputs.digests else {
            let names = genesis.policyDigests.filter { inputs.digests[$0.key] != $0.value }
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
