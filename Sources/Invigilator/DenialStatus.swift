internal import Ledger
internal import StrictJSON
internal import DenialEvents

/// The refused system calls of an experiment, by who made them and what they were.
struct DenialStatus {
    private struct Kind: Hashable {
        let author: String
        let attempt: String
    }

    private var kinds: [(kind: Kind, count: Int, detail: String)] = []

    // More than these are in the report; a status fits a screen.
    private static let shown = 12

    /// Reads the refusals of a record that the filter gave and counted.
    init(_ entries: [LedgerEntry]) {
        for entry in entries where entry.kind == .refusal {
            guard entry.body["layer"]?.stringValue == DenialEvent.layer,
                let count = entry.body["count"]?.intValue
            else { continue }
            let kind = Kind(
                author: entry.body["by"]?.stringValue ?? "unknown",
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
                    "count": JSONValue(entry.count), "detail": .string(entry.detail),
                ]
            }
        )
    }

    /// The most frequent kinds as lines.
    var lines: [String] {
        var table = TextTable()
        for entry in kinds.prefix(Self.shown) {
            table.add([
                SafeText.cleaned(entry.kind.attempt, atMost: 60), "\(entry.count)",
                SafeText.cleaned(entry.kind.author, atMost: 20),
                SafeText.cleaned(entry.detail, atMost: 100),
            ])
        }
        return table.lines()
    }
}
