#if LayerSwitches
internal import ExamResults
internal import LauncherProtocol
internal import SandboxPlan
internal import StrictJSON

// A test-only build shows with this file what two rules of the relay are for.
//
// Without the schema of frames, a frame is what its type says, whoever sent it: a candidate's
// `verdict` is a verdict, and what is no frame is passed over. Without the descriptor for verdicts,
// a rollout's result is what the judged process says: a `verdict` frame, or the exit status 0.

extension RolloutRelay {
    /// What a candidate's frame does where a rule is left out; nothing where the rules are in place.
    mutating func frameWithoutRules(_ value: JSONValue) -> [RelayAction]? {
        guard Layer.relaySchema.isOmitted || Layer.verdictDescriptor.isOmitted else { return nil }
        do throws(FrameError) {
            let verdict = try VerdictFrame(value)
            return verdict.session == session ? verdictWithoutRules(verdict.reward) : []
        } catch {
            guard Layer.relaySchema.isOmitted else { return nil }
        }
        do throws(FrameError) {
            _ = try CandidateFrame(value)
            return nil
        } catch {
            return []
        }
    }

    /// Takes a verdict while the candidate is at work; nothing where the rules are in place.
    mutating func verdictWithoutRules(_ reward: Reward) -> [RelayAction]? {
        guard Layer.relaySchema.isOmitted || Layer.verdictDescriptor.isOmitted, awaitsCandidate
        else { return nil }
        let gone = ExaminerMessage.gone(session, .fault)
        do throws(FrameError) {
            return [.toExaminer(try FrameEncoder.frame(gone.json)), .withdrawVerdict]
                + end(.graded(reward), afterGone: true)
        } catch {
            fatalError("invariant: the supervisor's own frames are short: \(error)")
        }
    }
}

extension RelayEvent {
    /// Takes the exit status 0 for a pass; nothing where verdicts have their own descriptor.
    init?(passWithoutRules exit: SandboxExit, wasClosed: Bool) {
        guard Layer.verdictDescriptor.isOmitted, exit.kind == .exited, exit.code == 0, !wasClosed
        else { return nil }
        self = .verdict(.one)
    }
}
#endif
