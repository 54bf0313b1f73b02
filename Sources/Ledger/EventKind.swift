/// Names what happened in one ledger row.
///
/// The raw strings are part of the export format `invigilator.ledger/1`: a name, once
/// written, keeps its meaning, and a new meaning takes a new name.
public enum EventKind: String, Sendable, CaseIterable, Codable {
    /// The key of one directory was taken for the experiment's.
    case bound
    /// The experiment's fixed facts (digests of policies, split, configuration and host); the score of
    /// the unchanged agent file; the score of an agent that does not try.
    case genesis, baseline, floor
    /// A `run` began.
    case runStarted = "run-started"
    /// A `run` went on where the ledger ended.
    case runResumed = "run-resumed"
    /// A `run` ended in order.
    case runEnded = "run-ended"
    /// A sandbox was launched.
    case sandboxStarted = "sandbox-started"
    /// A sandbox is gone.
    case sandboxExited = "sandbox-exited"
    /// A candidate was copied out of the coding sandbox; its static audit; a gate is about to run.
    case snapshot, audit, intent
    /// An exam began.
    case examStarted = "exam-started"
    /// An exam ended.
    case examEnded = "exam-ended"
    /// The gate decided.
    case decision
    /// Train tasks entered the regression suite.
    case promotion
    /// The operator took a task out of the regression suite.
    case retirement
    /// A score was released to the coding agent's side.
    case release
    /// An attempt was refused.
    case refusal
    /// The coding agent noted what it learned.
    case learning
    /// The agent file was put back to the best candidate.
    case revert
    /// The operator paused the run; the operator let it go on.
    case pause, resume
    /// A stop rule or the operator ended the loop.
    case stop
    /// An exam was declared void.
    case void
    /// A marker was found where it must not be.
    case tripwire
    /// What roles used of models since the row of this kind before.
    case modelUsage = "model-usage"
    /// A checkpoint could not be kept where the configuration says.
    case unpublished
    /// The operator allowed more than the configuration's budget.
    case extended
    /// The operator's hook could not be told of an event.
    case unnotified
    /// Old files of the operator's were removed.
    case pruned
    /// The ledger's key signed its successor.
    case keyRotated = "key-rotated"
    /// The ledger's key was lost, and another one signs the rows from here on.
    case keyReplaced = "key-replaced"
    /// The files derived from the ledger were written again.
    case viewRendered = "view-rendered"
    /// The ledger's schema was brought to a newer version.
    case migrated

    /// The kinds after which another key signs.
    static let keyChanges = [keyRotated, keyReplaced]
}
