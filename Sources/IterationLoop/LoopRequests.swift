internal import ExamResults
internal import StrictJSON

// What the coding agent asks for.

extension LoopMachine {
    mutating func request(_ bytes: [UInt8], from connection: ConnectionID) throws(LoopError) {
        switch current {
        case .idle, .ended:
            act(.reply(connection, Self.ended.reply))
            return
        case .editing, .copying, .training, .judging: break
        }
        // What is asked while the run ends is answered, and no row is spent on it.
        guard stopping == nil else { return act(.reply(connection, Self.ended.reply)) }
        #if LayerSwitches
        if try requestWithoutTable(bytes, from: connection) { return }
        #endif
        let request: AgentRequest
        do throws(RequestRefusal) {
            request = try AgentRequest(parsing: bytes, train: Set(genesis.train))
        } catch {
            try refuse(error, to: connection)
            return
        }
        switch request {
        case .train(let tasks): try train(tasks, for: connection)
        case .submit(let manifest): try submit(manifest, for: connection)
        case .result(let ticket): try result(of: ticket, for: connection)
        case .learn(let text): try learn(text, from: connection)
        case .status: try status(for: connection)
        case .revert: try revert(for: connection)
        case .diff: try diff(for: connection)
        }
    }

    /// Keeps a refusal and answers with it; too many end the run.
    mutating func refuse(
        _ refusal: RequestRefusal,
        to connection: ConnectionID
    ) throws(LoopError) {
        let record = RefusalRecord(
            layer: refusal.layer.rawValue,
            attempt: refusal.attempt,
            detail: refusal.reason,
            iteration: workingIteration,
            by: rules.hasCodingAgent ? "coding-agent" : "operator"
        )
        try self.record(.refusal(record))
        refusals += 1
        act(.reply(connection, refusal.reply))
        try endAfterTooMany()
    }

    /// Keeps what another layer refused.
    mutating func note(_ record: RefusalRecord) throws(LoopError) {
        switch current {
        case .idle, .ended: throw unexpected(.refused(record))
        case .editing, .copying, .training, .judging: break
        }
        try self.record(.refusal(record))
        refusals += 1
        try endAfterTooMany()
    }

    private mutating func endAfterTooMany() throws(LoopError) {
        if refusals >= rules.refusals { try end(.tooManyRefusals) }
    }

    mutating func refuse(
        _ code: String,
        _ verb: String,
        _ reason: String,
        remedy: String,
        to connection: ConnectionID
    ) throws(LoopError) {
        try refuse(
            RequestRefusal(
                layer: .requestTable,
                code: code,
                attempt: verb,
                reason: reason,
                remedy: remedy
            ),
            to: connection
        )
    }

    /// Whether the coding agent may change or hand in something now; if not, it is told so.
    mutating func isEditing(
        _ verb: String,
        _ connection: ConnectionID
    ) throws(LoopError) -> Bool {
        guard case .editing = current, !state.isPaused else {
            let reason =
                switch current {
                case .judging: "a submission is being judged"
                case .training: "a train exam is running"
                case .copying: "the candidate is being copied out"
                case .idle, .editing, .ended: "the run is paused"
                }
            try refuse(
                "busy",
                verb,
                reason,
                remedy: "wait for its answer, then ask again",
                to: connection
            )
            return false
        }
        return true
    }

    private mutating func train(
        _ tasks: [TaskID]?,
        for connection: ConnectionID
    ) throws(LoopError) {
        guard try isEditing("train", connection) else { return }
        guard !rules.hasCodingAgent || state.usage.trainRuns < rules.trainRuns else {
            try refuse(
                "train-budget",
                "train",
                "the budget of \(rules.trainRuns) train exams is spent",
                remedy: "submit, or end",
                to: connection
            )
            return
        }
        copy(Copying(connection: connection, wish: .train(tasks)), for: .train)
    }

    private mutating func submit(
        _ manifest: AgentRequest.Manifest,
        for connection: ConnectionID
    ) throws(LoopError) {
        guard try isEditing("submit", connection) else { return }
        copy(Copying(connection: connection, wish: .submit(manifest)), for: .submit)
    }

    mutating func copy(_ copying: Copying, for purpose: SnapshotPurpose) {
        current = .copying(copying)
        wantsFreeze = true
        syncFreeze()
        act(.takeSnapshot(purpose))
    }

    private mutating func result(
        of asked: String?,
        for connection: ConnectionID
    ) throws(LoopError) {
        let ticket = asked ?? "T\(state.iteration)"
        if let answer = answers[ticket] {
            act(.reply(connection, answer))
            return
        }
        guard case .judging(var judgement) = current, judgement.intent.ticket == ticket else {
            try refuse(
                "unknown-ticket",
                "result",
                "no submission of this run has this ticket",
                remedy: "use the ticket that «exam submit» printed",
                to: connection
            )
            return
        }
        guard judgement.waiting.count < rules.waiters else {
            try refuse(
                "too-many-waiters",
                "result",
                "\(rules.waiters) calls wait for it already",
                remedy: "wait with one call",
                to: connection
            )
            return
        }
        judgement.waiting.append(connection)
        if case .queued = judgement.stage { judgement.stage = .ready }
        current = .judging(judgement)
    }

    mutating func forget(_ connection: ConnectionID) {
        guard case .judging(var judgement) = current else { return }
        judgement.waiting.removeAll { $0 == connection }
        current = .judging(judgement)
    }

    mutating func noteWaiting() {
        guard case .judging(var judgement) = current, case .queued = judgement.stage else {
            return
        }
        judgement.stage = .ready
        current = .judging(judgement)
    }
}
