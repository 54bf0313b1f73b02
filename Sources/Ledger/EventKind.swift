/// Names what happened in one ledger row.
///
/// The raw strings are part of the export format `invigilator.ledger/1`: a name, once
/// written, keeps its meaning, and a new meaning takes a new name.
public enum EventKind: String, Sendable, CaseIterable, Codable {
    /// The experiment's fixed facts: digests of policies, split, configuration and host.
    case genesis
    /// The score of the unchanged agent file.
    case baseline
    /// The score of an agent that does not try.
    case floor
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
    /// A candidate was copied out of the coding sandbox.
    case snapshot
    /// The static audit of a candidate.
    case audit
    /// A gate is about to run.
    case intent
    /// An exam began.
    case examStarted = "exam-started"
    /// An exam ended.
    case examEnded = "exam-ended"
    /// The gate decided.
    case decision
    /// Train tasks entered the regression suite.
    case promotion
    /// A score was released to the coding agent's side.
    case release
    /// An attempt was refused.
    case refusal
    /// The coding agent noted what it learned.
    case learning
    /// The agent file was put back to the best candidate.
    case revert
    /// The operator paused the run.
    case pause
    /// The operator let the run go on.
    case resume
    /// A stop rule or the operator ended the loop.
    case stop
    /// An exam was declared void.
    case void
    /// A marker was found where it must not be.
    case tripwire
    /// What roles used of models since the row of this kind before.
    case modelUsage = "model-usage"
    /// The files derived from the ledger were written again.
    case viewRendered = "view-rendered"
    /// The ledger's schema was brought to a newer version.
    case migrated
}
