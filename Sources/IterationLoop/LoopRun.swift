internal import ExamResults
internal import StrictJSON

// Beginning, pausing and ending a run.

extension LoopMachine {
    mutating func start() throws(LoopError) {
        guard case .idle = current else { throw unexpected(.start) }
        let record = RunRecord(run: state.runs + 1, facts: facts)
        let cut = state.runningExam
        try self.record(state.runs == 0 ? .runStarted(record) : .runResumed(record))
        // The row of a decision comes before its effect on the repository: repeat the effect.
        if let commit = state.best?.commit { act(.accept(commit: commit)) }
        act(.render)
        guard let open = state.open else {
            try edit()
            return
        }
        guard let decision = open.decision else {
            try judgeAgain(open.intent, telling: untold(running: cut))
            return
        }
        var judgement = Judgement(open.intent, stage: .ready)
        judgement.decision = decision
        judgement.recheck = open.recheck
        judgement.confirmations = open.confirmations
        judgement.promotion = open.promotion
        current = .judging(judgement)
    }

    /// Voids an intent whose run was cut off and judges the same candidate under a new one.
    ///
    /// What its sealed exams told is charged first, and may leave too little for another answer.
    private mutating func judgeAgain(
        _ intent: IntentRecord,
        telling bits: ReleasedBits?
    ) throws(LoopError) {
        let reason = "the run before this one ended while the candidate was judged"
        try record(.void(VoidRecord(closing: intent, because: reason, telling: bits)))
        guard spentRelease == nil else { return try edit() }
        let again = IntentRecord(
            iteration: state.iteration + 1,
            ticket: state.nextTicket,
            digest: intent.digest,
            manifest: intent.manifest,
            commit: intent.commit
        )
        try record(.intent(again))
        current = .judging(Judgement(again, stage: .ready))
    }

    /// What sealed exams of the open intent told, where its answer is never released.
    private func untold(running exam: ExamStartedRecord?) -> ReleasedBits? {
        let more = exam?.purpose == .sealed ? rules.uncountedBits : 0
        return state.open.flatMap { ReleasedBits(ofUntold: $0, genesis, more: more) }
    }

    /// Lets the coding agent work, or ends the run where a rule says so.
    mutating func edit() throws(LoopError) {
        current = .editing
        wantsFreeze = false
        guard rules.hasCodingAgent else { return }
        switch agent {
        case .notStarted:
            if let reason = spentBudget {
                try finish(reason)
                return
            }
            agent = .running
            act(.startAgent)
            syncFreeze()
        case .running:
            syncFreeze()
        case .exited(let how):
            try finish(.agentExited(how))
        }
    }

    /// The first budget that is spent, if one is.
    var spentBudget: EndReason? {
        let usage = state.usage
        if let reason = rules.boundEnd { return reason }
        if usage.iterations >= rules.iterations { return rules.iterationsEnd }
        if usage.submissions >= rules.submissions { return .submissionsSpent }
        if spentError != nil { return .errorSpent }
        if spentRelease != nil { return .releaseSpent }
        if usage.sinceImprovement >= rules.noImprovement { return .noImprovement }
        if state.elapsedMilliseconds(at: now) >= rules.runMilliseconds { return rules.timeEnd }
        return nil
    }

    mutating func setPaused(_ paused: Bool) throws(LoopError) {
        switch current {
        case .idle, .ended: throw unexpected(paused ? .pause : .resume)
        case .editing, .copying, .training, .judging: break
        }
        guard state.isPaused != paused else { return }
        try record(paused ? .pause : .resume)
        if !paused { setMomentsAnew() }
        syncFreeze()
    }

    /// Sets the moment that a candidate waits for anew: after a pause, and when the clock was set
    /// back, because a night must not wait for the time that its clock lost.
    mutating func setMomentsAnew() {
        guard case .judging(var judgement) = current else { return }
        switch judgement.stage {
        case .queued: judgement.stage = .queued(until: now.later(by: rules.graceMilliseconds))
        case .releasing: judgement.stage = .releasing(at: now.onGrid(of: rules.gridMilliseconds))
        case .ready, .examining: return
        }
        current = .judging(judgement)
    }

    mutating func stop(_ reason: String) throws(LoopError) {
        switch current {
        case .idle, .ended: throw unexpected(.stop(reason: reason))
        case .editing, .copying, .training, .judging: break
        }
        guard stopping == nil else { return }
        try record(.stop(reason: reason))
        try end(.stopped(reason: reason))
    }

    /// Ends the run now, or as soon as the running exam or copy has been answered.
    mutating func end(_ reason: EndReason) throws(LoopError) {
        guard stopping == nil else { return }
        if case .copying = current {
            stopping = reason
            return
        }
        guard isExamining else {
            try finish(reason)
            return
        }
        stopping = reason
        act(.cancelExam)
    }

    mutating func noteExit(_ how: AgentEnd) throws(LoopError) {
        guard case .running = agent else { throw unexpected(.agentExited(how)) }
        agent = .exited(how)
        isFrozen = false
        switch current {
        case .idle, .ended: throw unexpected(.agentExited(how))
        case .editing: try finish(.agentExited(how))
        case .training: try end(.agentExited(how))
        // What was submitted is judged to its end.
        case .copying, .judging: break
        }
    }

    /// Ends the run: closes an undecided intent, answers who waits, and says why.
    mutating func finish(_ reason: EndReason) throws(LoopError) {
        var waiting: [ConnectionID] = []
        switch current {
        case .judging(let judgement): waiting = judgement.waiting
        case .training(let training): waiting = [training.connection]
        case .copying(let copying): waiting = [copying.connection]
        case .idle, .editing, .ended: break
        }
        if let open = state.open, open.decision == nil {
            let bits = untold(running: state.runningExam)
            try record(
                .void(VoidRecord(closing: open.intent, because: reason.text, telling: bits))
            )
        } else if let exam = state.runningExam {
            try record(
                .void(VoidRecord(iteration: exam.iteration, ticket: nil, reason: reason.text))
            )
        }
        for connection in waiting {
            act(.reply(connection, Self.ended.reply))
        }
        try record(.runEnded(reason: reason.text))
        current = .ended(reason)
        act(.render)
        act(.endRun(reason))
    }
}
