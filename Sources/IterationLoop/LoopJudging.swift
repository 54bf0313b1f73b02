internal import ExamResults
internal import Gate
internal import StrictJSON

// A submitted candidate on its way through the gate.

extension LoopMachine {
    mutating func beginJudging(
        _ manifest: AgentRequest.Manifest,
        _ facts: SnapshotFacts,
        for connection: ConnectionID
    ) throws(LoopError) {
        wantsFreeze = false
        syncFreeze()
        let intent = IntentRecord(
            iteration: state.iteration + 1,
            ticket: state.nextTicket,
            digest: facts.digest,
            manifest: manifest.body,
            commit: facts.commit
        )
        try record(.intent(intent))
        act(.reply(connection, ["ok": true, "ticket": .string(intent.ticket)]))
        let until = now.later(by: rules.graceMilliseconds)
        current = .judging(Judgement(intent, stage: .queued(until: until)))
    }

    /// Does what can be done without waiting for anything.
    mutating func advance() throws(LoopError) {
        switch current {
        case .idle, .copying, .training, .ended: return
        case .editing:
            guard rules.hasCodingAgent, !state.isPaused, let reason = spentBudget else { return }
            try finish(reason)
        case .judging(let judgement):
            guard !state.isPaused, stopping == nil else { return }
            try advance(judgement)
        }
    }

    private mutating func advance(_ judgement: Judgement) throws(LoopError) {
        var judgement = judgement
        switch judgement.stage {
        case .examining: return
        case .queued(let until):
            guard now >= until || agent != .running else { return }
            judgement.stage = .ready
            try advance(judgement)
        case .ready:
            wantsFreeze = true
            syncFreeze()
            try proceed(judgement)
        case .releasing(let at):
            guard now >= at else { return }
            try release(judgement, at: at)
        }
    }

    /// Begins the next exam, decides, or sends the result on its way.
    private mutating func proceed(_ given: Judgement) throws(LoopError) {
        var judgement = given
        if judgement.decision == nil {
            if judgement.suite == nil, state.suite.isEmpty { judgement.suite = .empty }
            guard let suite = judgement.suite else {
                try examine(.suite, state.suite, judgement)
                return
            }
            let one = Gate.stepOne(suite, rules: genesis.rules)
            if judgement.sealed == nil, genesis.rules.runsSealedExam(after: one) {
                try examine(.sealed, nil, judgement)
                return
            }
            try decide(&judgement, suite)
        }
        if judgement.decision?.verdict == .accepted, state.open?.promotion == nil {
            let failing = state.evidence?.failing ?? []
            if judgement.recheck == nil, !failing.isEmpty {
                try examine(.recheck, failing, judgement)
                return
            }
            try promote(&judgement)
        }
        judgement.stage = .releasing(at: now.onGrid(of: rules.gridMilliseconds))
        current = .judging(judgement)
        try advance(judgement)
    }

    private mutating func examine(
        _ purpose: ExamPurpose,
        _ tasks: [TaskID]?,
        _ given: Judgement
    ) throws(LoopError) {
        var judgement = given
        let exam = ExamStartedRecord(
            iteration: judgement.intent.iteration,
            purpose: purpose,
            split: purpose == .sealed ? .test : .train,
            count: tasks?.count ?? genesis.testCount,
            digest: judgement.intent.digest,
            assurance: genesis.assurance
        )
        try record(.examStarted(exam))
        act(.runExam(ExamRequest(exam, tasks: tasks, commit: judgement.intent.commit)))
        judgement.stage = .examining(exam, planned: tasks)
        current = .judging(judgement)
    }

    mutating func endExam(_ report: ExamReport) throws(LoopError) {
        switch current {
        case .training(let training): try endTraining(training, report)
        case .judging(let judgement):
            guard case .examining(let exam, let planned) = judgement.stage,
                Self.answers(report, exam, planned)
            else { throw unexpected(.examEnded(report)) }
            try record(.examEnded(Self.row(exam, report)))
            try file(report.results, of: exam.purpose, judgement)
        case .idle, .editing, .copying, .ended: throw unexpected(.examEnded(report))
        }
    }

    /// Puts results where the gate looks for them; an exam that is void is run again, within
    /// limits, together with the other one.
    private mutating func file(
        _ results: ExamResults,
        of purpose: ExamPurpose,
        _ given: Judgement
    ) throws(LoopError) {
        var judgement = given
        judgement.stage = .ready
        switch purpose {
        case .suite: judgement.suite = .examined(results)
        case .sealed: judgement.sealed = results
        case .recheck: judgement.recheck = results
        case .baseline, .floor, .train: break
        }
        if results.isVoid, purpose != .recheck {
            judgement.voidedExams += 1
            if judgement.voidedExams < rules.exams, mayRepeat, stopping == nil {
                judgement.suite = nil
                judgement.sealed = nil
                let reason = "infrastructure broke in \(results.voided.count) tasks"
                try record(
                    .void(
                        VoidRecord(
                            iteration: judgement.intent.iteration,
                            ticket: nil,
                            reason: "\(reason) of the \(purpose.rawValue) exam; it is run again"
                        )
                    )
                )
            }
        }
        current = .judging(judgement)
        if let reason = stopping { try finish(reason) }
    }

    /// Whether the budget of submissions holds a repetition; an operator's judgement has no budget.
    private var mayRepeat: Bool {
        !rules.hasCodingAgent || state.usage.submissions < rules.submissions
    }

    mutating func endCancelled() throws(LoopError) {
        guard isExamining, let reason = stopping else { throw unexpected(.examCancelled) }
        try finish(reason)
    }

    private mutating func decide(
        _ judgement: inout Judgement,
        _ suite: SuiteEvidence
    ) throws(LoopError) {
        let gate = Gate.decide(
            suite: suite,
            sealed: judgement.sealed,
            best: state.best?.score,
            rules: genesis.rules
        )
        var decision = DecisionRecord(
            of: judgement.intent,
            verdict: Self.verdict(gate),
            step: gate.refusingStep?.rawValue,
            reasons: gate.reasons.map(\.exactText)
        )
        (decision.suitePassed, decision.suiteTotal) = Self.figures(suite)
        decision.sealed = state.open?.sealed
        decision.bestBefore = state.best?.score.mean
        if case .accept(let score, _) = gate {
            decision.released = genesis.releaseQuantum.map { score.released(quantum: $0) }
            decision.commit = judgement.intent.commit
        }
        judgement.decision = decision
        judgement.agentReasons = gate.reasons.map(\.description)
        try record(.decision(decision))
        if decision.verdict == .accepted, let commit = decision.commit {
            act(.accept(commit: commit))
        }
    }

    private static func verdict(_ gate: GateDecision) -> Verdict {
        switch gate {
        case .accept: .accepted
        case .reject: .rejected
        case .void: .void
        }
    }

    private static func figures(_ suite: SuiteEvidence) -> (passed: Int, total: Int) {
        guard case .examined(let results) = suite else { return (0, 0) }
        do throws(ExamError) {
            return (try results.passedTasks().count, results.planned.count)
        } catch {
            return (0, results.planned.count)
        }
    }

    private mutating func promote(_ judgement: inout Judgement) throws(LoopError) {
        if let recheck = judgement.recheck, let evidence = state.evidence {
            judgement.promoted = Gate.promotion(evidence: evidence, recheck: recheck)
        }
        try record(
            .promotion(
                PromotionRecord(
                    iteration: judgement.intent.iteration,
                    promoted: judgement.promoted
                )
            )
        )
    }

    private mutating func release(_ judgement: Judgement, at slot: Moment) throws(LoopError) {
        guard let decision = judgement.decision else {
            fatalError("only a decided candidate is released")
        }
        let bits = ReleasedBits(of: decision, genesis, rules)
        try record(.release(ReleaseRecord(of: decision, slot: slot.milliseconds, bits: bits)))
        act(.render)
        let answer = Self.answer(judgement, decision)
        answers[decision.ticket] = answer
        for connection in judgement.waiting {
            act(.reply(connection, answer))
        }
        try edit()
        try advance()
    }
}
