/// What one manifest predicted against what happened, in counts: names of tasks stay in the ledger.
struct Forecast {
    /// The members of a score that list tasks, and what they are called here.
    static let columns = [
        ("fixed", "Fixed as expected"), ("not_fixed", "Expected, not fixed"),
        ("surprises", "Fixed unexpectedly"), ("broken", "Broken as feared"),
        ("spared", "At risk, not broken"), ("shocks", "Broken unexpectedly"),
        ("unexamined", "Named, not examined"),
    ]

    let agent: String
    let isMissing: Bool
    let counts: [String: Int]
    let examined: Int
    let squaredError: Double

    /// Nothing where the row does not say.
    init?(_ body: Members) {
        guard let agent = body.text("agent"), let examined = body.integer("examined"),
            let squaredError = body.number("squared_error")
        else { return nil }
        self.agent = agent
        self.examined = examined
        self.squaredError = squaredError
        isMissing = body.integer("missing") == 1
        counts = Dictionary(
            uniqueKeysWithValues: Self.columns.map { ($0.0, body.texts($0.0).count) }
        )
    }
}

/// How well the coding agents knew what their changes do.
struct ManifestSection {
    private let chronicle: Chronicle

    init(_ chronicle: Chronicle) { self.chronicle = chronicle }

    var markup: Markup {
        let scored = chronicle.candidates.compactMap { candidate in
            candidate.forecast.map { (candidate.name, $0) }
        }
        let (shown, note) = chronicle.shown(scored)
        let content: Markup =
            scored.isEmpty
            ? "<p class=\"empty\">No manifest was scored.</p>"
            : note
                + Part.table(
                    "Manifests by candidate",
                    ["Candidate", "Coding agent"] + Forecast.columns.map(\.1) + ["Brier"],
                    shown.map { name, forecast in Self.row("\(name)", forecast) }
                        + Self.sums(scored.map(\.1))
                )
        return Part.section(
            "manifests",
            "What manifests predicted",
            """
            <p>Train tasks only, compared with the best candidate before. The Brier figure is the mean \
            squared error over the tasks that were run: 0 knows all, 1 is wrong about every task.</p>
            \(content)
            """
        )
    }

    private static func row(_ name: Markup, _ forecast: Forecast) -> [Markup] {
        let known: [Markup] = Forecast.columns.map { "\(forecast.counts[$0.0] ?? 0)" }
        let absent = [Markup](repeating: "–", count: known.count)
        return [name, "\(forecast.agent)"] + (forecast.isMissing ? absent : known)
            + [forecast.isMissing ? "no manifest" : brier(forecast.squaredError, forecast.examined)]
    }

    /// One row a coding agent with the sums of its manifests.
    private static func sums(_ forecasts: [Forecast]) -> [[Markup]] {
        let given = forecasts.filter { !$0.isMissing }
        return Set(given.map(\.agent)).sorted().map { agent in
            let own = given.filter { $0.agent == agent }
            let counts: [Markup] = Forecast.columns.map { column in
                "<b>\(own.reduce(0) { $0 + ($1.counts[column.0] ?? 0) })</b>"
            }
            let error = own.reduce(0) { $0 + $1.squaredError }
            let examined = own.reduce(0) { $0 + $1.examined }
            return ["all", "\(agent)"] + counts + [brier(error, examined)]
        }
    }

    private static func brier(_ error: Double, _ examined: Int) -> Markup {
        examined == 0 ? "–" : "\(Figures.decimal(error / Double(examined), places: 2))"
    }
}
