internal import DenialEvents
internal import Ledger
internal import StrictJSON
internal import Workspace

/// What was refused in an experiment: each thing that somebody tried, with its count.
struct RefusalStatus {
    private struct Group {
        let sentence: RefusalSentence
        let detail: String
        var rows = 0
        var count = 0
        // Whether a wall counted calls, of which one row stands for many.
        let isCounted: Bool
    }

    // More than these are in the report; a status fits a screen.
    private static let shown = 12

    private var groups: [Group] = []

    init(_ entries: [LedgerEntry]) {
        var places: [RefusalSentence: Int] = [:]
        for entry in entries where entry.kind == .refusal {
            func member(_ name: String) -> String? { entry.body[name]?.stringValue }
            let sentence = RefusalSentence(
                RefusalKind(recorded: member("class")),
                layer: member("layer") ?? "unnamed",
                attempt: member("attempt") ?? "unnamed",
                author: member("by") ?? "unknown"
            )
            let count = entry.body["count"]?.intValue
            let place = places[sentence] ?? groups.count
            if place == groups.count {
                places[sentence] = place
                groups.append(
                    Group(
                        sentence: sentence,
                        detail: member("detail") ?? "",
                        isCounted: count != nil
                    )
                )
            }
            groups[place].rows += 1
            groups[place].count += max(1, count ?? 1)
        }
        // Attempts first, the most frequent first among those of a kind.
        groups = RefusalKind.allCases.reversed().flatMap { kind in
            groups.filter { $0.sentence.kind == kind }.sorted { $0.count > $1.count }
        }
    }

    /// Rows by kind and by what refused, attempts first.
    var rows: [(kind: RefusalKind, layer: String, count: Int)] {
        RefusalKind.allCases.reversed().flatMap { kind in
            var counts: [String: Int] = [:]
            for group in groups where group.sentence.kind == kind {
                counts[group.sentence.layer, default: 0] += group.rows
            }
            return counts.map { (kind: kind, layer: $0.key, count: $0.value) }
                .sorted { ($1.count, $0.layer) < ($0.count, $1.layer) }
        }
    }

    private func rows(of kind: RefusalKind) -> Int {
        groups.filter { $0.sentence.kind == kind }.reduce(0) { $0 + $1.rows }
    }

    /// The calls that a wall counted, for programs, the most frequent first.
    var calls: JSONValue {
        let counted = groups.filter {
            $0.isCounted && DenialEvent.layers.contains($0.sentence.layer)
        }
        return .array(
            counted.map { group in
                [
                    "by": .string(group.sentence.author), "call": .string(group.sentence.attempt),
                    "layer": .string(group.sentence.layer), "count": JSONValue(group.count),
                    "detail": .string(group.detail),
                ]
            }
        )
    }

    /// Every group as a sentence, for programs.
    var sentences: JSONValue {
        .array(
            groups.map { group in
                [
                    "class": .string(group.sentence.kind.rawValue), "count": JSONValue(group.count),
                    "text": .string(group.sentence.text(group.detail)),
                ]
            }
        )
    }

    /// How many attempts there were; what honest programs meet is named apart.
    var title: String {
        let attempts = rows(of: .attempt)
        return "refusals: \(attempts) \(attempts == 1 ? "attempt" : "attempts"); besides, "
            + "\(rows(of: .denied)) denied and \(rows(of: .adjusted)) adjusted"
    }

    /// One line a group: who did what, and what became of it; none where nothing was refused.
    func lines(_ colours: RefusalColours) -> [String] {
        var table = TextTable()
        for group in groups.prefix(Self.shown) {
            let text = SafeText.cleaned(group.sentence.text(group.detail), atMost: 240)
            table.add([group.sentence.kind.rawValue, "\(group.count) ×", text])
        }
        let further = groups.count - Self.shown
        let lines = zip(groups, table.lines()).map { colours.painted($1, as: $0.sentence.kind) }
        return further > 0 ? lines + ["  and \(further) more: see `invigilator report`"] : lines
    }
}
