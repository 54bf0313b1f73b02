package import CheckReports
package import StrictJSON

/// A verdict of the gate as a report for continuous integration.
///
/// It is made from the answer that a coding agent would get: a log may be read by whoever may not know
/// exact scores.
package enum GateChecks {
    private static let title = "invigilator gate"

    /// The report.
    ///
    /// - Parameter answer: what `gate --json` prints.
    /// - Returns: a suite with the gate's steps, and one with the tasks of the regression suite.
    package static func report(_ answer: JSONValue) -> CheckReport {
        if let error = answer["error"] {
            let words = ["operation", "reason", "remedy"].compactMap { error[$0]?.stringValue }
            let reason = words.joined(separator: ": ")
            return CheckReport(
                title,
                verdict: "not judged: \(reason)",
                isGood: false,
                [.init(title, [Check("submission", in: "gate", .failed(reason))])]
            )
        }
        let verdict = answer["verdict"]?.stringValue ?? "void"
        let isAccepted = verdict == "accepted"
        return CheckReport(
            title,
            verdict: sentence(verdict, answer),
            isGood: isAccepted,
            [
                .init(title, steps(verdict, answer)),
                .init("regression suite", tasks(answer, isAccepted: isAccepted)),
            ]
        )
    }

    private static func reasons(_ answer: JSONValue) -> String {
        (answer["reasons"]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: "; ")
    }

    private static func sentence(_ verdict: String, _ answer: JSONValue) -> String {
        var text = verdict
        if let step = answer["step"]?.integerValue { text += " at step \(step)" }
        if let released = answer["released_score"]?.numberValue {
            text += ", released score \(released)"
        }
        let reasons = reasons(answer)
        return reasons.isEmpty ? text : "\(text): \(reasons)"
    }

    private static func steps(_ verdict: String, _ answer: JSONValue) -> [Check] {
        let names = ["step 1: regression suite", "step 2: sealed exam"]
        let step = answer["step"]?.integerValue.map(Int.init)
        return names.enumerated().map { index, name in
            let outcome: Check.Outcome =
                switch (verdict, step) {
                case ("accepted", _): .passed
                case ("rejected", .some(index + 1)): .failed(reasons(answer))
                case ("rejected", .some(let step)) where step > index + 1: .passed
                case ("rejected", .some): .skipped("an earlier step decided")
                default: .broken("\(verdict): \(reasons(answer))")
                }
            return Check(name, in: "gate", outcome)
        }
    }

    // A threshold may let a task fail: a failure that did not decide is no failure of the build.
    private static func tasks(_ answer: JSONValue, isAccepted: Bool) -> [Check] {
        let decided = answer["step"]?.integerValue == 1 && !isAccepted
        return (answer["suite"]?.objectValue ?? [:]).sorted { $0.key < $1.key }
            .map { task, reward in
                let value = reward.numberValue ?? 0
                let outcome: Check.Outcome =
                    if value >= 0.5 {
                        .passed
                    } else if decided {
                        .failed("reward \(value)")
                    } else {
                        .skipped("reward \(value), and the threshold allows it")
                    }
                return Check(task, in: "regression suite", outcome)
            }
    }
}
