package import Benchmarks
internal import ExamResults
package import HostProbe
internal import IterationLoop
internal import LauncherClient
package import LinuxKernel
internal import ModelDialects
internal import StrictJSON
internal import Workspace

extension Supervision {
    /// The site of every exam of this experiment.
    func examSite() -> ExamSite {
        let benchmark = inputs.benchmark
        let manifest = benchmark.manifest
        let image = inputs.image
        func files(_ named: [BenchmarkFiles.NamedBytes]) -> [ExamFile] {
            named.map { ExamFile(path: $0.name, bytes: $0.bytes) }
        }
        var site = ExamSite(
            launcher: launcher,
            fillImage: image.copier,
            benchmark: BenchmarkName(name: manifest.benchmark, version: manifest.version),
            programs: ExamPrograms(
                candidate: ExamProgram(
                    command: manifest.candidate.command,
                    files: files(benchmark.candidate)
                ),
                examiner: ExamProgram(
                    command: manifest.examiner.command,
                    files: files(benchmark.examiner)
                )
            ),
            candidatePlan: inputs.plans.candidate,
            examinerPlans: [
                .train: inputs.plans.trainExaminer, .test: inputs.plans.testExaminer,
            ],
            limits: SessionLimits(
                turns: manifest.limits.turns,
                seconds: Double(manifest.limits.seconds)
            )
        )
        if let packages = benchmark.environment { site.examinerPackages = packages.added }
        if let packages = inputs.packages { site.candidatePackages = packages.image.added }
        return site
    }

    /// The digests of what an exam ran under, by name, as its row keeps them.
    func planDigests(of report: Benchmarks.ExamReport) -> [String: String] {
        var digests = [
            "candidate": inputs.plans.agreed.digest(of: report.candidatePlan),
            "examiner": inputs.plans.agreed.digest(of: report.examinerPlan),
        ]
        if let packages = inputs.packages { digests[CandidatePackages.name] = packages.digest }
        return digests
    }

    /// Runs one exam to its end; the loop goes on serving everything else meanwhile.
    ///
    /// - Parameters:
    ///   - split: which split its tasks are of.
    ///   - tasks: what is run.
    ///   - arms: the judged files, and how often and beside whom they run.
    ///   - onStart: told the running exam, so that it can be cancelled.
    /// - Returns: the exam's report, void where our side broke.
    /// - Throws: ``SupervisorError``.
    func runExam(
        _ split: Split,
        _ tasks: [TaskID],
        _ arms: ExamArms,
        onStart: (ExamRun) -> Void = { _ in }
    ) throws(SupervisorError) -> Benchmarks.ExamReport {
        let seed = try system("draw a seed", "exam") { () throws(SystemError) in
            try KernelRandom.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        // Both arms have it, or they would not be examined alike.
        let bait =
            try honeyGold().map { [ExamFile(path: BaitPlace.candidate, bytes: $0.bytes)] } ?? []
        let order = ExamOrder(
            split: split,
            tasks: tasks,
            candidate: arms.candidate.examFiles + arms.more + bait,
            incumbent: arms.incumbent.map { $0.examFiles + bait } ?? [],
            trials: arms.trials,
            maximumConcurrency: inputs.config.maximumConcurrency,
            seed: seed
        )
        do throws(ExamRunError) {
            var site = examSite()
            let turns = inputs.benchmark.manifest.limits.turns
            site.models = models?.examModels(
                filesIn: layout.experiment(inputs.experiment.id),
                calls: ModelService.callsOfSealedRollout(turns: turns),
                rollouts: tasks.count * arms.rolloutsOfTask
            )
            if models?.hasModel(for: [.userSimulator, .judge]) == true {
                site.patience.examinerTurn = ExamPatience.modelTurn
            }
            let run = try ExamRun(site: site, order: order)
            if site.models != nil {
                models?.onGapInExam = { [unowned run] reason in run.loseModels(because: reason) }
            }
            defer { models?.onGapInExam = { _ in } }
            onStart(run)
            settledRollouts = { [unowned run] in run.settled }
            defer { settledRollouts = nil }
            let before = models?.sharedRefusals ?? 0
            let report = try run.run()
            // One side could spend what the other one then lacks, and win by it.
            guard arms.incumbent != nil, (models?.sharedRefusals ?? 0) > before else {
                return report
            }
            let reason =
                "a model's budget that candidate and incumbent share was spent before the end"
            return report.voided(.budgetSpent, because: reason)
        } catch { throw SupervisorError(.hostFailed, error) }
    }
}

/// Whose files an exam runs, and how often.
struct ExamArms {
    /// The judged files.
    let candidate: CandidateSnapshot
    /// The files that run the same tasks beside them, if any.
    var incumbent: CandidateSnapshot?
    /// How often every task is run.
    var trials = 1
    /// Files beside the judged ones; the answers, where an oracle is examined.
    var more: [ExamFile] = []

    init(_ candidate: CandidateSnapshot) {
        self.candidate = candidate
    }

    /// How many rollouts every task has.
    var rolloutsOfTask: Int { trials * (incumbent == nil ? 1 : 2) }
}

extension CandidateSnapshot {
    fileprivate var examFiles: [ExamFile] { files.map { ExamFile(path: $0.path, bytes: $0.bytes) } }
}

extension Image {
    // EIO: the image could not be copied whole.
    private static let inputOutputError: Int32 = 5

    /// The image as files that are laid over another one.
    package var added: AddedFiles {
        AddedFiles(fileCount: fileCount, byteCount: byteCount, copy: copier)
    }

    /// Copies the image into a directory.
    package var copier: (borrowing Descriptor) throws(SystemError) -> Void {
        { (directory: borrowing Descriptor) throws(SystemError) in
            do throws(HostProbeError) { try ImageBuilder.copy(self, to: directory) } catch {
                throw SystemError("copy", "\(error)", number: Self.inputOutputError)
            }
        }
    }
}

extension IterationLoop.ExamReport {
    /// What the loop needs to know of an exam that ran.
    init(
        _ report: Benchmarks.ExamReport,
        planDigests: [String: String],
        sealedRoot: String?
    ) {
        self.init(
            results: report.results,
            durationMilliseconds: Int64(report.duration.milliseconds),
            planDigests: planDigests,
            sealedRoot: sealedRoot
        )
    }
}

extension Benchmarks.ExamReport {
    /// The traces of a train exam, as files show them; a sealed exam has none.
    var traces: [TraceRecord] {
        records.map { task, record in
            var detail = record.detail
            if !record.errors.isEmpty { detail["candidate_errors"] = .string(record.errors) }
            let outcome = outcome(of: task)
            if case .failed(let fault) = outcome { detail["fault"] = .string(fault.rawValue) }
            return TraceRecord(
                task: task,
                messages: record.transcript.map(\.json),
                calls: record.calls,
                reward: outcome?.reward,
                detail: .object(detail)
            )
        }
    }

    private func outcome(of task: TaskID) -> TaskOutcome? {
        do throws(ExamError) { return try results.first.outcome(of: task) } catch {
            return nil  // a record of a task that was not planned is shown without a reward
        }
    }
}
