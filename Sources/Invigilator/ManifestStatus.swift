internal import IterationLoop
internal import StrictJSON

/// How well coding agents knew what their changes do, for people and programs.
///
/// The figures are those of one experiment with all its nights.
struct ManifestStatus {
    private let calibrations: [(agent: String, sum: Calibration)]

    init(_ state: CampaignState) {
        calibrations = state.predictions.calibrations.sorted { $0.key < $1.key }
            .map { (agent: $0.key, sum: $0.value) }
    }

    var json: JSONValue {
        .object(
            Dictionary(
                uniqueKeysWithValues: calibrations.map { ($0.agent, Self.json(of: $0.sum)) }
            )
        )
    }

    private static func json(of sum: Calibration) -> JSONValue {
        func rounded(_ value: Double?) -> JSONValue {
            value.map { .number(($0 * 10_000).rounded() / 10_000) } ?? .null
        }
        return [
            "scored": JSONValue(sum.manifests), "missing": JSONValue(sum.missing),
            "fixed": JSONValue(sum.fixed), "not_fixed": JSONValue(sum.notFixed),
            "surprises": JSONValue(sum.surprises), "broken": JSONValue(sum.broken),
            "spared": JSONValue(sum.spared), "shocks": JSONValue(sum.shocks),
            "foreseen": JSONValue(sum.foreseen), "examined": JSONValue(sum.examined),
            "precision": rounded(sum.precision), "recall": rounded(sum.recall),
            "brier": rounded(sum.brier),
        ]
    }

    var lines: [String] {
        var table = TextTable()
        for (agent, sum) in calibrations {
            func figure(_ value: Double?) -> String {
                value.map { Decimal.text($0, decimals: 2) } ?? "-"
            }
            let missing = sum.missing == 0 ? "" : ", \(sum.missing) without"
            table.add([
                SafeText.cleaned(agent, atMost: 60), "\(sum.manifests) scored\(missing)",
                "\(sum.fixed) of \(sum.fixed + sum.notFixed) expected fixes came",
                "\(sum.surprises) unexpected", "\(sum.shocks) broke unwarned",
                "precision \(figure(sum.precision)), recall \(figure(sum.recall)), "
                    + "Brier \(figure(sum.brier))",
            ])
        }
        return table.lines()
    }
}
