internal import ExamResults
internal import Gate
internal import StrictJSON

// Answers in words and figures of train tasks: what they tell has been decided elsewhere.

extension LoopMachine {
    /// The answer to everything after the end.
    static let ended = RequestRefusal(
        layer: .requestTable,
        code: "run-ended",
        attempt: "wait for a result",
        reason: "the run has ended",
        remedy: "nothing is left to do"
    )

    static func judged(_ iteration: Int) -> RequestRefusal {
        RequestRefusal(
            layer: .requestTable,
            code: "judged-before",
            attempt: "submit",
            reason: iteration == 0
                ? "this file is the template, byte for byte"
                : "this file was judged in iteration \(iteration), byte for byte",
            remedy: "change the file; the same bytes get no second try"
        )
    }

    static func hostFailed(_ operation: String, _ reason: String) -> JSONValue {
        RequestRefusal(
            layer: .host,
            code: "host",
            attempt: operation,
            reason: reason,
            remedy: "ask again; if it stays so, the operator must look"
        ).reply
    }

    static func trainReply(_ results: ExamResults) -> JSONValue {
        do throws(ExamError) {
            let mean = try results.mean()
            return [
                "ok": true,
                "results": rewards(results),
                "mean": .number(mean.mean),
                "passed": JSONValue(try results.passedTasks().count),
                "total": JSONValue(results.planned.count),
                "traces": "workspace/traces/latest",
            ]
        } catch {
            return hostFailed("run a train exam", "\(error)")
        }
    }

    /// Rewards by task, for train tasks only.
    static func rewards(_ results: ExamResults) -> JSONValue {
        .object(
            Dictionary(
                uniqueKeysWithValues: results.all.map {
                    ($0.task.text, .number($0.outcome.reward.value))
                }
            )
        )
    }

    /// What the coding agent is told: train outcomes and rounded figures, nothing else.
    static func answer(_ judgement: Judgement, _ decision: DecisionRecord) -> JSONValue {
        var suite: JSONValue = [:]
        if case .examined(let results)? = judgement.suite { suite = rewards(results) }
        return [
            "ok": true,
            "ticket": .string(decision.ticket),
            "verdict": .string(decision.verdict.rawValue),
            "step": decision.step.map { JSONValue($0) } ?? nil,
            "reasons": JSONValue(judgement.agentReasons),
            "suite": suite,
            "released_score": decision.released.map { .number($0.value) } ?? nil,
            "promoted": JSONValue(judgement.promoted.map(\.text)),
            "iteration": JSONValue(decision.iteration),
        ]
    }
}

extension Copying.Wish {
    /// The request's word.
    var verb: String {
        switch self {
        case .train: "train"
        case .submit: "submit"
        case .revert: "revert"
        }
    }
}
