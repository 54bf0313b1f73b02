internal import ExamResults
internal import Gate
public import Workspace

extension CampaignState {
    /// What the files of `workspace/` say at this point of the ledger.
    public var content: WorkspaceContent {
        WorkspaceContent(
            suite: WorkspaceContent.Suite(
                tasks: Set(suite),
                threshold: genesis?.rules.threshold.value ?? 0.8,
                lastResults: suiteResults,
                quarantined: Set(quarantine),
                retired: Set(evidence?.retired ?? [])
            ),
            rows: accepted.map(Self.row),
            train: latestTrainTime.map { time in
                WorkspaceContent.TrainResults(
                    time: time.milliseconds,
                    results: latestTrain.mapValues(Self.reward)
                )
            },
            learnings: learnings.map {
                WorkspaceContent.Learning(iteration: $0.iteration, note: $0.note)
            }
        )
    }

    private static func row(_ accepted: AcceptedCandidate) -> WorkspaceContent.Row {
        WorkspaceContent.Row(
            iteration: accepted.candidate.iteration,
            exactScore: accepted.candidate.score,
            releasedScore: accepted.candidate.released,
            commit: accepted.candidate.commit,
            suite: (accepted.suitePassed, accepted.suiteTotal),
            times: (accepted.decided.milliseconds, accepted.released?.milliseconds)
        )
    }

    /// A reward for readers; nothing where no verdict was given.
    private static func reward(_ outcome: TaskOutcome) -> Reward? {
        switch outcome {
        case .graded(let reward): reward
        case .failed: .zero
        case .missing, .voided: nil
        }
    }
}
