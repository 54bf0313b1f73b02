// `prepare`, once: the split is drawn before any score is seen, sealed in the vault, committed to in
// the genesis row; then the template and the floors are examined.

internal import HostKernel
internal import Benchmarks
internal import ExamResults
internal import Gate
internal import GateStatistics
internal import HostProbe
internal import IterationLoop
internal import LauncherClient
internal import Ledger
internal import LinuxKernel
internal import Reveal
internal import SandboxPlan
internal import SandboxPolicy
internal import SelfCheck
internal import StrictJSON
internal import Workspace

/// Prepares one experiment, or goes on with a preparation that was cut off.
public struct Preparation {
    private let supervision: Supervision
    private let allowsFailingBaseline: Bool
    private let asksModels: Bool
    private let progress: (String) -> Void

    /// Begins a preparation.
    ///
    /// - Parameters:
    ///   - supervision: the experiment.
    ///   - allowsFailingBaseline: whether a template that never replies is a baseline too.
    ///   - asksModels: whether each model is asked a short question first.
    ///   - progress: is called with a line for the operator whenever a part begins or ends.
    public init(
        _ supervision: Supervision,
        allowingFailingBaseline allowsFailingBaseline: Bool = false,
        askingModels asksModels: Bool = false,
        progress: @escaping (String) -> Void
    ) {
        self.supervision = supervision
        self.allowsFailingBaseline = allowsFailingBaseline
        self.asksModels = asksModels
        self.progress = progress
        supervision.report(waitsTo: progress)
    }

    /// Completes a preparation that was cut off; one that never began is left to who begins it.
    ///
    /// A run without a baseline or a floor would compare candidates with less than was agreed on.
    public func complete() throws(SupervisorError) {
        let state = try replayed()
        guard state.genesis != nil, let part = missing(in: state).first else { return }
        progress("the preparation was cut off before its \(part): it is completed first")
        try run()
    }

    private func missing(in state: CampaignState) -> [String] {
        var parts: [String] = state.baseline == nil ? ["baseline"] : []
        let benchmark = supervision.inputs.benchmark
        for floor in benchmark.floors where !state.floors.contains(where: { $0.name == floor.name })
        {
            parts.append("floor \(floor.name)")
        }
        if benchmark.oracle != nil, !state.floors.contains(where: \.isCeiling) {
            parts.append("ceiling")
        }
        return parts
    }

    /// Carries out what is not recorded yet.
    public func run() throws(SupervisorError) {
        for line in supervision.inputs.config.unusedKeys(by: supervision.inputs.benchmark.manifest)
        {
            progress("not used: \(line)")
        }
        for notice in supervision.inputs.models?.notices ?? [] { progress(notice) }
        var state = try replayed()
        // Before the first row: what a provider refuses can be corrected then.
        if asksModels, !missing(in: state).isEmpty {
            try Preflight(supervision, progress: progress).run()
        }
        // An exam whose command was cut off must not stand open beside the next one.
        if let exam = state.runningExam, [.baseline, .floor].contains(exam.purpose) {
            try append(.void(VoidRecord(cutOff: exam)))
        }
        if state.genesis == nil {
            try recordGenesis()
            state = try replayed()
        }
        guard let genesis = state.genesis else { return }
        try supervision.noteTiers(genesis)
        try requireSame(genesis)
        try supervision.joinTurns()
        try supervision.requireOwnSplit()
        let control = try PreparationControl(supervision)
        do throws(SupervisorError) { try examine(state, genesis) } catch {
            // What went wrong first is what a person needs to read.
            do throws(SupervisorError) { try control.end() } catch {}
            throw error
        }
        try control.end()
        try supervision.renderForOperator(try replayed().content)
        // Before the first run: what was agreed on, and what the template scores.
        try supervision.keepCheckpoint(progress: progress)
    }

    private func examine(
        _ state: CampaignState,
        _ genesis: GenesisRecord
    ) throws(SupervisorError) {
        if state.baseline == nil { try examineBaseline(genesis) }
        for floor in supervision.inputs.benchmark.floors
        where !state.floors.contains(where: { $0.name == floor.name }) {
            try examineFloor(floor, genesis)
        }
        if let oracle = supervision.inputs.benchmark.oracle,
            !state.floors.contains(where: \.isCeiling)
        {
            try examineOracle(oracle, genesis)
        }
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
        let twins = inputs.benchmark.manifest.watchful.twins
        let draw = try workspace { () throws(WorkspaceError) in
            let draw = try SplitDraw(
                of: inputs.benchmark.tasks.entries,
                key: secrets.key,
                twins: twins
            )
            let share = inputs.config.gate.final ?? 0
            return try draw.holdingBack(
                share > 0 ? max(1, Int(share * Double(draw.test.count))) : 0,
                key: secrets.key,
                keeping: twins
            )
        }
        try seal(draw, secrets.key, secrets.salt, id, VaultSplit.bytes(of: twins))
        let reveal = try SealedStore.create(in: supervision.layout, id)
        try createRepository(id)
        var record = try genesisRecord(draw, salt: secrets.salt)
        record.revealDigest = reveal.digest
        try append(.genesis(record))
        progress(
            "split drawn: \(draw.train.count) train and \(draw.test.count) test tasks"
                + (draw.final.isEmpty ? "" : ", \(draw.final.count) held back for the end")
                + ", sealed in the vault"
        )
    }

    // Before the row: a row that promises a split must find it.
    private func seal(
        _ draw: SplitDraw,
        _ key: [UInt8],
        _ salt: [UInt8],
        _ id: String,
        _ twins: [UInt8]?
    ) throws(SupervisorError) {
        let tasks = supervision.drawnTasks(SecretWords(key: key))
        let layout = supervision.layout
        try system("seal the split", layout.vault(id)) { () throws(SystemError) in
            for (name, ids) in [("train", draw.train), ("test", draw.test + draw.final)] {
                try layout.fill(id, name, with: tasks.file(of: Set(ids)))
            }
            let vault = try Descriptor.open(layout.vault(id), [.read, .directory])
            try vault.replace("split.key", with: key, permissions: 0o600)
            try vault.replace("split.salt", with: salt, permissions: 0o600)
            if let twins {
                try vault.replace(VaultSplit.twinsFile, with: twins, permissions: 0o600)
            }
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
            let gate = try GateConfiguration(
                config,
                isDeterministic: inputs.benchmark.manifest.isDeterministic
            )
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
                rules: (gate: gate.rules, release: gate.release),
                host: (
                    facts: inputs.facts, assurance: supervision.measured.level.name
                )
            )
            record.finalCount = draw.final.count
            record.isolation = config.isolation
            record.internet = inputs.plans.internet
            record.benchmarkDigest = inputs.benchmark.digest
            record.promotion = PromotionRules(config.promotion)
            record.surface = inputs.plans.surface.description
            let outlook = GateOutlook(
                gate.rules,
                tasks: draw.test.count,
                tries: config.budget.iterations,
                rewardsVary: !inputs.benchmark.manifest.isDeterministic
            )
            for line in outlook.lines { progress(line) }
            record.outlook = outlook.json
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
        var train = try exam(.baseline, .train, genesis.train, agent, genesis.rules)
        try requireReply(train)
        if genesis.rules.sealed == .ratchet { train = try steady(train, genesis, agent) }
        try supervision.publishTraces(train.traces, in: .baseline)
        try supervision.publishTraces(train.traces, in: .latest)
        let sealed = try exam(.baseline, .test, supervision.testTasks, agent, genesis.rules)
        let score: Score
        let trainMean: Double
        do throws(ExamError) {
            score = try sealed.results.mean()
            trainMean = try train.results.mean().mean
        } catch { throw SupervisorError(.hostFailed, error) }
        var rewards: [TaskID: Reward] = [:]
        for (task, outcome) in train.results.first.all { rewards[task] = outcome.reward }
        try append(
            .baseline(
                BaselineRecord(
                    digest: agent.digest,
                    train: rewards,
                    trainMean: trainMean,
                    sealed: (
                        score: score,
                        released: genesis.release.told(of: score, after: nil)
                    ),
                    commit: commit.hex
                )
            )
        )
    }

    // With a template that cannot answer, the baseline is 0 for a reason that has nothing to do with the benchmark.
    private func requireReply(_ train: Benchmarks.ExamReport) throws(SupervisorError) {
        let rollouts = train.records
        guard !allowsFailingBaseline, !rollouts.values.contains(where: \.hasReply) else { return }
        let codes = Set(train.results.first.all.map(\.outcome.code)).sorted()
        let errors = rollouts.sorted { $0.key < $1.key }.map(\.value.errors).first { !$0.isEmpty }
        for line in (errors ?? "").split(separator: "\n").suffix(20) { progress("| \(line)") }
        throw SupervisorError(
            .usage,
            operation: "examine the baseline",
            location: "agent",
            reason:
                "none of its \(rollouts.count) train rollouts got as far as a reply: "
                + codes.joined(separator: ", ")
                + (errors == nil
                    ? ", without a word on standard error"
                    : "; the last lines of one are above"),
            remedy:
                "mend the file, then prepare a new experiment with it; or, where that is what you mean, run "
                + "`invigilator prepare --allow-failing-baseline`"
        )
    }

    // A benchmark that calls itself deterministic is asked again, on other seeds: with the ratchet,
    // rewards that vary lift the best score by luck alone.
    private func steady(
        _ first: Benchmarks.ExamReport,
        _ genesis: GenesisRecord,
        _ agent: CandidateSnapshot
    ) throws(SupervisorError) -> Benchmarks.ExamReport {
        guard supervision.inputs.config.gate.rule == nil else { return first }
        let again = Array(genesis.train.prefix(Self.tasksAskedAgain))
        var first = first
        for attempt in 1... {
            let second = try exam(.baseline, .train, again, agent, genesis.rules)
            let outcomes = Dictionary(
                uniqueKeysWithValues: first.results.first.all.map { ($0.task, $0.outcome) }
            )
            let varying = second.results.first.all.filter {
                outcomes[$0.task]?.reward != $0.outcome.reward
            }
            guard !varying.isEmpty else { return first }
            // A rollout that was killed, or that a busy host ran out of time, says nothing of the benchmark.
            let own = varying.filter {
                !OutsideHarm.isPossible($0.outcome) && !OutsideHarm.isPossible(outcomes[$0.task])
            }
            if let task = own.first?.task {
                throw varies(of: again.count, own.count, task, genesis)
            }
            let words =
                "\(varying.count) of \(again.count) rollouts ended by a signal or a limit of time"
            guard attempt < LoopRules(supervision.inputs.config).exams else {
                throw SupervisorError(
                    .hostFailed,
                    operation: "repeat \(again.count) train tasks of the baseline",
                    location: "train split",
                    reason: words + " in one of two runs, again and again",
                    remedy: "see what ends processes of this host or keeps it busy, then run"
                        + " `invigilator prepare` again; if it is the template itself, mend it"
                )
            }
            try append(.void(VoidRecord(repeatingInPreparation: words)))
            first = try exam(.baseline, .train, genesis.train, agent, genesis.rules)
        }
        fatalError("the last try returns or throws")
    }

    private func varies(
        of count: Int,
        _ varying: Int,
        _ task: TaskID,
        _ genesis: GenesisRecord
    ) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "repeat \(count) train tasks of the baseline",
            location: "\(genesis.benchmark), deterministic: true",
            reason: "\(varying) of them earned another reward, \(task) among them",
            remedy:
                "make a new experiment with gate.rule: paired, which luck cannot pass, or with a "
                + "benchmark and template whose rewards do not vary"
        )
    }

    /// Where every task fails one run in ten, two runs of eight tasks differ four times of five.
    private static let tasksAskedAgain = 8

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
        let score = try floorScore(agent, genesis)
        try append(
            .floor(
                FloorRecord(
                    name: floor.name,
                    sealed: score,
                    released: genesis.release.told(of: score, after: nil)
                )
            )
        )
    }

    // The answers lie beside the oracle in a sandbox that is gone before any coding agent begins.
    private func examineOracle(
        _ oracle: [UInt8],
        _ genesis: GenesisRecord
    ) throws(SupervisorError) {
        let agent = try workspace { () throws(WorkspaceError) in
            try CandidateSnapshot(program: oracle)
        }
        let tasks = try supervision.drawnTasks(supervision.secretWords())
            .file(of: Set(supervision.testTasks))
        let answers = ExamFile(path: "agent/tasks.json", bytes: tasks)
        let score = try floorScore(agent, genesis, more: [answers])
        var record = FloorRecord(name: "oracle", sealed: score, released: nil)
        record.isCeiling = true
        try append(.floor(record))
    }

    private func floorScore(
        _ agent: CandidateSnapshot,
        _ genesis: GenesisRecord,
        more: [ExamFile] = []
    ) throws(SupervisorError) -> Score {
        let tasks = supervision.testTasks
        let sealed = try exam(.floor, .test, tasks, agent, genesis.rules, more: more)
        do throws(ExamError) { return try sealed.results.mean() } catch {
            throw SupervisorError(.hostFailed, error)
        }
    }

    private func exam(
        _ purpose: ExamPurpose,
        _ split: Split,
        _ tasks: [TaskID],
        _ agent: CandidateSnapshot,
        _ rules: GateRules,
        more: [ExamFile] = []
    ) throws(SupervisorError) -> Benchmarks.ExamReport {
        var start = ExamStartedRecord(
            iteration: 0,
            purpose: purpose,
            split: split,
            count: tasks.count,
            digest: agent.digest,
            assurance: supervision.measured.level.name
        )
        var arms = ExamArms(agent)
        arms.more = more
        if split == .test {
            arms.trials = rules.trials
            start.liveChannels = supervision.liveChannels
        }
        start.trials = arms.trials
        let mostTries = LoopRules(supervision.inputs.config).exams
        for attempt in 1... {
            let report = try examine(start, arms, tasks)
            let broke = OutsideHarm.broken(report.results, of: purpose)
            if let broke, attempt < mostTries {
                try append(.void(VoidRecord(repeatingInPreparation: broke)))
                continue
            }
            guard !report.results.isVoid else {
                throw SupervisorError(
                    .hostFailed,
                    operation: "examine the \(purpose.rawValue)",
                    location: "\(split.rawValue) split",
                    reason: (report.voidReason ?? "the exam is void")
                        + "; it was run \(mostTries) times",
                    remedy: "look at the examiner's errors: \(report.examinerErrors.suffix(300))"
                )
            }
            // An oracle knows the answers, and may pass what nobody else can.
            if more.isEmpty {
                try supervision.requireImpossible(report.results, of: split, purpose)
            }
            return report
        }
        fatalError("the last try returns or throws")
    }

    private func examine(
        _ start: ExamStartedRecord,
        _ arms: ExamArms,
        _ tasks: [TaskID]
    ) throws(SupervisorError) -> Benchmarks.ExamReport {
        try append(.examStarted(start))
        progress(
            "\(start.purpose.rawValue) exam over \(tasks.count) \(start.split.rawValue) tasks"
        )
        let ended = try supervision.guardedExam(start.split, tasks, arms)
        guard let report = ended else { fatalError("only a run gives up waiting for its turn") }
        if let reason = report.voidReason { progress("the exam is void: \(reason)") }
        try append(
            .examEnded(
                ExamEndedRecord(
                    of: start,
                    results: report.results,
                    durationMilliseconds: Int64(report.duration.milliseconds),
                    planDigests: supervision.planDigests(of: report),
                    sealedRoot: try supervision.sealedRoot(of: report.results, start.split)
                )
            )
        )
        return report
    }

    private func append(_ event: LedgerEvent) throws(SupervisorError) {
        try supervision.append(event, at: WallClock.milliseconds)
        if let line = ProgressLine.text(of: event, supervision.colours) { progress(line) }
    }
}
