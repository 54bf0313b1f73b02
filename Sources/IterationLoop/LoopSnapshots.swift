internal import ExamResults
internal import StrictJSON

// What follows a copy of the candidate, and train exams.

extension LoopMachine {
    mutating func takeSnapshot(_ facts: SnapshotFacts) throws(LoopError) {
        guard case .copying(let copying) = current else { throw unexpected(.snapshotTaken(facts)) }
        if try endAfterCopy(copying) { return }
        let operatorAsks = !rules.hasCodingAgent
        let iteration = workingIteration
        switch copying.wish {
        case .train(let tasks):
            try record(.snapshot(row(facts, iteration, operatorAsks ? "operator" : "train")))
            try beginTraining(tasks, facts, for: copying.connection)
        case .submit(let manifest):
            if let refusal = Self.judged(state.decided[facts.digest]) ?? spentError ?? spentRelease
            {
                try refuseCopy(refusal, copying)
                return
            }
            try record(.snapshot(row(facts, iteration, operatorAsks ? "operator" : "submit")))
            if !facts.findings.isEmpty {
                try record(
                    .audit(AuditRecord(digest: facts.digest, findings: facts.findings))
                )
            }
            try beginJudging(manifest, facts, for: copying.connection)
        case .revert: throw unexpected(.snapshotTaken(facts))
        }
    }

    private func row(
        _ facts: SnapshotFacts,
        _ iteration: Int,
        _ source: String
    ) -> SnapshotRecord {
        SnapshotRecord(
            iteration: iteration,
            digest: facts.digest,
            size: facts.size,
            source: source
        )
    }

    private mutating func thaw() {
        wantsFreeze = false
        syncFreeze()
    }

    /// Where the run was stopped meanwhile, ends it.
    mutating func endAfterCopy(_ copying: Copying) throws(LoopError) -> Bool {
        if let reason = stopping {
            try finish(reason)
            return true
        }
        if case .exited = agent, case .train = copying.wish {
            try edit()
            return true
        }
        return false
    }

    mutating func refuseSnapshot(
        _ code: String,
        _ reason: String,
        _ remedy: String
    ) throws(LoopError) {
        guard case .copying(let copying) = current else {
            throw unexpected(.snapshotRefused(code: code, reason: reason, remedy: remedy))
        }
        if try endAfterCopy(copying) { return }
        try refuseCopy(.copy(code, for: copying.wish, reason, remedy: remedy), copying)
    }

    /// Keeps the refusal of a copy, then lets the coding agent go on where it still can.
    private mutating func refuseCopy(
        _ refusal: RequestRefusal,
        _ copying: Copying
    ) throws(LoopError) {
        current = .editing
        thaw()
        try refuse(refusal, to: copying.connection)
        guard current == .editing else { return }
        try edit()
    }

    mutating func failSnapshot(_ reason: String) throws(LoopError) {
        guard case .copying(let copying) = current else {
            throw unexpected(.snapshotFailed(reason: reason))
        }
        if try endAfterCopy(copying) { return }
        act(.reply(copying.connection, Self.hostFailed("copy the candidate out", reason)))
        try edit()
    }

    private mutating func beginTraining(
        _ tasks: [TaskID]?,
        _ facts: SnapshotFacts,
        for connection: ConnectionID
    ) throws(LoopError) {
        thaw()
        let split = trainingSplit
        let planned = tasks ?? (split == .train ? genesis.train : nil)
        let exam = ExamStartedRecord(
            iteration: workingIteration,
            purpose: .train,
            split: split,
            count: planned?.count ?? genesis.testCount,
            digest: facts.digest,
            assurance: genesis.assurance
        )
        try record(.examStarted(exam))
        act(.runExam(ExamRequest(exam, tasks: planned, commit: facts.commit)))
        current = .training(Training(connection: connection, exam: exam, planned: planned))
    }

    #if LayerSwitches
    private var trainingSplit: Split { trainsOnSealed ? .test : .train }
    #else
    /// Train exams are of the train split; there is no way to say otherwise.
    private var trainingSplit: Split { .train }
    #endif

    mutating func endTraining(
        _ training: Training,
        _ report: ExamReport
    ) throws(LoopError) {
        guard Self.answers(report, training.exam, training.planned) else {
            throw unexpected(.examEnded(report))
        }
        try record(.examEnded(Self.row(training.exam, report)))
        if let reason = stopping {
            try finish(reason)
            return
        }
        act(.publishTraces)
        act(.render)
        act(.reply(training.connection, Self.trainReply(report.results.first)))
        try edit()
    }

    /// Whether results are those of the exam that was asked for.
    static func answers(
        _ report: ExamReport,
        _ exam: ExamStartedRecord,
        _ planned: [TaskID]?
    ) -> Bool {
        let results = report.results
        return results.trials == exam.trials
            && results.incumbent.isEmpty == (exam.incumbent == nil)
            && (planned.map { $0 == results.planned } ?? (results.planned.count == exam.count))
    }

    static func row(_ exam: ExamStartedRecord, _ report: ExamReport) -> ExamEndedRecord {
        var row = ExamEndedRecord(
            of: exam,
            results: report.results,
            durationMilliseconds: report.durationMilliseconds,
            planDigests: report.planDigests,
            sealedRoot: report.sealedRoot
        )
        row.twinGap = report.twinGap
        row.uncountedBits = report.uncountedBits
        if report.unstarted > 0 { row.unstarted = report.unstarted }
        return row
    }
}
