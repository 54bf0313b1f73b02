// GateStatistics: what luck can do under each rule of the gate, and how sure a figure of an exam is. Pure; decides nothing.

internal import ExamResults

/// How often an incumbent solves the tasks of a simulated benchmark.
///
/// What a campaign can show hangs on how much rewards vary from run to run, and nobody knows that
/// before it: these stand for what is met. Rates are places of a distribution, not draws of it, so
/// that a simulation varies only where a campaign does.
public enum TaskSpread: String, Sendable, CaseIterable {
    /// Rates spread evenly from 0 to 1: what is assumed where nothing else is said.
    case even
    /// Most tasks are nearly always or nearly never solved: the distribution whose places are
    /// u²(3 - 2u), which are close to those of Beta(1/2, 1/2).
    case polarized
    /// Every task is solved every other time: the most that rewards of one mean can vary.
    case alike
    /// The incumbent always solves every task.
    case solved

    /// The rates of so many tasks.
    ///
    /// - Parameter count: how many tasks.
    /// - Returns: one rate from 0 to 1 a task; with a mean of 1/2, but for ``solved``.
    public func rates(_ count: Int) -> [Double] {
        (0..<max(1, count)).map { place in
            let share = (Double(place) + 0.5) / Double(max(1, count))
            return switch self {
            case .even: share
            case .polarized: share * share * (3 - 2 * share)
            case .alike: 0.5
            case .solved: 1
            }
        }
    }
}

/// The rates at which one agent solves tasks, and what it earns in a run.
struct TaskRates {
    private let rates: [Double]
    // 2^53 times each rate: a draw of 53 bits is below it as often as the rate says.
    private let limits: [UInt64]

    init(_ rates: [Double]) {
        self.rates = rates
        limits = rates.map { UInt64($0 * 0x1p53) }
    }

    /// How many tasks there are.
    var count: Int { rates.count }

    /// The true rate: what endless runs would give.
    var mean: Double { rates.reduce(0, +) / Double(rates.count) }

    /// An agent whose true rate differs by an effect, as far as rates from 0 to 1 allow.
    ///
    /// A better one solves the same share of what each task failed; a worse one fails the same share
    /// of what each task solved.
    func changed(by effect: Double) -> TaskRates {
        let mean = mean
        if effect >= 0 {
            let share = mean < 1 ? min(1, effect / (1 - mean)) : 0
            return TaskRates(rates.map { $0 + share * (1 - $0) })
        }
        let share = mean > 0 ? min(1, -effect / mean) : 0
        return TaskRates(rates.map { $0 - share * $0 })
    }

    /// An agent that earns nothing in a share of its runs, whatever they solved.
    func handicapped(by share: Proportion) -> TaskRates {
        TaskRates(rates.map { $0 * (1 - share.value) })
    }

    /// Whether a run of a task solves it.
    func isSolved(_ task: Int, _ stream: inout some RandomNumberGenerator) -> Bool {
        stream.next() >> 11 < limits[task]
    }

    /// How many of some runs of a task solve it.
    func solved(_ task: Int, of runs: Int, _ stream: inout some RandomNumberGenerator) -> Int {
        var count = 0
        for _ in 0..<runs where isSolved(task, &stream) { count += 1 }
        return count
    }
}
