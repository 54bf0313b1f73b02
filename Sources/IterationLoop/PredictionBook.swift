internal import ExamResults
internal import Gate
internal import StrictJSON

/// What manifests said, followed through the rows of a campaign, and how well each coding agent did.
///
/// It reads rows and writes none: the score of a manifest stands in the release row.
public struct PredictionBook: Sendable, Equatable {
    /// How well each coding agent knew what its changes do, by its profile.
    public private(set) var calibrations: [String: Calibration] = [:]

    private var passMark = Reward.half
    private var before: [TaskID: Bool] = [:]
    private var seen: [CandidateDigest: [TaskID: Bool]] = [:]
    private var open: Prediction?

    /// The manifest of the open intent and what happened since.
    private struct Prediction: Sendable, Equatable {
        let intent: IntentRecord
        /// What the coding agent knew of these bytes when it handed them in.
        let seen: [TaskID: Bool]
        /// Passes and runs of each task in the exams of its judgement.
        var counts: [TaskID: Count] = [:]

        struct Count: Sendable, Equatable {
            var passed = 0
            var all = 0
        }
    }

    /// Begins with nothing.
    public init() {}

    /// Follows one row.
    mutating func take(_ event: LedgerEvent) {
        switch event {
        case .genesis(let record): passMark = record.rules.passMark
        case .baseline(let record): before = record.train.mapValues { $0 >= passMark }
        case .intent(let record):
            open = Prediction(intent: record, seen: seen[record.digest] ?? [:])
        case .examEnded(let record): enter(record)
        case .void(let record) where record.ticket != nil: open = nil
        case .release(let record): close(record)
        case .floor, .runStarted, .runResumed, .runEnded, .snapshot, .audit, .examStarted,
            .decision, .promotion, .retirement, .tripwire, .refusal, .learning, .revert, .pause,
            .resume, .stop, .void, .other:
            break
        }
    }

    private mutating func enter(_ record: ExamEndedRecord) {
        for (task, outcome) in record.outcomes?.all ?? [] where !outcome.isVoided {
            let passes = outcome.passes(mark: passMark)
            if record.purpose == .train {
                seen[record.digest, default: [:]][task] = passes
            } else if [.suite, .recheck, .protect, .confirm].contains(record.purpose) {
                // Not what watches for cheats: the score of a manifest is told.
                open?.counts[task, default: Prediction.Count()].all += 1
                if passes { open?.counts[task]?.passed += 1 }
            }
        }
    }

    private mutating func close(_ record: ReleaseRecord) {
        if let score = record.manifest {
            calibrations[score.agent, default: Calibration()].add(score)
        }
        if record.verdict == .accepted, let open {
            before.merge(Self.judged(open)) { _, new in new }
        }
        open = nil
    }

    private static func judged(_ open: Prediction) -> [TaskID: Bool] {
        open.counts.mapValues { $0.passed * 2 > $0.all }
    }

    /// The score of the manifest that is about to be released.
    ///
    /// - Parameter rules: say whose it is; an operator predicts nothing.
    /// - Returns: the score; nothing where no coding agent has an intent open.
    func score(under rules: LoopRules) -> ManifestScore? {
        guard rules.hasCodingAgent, let open, let members = open.intent.manifest.objectValue
        else { return nil }
        let agent = rules.codingAgent
        guard !members.isEmpty else {
            var score = ManifestScore(agent: agent)
            score.isMissing = true
            return score
        }
        let fixes = tasks(members["expected_fixes"])
        let risks = tasks(members["tasks_at_risk"])
        var score = ManifestScore(
            expected: (fixes: fixes, risks: risks),
            before: before,
            after: open.seen.merging(Self.judged(open)) { _, judged in judged },
            agent: agent
        )
        score.foreseen = fixes.union(risks).filter { open.seen[$0] != nil }.count
        return score
    }

    /// The train tasks of a list; what is none is passed over, whoever wrote it.
    private func tasks(_ list: JSONValue?) -> Set<TaskID> {
        let names = Set((list?.arrayValue ?? []).compactMap(\.stringValue))
        return Set(before.keys.filter { names.contains($0.text) })
    }
}
