internal import ExamResults
internal import Gate
internal import SandboxPolicy
internal import StrictJSON
internal import Workspace

// A submitted candidate on its way through the gate.

extension LoopMachine {
    mutating func beginJudging(
        _ manifest: AgentRequest.Manifest?,
        _ facts: SnapshotFacts,
        for connection: ConnectionID
    ) throws(LoopError) {
        wantsFreeze = false
        syncFreeze()
        let intent = IntentRecord(
            iteration: state.iteration + 1,
            ticket: state.nextTicket,
            digest: facts.digest,
            manifest: manifest?.body ?? [:],
            commit: facts.commit
        )
        try record(.intent(intent))
        act(.reply(connection, Self.submitted(intent)))
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
            if let due = dueExam(judgement) {
                return try examine(due.purpose, due.tasks, judgement)
            }
            try decide(&judgement, weighed(judgement).suite)
        }
        if judgement.decision?.verdict == .accepted, state.open?.promotion == nil {
            let failing = (state.evidence?.failing ?? []).filter { !rules.impossible.contains($0) }
            if judgement.recheck == nil, !failing.isEmpty {
                return try examine(.recheck, failing, judgement)
            }
            let found = promotion(judgement)
            guard found.open.isEmpty else { return try examine(.confirm, found.open, judgement) }
            let row = PromotionRecord(iteration: judgement.intent.iteration, promotion: found)
            judgement.promotion = row
            try record(.promotion(row))
        }
        judgement.stage = .releasing(at: now.onGrid(of: rules.gridMilliseconds))
        current = .judging(judgement)
        try advance(judgement)
    }

    /// The next exam before the decision; none where nothing that it shows would count.
    private func dueExam(_ judgement: Judgement) -> (purpose: ExamPurpose, tasks: [TaskID]?)? {
        if voidance(of: judgement) != nil { return nil }
        if judgement.sentinels == nil, !rules.sentinels.isEmpty {
            return (.sentinel, rules.sentinels)
        }
        guard judgement.suite != nil else { return (.suite, state.suite) }
        let weighed = weighed(judgement)
        guard weighed.open.isEmpty else { return (.protect, weighed.open) }
        let one = Gate.stepOne(weighed.suite, rules: genesis.rules)
        let isDue = judgement.sealed == nil && genesis.rules.runsSealedExam(after: one)
        return isDue ? (.sealed, nil) : nil
    }

    /// Why the candidate is void whatever it scores, if it is.
    private func voidance(of judgement: Judgement) -> GateReason? {
        if state.tripped.contains(judgement.intent.digest) { return .tripwire }
        guard let voided = judgement.sentinels?.voided.count, voided > 0 else { return nil }
        return .sentinelsVoid(voided: voided)
    }

    private mutating func examine(
        _ purpose: ExamPurpose,
        _ tasks: [TaskID]?,
        _ given: Judgement
    ) throws(LoopError) {
        var judgement = given
        var exam = ExamStartedRecord(
            iteration: judgement.intent.iteration,
            purpose: purpose,
            split: purpose == .sealed ? .test : .train,
            count: tasks?.count ?? genesis.testCount,
            digest: judgement.intent.digest,
            assurance: genesis.assurance
        )
        if purpose == .sealed {
            exam.trials = genesis.rules.trials
            if genesis.rules.sealed != .ratchet { exam.incumbent = state.best?.digest }
            exam.liveChannels = genesis.liveChannels
        }
        try record(.examStarted(exam))
        let (commit, best) = (judgement.intent.commit, state.best?.commit)
        act(.runExam(ExamRequest(exam, tasks: tasks, commit: commit, incumbentCommit: best)))
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
        _ results: TrialResults,
        of purpose: ExamPurpose,
        _ given: Judgement
    ) throws(LoopError) {
        var judgement = given
        judgement.stage = .ready
        switch purpose {
        case .suite: judgement.suite = .examined(results.first)
        case .sealed: judgement.sealed = results
        case .recheck: judgement.recheck = results.first
        case .sentinel: judgement.sentinels = results.first
        case .protect: judgement.repeats.append(results.first)
        case .confirm: judgement.confirmations.append(results.first)
        case .baseline, .floor, .train, .final: break
        }
        if results.isVoid, ![.recheck, .protect, .confirm].contains(purpose) {
            judgement.voidedExams += 1
            if judgement.voidedExams < rules.exams, mayRepeat, !isWithoutRepetition, stopping == nil
            {
                judgement.suite = nil
                judgement.repeats = []
                judgement.sealed = nil
                judgement.sentinels = nil
                let broke = VoidRecord.broken(purpose, results)
                try record(.void(VoidRecord(repeating: judgement.intent, because: broke)))
            }
        }
        current = .judging(judgement)
        if let reason = stopping { try finish(reason) }
    }

    /// Whether the campaign ran as many void exams again as it may.
    private var isWithoutRepetition: Bool { state.usage.repetitions >= GateRules.mostRepetitions }

    /// Whether the budget of submissions holds a repetition; an operator's judgement has no budget.
    private var mayRepeat: Bool {
        spentError == nil && (!rules.hasCodingAgent || state.usage.submissions < rules.submissions)
    }

    mutating func endCancelled() throws(LoopError) {
        guard isExamining, let reason = stopping else { throw unexpected(.examCancelled) }
        try finish(reason)
    }

    private mutating func decide(
        _ judgement: inout Judgement,
        _ suite: SuiteEvidence
    ) throws(LoopError) {
        let gate =
            voidance(of: judgement).map { .void([$0]) }
            ?? Gate.decide(
                suite: suite,
                sealed: judgement.sealed,
                best: state.best?.score,
                rules: genesis.rules,
                isLastTry: judgement.voidedExams > 1 || isWithoutRepetition
            )
        var decision = DecisionRecord(
            of: judgement.intent,
            verdict: Verdict(rawValue: gate.verdict) ?? .void,
            step: gate.refusingStep?.rawValue,
            reasons: gate.reasons.map(\.exactText)
        )
        (decision.suitePassed, decision.suiteTotal) = Self.figures(judgement.suite)
        decision.flaky = weighed(judgement).flaky
        decision.sealed = state.open?.sealed
        decision.bestBefore = state.best?.score.mean
        decision.underFloors = decision.sealed.map { state.floors(above: $0) } ?? []
        decision.paired = gate.finding.map { PairedRecord($0) }
        if case .accept(let score, _) = gate {
            decision.released = genesis.release.told(of: score, after: state.lastTold)
            decision.commit = judgement.intent.commit
        }
        judgement.decision = decision
        judgement.agentReasons = gate.reasons.map(\.description)
        try record(.decision(decision))
        if decision.verdict == .accepted, let commit = decision.commit {
            act(.accept(commit: commit))
        }
    }

    private static func figures(_ suite: SuiteEvidence?) -> (passed: Int, total: Int) {
        guard case .examined(let results)? = suite else { return (0, 0) }
        do throws(ExamError) {
            return (try results.passedTasks().count, results.planned.count)
        } catch {
            return (0, results.planned.count)
        }
    }

    private mutating func release(_ judgement: Judgement, at slot: Moment) throws(LoopError) {
        guard let decision = judgement.decision else {
            fatalError("only a decided candidate is released")
        }
        let open = channels(of: decision)
        let told = state.open?.lastTold
        let bits = ReleasedBits(of: decision, genesis, rules, after: told, beside: open)
        var row = ReleaseRecord(of: decision, slot: slot.milliseconds, bits: bits)
        if rules.channels != nil { row.channels = open ?? OpenChannels() }
        row.manifest = state.predictions.score(under: rules)
        row.liveChannels = genesis.liveChannels
        try record(.release(row))
        act(.render)
        let answer = Self.answer(judgement, decision, row.manifest)
        answers[decision.ticket] = answer
        for connection in judgement.waiting {
            act(.reply(connection, answer))
        }
        try edit()
        try advance()
    }

    /// What channels beside the answers can have told of a candidate; nil where it had no sealed exam.
    private func channels(of decision: DecisionRecord) -> OpenChannels? {
        let exams = state.open?.sealedExams
        // Whoever failed the suite was not examined, unless both exams are always run.
        guard decision.step != 1 || genesis.rules.stepTwo == .always || (exams ?? 1) > 0
        else { return nil }
        var open = ReleasedBits.channels(genesis, rules, exams: exams ?? 1)
        open.charge(.counters, state.open?.uncountedBits ?? 0)
        let broken = Double((exams ?? 0) - (state.open?.wholeExams ?? 0))
        let arms = genesis.rules.sealed == .ratchet ? 1 : 2
        let planned = genesis.testCount * genesis.rules.trials * arms + 1
        open.charge(.launches, broken * Logarithm.base2(Double(planned + 1)))
        return open
    }
}
