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
            let findings = audit.findings(in: snapshot.text, previousSize: bestSize)
            post(
                .snapshotTaken(
                    SnapshotFacts(
                        digest: snapshot.digest,
                        size: snapshot.bytes.count,
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
        return try CandidateSnapshot(checking: supervision.inputs.agent)
    }

    // The bytes of a commit; without one, the template that the experiment began with.
    func bytes(of commit: String?) throws(SupervisorError) -> [UInt8] {
        guard let commit else { return supervision.inputs.agent }
        return try workspace { () throws(WorkspaceError) in
            try repository.candidate(in: CommitName(commit)).bytes
        }
    }

    func currentAgent() throws(SupervisorError) -> [UInt8] {
        try bytes(of: machine.state.best?.commit)
    }

    func restore(_ commit: String?) throws(SupervisorError) {
        let bytes = try bytes(of: commit)
        do throws(SystemError) {
            post(.restored(isChanged: try coding?.restore(bytes) ?? false))
        } catch {
            post(
                .snapshotRefused(
                    code: "not-replaceable",
                    reason: "agent.py cannot be replaced: \(error)",
                    remedy: "remove what is in the way or fills agent/, and ask again"
                )
            )
        }
    }

    // MARK: - exams

    func perform(_ request: ExamRequest) throws(SupervisorError) {
        let candidate = try candidateBytes(request)
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
        post(.examEnded(IterationLoop.ExamReport(report)))
    }

    func candidateBytes(_ request: ExamRequest) throws(SupervisorError) -> [UInt8] {
        if let lastSnapshot, lastSnapshot.digest == request.digest { return lastSnapshot.bytes }
        let bytes = try bytes(of: request.commit)
        guard CandidateSnapshot.digest(of: bytes) == request.digest else {
            throw SupervisorError(
                .integrity,
                operation: "find a candidate",
                location: request.digest.hex,
                reason: "the repository holds other bytes",
                remedy: "do not trust this state directory; restore it from a copy"
            )
        }
        return bytes
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
