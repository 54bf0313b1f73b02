package import ExamResults

extension SeededGenerator {
    /// A reward, perfect in one of four cases.
    package mutating func reward() throws -> Reward {
        try Reward(millionths: below(4) == 0 ? 1_000_000 : below(1_000_001))
    }

    /// An outcome that is no infrastructure fault.
    package mutating func outcome() throws -> TaskOutcome {
        switch below(4) {
        case 0: .failed(CandidateFault.allCases[below(CandidateFault.allCases.count)])
        case 1: .missing
        default: .graded(try reward())
        }
    }

    /// Outcomes of most of these tasks.
    package mutating func outcomes(of tasks: [TaskID]) throws -> [TaskID: TaskOutcome] {
        var outcomes: [TaskID: TaskOutcome] = [:]
        for task in tasks where below(8) > 0 { outcomes[task] = try outcome() }
        return outcomes
    }
}

/// The tasks `task-0`, `task-1` and so on.
package func tasks(_ count: Int) throws -> [TaskID] {
    try (0..<count).map { try TaskID("task-\($0)") }
}
