internal import IterationLoop
package import StrictJSON
package import Workspace

/// What a row tells programs outside, as one JSON object: a list of what may be shown, not of what may not.
///
/// They are the operator's. No figure of a sealed exam is among them but the released one, and no task or
/// outcome; but more than the coding agent is told: that an exam began and ended, each with its time, and a
/// decision's verdict and step before they are released. So nothing of them may reach the coding agent.
package enum NightEvent {
    /// The version of an event's shape.
    package static let schema = "invigilator.event/1"

    // By kind, the members of the row's body that are shown. A kind that is not here is no event.
    private static let shown: [String: [String]] = [
        "genesis": ["benchmark", "assurance"],
        "baseline": ["train_mean", "released"],
        "floor": ["name"],
        "run-started": ["run"], "run-resumed": ["run"],
        "run-ended": ["reason"], "stop": ["reason"], "pause": [], "resume": [],
        "intent": ["iteration", "ticket", "digest"],
        "exam-started": ["iteration", "purpose", "split", "count"],
        "exam-ended": ["iteration", "purpose", "split", "count"],
        "decision": ["iteration", "ticket", "digest", "verdict", "step"],
        "promotion": ["iteration", "promoted"],
        "retirement": ["task"],
        "release": ["iteration", "ticket", "verdict", "released"],
        "refusal": ["iteration", "class", "layer", "attempt", "by"],
        "learning": ["iteration"], "revert": ["iteration", "digest"],
        "void": ["iteration", "ticket", "reason"],
        "tripwire": ["iteration", "wire", "digest"],
        "sandbox-started": ["role", "restart"],
        "model-usage": ["iteration", "roles"],
        "extended": [
            "iterations", "submissions", "train_runs", "no_improvement", "milliseconds", "tokens",
            "microdollars", "by",
        ],
        "unpublished": ["place"], "unnotified": ["hook", "event"],
        "pruned": ["transcripts", "logs", "bytes", "by"],
    ]
    // Texts of others are cut, so that a line has a size that a reader can count on.
    private static let textLimit = 500

    /// The event of a row.
    ///
    /// - Parameters:
    ///   - kind: the row's kind.
    ///   - body: its body.
    ///   - number: its number.
    ///   - time: when it was written, in milliseconds since 1970.
    ///   - experiment: the experiment's id.
    /// - Returns: the event; nothing for a row that is none.
    package static func of(
        _ kind: String,
        _ body: JSONValue,
        row number: Int,
        at time: Int64,
        experiment: String
    ) -> [String: JSONValue]? {
        guard let names = shown[kind] else { return nil }
        var event = begun(kind, at: time, experiment: experiment)
        event["row"] = JSONValue(number)
        for name in names { event[name] = body[name].map(cut) }
        switch kind {
        case "run-started", "run-resumed": event["bounds"] = body["facts"]?["bounds"]
        case "exam-ended" where body["split"] == "train":
            for name in ["mean", "passed"] { event[name] = body[name] }
            if body["purpose"] == "train" { event["duration_ms"] = body["duration_ms"] }
        case "refusal":
            func member(_ name: String) -> String { body[name]?.stringValue ?? "unnamed" }
            let sentence = RefusalSentence(
                RefusalKind(recorded: body["class"]?.stringValue),
                layer: member("layer"),
                attempt: member("attempt"),
                author: member("by")
            )
            event["text"] = cut(.string(sentence.text))
        case "learning": event["needs"] = .bool(body["needs"] != nil)
        default: break
        }
        return event
    }

    /// An event that no row stands for.
    package static func begun(
        _ kind: String,
        at time: Int64,
        experiment: String
    ) -> [String: JSONValue] {
        [
            "schema": .string(schema), "kind": .string(kind), "time": .integer(time),
            "experiment": .string(experiment),
        ]
    }

    /// What somebody may want to be told of an event.
    package static func occasions(
        of event: [String: JSONValue]
    ) -> Set<NotifySettings.Occasion> {
        switch event["kind"]?.stringValue {
        case "release":
            switch event["verdict"]?.stringValue {
            case "accepted": [.accepted]
            case "void": [.void]
            default: []
            }
        case "void": [.void]
        case "tripwire": [.tripwire]
        case "error", "unpublished": [.error]
        case "extended": [.budget]
        case "run-ended":
            EndReason.isBudget(event["reason"]?.stringValue ?? "") ? [.ended, .budget] : [.ended]
        case "refusal" where event["layer"] == "model" && event["attempt"] == "budget-spent":
            [.budget]
        default: []
        }
    }

    private static func cut(_ value: JSONValue) -> JSONValue {
        guard case .string(let text) = value else { return value }
        return .string(String(text.prefix(textLimit)))
    }
}
