internal import ExamResults
public import IterationLoop

/// The operator's act that takes a task out of the regression suite.
///
/// There is no other way out of it: no verb of the coding agent, no outcome of an exam. The row is
/// signed with the experiment's key, which the supervisor's user alone can read, and the ledger's lock
/// refuses it while a run is on.
public enum SuiteRetirement {
    /// Appends the row.
    ///
    /// - Parameters:
    ///   - name: the task.
    ///   - reason: why, in the operator's words.
    ///   - experiment: the experiment.
    ///   - layout: where its state lies.
    /// - Returns: where the experiment stands then.
    /// - Throws: ``SupervisorError``.
    public static func record(
        _ name: String,
        because reason: String,
        in experiment: Experiment,
        layout: StateLayout
    ) throws(SupervisorError) -> CampaignState {
        try OperatorRow.append(to: operation, in: experiment, layout: layout) {
            (state) throws(SupervisorError) in
            .retirement(try checked(name, reason, state, experiment))
        }
    }

    private static let operation = "retire a suite task"

    private static func checked(
        _ name: String,
        _ reason: String,
        _ state: CampaignState,
        _ experiment: Experiment
    ) throws(SupervisorError) -> RetirementRecord {
        guard let task = state.suite.first(where: { $0.text == name }) else {
            throw refusal(
                name,
                "it is not in the suite",
                "`workspace/suite.json` of \(experiment.directory) lists the tasks that are"
            )
        }
        guard state.open == nil else {
            throw refusal(
                name,
                "the last run was cut off while a candidate was judged",
                "let `invigilator run` or `gate` settle that first"
            )
        }
        let isPlain = reason.unicodeScalars.allSatisfy {
            ![.control, .format, .lineSeparator, .paragraphSeparator]
                .contains($0.properties.generalCategory)
        }
        guard isPlain, (1...RetirementRecord.reasonLimit).contains(reason.utf8.count) else {
            throw refusal(
                "--reason",
                "it is empty, longer than \(RetirementRecord.reasonLimit) bytes, or more than a line",
                "say in a sentence why the task no longer tells anything"
            )
        }
        return RetirementRecord(task: task, reason: reason)
    }

    private static func refusal(
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
