public import StrictJSON

extension ExperimentConfig {
    /// The resolved configuration as JSON; a password appears as whether it is set.
    ///
    /// This is what ``digest`` covers, so a default that changes between two versions of the
    /// program changes the digest as well.
    public var resolved: JSONValue {
        var shown = adapter
        if shown["pg_password"] != nil { shown["pg_password"] = "set" }
        var members: [String: JSONValue] = [
            "benchmark": .string(benchmark),
            "agent_model": agentModel.map { .string($0) } ?? .null,
            "reasoning_effort": reasoningEffort.map { .string($0.rawValue) } ?? .null,
            "max_concurrency": JSONValue(maximumConcurrency),
            "per_task_timeout": perTaskTimeout.map { .integer($0.components.seconds) } ?? .null,
            "adapter": .object(shown),
            "gate": gate.resolved,
            "release": release.resolved,
            "budget": budget.resolved,
            "sandbox": sandbox.resolved,
            "coding_agent": codingAgent.resolved,
        ]
        if isolation != .host { members["isolation"] = .string(isolation.rawValue) }
        if manifest != .standard { members["manifest"] = manifest.resolved }
        if promotion != .standard { members["promotion"] = promotion.resolved }
        if models != .none { members["models"] = models.resolved }
        if ledger != .none { members["ledger"] = ledger.resolved }
        if let packages = candidate.packages {
            members["candidate"] = ["packages": .string(packages.text)]
        }
        if audit != .standard { members["audit"] = audit.resolved }
        if tripwires != .standard { members["tripwires"] = tripwires.resolved }
        return .object(members)
    }

    /// The SHA-256 of the canonical bytes of ``resolved``, 64 lower-case hexadecimal digits.
    public var digest: String {
        SHA256Digest.hex(of: resolved.canonicalBytes)
    }

    /// The configuration as the coding agent may read it: auto-harness's keys at the top, in
    /// YAML, without paths and accounts of this host.
    ///
    /// - Parameter packages: the candidate's packages with their versions.
    /// - Returns: the text.
    public func agentText(packages: [String] = []) -> String {
        var lines = ["benchmark: \(quoted(benchmark))"]
        if let agentModel { lines.append("agent_model: \(quoted(agentModel))") }
        if let reasoningEffort { lines.append("reasoning_effort: \(reasoningEffort.rawValue)") }
        for key in ["domain", "dataset", "mode", "user_model"] {
            if let value = adapter[key]?.stringValue { lines.append("\(key): \(quoted(value))") }
        }
        lines += [
            "split: train", "gate_split: test", "threshold: \(gate.threshold)",
            "max_concurrency: \(maximumConcurrency)",
        ]
        // Not where they come from: a copy that is read as a configuration has none.
        if !packages.isEmpty { lines.append("# a candidate's Python packages:") }
        lines += packages.map { "# - \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A JSON string is a YAML scalar, so the writer that is tested does the quoting.
    private func quoted(_ text: String) -> String {
        String(decoding: JSONValue.string(text).canonicalBytes, as: UTF8.self)
    }
}

extension GateSettings {
    fileprivate var resolved: JSONValue {
        var members: [String: JSONValue] = [
            "threshold": .number(threshold), "step2": .string(step2.rawValue),
        ]
        if let rule { members["rule"] = .string(rule.rawValue) }
        if let trials { members["trials"] = JSONValue(trials) }
        if let ties { members["ties"] = .string(ties.rawValue) }
        if let tests { members["tests"] = JSONValue(tests) }
        for (name, value) in [("error", error), ("margin", margin), ("final", final)] {
            if let value { members[name] = .number(value) }
        }
        return .object(members)
    }
}

extension ReleaseSettings {
    fileprivate var resolved: JSONValue {
        var members: [String: JSONValue] = [
            "score": .string(score.rawValue), "bucket": .number(bucket),
            "grid_ms": .integer(grid.wholeMilliseconds), "counter_bits": .number(counterBits),
        ]
        if let bits { members["bits"] = .number(bits) }
        return .object(members)
    }
}

extension BudgetSettings {
    fileprivate var resolved: JSONValue {
        [
            "iterations": JSONValue(iterations), "hours": .number(hours),
            "train-runs": JSONValue(trainRuns), "no-improvement": JSONValue(noImprovement),
            "submissions": JSONValue(submissions),
        ]
    }
}

extension SandboxSettings {
    fileprivate var resolved: JSONValue {
        var members: [String: JSONValue] = [
            "policies": policies.map { .string($0) } ?? .null,
            "python": python.map { .string($0) } ?? .null,
        ]
        if let agents { members["agents"] = .string(agents) }
        return .object(members)
    }
}

extension CodingAgentSettings {
    fileprivate var resolved: JSONValue {
        let started: (name: String, value: JSONValue) =
            switch program {
            case .profile(let name): ("profile", .string(name))
            case .command(let words): ("command", JSONValue(words))
            }
        var members: [String: JSONValue] = [
            started.name: started.value, "wall_ms": .integer(wall.wholeMilliseconds),
        ]
        if let idle { members["idle_ms"] = .integer(idle.wholeMilliseconds) }
        if let restarts { members["restarts"] = JSONValue(restarts) }
        return .object(members)
    }
}
