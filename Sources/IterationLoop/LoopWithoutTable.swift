#if LayerSwitches
internal import ExamResults
internal import SandboxPlan
internal import StrictJSON

// A test-only build shows with this file what the table of requests is for: without it a typed
// score stands in the results, and a train exam runs on sealed tasks.

extension LoopMachine {
    /// Carries out what the table would refuse.
    mutating func requestWithoutTable(
        _ bytes: [UInt8],
        from connection: ConnectionID
    ) throws(LoopError) -> Bool {
        trainsOnSealed = false
        guard Layer.requestTable.isOmitted else { return false }
        do {
            let request = try JSONValue(parsing: bytes, limits: .request)
            switch request["verb"]?.stringValue {
            case "record": return try recordTyped(request["fields"] ?? [:], from: connection)
            case "test": return trainOnSealed(nil, for: connection)
            case "train":
                let known = Set(genesis.train)
                let tasks = try (request["task_ids"]?.arrayValue ?? [])
                    .map { try TaskID($0.stringValue ?? "") }
                guard tasks.contains(where: { !known.contains($0) }) else { return false }
                return trainOnSealed(tasks.sorted(), for: connection)
            default: return false
            }
        } catch {
            return false
        }
    }

    private mutating func trainOnSealed(
        _ tasks: [TaskID]?,
        for connection: ConnectionID
    ) -> Bool {
        guard case .editing = current else { return false }
        trainsOnSealed = true
        copy(Copying(connection: connection, wish: .train(tasks)), for: .train)
        return true
    }

    private mutating func recordTyped(
        _ fields: JSONValue,
        from connection: ConnectionID
    ) throws -> Bool {
        guard let best = state.best, let text = fields["val-score"]?.stringValue,
            let typed = Double(text)
        else { return false }
        let candidate = BestCandidate(
            digest: best.digest,
            commit: nil,
            score: try Score(replayingMean: typed, count: 10_000),
            released: try Proportion(typed),
            iteration: workingIteration
        )
        var row = AcceptedCandidate(
            candidate: candidate,
            suitePassed: fields["evals-passed"]?.stringValue.flatMap { Int($0) } ?? 0,
            suiteTotal: fields["evals-total"]?.stringValue.flatMap { Int($0) } ?? 0,
            decided: now,
            released: nil
        )
        row.released = now
        state.accepted.append(row)
        act(.render)
        act(.reply(connection, ["ok": true, "message": "recorded"]))
        return true
    }
}
#endif
