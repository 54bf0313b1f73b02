internal import HostKernel
internal import Benchmarks
internal import ExamResults
internal import IterationLoop
internal import LauncherClient
internal import LinuxKernel
internal import StrictJSON
internal import Workspace

// Candidates and exams: what the loop's actions mean for files, repository and sandboxes.

extension LoopShell {
    func takeSnapshot(_ purpose: SnapshotPurpose) throws(SupervisorError) {
        try watchTraffic()
        do throws(WorkspaceError) {
            let snapshot = try currentSnapshot()
            var commit: String?
            if purpose == .submit {
                commit = try repository.keep(
                    snapshot,
                    message: "candidate \(snapshot.digest.short)",
                    time: WallClock.milliseconds
                ).hex
            } else {
                commit = try repository.commit(of: snapshot.digest)?.hex
            }
            lastSnapshot = snapshot
            watch(snapshot)
            let findings =
                purpose == .submit ? audit.findings(in: snapshot, replacing: best) : []
            guard !refuse(findings) else { return }
            post(
                .snapshotTaken(
                    SnapshotFacts(
                        digest: snapshot.digest,
                        size: snapshot.size,
                        commit: commit,
                        findings: findings.map(\.body)
                    )
                )
            )
        } catch {
            switch error {
            case .candidate(let refusal):
                post(
                    .snapshotRefused(
                        code: refusal.code,
                        reason: refusal.reason,
                        remedy: refusal.remedy
                    )
                )
            default: post(.snapshotFailed(reason: "\(error)"))
            }
        }
    }

    // What is found by comparing with sealed tasks refuses nothing: a refusal would tell of them.
    private func refuse(_ findings: [AuditFinding]) -> Bool {
        guard supervision.inputs.config.audit.policy == .refuse else { return false }
        let named = findings.filter { !$0.kind.isOfSealedTasks }.map(\.words)
        guard !named.isEmpty else { return false }
        let rest = named.count > Self.namedFindings ? ", and \(named.count) in all" : ""
        post(
            .snapshotRefused(
                code: "suspicious",
                reason: "the audit found "
                    + named.prefix(Self.namedFindings).joined(separator: "; ") + rest,
                remedy: "take it out, or have the operator set audit.policy to warn"
            )
        )
        return true
    }

    // As many as a person reads in one row.
    private static let namedFindings = 8

    // The coding agent's file, or the operator's where no agent runs.
    func currentSnapshot() throws(WorkspaceError) -> CandidateSnapshot {
        if let coding { return try coding.snapshot() }
        return supervision.inputs.agent
    }

    // The files of a commit; without one, the template that the experiment began with.
    func candidate(of commit: String?) throws(SupervisorError) -> CandidateSnapshot {
        guard let commit else { return supervision.inputs.agent }
        return try workspace { () throws(WorkspaceError) in
            try repository.candidate(in: CommitName(commit))
        }
    }

    func currentAgent() throws(SupervisorError) -> CandidateSnapshot {
        try candidate(of: machine.state.best?.commit)
    }

    func restore(_ commit: String?) throws(SupervisorError) {
        let candidate = try candidate(of: commit)
        do throws(SystemError) {
            post(.restored(isChanged: try coding?.restore(candidate) ?? false))
        } catch {
            post(
                .snapshotRefused(
                    code: "not-replaceable",
                    reason: "agent/ cannot be restored: \(error)",
                    remedy: "remove what is in the way or fills agent/, and ask again"
                )
            )
        }
    }

    // MARK: - exams

    func perform(_ request: ExamRequest) throws(SupervisorError) {
        let arms = try arms(of: request)
        let isSealed = request.split == .test
        let tasks = request.tasks ?? (isSealed ? supervision.testTasks : supervision.trainTasks)
        progress(ProgressLine.examBegins(request, count: tasks.count))
        let report = try supervision.guardedExam(
            request.split,
            tasks,
            arms,
            iteration: request.iteration,
            goesOn: { () throws(SupervisorError) in
                try drainQueue()
                return !isCancelling
            },
            onStart: { run in runningExam = run }
        )
        catchUpWithRecords()
        runningExam = nil
        guard let report, !isCancelling else {
            isCancelling = false
            endExamDenials(isSealed: isSealed, iteration: request.iteration)
            post(.examCancelled)
            return
        }
        // The row names the kind of fault only; whoever watches can look for its cause.
        if let reason = report.voidReason { progress("the exam is void: \(reason)") }
        if request.purpose == .train { lastTrain = report }
        // Before the exam's end: after it the run may be over, and these would be lost.
        let refusals = CandidateRefusals(of: report.results.candidate, iteration: request.iteration)
        for record in refusals.records { post(.refused(record)) }
        endExamDenials(isSealed: isSealed, iteration: request.iteration)
        let root = try supervision.sealedRoot(of: report.results, request.split)
        let digests = supervision.planDigests(of: report)
        var ended = IterationLoop.ExamReport(report, planDigests: digests, sealedRoot: root)
        ended.twinGap = watch(report, of: request)
        if isSealed {
            ended.uncountedBits = supervision.uncountedBits
            ended.unstarted = report.unstarted
        }
        try watchTraffic()
        post(.examEnded(ended))
    }

    private func arms(of request: ExamRequest) throws(SupervisorError) -> ExamArms {
        var arms = ExamArms(try candidate(request.digest, commit: request.commit))
        arms.trials = request.trials
        if let incumbent = request.incumbent {
            arms.incumbent = try candidate(incumbent.digest, commit: incumbent.commit)
        }
        return arms
    }

    private func candidate(
        _ digest: CandidateDigest,
        commit: String?
    ) throws(SupervisorError) -> CandidateSnapshot {
        if let lastSnapshot, lastSnapshot.digest == digest { return lastSnapshot }
        let found = try candidate(of: commit)
        guard found.digest == digest else {
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

    func cancelExam() {
        guard pendingExam == nil else {
            pendingExam = nil
            return post(.examCancelled)
        }
        isCancelling = true
        runningExam?.cancel()
    }
}
