internal import Ledger
internal import StrictJSON
internal import DenialEvents

/// What filters and Landlock refused in an experiment, by who tried it and what it was.
struct DenialStatus {
    private struct Kind: Hashable {
        let author: String
        let layer: String
        let attempt: String
    }

    private var kinds: [(kind: Kind, count: Int, detail: String)] = []

    // More than these are in the report; a status fits a screen.
    private static let shown = 12

    /// Reads the refusals of a record that those walls gave and counted.
    init(_ entries: [LedgerEntry]) {
        for entry in entries where entry.kind == .refusal {
            guard let layer = entry.body["layer"]?.stringValue, DenialEvent.layers.contains(layer),
                let count = entry.body["count"]?.intValue
            else { continue }
            let kind = Kind(
                author: entry.body["by"]?.stringValue ?? "unknown",
                layer: layer,
                attempt: entry.body["attempt"]?.stringValue ?? "unnamed"
            )
            if let known = kinds.firstIndex(where: { $0.kind == kind }) {
                kinds[known].count += count
            } else {
                kinds.append((kind, count, entry.body["detail"]?.stringValue ?? ""))
            }
        }
        kinds.sort { $0.count > $1.count }
    }

    /// The kinds for programs, the most frequent first.
    var json: JSONValue {
        .array(
            kinds.map { entry in
                [
                    "by": .string(entry.kind.author), "call": .string(entry.kind.attempt),
                    "layer": .string(entry.kind.layer), "count": JSONValue(entry.count),
                    "detail": .string(entry.detail),
                ]
            }
        )
    }

    /// The most frequent kinds as lines.
    var lines: [String] {
        var table = TextTable()
        for entry in kinds.prefix(Self.shown) {
            table.add([
                SafeText.cleaned(entry.kind.attempt, atMost: 60),
                SafeText.cleaned(entry.kind.layer, atMost: 20), "\(entry.count)",
                SafeText.cleaned(entry.kind.author, atMost: 20),
                SafeText.cleaned(entry.detail, atMost: 100),
            ])
        }
        return table.lines()
    }
}
