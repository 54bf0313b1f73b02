internal import IterationLoop
public import StrictJSON

/// What an operator does with the file in the experiment's directory: one judgement, or a train exam.
public struct OperatorExam {
    private let supervision: Supervision
    private let progress: (String) -> Void

    /// Begins.
    public init(_ supervision: Supervision, progress: @escaping (String) -> Void) {
        self.supervision = supervision
        self.progress = progress
    }

    /// Judges the file once, as a submission of the coding agent would be.
    ///
    /// - Returns: the verdict as the coding agent would be told.
    /// - Throws: ``SupervisorError``.
    public func gate() throws(SupervisorError) -> JSONValue {
        try carryOut([
            ["verb": "submit", "manifest": ["hypothesis": "judged by the operator"]],
            ["verb": "result"],
        ])
    }

    /// Runs a train exam.
    ///
    /// - Parameter tasks: train tasks; all of them when empty.
    /// - Returns: the results by task.
    /// - Throws: ``SupervisorError``.
    public func train(_ tasks: [String]) throws(SupervisorError) -> JSONValue {
        try carryOut([
            tasks.isEmpty ? ["verb": "train"] : ["verb": "train", "task_ids": JSONValue(tasks)]
        ])
    }

    private func carryOut(_ wishes: [JSONValue]) throws(SupervisorError) -> JSONValue {
        var rules = try supervision.rules()
        rules.hasCodingAgent = false
        return try LoopShell(supervision, rules: rules, progress: progress).carryOut(wishes)
    }
}
