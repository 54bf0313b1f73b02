public import ExamResults

/// How train tasks enter the regression suite, and how one that fails there is judged; fixed in the
/// genesis record of an experiment.
public struct PromotionRules: Sendable, Equatable {
    /// How often a newly passing task must pass on fresh seeds before it enters the suite; nothing
    /// where the one run that showed it is enough.
    public var confirmation: Repetition?
    /// How often a suite task that failed must pass on fresh seeds, so that it does not count as lost;
    /// nothing where only the aggregate threshold protects the suite.
    public var protection: Repetition?
    /// Whether a newly passing task that is not confirmed is kept apart as flaky.
    public var quarantines = true
    /// The most suite tasks of one cluster; nothing where there is no limit.
    public var cap: Int?

    /// One passing run promotes, and the aggregate alone protects: what auto-harness does.
    public static let once = PromotionRules()

    /// Makes the rules of ``once``.
    public init() {}
}

/// What becomes of the train tasks that pass anew under an accepted candidate; each is in one of the
/// first four lists, all of which are sorted.
public struct Promotion: Sendable, Equatable {
    /// Those that enter the suite.
    public var promoted: [TaskID] = []
    /// Those that passed and failed under this candidate: flaky, and not in the suite.
    public var quarantined: [TaskID] = []
    /// Others that were not confirmed; they count as failing as before.
    public var unconfirmed: [TaskID] = []
    /// Those that pass and have no place because their cluster is full.
    public var capped: [TaskID] = []
    /// The unconfirmed ones to run once more before anything is promoted.
    public var open: [TaskID] = []

    /// Begins with none.
    public init() {}
}

extension PromotionRules {
    /// Decides what becomes of newly passing tasks.
    ///
    /// Nothing here can take a task out of the suite: a candidate that fails now and then must not
    /// thereby free the tasks that it is held to. A task that was found flaky before must pass every
    /// run.
    ///
    /// - Parameters:
    ///   - newly: the tasks that pass anew, sorted.
    ///   - rounds: what they did on fresh seeds so far.
    ///   - mark: the reward at which a task passes.
    ///   - known: the tasks that were found flaky before, and the suite's.
    ///   - cluster: names the cluster of a task.
    /// - Returns: each of `newly` in one of the four lists.
    public func promotion(
        of newly: [TaskID],
        after rounds: [ExamResults],
        mark: Reward,
        known: (flaky: [TaskID], suite: [TaskID]),
        cluster: (TaskID) -> String
    ) -> Promotion {
        var found = Promotion()
        var sizes = Dictionary(grouping: known.suite, by: cluster).mapValues(\.count)
        for task in newly {
            let rule = confirmation.flatMap {
                Repetition(known.flaky.contains(task) ? $0.most : $0.needed, of: $0.most)
            }
            switch rule?.standing(of: task, in: rounds, mark: mark) {
            case .missed where quarantines: found.quarantined.append(task)
            case .missed: found.unconfirmed.append(task)
            case .open:
                found.unconfirmed.append(task)
                if rounds.count < rule?.most ?? 0 { found.open.append(task) }
            case .reached, nil:
                let size = sizes[cluster(task), default: 0]
                size < cap ?? .max ? found.promoted.append(task) : found.capped.append(task)
                sizes[cluster(task)] = size + 1
            }
        }
        return found
    }
}
