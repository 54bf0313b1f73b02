/// Why a result, a name or a score was refused.
public enum ExamError: Error, Sendable, Equatable {
    /// An exam without tasks.
    case nothingPlanned
    /// A task that was planned twice.
    case plannedTwice(TaskID)
    /// An outcome for a task that was not planned.
    case notPlanned(TaskID)
    /// A second outcome for one task.
    case outcomeTwice(TaskID)
    /// Trials that are none, not as many in both arms, or not over the same tasks.
    case unevenTrials
    /// A figure of an exam that an infrastructure fault voided.
    case voided(task: TaskID, fault: InfrastructureFault)
    /// A number outside 0...1, or none.
    case notAProportion(Double)
    /// A recorded mean that no exam of that size can have.
    case notAMean(mean: Double, count: Int)
    /// A recorded outcome that is none.
    case badOutcome(code: String)
    /// A task name outside the rule of ``TaskID``.
    case badTaskID(length: Int)
    /// A text that is no SHA-256 in lower-case hexadecimal.
    case badDigest(length: Int)
}

extension ExamError: CustomStringConvertible {
    /// Operation, location, reason and remedy on one line.
    public var description: String {
        switch self {
        case .nothingPlanned:
            "plan an exam: no task is planned; remedy: name at least one task of the split"
        case .plannedTwice(let task):
            "plan an exam: task \(task): it is planned twice; remedy: name each task once"
        case .notPlanned(let task):
            "read an exam: task \(task): it was not planned; remedy: name a task of this exam"
        case .outcomeTwice(let task):
            "enter an outcome: task \(task): it has one already; remedy: report this as a defect"
        case .unevenTrials:
            "close an exam: its trials are none, not as many in both arms, or not over the same"
                + " tasks; remedy: report this as a defect"
        case .voided(let task, let fault):
            "compute a score: task \(task): the exam is void (\(fault.rawValue)); remedy: run the"
                + " exam again"
        case .notAProportion(let value):
            "read a proportion: \(value) is not between 0 and 1; remedy: correct the number"
        case .notAMean(let mean, let count):
            "replay a score: no exam of \(count) tasks has the mean \(mean); remedy: verify the"
                + " ledger"
        case .badOutcome(let code):
            "replay an outcome: '\(code.prefix(40))' with this reward is none; remedy: verify the"
                + " ledger"
        case .badTaskID(let length):
            "read a task name: its \(length) bytes are not 1 to 128 of A-Z a-z 0-9 . _ - with a"
                + " letter, digit or _ first; remedy: rename the task"
        case .badDigest(let length):
            "read a candidate digest: its \(length) characters are not 64 lower-case hexadecimal"
                + " digits; remedy: give the SHA-256 of the file"
        }
    }
}
