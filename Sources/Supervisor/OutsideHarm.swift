package import ExamResults
package import IterationLoop

/// What other programs of the host can have done to an exam of `prepare`: it says nothing of the benchmark, and
/// nothing of the template.
package enum OutsideHarm {
    /// Why an exam is run again, where something outside can have broken it; nil where nothing can.
    ///
    /// A template or a floor that a signal ends, or that needs more memory than it has, is not what its
    /// operator meant. Where the next try shows the same, it does so by itself, and that is its score.
    package static func broken(_ results: TrialResults, of purpose: ExamPurpose) -> String? {
        if results.isVoid { return VoidRecord.broken(purpose, results) }
        let outcomes = results.candidate.flatMap(\.all).map(\.outcome)
        let causes = [
            ("a signal", outcomes.count { $0 == .failed(.signalled) }),
            // That of the host kills in the same way as that of the sandbox's own limit.
            ("the kernel's out-of-memory killer", outcomes.count { $0 == .failed(.outOfMemory) }),
        ].filter { $0.1 > 0 }
        guard !causes.isEmpty else { return nil }
        return causes.map { "\($0.0) ended \($0.1)" }.joined(separator: ", ")
            + " rollouts of the \(purpose.rawValue) exam"
    }

    /// Whether a rollout's outcome can be of something outside: it was killed, or a busy host ran it out of time.
    package static func isPossible(_ outcome: TaskOutcome?) -> Bool {
        switch outcome {
        case .failed(.signalled), .failed(.outOfMemory), .failed(.wallClock), .failed(.idle): true
        case .failed, .graded, .missing, .voided, nil: false
        }
    }
}
