/// The outcomes of one exam that may run every task several times, and may run the incumbent beside
/// the candidate.
///
/// One ``ExamResults`` a trial, all over the same planned tasks. Both arms have the same number of
/// trials, so every rollout of one has its partner on the same task and seed in the other.
public struct TrialResults: Sendable, Equatable {
    /// The candidate's outcomes, one entry a trial, at least one.
    public let candidate: [ExamResults]
    /// The incumbent's outcomes, trial by trial; empty where it was not run.
    public let incumbent: [ExamResults]
    /// What a handicap of the incumbent is drawn from: the exam's own seed, which the supervisor
    /// draws anew for each exam, when its candidate is fixed; 0 where there is no incumbent.
    public let seed: UInt64

    /// Closes an exam.
    ///
    /// - Parameters:
    ///   - candidate: the candidate's outcomes, one entry a trial.
    ///   - incumbent: the incumbent's, as many; or none.
    ///   - seed: the exam's seed; two exams of the same outcomes and seed are judged alike.
    /// - Throws: ``ExamError/unevenTrials`` where there is no trial, the arms have not the same
    ///   number of them, or two trials planned different tasks.
    public init(
        candidate: [ExamResults],
        incumbent: [ExamResults] = [],
        seed: UInt64 = 0
    ) throws(ExamError) {
        guard let first = candidate.first,
            incumbent.isEmpty || incumbent.count == candidate.count,
            (candidate + incumbent).allSatisfy({ $0.planned == first.planned })
        else { throw .unevenTrials }
        self.candidate = candidate
        self.incumbent = incumbent
        self.seed = seed
    }

    /// Takes an exam of one trial without an incumbent.
    ///
    /// - Parameter results: its outcomes.
    public init(_ results: ExamResults) {
        (candidate, incumbent, seed) = ([results], [], 0)
    }

    /// The candidate's first trial: all there is where every task is run once.
    public var first: ExamResults { candidate[0] }

    /// The planned tasks, sorted.
    public var planned: [TaskID] { candidate[0].planned }

    /// How often the candidate ran each task.
    public var trials: Int { candidate.count }

    /// The rollouts that an infrastructure fault voided, in both arms.
    public var voidedCount: Int { (candidate + incumbent).reduce(0) { $0 + $1.voided.count } }

    /// Whether any rollout of any arm is voided, and with it every figure of this exam.
    public var isVoid: Bool { voidedCount > 0 }

    /// The candidate's mean reward over every task and trial.
    ///
    /// - Returns: the exact mean.
    /// - Throws: ``ExamError/voided(task:fault:)`` where any rollout of any arm is voided.
    public func mean() throws(ExamError) -> Score {
        try checkNotVoid()
        return Self.mean(candidate, planned.count)
    }

    /// The incumbent's mean reward over every task and trial; nothing where it was not run.
    ///
    /// - Returns: the exact mean.
    /// - Throws: ``ExamError/voided(task:fault:)`` where any rollout of any arm is voided.
    public func incumbentMean() throws(ExamError) -> Score? {
        try checkNotVoid()
        return incumbent.isEmpty ? nil : Self.mean(incumbent, planned.count)
    }

    /// What the candidate earned more than the incumbent, task by task, in the order of ``planned``.
    ///
    /// Each is the sum over the trials, in millionths. There is none where the incumbent was not run.
    ///
    /// - Returns: the differences, each from -1,000,000 to 1,000,000 a trial.
    /// - Throws: ``ExamError/voided(task:fault:)`` where any rollout of any arm is voided.
    public func differences() throws(ExamError) -> [Int] {
        try checkNotVoid()
        guard !incumbent.isEmpty else { return [] }
        return zip(Self.sums(candidate), Self.sums(incumbent)).map { $0 - $1 }
    }

    /// The differences that a paired test is made with: every reward decided by lot to count as 1 or
    /// as 0, and the incumbent handicapped.
    ///
    /// A reward r counts as 1 with chance r, so that one of 0 or 1 is what it is. Without the lot, a
    /// candidate that earns a little more nearly always and nothing now and then would pass a test
    /// of signs, and be worse. A handicap makes of the incumbent an agent whose rate on every task
    /// is that share lower: each of its rewards counts as 0 with that chance, independently of all
    /// else. Numbers are drawn a rollout, whatever its reward, the candidate's before the
    /// incumbent's, trial by trial, each in the order of ``planned``: lots from the SplitMix64
    /// sequence of ``seed`` xor the ASCII bytes of `rounding`, handicaps, of the incumbent alone,
    /// from that of ``seed`` xor those of `handicap`, both modulo 1,000,000. Below the reward in
    /// millionths it counts as 1; below the handicap, as 0 whatever the lot.
    ///
    /// - Parameter handicap: the chance; at 0 there is none.
    /// - Returns: the differences in whole rewards, each from -1 to 1 a trial.
    /// - Throws: ``ExamError/voided(task:fault:)`` where any rollout of any arm is voided.
    public func drawnDifferences(handicap: Proportion) throws(ExamError) -> [Int] {
        try checkNotVoid()
        guard !incumbent.isEmpty else { return [] }
        // Other sequences than the one that orders the tasks, which is of the seed as it is.
        var lots = SeedStream(seed: seed ^ 0x726f_756e_6469_6e67)
        var handicaps = SeedStream(seed: seed ^ 0x6861_6e64_6963_6170)
        let unit = UInt64(Proportion.unit)
        let ours = Self.sums(candidate) { lots.next() % unit < $0 ? 1 : 0 }
        let theirs = Self.sums(incumbent) { reward in
            let isOne = lots.next() % unit < reward
            return handicaps.next() % unit >= handicap.millionths && isOne ? 1 : 0
        }
        return zip(ours, theirs).map { $0 - $1 }
    }

    /// Refuses every figure of a void exam.
    func checkNotVoid() throws(ExamError) {
        for results in candidate + incumbent { _ = try results.mean() }
    }

    private static func sums(_ arm: [ExamResults], counting: (Int) -> Int = { $0 }) -> [Int] {
        let rewards = arm.map { $0.all.map { counting($0.outcome.reward.millionths) } }
        return rewards[0].indices.map { task in rewards.reduce(0) { $0 + $1[task] } }
    }

    private static func mean(_ arm: [ExamResults], _ tasks: Int) -> Score {
        Score(totalMillionths: sums(arm).reduce(0, +), count: tasks * arm.count)
    }
}
