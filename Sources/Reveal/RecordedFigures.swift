internal import ExamResults
internal import IterationLoop
internal import StrictJSON

/// The figures of a sealed exam's row, held against its outcomes.
struct RecordedFigures {
    private let record: ExamEndedRecord
    private let begun: ExamStartedRecord

    init(of record: ExamEndedRecord, begun: ExamStartedRecord) {
        self.record = record
        self.begun = begun
    }

    /// What the row says and the outcomes do not, member by member.
    func differences(from outcomes: SealedOutcomes) -> [String] {
        guard let results = outcomes.trials else { return ["its outcomes are of no one exam"] }
        // The row as the supervisor writes it; the root is compared for itself.
        var computed = ExamEndedRecord(
            of: begun,
            results: results,
            durationMilliseconds: record.durationMilliseconds,
            planDigests: record.planDigests,
            sealedRoot: record.sealedRoot
        )
        // It rests on a train exam as well, and which tasks are twins is the benchmark's to say.
        computed.twinGap = record.twinGap
        let found = LedgerEvent.examEnded(record).body.objectValue ?? [:]
        let wanted = LedgerEvent.examEnded(computed).body.objectValue ?? [:]
        return Set(found.keys).union(wanted.keys).sorted().compactMap { name in
            guard found[name] != wanted[name] else { return nil }
            let (row, outcomes) = (Self.text(found[name]), Self.text(wanted[name]))
            return "\(name): the row has \(row), its outcomes \(outcomes)"
        }
    }

    private static func text(_ member: JSONValue?) -> String {
        member.map { String(decoding: $0.canonicalBytes, as: UTF8.self) } ?? "none"
    }
}
