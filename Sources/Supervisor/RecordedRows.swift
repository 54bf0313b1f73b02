internal import IterationLoop
internal import Ledger
internal import StrictJSON

extension RecordedRow {
    init(_ entry: LedgerEntry) {
        self.init(
            sequence: entry.sequence,
            time: Moment(milliseconds: entry.time),
            kind: entry.kind.rawValue,
            body: entry.body
        )
    }
}

extension [LedgerEntry] {
    /// The bodies of the rows of a kind.
    func of(_ kind: EventKind) -> [JSONValue] { filter { $0.kind == kind }.map(\.body) }
}
