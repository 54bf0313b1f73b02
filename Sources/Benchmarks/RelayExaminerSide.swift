internal import ExamResults
internal import StrictJSON

// The examiner's side: each frame against the phase. Whatever is out of order here voids the exam.
extension RolloutRelay {
    /// Counts what the examiner says; all but its first words answer the candidate, who may ask for
    /// so much and no more.
    mutating func countAnswer(_ bytes: Int, _ time: Int64) {
        answerBytes += bytes
        guard answerBytes > FrameLimits.answerBytes else { return }
        if case .breach = deferred { return }
        deferred = .breach(.output)
        trace.add(note: "the candidate asked for more answers than it may", time: time)
    }

    mutating func examiner(_ frame: ExaminerFrame, _ time: Int64) -> [RelayAction] {
        guard frame.session == session else { return void(.badExaminerFrame) }
        return switch frame {
        case .hello: void(.badExaminerFrame)
        case .start(_, let start): started(start, time)
        case .turn(_, let messages): turn(messages, time)
        case .toolResult(_, let id, let content, let isError):
            result(of: id, content, isError: isError, time)
        case .stop: stop()
        }
    }

    private mutating func started(_ start: SessionStart, _ time: Int64) -> [RelayAction] {
        phase == .awaitingStart ? begin(start, time) : void(.badExaminerFrame)
    }

    private mutating func turn(_ messages: [Message], _ time: Int64) -> [RelayAction] {
        switch phase {
        case .awaitingReady(firstTurn: nil):
            phase = .awaitingReady(firstTurn: messages)
            return []
        case .examinerTurn:
            return deliver(messages, time)
        case .ended(afterGone: true):
            // Was on its way when the candidate was declared gone.
            return []
        case .awaitingReady, .awaitingStart, .candidateTurn, .awaitingResult, .awaitingStop,
            .awaitingVerdict, .ended:
            return void(.badExaminerFrame)
        }
    }

    private mutating func stop() -> [RelayAction] {
        switch phase {
        case .examinerTurn where turns > 0, .awaitingStop:
            conversationOver()
        case .ended(afterGone: true):
            // Acknowledges that the candidate is gone.
            []
        case .examinerTurn, .awaitingStart, .awaitingReady, .candidateTurn, .awaitingResult,
            .awaitingVerdict, .ended:
            void(.badExaminerFrame)
        }
    }

    private mutating func begin(_ start: SessionStart, _ time: Int64) -> [RelayAction] {
        if let fault = deferredFault { return fail(fault, time) }
        let start = start.limited(to: most)
        limits = start.limits
        phase = .awaitingReady(firstTurn: nil)
        return toCandidate(.begin(session: session, start)) {
            [.startClock(seconds: start.limits.seconds)]
        }
    }

    mutating func deliver(_ messages: [Message], _ time: Int64) -> [RelayAction] {
        if let fault = deferredFault { return fail(fault, time) }
        guard turns < limits.turns else { return fail(.tooManyTurns, time) }
        guard let messages = calls.answered(messages) else { return void(.badExaminerFrame) }
        turns += 1
        for message in messages { trace.add(message, time: time) }
        phase = .candidateTurn
        return toCandidate(.turn(messages))
    }

    private mutating func result(
        of id: String,
        _ content: String,
        isError: Bool,
        _ time: Int64
    ) -> [RelayAction] {
        guard phase == .awaitingResult, let own = calls.answered(id) else {
            return void(.badExaminerFrame)
        }
        if let fault = deferredFault { return fail(fault, time) }
        trace.add(toolResult: content, id: own, isError: isError, time: time)
        phase = .candidateTurn
        return toCandidate(.toolResult(id: own, content: content, isError: isError))
    }

    private mutating func conversationOver() -> [RelayAction] {
        var actions: [RelayAction] = []
        if !isCandidateClosed { actions += toCandidate(.stop) }
        actions += closeCandidate()
        phase = .awaitingVerdict
        guard let earlyVerdict else { return actions }
        return actions + end(outcome(earlyVerdict))
    }

    private var deferredFault: CandidateFault? {
        switch deferred {
        case .none: nil
        case .lost(let fault), .breach(let fault): fault
        }
    }

    /// Sends a frame that holds the examiner's words; one that is too long is the examiner's fault.
    private mutating func toCandidate(
        _ message: CandidateMessage,
        then more: () -> [RelayAction] = { [] }
    ) -> [RelayAction] {
        do throws(FrameError) {
            return [.toCandidate(try FrameEncoder.frame(message.json))] + more()
        } catch {
            return void(.badExaminerFrame)
        }
    }
}
