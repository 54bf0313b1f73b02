internal import Ledger
internal import StrictJSON

/// What tripwires told, for `status`.
struct TripwiresStatus {
    private let wires: [(wire: String, count: Int)]
    private let twins: JSONValue?

    init(_ entries: [LedgerEntry]) {
        var counts: [String: Int] = [:]
        for entry in entries where entry.kind == .tripwire {
            counts[entry.body["wire"]?.stringValue ?? "unnamed", default: 0] += 1
        }
        wires = counts.map { (wire: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.wire) < ($0.count, $1.wire) }
        twins =
            entries.last { $0.kind == .examEnded && $0.body["twins"] != nil }.flatMap { entry in
                var members = entry.body["twins"]?.objectValue
                members?["iteration"] = entry.body["iteration"]
                return members.map { .object($0) }
            }
    }

    var json: JSONValue {
        [
            "total": JSONValue(wires.map(\.count).reduce(0, +)),
            "by_wire": .object(
                Dictionary(uniqueKeysWithValues: wires.map { ($0.wire, JSONValue($0.count)) })
            ),
            "twins": twins ?? .null,
        ]
    }

    var lines: [String] {
        var table = TextTable()
        for wire in wires { table.add([SafeText.cleaned(wire.wire, atMost: 60), "\(wire.count)"]) }
        if let gap = twins?["gap"]?.numberValue, let pairs = twins?["pairs"]?.intValue {
            table.add([
                "train tasks against renamed twins",
                "\(Decimal.text(gap, decimals: 2)) over \(pairs), iteration "
                    + "\(twins?["iteration"]?.intValue ?? 0)",
            ])
        }
        return table.lines()
    }
}
