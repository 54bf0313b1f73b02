internal import ExamResults
internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan
internal import StrictJSON

// The examiner's side of a running exam.
extension ExamRun {
    private static let queueBytesForEachCandidate = 4 << 20

    /// Makes the trees, starts the examiner and the first rollouts.
    func start(_ plan: CompiledPlan) {
        do throws(ExamBreak) {
            try makeCandidateTree(order.candidate)
            try ExamTree.make(
                site,
                home: "examiner",
                files: site.examiner.files,
                packages: site.examinerPackages
            ) { trees.append($0) }
            if !order.incumbent.isEmpty { try makeCandidateTree(order.incumbent) }
            try startExaminer(plan)
        } catch {
            return void(error)
        }
        restartExaminerClock("say hello")
        startRollouts()
    }

    private func makeCandidateTree(_ agent: [ExamFile]) throws(ExamBreak) {
        try ExamTree.make(
            site,
            home: "candidate",
            files: site.candidate.files + agent,
            packages: site.candidatePackages
        ) { trees.append($0) }
    }

    private func startExaminer(_ plan: CompiledPlan) throws(ExamBreak) {
        examiner = try ExamProcess(
            ExamProcess.Description(
                plan: plan,
                tree: trees[1],
                command: site.examiner.command,
                hasVerdicts: true,
                keepsErrors: !order.isSealed,
                queueBytes: Self.queueBytesForEachCandidate * order.maximumConcurrency
            ),
            on: site.launcher,
            ExamProcess.Listeners(
                onFrames: { [unowned self] in readConversation($0) },
                onVerdicts: { [unowned self] in readVerdicts($0) },
                onExit: { [weak self] exit in self?.examinerEnded(exit) }
            )
        )
        started += 1
        try examiner?.join(site.models, as: .examiner, isSealed: order.isSealed)
    }

    func sendToExaminer(_ bytes: [UInt8]) {
        guard let examiner, !examiner.frames.send(bytes) else { return }
        void(.examinerDied, "write to the examiner: it does not read what waits for it")
    }

    // MARK: - descriptor 3

    private func readConversation(_ arrival: ByteChannel.Arrival) {
        guard !isVoid, failure == nil else { return }
        switch arrival {
        case .bytes(let bytes): receive(bytes)
        case .end:
            let isNeeded = rollouts.values.contains { rollout in
                !rollout.relay.isEnded && rollout.relay.phase != .awaitingVerdict
            }
            guard isNeeded || !waiting.isEmpty else { return }
            void(.examinerDied, "read from the examiner: it closed its channel")
        }
    }

    private func receive(_ bytes: [UInt8]) {
        do throws(FrameError) {
            let frames = try stream.receive(bytes)
            if stream.isReady, !isFinishing { stopExaminerClock() }
            for frame in frames where !isVoid { try pass(frame) }
        } catch {
            void(.badExaminerFrame, saying: error)
        }
    }

    private func pass(_ sized: SizedFrame) throws(FrameError) {
        guard let session = sized.frame.session, let rollout = rollouts[session] else {
            throw .badMember(location: "examiner.session", rule: "one that was begun")
        }
        deliver(.examiner(sized.frame, bytes: sized.bytes), to: rollout)
    }

    // MARK: - descriptor 4

    private func readVerdicts(_ arrival: ByteChannel.Arrival) {
        // What it said before its verdicts is read before them.
        examiner?.frames.drain()
        guard !isVoid, failure == nil else { return }
        do throws(VerdictFault) {
            switch arrival {
            case .bytes(let bytes):
                for verdict in try collector.receive(bytes) where !isVoid { enter(verdict) }
            case .end:
                try collector.close()
                endVerdicts()
            }
        } catch {
            void(.badVerdict, saying: error)
        }
    }

    private func enter(_ verdict: VerdictFrame) {
        guard let rollout = rollouts[verdict.session] else {
            fatalError("invariant: the collector passes only sessions that were begun")
        }
        rollout.record.keep(verdict.detail, sharing: order.rolloutCount)
        deliver(.verdict(verdict.reward), to: rollout)
    }

    private func endVerdicts() {
        hasVerdictsEnd = true
        guard waiting.isEmpty else {
            return void(.examinerDied, "read verdicts: the channel ended before the exam")
        }
        for rollout in rollouts.values where !rollout.relay.isEnded {
            deliver(.noVerdict, to: rollout)
        }
    }

    // MARK: - the end

    /// Asks the examiner to finish once nothing more can be expected of any rollout.
    func finishIfSettled() {
        guard !isFinishing, !isVoid, failure == nil, waiting.isEmpty,
            rollouts.values.allSatisfy(\.isSettled)
        else { return }
        isFinishing = true
        do throws(FrameError) {
            sendToExaminer(try FrameEncoder.frame(ExaminerMessage.finish.json))
        } catch {
            fatalError("invariant: finish is a short frame: \(error)")
        }
        restartExaminerClock("finish")
    }

    private func examinerEnded(_ exit: SandboxExit) {
        if let examiner {
            examiner.frames.drain()
            examiner.verdicts?.drain()
            examinerErrors = examiner.lastWords()
            do throws(ExamBreak) { _ = try examiner.leaveModels() } catch { void(error) }
        }
        examiner = nil
        guard !isFinishing || !hasVerdictsEnd else { return }
        void(.examinerDied, "run the examiner: it ended early (\(exit.kind.name))")
    }
}
