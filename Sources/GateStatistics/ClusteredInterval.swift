public import ExamResults

/// A mean over tasks with its standard error, clustered by task.
///
/// Trials of one task are not independent looks at the agent: the tasks are what was sampled. So
/// each task counts once, with its mean over the trials, and the error follows from how these
/// differ (Miller, "Adding Error Bars to Evals", 2024, clustered standard errors, with n - 1 in place
/// of n). The interval is 1.96 standard errors to each side.
public struct ClusteredInterval: Sendable, Equatable {
    /// The mean.
    public let mean: Double
    /// The standard error; nothing where there is but one task.
    public let standardError: Double?
    /// The lower end of the 95 % interval.
    public let lower: Double
    /// The upper end of the 95 % interval.
    public let upper: Double

    /// The candidate's mean reward.
    ///
    /// - Parameter results: an exam.
    /// - Throws: ``ExamError/voided(task:fault:)`` where any rollout is voided.
    public init(candidateOf results: TrialResults) throws(ExamError) {
        _ = try results.mean()
        self.init(Self.taskMeans(results.candidate), within: 0...1)
    }

    /// The incumbent's mean reward; nothing where it was not run.
    ///
    /// - Parameter results: an exam.
    /// - Throws: ``ExamError/voided(task:fault:)`` where any rollout is voided.
    public init?(incumbentOf results: TrialResults) throws(ExamError) {
        guard try results.incumbentMean() != nil else { return nil }
        self.init(Self.taskMeans(results.incumbent), within: 0...1)
    }

    /// What the candidate earned more than the incumbent, task by task; nothing where the incumbent
    /// was not run.
    ///
    /// - Parameter results: an exam.
    /// - Throws: ``ExamError/voided(task:fault:)`` where any rollout is voided.
    public init?(differenceOf results: TrialResults) throws(ExamError) {
        let differences = try results.differences()
        guard !differences.isEmpty else { return nil }
        let scale = Double(Proportion.unit * results.trials)
        self.init(differences.map { Double($0) / scale }, within: -1...1)
    }

    /// An interval over one mean a task.
    private init(_ means: [Double], within range: ClosedRange<Double>) {
        let count = Double(means.count)
        let estimate = Estimate(means)
        mean = estimate.mean
        standardError = means.count > 1 ? estimate.standardError : nil
        // Tasks that are all alike have no spread to go by. Where none of n was otherwise, a share of
        // up to 3/n may be, with 95 % (Hanley and Lippman-Hand, "If nothing goes wrong, is everything
        // all right?", 1983), and as far off as rewards go.
        let reach = 1.96 * estimate.standardError
        let unseen = reach > 0 ? 0 : min(1, 3 / count)
        lower = max(range.lowerBound, mean - reach - unseen * (mean - range.lowerBound))
        upper = min(range.upperBound, mean + reach + unseen * (range.upperBound - mean))
    }

    private static func taskMeans(_ arm: [ExamResults]) -> [Double] {
        let rewards = arm.map { $0.all.map(\.outcome.reward.value) }
        return rewards[0].indices.map { task in
            rewards.reduce(0) { $0 + $1[task] } / Double(arm.count)
        }
    }
}

/// The share of tasks that pass every one of k trials, for each k: pass^k.
///
/// Of a task with c passes in n trials, the share of the choices of k trials that all pass,
/// C(c, k) / C(n, k), is an estimate without bias (Yao and others, "tau-bench", 2024).
/// Reliable agents keep it where k grows; lucky ones do not.
public struct PassHatK: Sendable, Equatable {
    /// The shares from 0 to 1, for k from 1 to the number of trials.
    public let shares: [Double]

    /// Counts the passes of an exam's candidate.
    ///
    /// - Parameters:
    ///   - results: the exam.
    ///   - mark: the reward at which a task passes.
    /// - Throws: ``ExamError/voided(task:fault:)`` where any rollout is voided.
    public init(_ results: TrialResults, mark: Reward = .half) throws(ExamError) {
        _ = try results.mean()
        let passes = results.candidate.map { $0.all.map { $0.outcome.passes(mark: mark) } }
        let counts = passes[0].indices.map { task in passes.count { $0[task] } }
        let trials = passes.count
        shares = (1...trials).map { chosen in
            let total = counts.reduce(0.0) { sum, passed in
                sum
                    + (0..<chosen).reduce(1.0) { share, place in
                        share * Double(max(0, passed - place)) / Double(trials - place)
                    }
            }
            return total / Double(counts.count)
        }
    }
}
