internal import ModelDialects

extension ExperimentConfig {
    /// Keys that were written and that nothing of an experiment with this benchmark reads, with the reason, a
    /// line each.
    ///
    /// Files of auto-harness hold the keys of every benchmark; one that is passed over silently looks as if it
    /// counted.
    ///
    /// - Parameter manifest: the chosen benchmark's.
    /// - Returns: the lines, by key.
    package func unusedKeys(by manifest: BenchmarkManifest) -> [String] {
        var said = adapter.keys.sorted()
            .filter { $0 != "user_model" && manifest.variants[$0] == nil }
            .map { "\($0): \(manifest.benchmark) knows no such key" }
        let named: [(key: String, isWritten: Bool, role: String, isServed: Bool)] = [
            ("agent_model", agentModel != nil, "candidate", models.roles[.candidate] != nil),
            (
                "reasoning_effort", reasoningEffort != nil, "candidate",
                models.roles[.candidate] != nil
            ),
            (
                "user_model", adapter["user_model"] != nil, "user-simulator",
                models.roles[.userSimulator] != nil
            ),
        ]
        for entry in named where entry.isWritten && !entry.isServed {
            said.append(
                "\(entry.key): the \(entry.role) has no model; write models.upstreams to give it one"
            )
        }
        return said
    }
}
