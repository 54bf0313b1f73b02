internal import ExamResults
internal import StrictJSON
internal import Workspace

// What the coding agent is told of itself and notes: nothing that a verdict is made of changes here.

extension LoopMachine {
    mutating func refuse(
        _ code: String,
        _ verb: String,
        _ reason: String,
        remedy: String,
        to connection: ConnectionID
    ) throws(LoopError) {
        try refuse(.table(code, verb, reason, remedy: remedy), to: connection)
    }

    mutating func learn(
        _ note: LearningNote,
        from connection: ConnectionID
    ) throws(LoopError) {
        let bytes = state.usage.learningBytes + note.byteCount
        guard state.learnings.count < AgentRequest.mostLearnings else {
            try refuse(
                "learnings-full",
                "learn",
                "there are \(AgentRequest.mostLearnings) notes; no more are taken",
                remedy: "submit, or end",
                to: connection
            )
            return
        }
        guard bytes <= AgentRequest.allLearningsLimit else {
            try refuse(
                "learnings-full",
                "learn",
                "all notes together would have \(bytes) bytes;"
                    + " \(AgentRequest.allLearningsLimit) are taken",
                remedy: "keep notes short",
                to: connection
            )
            return
        }
        try record(.learning(LearningRecord(iteration: workingIteration, note: note)))
        renderUnlessJudging()
        let left = AgentRequest.allLearningsLimit - bytes
        act(.reply(connection, ["ok": true, "message": "noted; \(left) bytes are left"]))
    }

    /// Renders, unless the views would tell what is not released yet.
    private mutating func renderUnlessJudging() {
        if case .judging(let judgement) = current, case .queued = judgement.stage {
            act(.render)
        } else if current.word != .judging, current.word != .releasing {
            act(.render)
        }
    }

    mutating func status(for connection: ConnectionID) throws(LoopError) {
        guard state.open?.decision == nil else {
            try refuse(
                "busy",
                "status",
                "a result is about to be released",
                remedy: "wait for it with «exam result»",
                to: connection
            )
            return
        }
        guard statuses < rules.statuses else {
            return try refuse(.looks("status", rules.statuses), to: connection)
        }
        statuses += 1
        let usage = state.usage
        act(
            .replyStatus(
                connection,
                [
                    "ok": true,
                    "iteration": JSONValue(state.iteration),
                    "best_released": state.best?.released.map { .number($0.value) } ?? nil,
                    "suite_tasks": JSONValue(state.suite.count),
                    "train_tasks": JSONValue(state.train.count),
                    "budget": [
                        "iterations_left": JSONValue(max(0, rules.iterations - usage.iterations)),
                        "train_runs_left": JSONValue(max(0, rules.trainRuns - usage.trainRuns)),
                    ],
                ]
            )
        )
    }

    mutating func revert(for connection: ConnectionID) throws(LoopError) {
        guard try isEditing("revert", connection), let best = state.best else { return }
        guard reverts < rules.reverts else {
            try refuse(
                "revert-budget",
                "revert",
                "the budget of \(rules.reverts) reverts is spent",
                remedy: "keep copies of your own below agent/",
                to: connection
            )
            return
        }
        current = .copying(Copying(connection: connection, wish: .revert))
        wantsFreeze = true
        syncFreeze()
        act(.restore(best.digest, commit: best.commit))
    }

    /// Keeps that the file was replaced; where it was the best candidate already, nothing happened.
    mutating func noteRestored(isChanged: Bool) throws(LoopError) {
        guard case .copying(let copying) = current, copying.wish == .revert,
            let best = state.best
        else { throw unexpected(.restored(isChanged: isChanged)) }
        if isChanged {
            reverts += 1
            try record(.revert(RevertRecord(iteration: workingIteration, digest: best.digest)))
        }
        if try endAfterCopy(copying) { return }
        let source = best.iteration == 0 ? "the template" : "iteration \(best.iteration)"
        act(
            .reply(
                copying.connection,
                [
                    "ok": true,
                    "digest": .string(best.digest.hex),
                    "message": .string("agent/ is that of \(source) again"),
                ]
            )
        )
        try edit()
    }

    mutating func diff(for connection: ConnectionID) throws(LoopError) {
        guard try isEditing("diff", connection) else { return }
        guard differences < rules.differences else {
            return try refuse(.looks("diff", rules.differences), to: connection)
        }
        differences += 1
        act(.replyDifference(connection, commit: state.best?.commit))
    }
}
