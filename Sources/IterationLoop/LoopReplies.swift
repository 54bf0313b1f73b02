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

    /// The answer to a submission that is taken.
    static func submitted(_ intent: IntentRecord) -> JSONValue {
        var members: [String: JSONValue] = ["ok": true, "ticket": .string(intent.ticket)]
        if intent.manifest == [:] {
            members["warning"] = .string(
                "no manifest: nothing is predicted, and this counts in what is known of you"
            )
        }
        return .object(members)
    }

    /// The refusal of a file that an iteration judged before, if one did.
    static func judged(_ before: Int?) -> RequestRefusal? {
        guard let iteration = before else { return nil }
        return RequestRefusal(
            layer: .requestTable,
            code: "judged-before",
            attempt: "submit",
            reason: iteration == 0
                ? "this file is the template, byte for byte"
                : "this file was judged in iteration \(iteration), byte for byte",
            remedy: "change the file; the same bytes get no second try"
        )
    }

    /// The refusal of any file once no paired test is left.
    var spentError: RequestRefusal? {
        guard let budget = genesis.rules.sealed.budget, state.usage.tests >= budget.tests else {
            return nil
        }
        return RequestRefusal(
            layer: .requestTable,
            code: "error-budget",
            attempt: "submit",
            reason: "the \(budget.tests) tests that the gate's error budget allows were made",
            remedy: "nothing further can be judged in this experiment; the operator can prepare a"
                + " new one"
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
    static func answer(
        _ judgement: Judgement,
        _ decision: DecisionRecord,
        _ manifest: ManifestScore?
    ) -> JSONValue {
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
            "promoted": JSONValue((judgement.promotion?.promoted ?? []).map(\.text)),
            "quarantined": JSONValue(
                (judgement.promotion?.promotion.quarantined ?? []).map(\.text)
            ),
            "iteration": JSONValue(decision.iteration),
            "manifest": manifest?.body ?? nil,
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

// Refusals of the table in words; that it refuses is decided where they are used.
extension RequestRefusal {
    /// The answer to what is no request at all.
    static func noRequest(_ reason: String) -> RequestRefusal {
        table(
            "malformed",
            "send a request",
            reason,
            remedy: "send one JSON object with a verb"
        )
    }

    /// The answer to a text that would not look like what it is.
    static func notPlain(_ verb: String, _ name: String) -> RequestRefusal {
        let reason = "\(name) holds control characters or marks that turn the writing"
        return table("not-plain", verb, reason, remedy: "send plain text")
    }

    /// The answer to an empty list of tasks.
    static func noTask(_ verb: String, _ name: String) -> RequestRefusal {
        let remedy = "leave it out to run the whole train split"
        return table("no-task", verb, "\(name) is empty", remedy: remedy)
    }

    /// The answer to a file that is none to be judged.
    static func copy(
        _ code: String,
        for wish: Copying.Wish,
        _ reason: String,
        remedy: String
    ) -> RequestRefusal {
        RequestRefusal(
            layer: .snapshot,
            code: code,
            attempt: "\(wish.verb) a file that is \(code)",
            reason: reason,
            remedy: remedy
        )
    }

    /// A refusal of the table.
    static func table(
        _ code: String,
        _ verb: String,
        _ reason: String,
        remedy: String
    ) -> RequestRefusal {
        RequestRefusal(
            layer: .requestTable,
            code: code,
            attempt: verb,
            reason: reason,
            remedy: remedy
        )
    }

    /// The answer to a submission without a manifest, where policy demands one.
    static let noManifest = table(
        "no-manifest",
        "submit",
        "the submission has no manifest, and this experiment takes none without",
        remedy:
            "write {\"hypothesis\": …, \"expected_fixes\": [train tasks], \"tasks_at_risk\": […]}"
            + " to a file and hand it in with «exam submit --manifest FILE»"
    )

    /// The answer to who asks for a result that is none of this run.
    static let unknownTicket = table(
        "unknown-ticket",
        "result",
        "no submission of this run has this ticket",
        remedy: "use the ticket that «exam submit» printed"
    )

    /// The answer to one call too many.
    static func waiters(_ most: Int) -> RequestRefusal {
        table(
            "too-many-waiters",
            "result",
            "\(most) calls wait for it already",
            remedy: "wait with one call"
        )
    }

    /// The answer to one look too many.
    static func looks(_ verb: String, _ most: Int) -> RequestRefusal {
        table(
            "look-budget",
            verb,
            "\(most) answers were given since the last train exam or submission",
            remedy: "ask again after «exam train» or «exam submit»"
        )
    }

    /// The answer to a train exam too many.
    static func trainBudget(_ most: Int) -> RequestRefusal {
        table(
            "train-budget",
            "train",
            "the budget of \(most) train exams is spent",
            remedy: "submit, or end"
        )
    }

    /// The answer to what has to wait.
    static func busy(_ verb: String, _ phase: Phase) -> RequestRefusal {
        let reason =
            switch phase {
            case .judging: "a submission is being judged"
            case .training: "a train exam is running"
            case .copying: "the candidate is being copied out"
            case .idle, .editing, .ended: "the run is paused"
            }
        return table("busy", verb, reason, remedy: "wait for its answer, then ask again")
    }
}
