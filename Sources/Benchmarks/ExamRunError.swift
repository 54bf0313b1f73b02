public import ExamResults
public import LauncherClient
public import LinuxKernel
public import SandboxPlan

/// Why an exam could not be run to a report at all.
///
/// What breaks on the supervisor's side after the exam has begun makes a void report instead; these
/// are the cases after which no further exam can be run, or none of this order.
public enum ExamRunError: Error, Sendable, Equatable {
    /// The order names no task, or one twice.
    case order(ExamError)
    /// The site has no examiner plan for the order's split.
    case noExaminerPlan(Split)
    /// The examiner's plan cannot be read.
    case badPlan(PlanError)
    /// The launcher is gone, and with it every sandbox.
    case launcherLost(LauncherError)
    /// The loop cannot wait for events.
    case loop(SystemError)
    /// Sandboxes or trees that could not be shown to be gone.
    case leftBehind(sandboxes: Int, trees: Int)
}

extension ExamRunError: CustomStringConvertible {
    /// Operation, location, reason and remedy on one line.
    public var description: String {
        switch self {
        case .order(let error): "run an exam: \(error)"
        case .noExaminerPlan(let split):
            "run an exam: split \(split.rawValue): no plan for its examiner; remedy: resolve the"
                + " examiner's policy with this split's vault"
        case .badPlan(let error): "run an exam: \(error)"
        case .launcherLost(let error): "run an exam: \(error)"
        case .loop(let error):
            "run an exam: event loop: \(error); remedy: free memory or descriptors and run again"
        case .leftBehind(let sandboxes, let trees):
            "end an exam: \(sandboxes) sandboxes and \(trees) trees are not gone; remedy: stop the"
                + " run, then `invigilator-launcher sweep`"
        }
    }
}
