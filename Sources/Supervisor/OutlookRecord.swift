internal import GateStatistics
package import StrictJSON

extension GateOutlook {
    /// The outlook as the genesis row keeps it.
    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "rule": .string(rule), "tasks": JSONValue(tasks), "trials": JSONValue(trials),
            "tries": JSONValue(tries), "rollouts": JSONValue(rollouts),
        ]
        if let power {
            members["level"] = .number(power.level)
            members["effects"] = .array(power.effects.map { .number($0) })
            members["power"] = .array(
                power.rows.map { row in
                    [
                        "trials": JSONValue(row.trials),
                        "chances": .array(row.chances.map { .number($0) }),
                        "simulations": JSONValue(row.simulations),
                    ]
                }
            )
        }
        if let drift = drifts.first?.drift {
            members["drift"] = ["expected": .number(drift.expected), "upper": .number(drift.upper)]
        }
        return .object(members)
    }
}
