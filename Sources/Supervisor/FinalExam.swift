internal import Benchmarks
internal import ExamResults
internal import Gate
internal import GateStatistics
internal import HostKernel
public import IterationLoop
internal import Ledger
internal import LinuxKernel
internal import SandboxPlan
internal import SelfCheck
internal import Workspace

/// The final tier: sealed tasks that no exam of the gate touched, run once by the operator with the best
/// candidate and the template beside each other.
///
/// However many bits the campaign's releases told, they told nothing of these tasks; so the score needs no
/// bound but chance. A second look would be a choice between two looks, so there is none.
public struct FinalExam {
    private let supervision: Supervision
    private let progress: (String) -> Void

    /// Begins.
    public init(_ supervision: Supervision, progress: @escaping (String) -> Void) {
        self.supervision = supervision
        self.progress = progress
        supervision.report(waitsTo: progress)
    }

    /// Opens the tier, or returns what it gave when it was opened.
    ///
    /// - Returns: the exam's row, and whether it was run now.
    /// - Throws: ``SupervisorError``, also where nothing was held back or nothing was accepted.
    public func run() throws(SupervisorError) -> (exam: ExamEndedRecord, isNew: Bool) {
        let state = try replayed()
        guard let genesis = state.genesis, let baseline = state.baseline, let best = state.best
        else {
            throw refusal("the experiment is not prepared", "run `invigilator prepare` first")
        }
        if let exam = state.final {
            try requireClean(state, exam.digest)
            return (exam, false)
        }
        guard genesis.finalCount > 0 else {
            throw refusal(
                "no task was held back",
                "write gate.final, such as 0.3, into the configuration of a new experiment"
            )
        }
        guard best.digest != baseline.digest, state.open == nil else {
            throw refusal(
                state.open == nil
                    ? "no candidate was accepted, so there is nothing to compare with the template"
                    : "a candidate is being judged",
                "let `invigilator run` come to its end"
            )
        }
        try requireClean(state, best.digest)
        try supervision.requireUnchanged(genesis)
        try supervision.noteTiers(genesis)
        try supervision.joinTurns()
        // A record that was put back to before the tier was opened must not open it again.
        try supervision.keepCheckpoint(progress: progress)
        // An exam whose run was cut off must not stand open before another one begins.
        if let exam = state.runningExam {
            try supervision.append(.void(VoidRecord(cutOff: exam)), at: WallClock.milliseconds)
        }
        let exam = try examine(best, baseline, genesis)
        try supervision.keepCheckpoint(progress: progress)
        return (exam, true)
    }

    private func requireClean(
        _ state: CampaignState,
        _ digest: CandidateDigest
    ) throws(SupervisorError) {
        guard state.tripped.contains(digest) else { return }
        throw SupervisorError(
            .integrity,
            operation: "open the final tier",
            location: digest.hex,
            reason: "a tripwire fired for this candidate, so its score counts for nothing",
            remedy: "see `invigilator ledger show --kind tripwire`"
        )
    }

    private func replayed() throws(SupervisorError) -> CampaignState {
        let entries = try ledgered { () throws(LedgerError) in try supervision.ledger.entries() }
        return try looped { () throws(LoopError) in
            try CampaignState(replaying: entries.map(RecordedRow.init))
        }
    }

    private func examine(
        _ best: BestCandidate,
        _ baseline: BaselineRecord,
        _ genesis: GenesisRecord
    ) throws(SupervisorError) -> ExamEndedRecord {
        var arms = ExamArms(try candidate(best.commit, best.digest))
        arms.incumbent = try candidate(baseline.commit, baseline.digest)
        arms.trials = genesis.rules.trials
        var start = ExamStartedRecord(
            iteration: best.iteration,
            purpose: .final,
            split: .test,
            count: supervision.finalTasks.count,
            digest: best.digest,
            assurance: supervision.measured.level.name
        )
        start.trials = arms.trials
        start.incumbent = baseline.digest
        start.liveChannels = genesis.liveChannels
        try supervision.append(.examStarted(start), at: WallClock.milliseconds)
        progress("final exam over \(start.count) tasks that were held back")
        let ended = try supervision.guardedExam(
            .test,
            supervision.finalTasks,
            arms,
            iteration: best.iteration
        )
        guard let report = ended else { fatalError("only a run gives up waiting for its turn") }
        let row = ExamEndedRecord(
            of: start,
            results: report.results,
            durationMilliseconds: Int64(report.duration.milliseconds),
            planDigests: supervision.planDigests(of: report),
            sealedRoot: try supervision.sealedRoot(of: report.results, .test)
        )
        try supervision.append(.examEnded(row), at: WallClock.milliseconds)
        try requireNoWire(report.results, best)
        guard row.mean != nil else {
            throw SupervisorError(
                .hostFailed,
                operation: "open the final tier",
                location: "sealed tasks",
                reason: report.voidReason ?? "the exam is void",
                remedy: "nothing was told; mend the host and run it again"
            )
        }
        return row
    }

    // The last look at an accepted candidate: what it touches now, nobody can void any more.
    private func requireNoWire(
        _ results: TrialResults,
        _ best: BestCandidate
    ) throws(SupervisorError) {
        let wires = try supervision.tripwires().touched(by: results, of: .test)
        guard let wire = wires.first else { return }
        let record = TripwireRecord(wire, iteration: best.iteration, digest: best.digest)
        try supervision.append(.tripwire(record), at: WallClock.milliseconds)
        throw SupervisorError(
            .integrity,
            operation: "open the final tier",
            location: best.digest.hex,
            reason: record.words,
            remedy: "do not use this candidate before you have looked at it"
        )
    }

    private func candidate(
        _ commit: String?,
        _ digest: CandidateDigest
    ) throws(SupervisorError) -> CandidateSnapshot {
        let repository = CandidateRepository(
            at: supervision.layout.repository(supervision.inputs.experiment.id)
        )
        let found = try workspace { () throws(WorkspaceError) in
            try commit.map { commit throws(WorkspaceError) in
                try repository.candidate(in: CommitName(commit))
            }
        }
        guard let found, found.digest == digest else {
            throw SupervisorError(
                .integrity,
                operation: "find a candidate",
                location: digest.hex,
                reason: "the repository holds other bytes",
                remedy: "do not trust this state directory; restore it from a copy"
            )
        }
        return found
    }

    private func refusal(_ reason: String, _ remedy: String) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "open the final tier",
            location: supervision.inputs.experiment.directory,
            reason: reason,
            remedy: remedy
        )
    }
}
