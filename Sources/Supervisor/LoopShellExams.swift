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
            let findings = audit.findings(in: snapshot, previousSize: bestSize)
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
        let candidate = try candidate(of: request)
        let isSealed = request.split == .test
        let tasks = request.tasks ?? (isSealed ? supervision.testTasks : supervision.trainTasks)
        progress(ProgressLine.examBegins(request, count: tasks.count))
        var isExceeded = false
        let report = try supervision.guardedExam(
            request.split,
            tasks,
            candidate,
            iteration: request.iteration,
            goesOn: { () throws(SupervisorError) in
                try drainQueue()
                return !isCancelling
            },
            onStart: { run in runningExam = run },
            onExceeded: { isExceeded = true }
        )
        runningExam = nil
        guard let report, !isCancelling else {
            isCancelling = false
            post(.examCancelled)
            return
        }
        // The row names the kind of fault only; whoever watches can look for its cause.
        if let reason = report.voidReason { progress("the exam is void: \(reason)") }
        if request.purpose == .train { lastTrain = report }
        // Before the exam's end: after it the run may be over, and these would be lost.
        let refusals = CandidateRefusals(report.results, iteration: request.iteration)
        for record in refusals.records { post(.refused(record)) }
        if isExceeded { post(.refused(.exceededCounters(iteration: request.iteration))) }
        post(
            .examEnded(
                IterationLoop.ExamReport(report, planDigests: supervision.planDigests(of: report))
            )
        )
    }

    func candidate(of request: ExamRequest) throws(SupervisorError) -> CandidateSnapshot {
        if let lastSnapshot, lastSnapshot.digest == request.digest { return lastSnapshot }
        let found = try candidate(of: request.commit)
        guard found.digest == request.digest else {
            throw SupervisorError(
                .integrity,
                operation: "find a candidate",
                location: request.digest.hex,
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
