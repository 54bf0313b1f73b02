internal import ExamResults
internal import Gate
internal import Workspace

extension CampaignState {
    /// Applies one event; on an error nothing has changed.
    mutating func apply(
        _ event: LedgerEvent,
        at time: Moment,
        sequence: Int
    ) throws(LoopError) {
        var next = self
        try next.advance(by: event, at: time, sequence: sequence)
        self = next
    }

    /// Applies one event where the state is; on an error it is of no use.
    ///
    /// The copy that `apply` makes costs what all rows before it left, which is too much for each of 100,000.
    mutating func advance(
        by event: LedgerEvent,
        at time: Moment,
        sequence: Int
    ) throws(LoopError) {
        unsettledMilliseconds += sinceLastRow(time)
        switch event {
        // The run before it was cut off, and nobody ran since its last row.
        case .runStarted, .runResumed: unsettledMilliseconds = 0
        case let event where event.showsRun:
            usage.elapsedMilliseconds += unsettledMilliseconds
            unsettledMilliseconds = 0
        default: break
        }
        lastTime = time
        predictions.take(event)
        do throws(Contradiction) {
            try take(event, at: time)
        } catch {
            throw .inconsistent(sequence: sequence, kind: event.kind, reason: error.reason)
        }
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
        case .retirement(let record): try retire(record)
        case .release(let record): try release(record, at: time)
        case .refusal(let refusal):
            usage.refusals += 1
            if refusal.kind == .attempt { usage.attempts += 1 }
        case .learning(let record):
            learnings.append(record)
            usage.learningBytes += record.byteCount
        case .pause: isPaused = true
        case .resume: isPaused = false
        case .void(let record): try void(record)
        case .tripwire(let record): note(record)
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
        if record.released != nil { usage.releasedBits += genesis?.release.bits(after: nil) ?? 0 }
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
        open = OpenIntent(record, lastTold: lastTold)
        if isTripped { tripped.insert(record.digest) }
        isTripped = false
    }

    /// Voids the candidate that a tripwire names, or the one that is being judged, or the next one.
    private mutating func note(_ record: TripwireRecord) {
        let judged = open?.decision == nil ? open?.intent.digest : nil
        guard let digest = record.digest ?? judged else { return isTripped = true }
        tripped.insert(digest)
    }

    private mutating func void(_ record: VoidRecord) throws(Contradiction) {
        runningExam = nil
        usage.releasedBits += record.bits?.total ?? 0
        open?.suite = nil
        open?.sealed = nil
        open?.incumbent = nil
        guard let ticket = record.ticket else {
            // An undecided candidate is examined again, which is paid for like a submission.
            if let open, open.decision == nil {
                usage.submissions += 1
                usage.repetitions += 1
            }
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
        case .baseline, .floor: break  // Preparing is repeated from its beginning.
        case .train, .suite, .sealed, .recheck, .protect, .confirm, .final, .sentinel:
            guard runningExam == nil else { throw Contradiction("another exam is running") }
        }
        try checkSplit(record)
        guard record.assurance == genesis?.assurance else {
            throw Contradiction("it was run at another assurance level than the genesis row's")
        }
        try checkArms(record)
        if record.purpose == .train { usage.trainRuns += 1 }
        if record.purpose == .sealed { open?.sealedExams += 1 }
        // A test is spent when it begins: whoever can void its exam gets none back.
        if record.purpose == .sealed, record.incumbent != nil { usage.tests += 1 }
        runningExam = record
    }

    /// Only a sealed exam runs tasks several times, and the best candidate beside the judged one.
    private func checkArms(_ record: ExamStartedRecord) throws(Contradiction) {
        let isPaired = record.purpose == .sealed && genesis?.rules.sealed != .ratchet
        let other = record.purpose == .final ? baseline?.digest : isPaired ? best?.digest : nil
        let trials = record.split == .test ? genesis?.rules.trials ?? 1 : 1
        guard record.incumbent == other, record.trials == trials else {
            throw Contradiction("it has other trials or another incumbent than the rules want")
        }
        let channels = record.split == .test ? genesis?.liveChannels ?? .closed : .closed
        guard record.liveChannels == channels else {
            throw Contradiction("it leaves other channels open than the genesis row says")
        }
    }

    /// Only the sealed exam is of the test split; preparing measures both.
    private func checkSplit(_ record: ExamStartedRecord) throws(Contradiction) {
        #if !LayerSwitches
        switch (record.purpose, record.split) {
        case (.baseline, _), (.floor, _), (.sealed, .test), (.train, .train), (.suite, .train),
            (.recheck, .train), (.sentinel, .train), (.protect, .train), (.confirm, .train):
            return
        case (.final, .test) where final == nil && open == nil && record.digest == best?.digest:
            return
        case (.final, _), (.sealed, .train), (.train, .test), (.suite, .test), (.recheck, .test),
            (.sentinel, .test), (.protect, .test), (.confirm, .test):
            throw Contradiction("\(record.purpose.rawValue) on \(record.split.rawValue) tasks")
        }
        #endif
    }

    private mutating func end(_ record: ExamEndedRecord, at time: Moment) throws(Contradiction) {
        guard let started = runningExam, started.purpose == record.purpose,
            started.digest == record.digest, started.count == record.count,
            started.split == record.split, started.assurance == record.assurance,
            started.trials == record.trials, started.incumbent == record.incumbent,
            started.liveChannels == record.liveChannels
        else { throw Contradiction("no such exam was started") }
        runningExam = nil
        if let outcomes = record.outcomes { try checkTrain(outcomes) }
        switch record.purpose {
        case .baseline, .floor, .sentinel: break
        case .train: noteTrain(record.outcomes, at: time)
        case .suite: try endSuite(record)
        case .sealed:
            let charged = genesis?.release.counterBits ?? 0
            open?.uncountedBits += max(0, (record.uncountedBits ?? 0) - charged)
            if record.unstarted == nil { open?.wholeExams += 1 }
            try endSealed(record)
        case .recheck, .confirm: try endRecheck(record)
        case .protect: _ = try openIntent(of: record.digest)
        case .final: if record.mean != nil { final = record }
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
        intent.incumbent = record.incumbentMean
        open = intent
    }

    private mutating func endRecheck(_ record: ExamEndedRecord) throws(Contradiction) {
        var intent = try openIntent(of: record.digest)
        guard intent.decision?.verdict == .accepted else {
            throw Contradiction("the candidate was not accepted before it")
        }
        if record.purpose == .recheck {
            intent.recheck = record.outcomes
        } else if let outcomes = record.outcomes {
            intent.confirmations.append(outcomes)
        }
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
        guard !tripped.contains(record.digest) else {
            throw Contradiction("it accepts a candidate that a tripwire voids")
        }
        let level = intent.incumbent.flatMap { _ in genesis?.rules.sealed.budget?.perTest }
        guard record.paired?.incumbent == intent.incumbent, record.paired?.level == level,
            record.paired?.isShown != false
        else {
            throw Contradiction("it accepts without the test that the sealed exam was run for")
        }
        // A paired test compares within one exam, whatever was measured in another.
        let reference = intent.incumbent ?? best?.score
        if record.paired == nil, let reference, sealed < reference {
            throw Contradiction("it accepts a score below the best one")
        }
        if let suite = intent.suite { try enterEvidence(suite) }
        let isBetter = reference.map { $0 < sealed } ?? true
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
        evidence?.doubt(record.doubted)
        self.evidence = evidence
        let kept = Set(quarantine).subtracting(record.promoted)
        quarantine = kept.union(record.promotion.quarantined).sorted()
    }

    /// Only the operator's act takes a task out, and none while a candidate is judged by the suite.
    private mutating func retire(_ record: RetirementRecord) throws(Contradiction) {
        guard open == nil else { throw Contradiction("a candidate is being judged") }
        var evidence = evidence
        try checked { () throws(ExamError) in try evidence?.retire(record.task) }
        self.evidence = evidence
        suiteResults[record.task] = nil
    }

    private mutating func release(_ record: ReleaseRecord, at time: Moment) throws(Contradiction) {
        guard let intent = open, let decision = intent.decision,
            decision.ticket == record.ticket, decision.verdict == record.verdict,
            decision.released == record.released, record.liveChannels == genesis?.liveChannels
        else { throw Contradiction("no such decision waits for its release") }
        guard decision.verdict != .accepted || intent.promotion != nil else {
            throw Contradiction("the promotion is missing")
        }
        if let channels = record.channels {
            guard let bits = record.bits, abs(bits.channels - channels.sum) < 1e-9 else {
                throw Contradiction("its channels are not the sum of those that it says are open")
            }
            usage.unboundedChannels.formUnion(channels.unbounded)
        } else {
            usage.unlookedReleases += 1
        }
        usage.releasedBits += record.bits?.total ?? 0
        if decision.verdict == .accepted, let last = accepted.indices.last {
            accepted[last].released = time
        }
        open = nil
    }
}
