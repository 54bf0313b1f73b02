/// How far the best recorded mean rises by luck alone where every candidate is as good as the first.
///
/// Under the ratchet the recorded best is the largest of all means so far. Where each is a draw from
/// one distribution, the distribution of the largest is known: this is computed, not simulated
/// (order statistics of independent draws; of the sum of unlike 0-1 rewards by adding them one at a
/// time). Rewards are 0 or 1 and independent.
public struct RatchetDrift: Sendable, Equatable {
    /// The number of sealed tasks.
    public let tasks: Int
    /// How often every task is run.
    public let trials: Int
    /// How many candidates follow the first.
    public let tries: Int
    /// What the recorded best is expected to be above the true rate.
    public let expected: Double
    /// What it is above the true rate, or less, in 19 of 20 campaigns.
    public let upper: Double
    /// How many of the candidates are expected to be accepted.
    public let acceptances: Double

    /// Computes the drift.
    ///
    /// - Parameters:
    ///   - tasks: the number of sealed tasks; 1 where it is less.
    ///   - trials: how often every task is run; 1 where it is less.
    ///   - tries: how many candidates follow the first; 0 where it is less.
    ///   - spread: how often each of them solves the tasks.
    public init(tasks: Int, trials: Int, tries: Int, spread: TaskSpread = .even) {
        self.tasks = max(1, tasks)
        self.trials = max(1, trials)
        self.tries = max(0, tries)
        let rates = spread.rates(self.tasks)
        var sum = SumOfRewards()
        for rate in rates { for _ in 0..<self.trials { sum.add(rate) } }
        let rollouts = Double(self.tasks * self.trials)
        let mean = rates.reduce(0, +) * Double(self.trials)
        var most = Double(sum.least)
        var upper: Double?
        var acceptances = 0.0
        var below = 0.0
        for (place, share) in sum.shares.enumerated() {
            below = min(1, below + share)
            let all = Self.power(below, self.tries + 1)
            most += place < sum.shares.count - 1 ? 1 - all : 0
            if upper == nil, all >= 0.95 { upper = Double(sum.least + place) }
            // A candidate is accepted where all before it, the first included, are at most its own.
            acceptances += share * Self.geometric(below, self.tries)
        }
        expected = (most - mean) / rollouts
        self.upper = ((upper ?? Double(sum.least + sum.shares.count - 1)) - mean) / rollouts
        self.acceptances = acceptances
    }

    private static func power(_ base: Double, _ exponent: Int) -> Double {
        var (result, square, rest) = (1.0, base, exponent)
        while rest > 0 {
            if rest % 2 == 1 { result *= square }
            square *= square
            rest /= 2
        }
        return result
    }

    /// The sum of the first so many powers, from the first power on.
    private static func geometric(_ base: Double, _ count: Int) -> Double {
        var (sum, power) = (0.0, 1.0)
        for _ in 0..<count {
            power *= base
            sum += power
            if power < 1e-18 { break }
        }
        return sum
    }
}

/// The distribution of a sum of rewards that are 0 or 1.
private struct SumOfRewards {
    /// The least sum that is kept.
    private(set) var least = 0
    /// The chance of each sum from the least on.
    private(set) var shares = [1.0]

    /// Adds a reward that is 1 at a rate.
    ///
    /// Chances below 1e-25 at the ends are left out: the number of means that a campaign compares is
    /// no match for them.
    mutating func add(_ rate: Double) {
        var next = [Double](repeating: 0, count: shares.count + 1)
        for (place, share) in shares.enumerated() {
            next[place] += share * (1 - rate)
            next[place + 1] += share * rate
        }
        let first = next.firstIndex { $0 >= 1e-25 } ?? 0
        let last = next.lastIndex { $0 >= 1e-25 } ?? 0
        least += first
        shares = Array(next[first...last])
    }
}
