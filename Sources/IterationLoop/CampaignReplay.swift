internal import ExamResults
internal import Gate

extension CampaignState {
    /// Applies one event; on an error nothing has changed.
    mutating func apply(
        _ event: LedgerEvent,
        at time: Moment,
        sequence: Int
    ) throws(LoopError) {
        var next = self
        next.usage.elapsedMilliseconds += sinceLastRow(time)
        next.lastTime = time
        do throws(Contradiction) {
            try next.take(event, at: time)
        } catch {
            throw .inconsistent(sequence: sequence, kind: event.kind, reason: error.reason)
        }
        self = next
    }

    /// What a row contradicts.
    struct Contradiction: Error {
        let reason: String

        init(_ reason: String) {
            self.reason = reason
        }
    }

    private mutating func take(_ event: LedgerEvent, at time: Moment) throws(Contradiction) {
        switch event {
        case .genesis(let record): try begin(record)
        case .baseline(let record): try enter(record, at: time)
        case .floor(let record): floors.append(record)
        case .runStarted(let record), .runResumed(let record): try startRun(record)
        case .runEnded: isRunning = false
        case .snapshot, .audit, .revert, .stop, .other: break
        case .intent(let record): try begin(record)
        case .examStarted(let record): try begin(record)
        case .examEnded(let record): try end(record, at: time)
        case .decision(let record): try decide(record, at: time)
        case .promotion(let record): try promote(record)
        case .release(let record): try release(record, at: time)
        case .refusal: usage.refusals += 1
        case .learning(let record):
            learnings.append(record)
            usage.learningBytes += record.text.utf8.count
        case .pause: isPaused = true
        case .resume: isPaused = false
        case .void(let record): try void(record)
        }
    }

    private mutating func begin(_ record: GenesisRecord) throws(Contradiction) {
        guard genesis == nil else { throw Contradiction("there is a genesis already") }
        genesis = record
        evidence = try checked { () throws(ExamError) in
            try TrainEvidence(train: record.train, passMark: record.rules.passMark)
        }
    }

    private mutating func enter(
        _ record: BaselineRecord,
        at time: Moment
    ) throws(Contradiction) {
        guard genesis != nil else { throw Contradiction("there is no genesis before it") }
        guard baseline == nil else { throw Contradiction("there is a baseline already") }
        let outcomes = record.train.mapValues { TaskOutcome.graded($0) }
        let results = try checked { () throws(ExamError) in
            try ExamResults(planned: Array(record.train.keys), outcomes: outcomes)
        }
        try enterEvidence(results)
        baseline = record
        let candidate = BestCandidate(
            digest: record.digest,
            commit: record.commit,
            score: record.sealed,
            released: record.released,
            iteration: 0
        )
        best = candidate
        decided[record.digest] = 0
        latestTrain = outcomes
        latestTrainTime = time
        accepted = [
            AcceptedCandidate(
                candidate: candidate,
                suitePassed: 0,
                suiteTotal: 0,
                decided: time,
                released: time
            )
        ]
    }

    private mutating func startRun(_ record: RunRecord) throws(Contradiction) {
        guard baseline != nil else { throw Contradiction("there is no baseline before it") }
        guard record.run == runs + 1 else {
            throw Contradiction("run \(record.run) follows run \(runs)")
        }
        runs = record.run
        isRunning = true
        isPaused = false
        // A run that begins while an exam is open says that the exam's run was cut off.
        runningExam = nil
    }

    private mutating func begin(_ record: IntentRecord) throws(Contradiction) {
        guard baseline != nil else { throw Contradiction("there is no baseline before it") }
        guard open == nil else { throw Contradiction("another intent is open") }
        guard record.iteration == iteration + 1, record.ticket == nextTicket else {
            throw Contradiction("iteration \(record.iteration) follows \(iteration)")
        }
        iteration = record.iteration
        usage.submissions += 1
        open = OpenIntent(record)
    }

    private mutating func void(_ record: VoidRecord) throws(Contradiction) {
        runningExam = nil
        open?.suite = nil
        open?.sealed = nil
        guard let ticket = record.ticket else {
            // An undecided candidate is examined again, which is paid for like a submission.
            if let open, open.decision == nil { usage.submissions += 1 }
            return
        }
        guard let intent = open, intent.intent.ticket == ticket, intent.decision == nil else {
            throw Contradiction("no undecided intent has the ticket \(ticket)")
        }
        open = nil
    }

    /// Turns a refusal of the examination's types into a contradiction.
    private func checked<Value>(
        _ body: () throws(ExamError) -> Value
    ) throws(Contradiction) -> Value {
        do throws(ExamError) {
            return try body()
        } catch {
            throw Contradiction("\(error)")
        }
    }

    private mutating func enterEvidence(_ results: ExamResults) throws(Contradiction) {
        var evidence = evidence
        try checked { () throws(ExamError) in try evidence?.enter(results) }
        self.evidence = evidence
    }
}

extension CampaignState {
    private mutating func begin(_ record: ExamStartedRecord) throws(Contradiction) {
        switch record.purpose {
        case .baseline, .floor:
            // Preparing is repeated from its beginning where it was cut off.
            break
        case .train, .suite, .sealed, .recheck:
            guard runningExam == nil else { throw Contradiction("another exam is running") }
        }
        try checkSplit(record)
        guard record.assurance == genesis?.assurance else {
            throw Contradiction("it was run at another assurance level than the genesis row's")
        }
        if record.purpose == .train { usage.trainRuns += 1 }
        runningExam = record
    }

    /// Only the sealed exam is of the test split; preparing measures both.
    private func checkSplit(_ record: ExamStartedRecord) throws(Contradiction) {
        #if !LayerSwitches
        switch (record.purpose, record.split) {
        case (.baseline, _), (.floor, _), (.sealed, .test), (.train, .train), (.suite, .train),
            (.recheck, .train):
            return
        case (.sealed, .train), (.train, .test), (.suite, .test), (.recheck, .test):
            throw Contradiction("\(record.purpose.rawValue) on \(record.split.rawValue) tasks")
        }
        #endif
    }

    private mutating func end(_ record: ExamEndedRecord, at time: Moment) throws(Contradiction) {
        guard let started = runningExam, started.purpose == record.purpose,
            started.digest == record.digest, started.count == record.count,
            started.split == record.split, started.assurance == record.assurance
        else { throw Contradiction("no such exam was started") }
        runningExam = nil
        if let outcomes = record.outcomes { try checkTrain(outcomes) }
        switch record.purpose {
        case .baseline, .floor: break
        case .train: noteTrain(record.outcomes, at: time)
        case .suite: try endSuite(record)
        case .sealed: try endSealed(record)
        case .recheck: try endRecheck(record)
        }
    }

    private func checkTrain(_ outcomes: ExamResults) throws(Contradiction) {
        let known = Set(train)
        guard outcomes.planned.allSatisfy({ known.contains($0) }) else {
            throw Contradiction("it lists a task that is not of the train split")
        }
    }

    private mutating func noteTrain(_ outcomes: ExamResults?, at time: Moment) {
        for (task, outcome) in outcomes?.all ?? [] where !outcome.isVoided {
            latestTrain[task] = outcome
        }
        latestTrainTime = time
    }

    private func openIntent(of digest: CandidateDigest) throws(Contradiction) -> OpenIntent {
        guard let open, open.intent.digest == digest else {
            throw Contradiction("no intent for this candidate is open")
        }
        return open
    }

    private mutating func endSuite(_ record: ExamEndedRecord) throws(Contradiction) {
        var intent = try openIntent(of: record.digest)
        intent.suite = record.outcomes
        open = intent
        for (task, outcome) in record.outcomes?.all ?? [] where !outcome.isVoided {
            suiteResults[task] = outcome.reward
        }
    }

    private mutating func endSealed(_ record: ExamEndedRecord) throws(Contradiction) {
        var intent = try openIntent(of: record.digest)
        intent.sealed = record.mean
        open = intent
    }

    private mutating func endRecheck(_ record: ExamEndedRecord) throws(Contradiction) {
        var intent = try openIntent(of: record.digest)
        guard intent.decision?.verdict == .accepted else {
            throw Contradiction("the candidate was not accepted before it")
        }
        intent.recheck = record.outcomes
        open = intent
    }

    private mutating func decide(
        _ record: DecisionRecord,
        at time: Moment
    ) throws(Contradiction) {
        try checkNoExam()
        var intent = try openIntent(of: record.digest)
        guard intent.intent.ticket == record.ticket, intent.decision == nil else {
            throw Contradiction("no undecided intent has the ticket \(record.ticket)")
        }
        intent.decision = record
        open = intent
        lastDecision = record
        // Also where it is void: whoever can provoke a fault gets no other try by it.
        usage.iterations += 1
        decided[record.digest] = record.iteration
        guard record.verdict == .accepted else {
            usage.sinceImprovement += 1
            return
        }
        try accept(record, intent, at: time)
    }

    private mutating func accept(
        _ record: DecisionRecord,
        _ intent: OpenIntent,
        at time: Moment
    ) throws(Contradiction) {
        guard let sealed = intent.sealed, record.sealed == sealed else {
            throw Contradiction("it accepts a score that no sealed exam gave")
        }
        if let best, sealed < best.score {
            throw Contradiction("it accepts a score below the best one")
        }
        if let suite = intent.suite { try enterEvidence(suite) }
        let isBetter = best.map { $0.score < sealed } ?? true
        usage.sinceImprovement = isBetter ? 0 : usage.sinceImprovement + 1
        let candidate = BestCandidate(
            digest: record.digest,
            commit: record.commit,
            score: sealed,
            released: record.released,
            iteration: record.iteration
        )
        best = candidate
        accepted.append(
            AcceptedCandidate(
                candidate: candidate,
                suitePassed: record.suitePassed,
                suiteTotal: record.suiteTotal,
                decided: time,
                released: nil
            )
        )
    }

    private func checkNoExam() throws(Contradiction) {
        guard runningExam == nil else { throw Contradiction("an exam is still running") }
    }

    private mutating func promote(_ record: PromotionRecord) throws(Contradiction) {
        try checkNoExam()
        guard var intent = open, intent.decision?.verdict == .accepted, intent.promotion == nil,
            intent.intent.iteration == record.iteration
        else { throw Contradiction("no accepted candidate waits for it") }
        intent.promotion = record
        open = intent
        if let recheck = intent.recheck {
            try enterEvidence(recheck)
            for (task, outcome) in recheck.all where record.promoted.contains(task) {
                suiteResults[task] = outcome.reward
            }
        }
        var evidence = evidence
        try checked { () throws(ExamError) in try evidence?.promote(record.promoted) }
        self.evidence = evidence
    }

    private mutating func release(
        _ record: ReleaseRecord,
        at time: Moment
    ) throws(Contradiction) {
        guard let intent = open, let decision = intent.decision,
            decision.ticket == record.ticket, decision.verdict == record.verdict,
            decision.released == record.released
        else { throw Contradiction("no such decision waits for its release") }
        guard decision.verdict != .accepted || intent.promotion != nil else {
            throw Contradiction("the promotion is missing")
        }
        if decision.verdict == .accepted, let last = accepted.indices.last {
            accepted[last].released = time
        }
        open = nil
    }
}
