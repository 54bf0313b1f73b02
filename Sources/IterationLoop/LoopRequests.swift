internal import ExamResults
internal import StrictJSON
internal import Workspace

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
        case .learn(let note): try learn(note, from: connection)
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
            refusal.kind,
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
    ///
    /// Counted calls never end a run: a candidate in a sealed exam could otherwise tell by their number.
    mutating func note(_ record: RefusalRecord) throws(LoopError) {
        switch current {
        case .idle, .ended: throw unexpected(.refused(record))
        case .editing, .copying, .training, .judging: break
        }
        try self.record(.refusal(record))
        if record.count == nil { refusals += 1 }
        try endAfterTooMany()
    }

    private mutating func endAfterTooMany() throws(LoopError) {
        if refusals >= rules.refusals { try end(.tooManyRefusals) }
    }

    /// Whether the coding agent may change or hand in something now; if not, it is told so.
    mutating func isEditing(
        _ verb: String,
        _ connection: ConnectionID
    ) throws(LoopError) -> Bool {
        guard case .editing = current, !state.isPaused else {
            try refuse(.busy(verb, current), to: connection)
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
            return try refuse(.trainBudget(rules.trainRuns), to: connection)
        }
        copy(Copying(connection: connection, wish: .train(tasks)), for: .train)
    }

    private mutating func submit(
        _ manifest: AgentRequest.Manifest?,
        for connection: ConnectionID
    ) throws(LoopError) {
        guard try isEditing("submit", connection) else { return }
        guard manifest != nil || !rules.demandsManifest else {
            return try refuse(.noManifest, to: connection)
        }
        copy(Copying(connection: connection, wish: .submit(manifest)), for: .submit)
    }

    mutating func copy(_ copying: Copying, for purpose: SnapshotPurpose) {
        (statuses, differences) = (0, 0)
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
            return try refuse(.unknownTicket, to: connection)
        }
        guard judgement.waiting.count < rules.waiters else {
            return try refuse(.waiters(rules.waiters), to: connection)
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
