internal import ExamResults
internal import StrictJSON

// The candidate's side: bytes into frames, and each frame against the phase.
extension RolloutRelay {
    mutating func candidateBytes(_ bytes: [UInt8], _ time: Int64) -> [RelayAction] {
        guard isListening else { return [] }
        var actions: [RelayAction] = []
        do throws(FrameError) {
            try decoder.append(bytes)
            while isListening, let value = try decoder.next() {
                #if LayerSwitches
                if let answer = frameWithoutRules(value) {
                    actions += answer
                    continue
                }
                #endif
                actions += candidate(try CandidateFrame(value), time)
            }
        } catch {
            actions += breach(Self.fault(error), time)
        }
        return actions
    }

    /// Whether a frame of the candidate still means something.
    ///
    /// A candidate that was lost may have written its last words before; one that broke the
    /// protocol is heard no more.
    private var isListening: Bool {
        if case .breach = deferred { return false }
        switch phase {
        case .awaitingStart, .awaitingReady, .candidateTurn, .awaitingResult, .examinerTurn:
            return true
        case .awaitingStop, .awaitingVerdict, .ended: return false
        }
    }

    private static func fault(_ error: FrameError) -> CandidateFault {
        switch error {
        case .tooManyBytes, .tooManyFrames: .output
        case .tooLong, .empty, .endedInside, .json, .unknownType, .badMember: .badFrame
        }
    }

    private mutating func candidate(_ frame: CandidateFrame, _ time: Int64) -> [RelayAction] {
        switch phase {
        case .awaitingReady(let turn):
            frame == .ready ? becomeReady(turn, time) : breach(.outOfTurn, time)
        case .candidateTurn:
            inTurn(frame, time)
        case .awaitingStart, .awaitingResult, .examinerTurn, .awaitingStop, .awaitingVerdict,
            .ended:
            breach(.outOfTurn, time)
        }
    }

    private mutating func inTurn(_ frame: CandidateFrame, _ time: Int64) -> [RelayAction] {
        switch frame {
        case .log(let text):
            trace.add(log: text, time: time)
            return []
        case .tool(let call):
            trace.add(.toolCalls([call]), time: time)
            return pass(.tool(session, calls.stamped(call)), next: .awaitingResult, time)
        case .reply(let reply):
            trace.add(reply, time: time)
            return pass(.reply(session, calls.stamped(reply)), next: .examinerTurn, time)
        case .done:
            return candidateIsDone()
        case .abstain:
            return fail(.abstained, time)
        case .ready:
            return breach(.outOfTurn, time)
        }
    }

    private mutating func becomeReady(_ turn: [Message]?, _ time: Int64) -> [RelayAction] {
        phase = .examinerTurn
        guard let turn else { return [] }
        return deliver(turn, time)
    }

    /// Passes a frame on that holds the candidate's own words.
    private mutating func pass(
        _ message: ExaminerMessage,
        next: Phase,
        _ time: Int64
    ) -> [RelayAction] {
        do throws(FrameError) {
            let bytes = try FrameEncoder.frame(message.json)
            phase = next
            return [.toExaminer(bytes)]
        } catch {
            return breach(.badFrame, time)
        }
    }
}
