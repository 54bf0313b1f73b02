public import IterationLoop
internal import LinuxKernel
internal import StrictJSON
internal import Workspace

/// The operator's act that allows an experiment more than its configuration does, by a row.
///
/// A running supervisor writes the row itself and goes on under the new budget; otherwise it is written
/// here, and the next run begins under it.
public enum BudgetGrant {
    /// Extends a budget.
    ///
    /// - Parameters:
    ///   - more: what is allowed beyond what was allowed before.
    ///   - experiment: the experiment.
    ///   - layout: where its state lies.
    /// - Returns: whether a run is on, which has taken it.
    /// - Throws: ``SupervisorError``.
    public static func extend(
        by more: BudgetExtension,
        in experiment: Experiment,
        layout: StateLayout
    ) throws(SupervisorError) -> Bool {
        let config = try ExperimentInputs.readConfig(experiment)
        try more.requireLimits(in: config, at: experiment.directory)
        try Supervision.giveUpRights()
        try experiment.requireBound(in: layout)
        let answer = try ControlClient.ask(
            ControlVerb.extend.rawValue,
            of: experiment.id,
            layout: layout,
            with: ["budget": more.event.body]
        )
        if let answer {
            guard answer["ok"]?.boolValue == true else {
                throw refusal(
                    experiment.directory,
                    answer["reason"]?.stringValue ?? "the running supervisor refused",
                    answer["remedy"]?.stringValue ?? "wait for the run's end, and extend then"
                )
            }
            return true
        }
        try OperatorRow.append(to: operation, in: experiment, layout: layout) {
            (state) throws(SupervisorError) in
            guard state.genesis != nil else {
                throw refusal(
                    experiment.directory,
                    "it is not prepared yet",
                    "write the budget into experiment_config.yaml, and prepare it"
                )
            }
            return more.event
        }
        return false
    }

    fileprivate static let operation = "extend a budget"

    fileprivate static func refusal(
        _ location: String,
        _ reason: String,
        _ remedy: String
    ) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: operation,
            location: location,
            reason: reason,
            remedy: remedy
        )
    }
}

extension BudgetExtension {
    /// Refuses to extend what has no limit.
    ///
    /// - Throws: ``SupervisorError``.
    func requireLimits(
        in config: ExperimentConfig,
        at location: String
    ) throws(SupervisorError) {
        let limits = config.models.budget.campaign
        for (name, amount, limit) in [
            ("tokens", tokens, limits.tokens), ("cost", microdollars, limits.costMicrodollars),
        ] where amount > 0 && limit == nil {
            throw BudgetGrant.refusal(
                location,
                "models.budget.campaign.\(name) sets no limit that could be extended",
                "leave --\(name) out"
            )
        }
    }
}
