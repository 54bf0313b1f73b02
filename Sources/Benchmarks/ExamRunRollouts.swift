internal import HostKernel
internal import ExamResults
internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

// The candidates' side of a running exam.
extension ExamRun {
    /// What may wait for a candidate that does not read: a few of the largest frames.
    private static let candidateQueueBytes = 4 << 20

    /// Begins rollouts as long as there is room for their sandboxes.
    ///
    /// Those of the other arm wait until every sandbox of this one is gone and its verdicts are
    /// given: neither can take processor or memory from the other, or keep the examiner busy, to
    /// make it look worse.
    func startRollouts() {
        while !isVoid, failure == nil, living < order.maximumConcurrency,
            let seat = waiting.last, seat.arm == armOfLiving || isBetweenArms
        {
            waiting.removeLast()
            armOfLiving = seat.arm
            begin(seat)
        }
        finishIfSettled()
    }

    private var isBetweenArms: Bool {
        living == 0 && rollouts.values.allSatisfy(\.isSettled)
    }

    private func begin(_ seat: Seat) {
        do throws(ExamBreak) {
            let rollout = try opened(seat)
            try startCandidate(of: rollout)
            perform(rollout.relay.begin(seed: order.seed(for: seat)), rollout)
            restartPatience(of: rollout)
        } catch {
            void(error)
        }
    }

    private func opened(_ seat: Seat) throws(ExamBreak) -> Rollout {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try KernelRandom.bytes(8)
        } catch {
            throw ExamBreak(error, during: "name a session")
        }
        let session = SessionID(random: bytes.reduce(0) { $0 << 8 | UInt64($1) })
        var relay = RolloutRelay(
            session: session,
            task: seat.task,
            split: order.split,
            limits: site.limits
        )
        relay.shareTranscripts(among: order.rolloutCount)
        let rollout = Rollout(relay, seat, loop: loop)
        collector.begin(session, task: seat.task)
        rollouts[session] = rollout
        return rollout
    }

    private func startCandidate(of rollout: Rollout) throws(ExamBreak) {
        rollout.candidate = try ExamProcess(
            ExamProcess.Description(
                plan: site.candidatePlan,
                tree: rollout.seat.arm == .candidate ? trees[0] : trees[2],
                command: site.candidate.command,
                hasVerdicts: false,
                keepsErrors: !order.isSealed,
                queueBytes: Self.candidateQueueBytes
            ),
            on: site.launcher,
            ExamProcess.Listeners(
                onFrames: { [unowned self, unowned rollout] arrival in
                    switch arrival {
                    case .bytes(let bytes): deliver(.candidateBytes(bytes), to: rollout)
                    case .end: deliver(.candidateClosed, to: rollout)
                    }
                },
                // The launcher may report an end that nobody waits for any more.
                onExit: { [weak self, weak rollout] exit in
                    guard let self, let rollout else { return }
                    ended(rollout, exit)
                }
            )
        )
        (living, started) = (living + 1, started + 1)
        try rollout.candidate?.join(site.models, as: .candidate, isSealed: order.isSealed)
    }

    /// Every process of a candidate is gone: its last bytes first, then the end, then why.
    private func ended(_ rollout: Rollout, _ exit: SandboxExit) {
        living -= 1
        let wasClosed = rollout.candidate?.isKilled ?? true
        if let frames = rollout.candidate?.frames {
            frames.drain()
            if !frames.hasEnded {
                frames.stop()
                deliver(.candidateClosed, to: rollout)
            }
        }
        do throws(ExamBreak) {
            rollout.record.calls = try rollout.candidate?.leaveModels() ?? []
        } catch { void(error) }
        rollout.release()
        deliver(RelayEvent(exit, wasClosed: wasClosed), to: rollout)
        startRollouts()
    }

    // MARK: - events and actions

    /// Gives one event to a rollout's relay and carries out what it decides.
    func deliver(_ event: RelayEvent, to rollout: Rollout) {
        guard !isVoid, failure == nil else { return }
        perform(rollout.relay.event(event, at: WallClock.milliseconds), rollout)
        restartPatience(of: rollout)
        startRollouts()
    }

    private func perform(_ actions: [RelayAction], _ rollout: Rollout) {
        var isStuck = false
        for action in actions where !isVoid {
            switch action {
            case .toCandidate(let bytes):
                if let frames = rollout.candidate?.frames, !frames.send(bytes) { isStuck = true }
            case .toExaminer(let bytes): sendToExaminer(bytes)
            case .startClock(let seconds):
                rollout.startWallClock(seconds: seconds) { [unowned self, unowned rollout] in
                    deliver(.candidateFailed(.wallClock), to: rollout)
                }
            case .closeCandidate: close(rollout)
            case .withdrawVerdict:
                do throws(VerdictFault) {
                    try collector.withdraw(rollout.relay.session)
                } catch {
                    void(.badVerdict, saying: error)
                }
            case .voidExam(let fault): void(fault, "session \(rollout.relay.session)")
            case .end(let outcome): enter(outcome, for: rollout)
            }
        }
        // It answers without ever reading what it is told.
        if isStuck { deliver(.candidateFailed(.idle), to: rollout) }
    }

    private func enter(_ outcome: TaskOutcome, for rollout: Rollout) {
        rollout.outcome = outcome
        do throws(ExamError) {
            try sheets.enter(outcome, for: rollout.seat)
        } catch {
            fatalError("invariant: a relay ends once, over a planned task: \(error)")
        }
    }

    /// Destroys a candidate's sandbox; one that hung up may say first why.
    private func close(_ rollout: Rollout) {
        guard let candidate = rollout.candidate else { return }
        guard candidate.frames.hasEnded else { return kill(candidate) }
        rollout.closeLater(site.patience.closing) { [unowned self, unowned rollout] in
            kill(rollout.candidate)
        }
    }

    // MARK: - clocks

    private func restartPatience(of rollout: Rollout) {
        let patience = site.patience
        let span = rollout.relay.awaitsCandidate ? patience.candidate : patience.examinerTurn
        rollout.restartPatience(span) { [unowned self, unowned rollout] in
            runOut(of: rollout)
        }
    }

    private func runOut(of rollout: Rollout) {
        if rollout.relay.awaitsCandidate {
            deliver(.candidateFailed(.idle), to: rollout)
        } else if rollout.relay.phase == .awaitingVerdict {
            rollout.isOverdue = true
            startRollouts()
        } else {
            deliver(.infrastructure(.examinerDied), to: rollout)
        }
    }
}
