package import Ledger
internal import ModelDialects
package import StrictJSON
internal import Supervisor

/// What roles used of models in a campaign, for people and programs.
package struct ModelsStatus {
    private let usage: ModelUsage
    private let hours: Double

    /// Sums a record up.
    ///
    /// - Parameters:
    ///   - entries: rows of any kind.
    ///   - unbooked: what was used since the last row, as a body of one; nil where nothing was.
    ///   - hours: how long the campaign ran.
    package init(_ entries: [LedgerEntry], unbooked: JSONValue? = nil, hours: Double) {
        let rows = entries.filter { $0.kind == ModelUsage.kind }
        usage = ModelUsage(adding: rows.map(\.body) + (unbooked.map { [$0] } ?? []))
        self.hours = hours
    }

    private var roles: [(role: ModelRole, share: ModelUsage.Share)] {
        ModelRole.allCases.compactMap { role in usage.shares[role].map { (role, $0) } }
    }

    /// For programs; costs in millionths of a dollar, `tokens_per_hour` of running time.
    package var json: JSONValue {
        let shares = roles.map { role, share in
            (
                role.rawValue,
                [
                    "calls": JSONValue(share.calls), "failures": JSONValue(share.failures),
                    "input_tokens": JSONValue(share.inputTokens),
                    "output_tokens": JSONValue(share.outputTokens),
                    "microdollars": JSONValue(share.microdollars),
                    "tokens_per_hour": rate(share).map { JSONValue($0) } ?? .null,
                ] as JSONValue
            )
        }
        let events = usage.events.map { role, counts in
            (role.rawValue, JSONValue.object(counts.mapValues { JSONValue($0) }))
        }
        return [
            "roles": .object(Dictionary(uniqueKeysWithValues: shares)),
            "events": .object(Dictionary(uniqueKeysWithValues: events)),
            "failing": .object(
                Dictionary(uniqueKeysWithValues: usage.failing.map { ($0.rawValue, $1.value) })
            ),
            "gaps": JSONValue(usage.gaps),
        ]
    }

    /// For people, one line a role; none where nobody used a model.
    package var lines: [String] {
        var table = TextTable()
        for (role, share) in roles {
            let failures = share.failures == 0 ? "" : ", \(share.failures) failed"
            let dollars = Decimal.text(Double(share.microdollars) / 1e6, decimals: 2)
            table.add([
                role.rawValue, "\(share.calls) calls\(failures)",
                "\(share.inputTokens) + \(share.outputTokens) tokens",
                rate(share).map { "\($0) an hour" } ?? "", "$\(dollars)",
            ])
        }
        for role in ModelRole.allCases {
            guard let failures = usage.failing[role] else { continue }
            table.add([role.rawValue, SafeText.cleaned(failures.text, atMost: 240), "", "", ""])
        }
        if usage.gaps > 0 { table.add(["broker", "lost \(usage.gaps) times", "", "", ""]) }
        return table.lines()
    }

    // A rate over less than a minute says nothing.
    private func rate(_ share: ModelUsage.Share) -> Int? {
        guard hours > 1.0 / 60 else { return nil }
        return Int(Double(share.inputTokens + share.outputTokens) / hours)
    }
}
