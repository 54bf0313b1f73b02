import ExamResults
import Gate
import GateStatistics
import TestSupport
import Testing

/// One pair of agents of which the claim of the non-inferior rule is just untrue.
struct JustUntrue: Sendable, CustomStringConvertible {
    let description: String
    let trials: Int
    let incumbent: [Double]
    let candidate: [Double]
    /// Whether a rule that adds the loss to each difference accepts too often.
    let breaksShift: Bool

    init(
        _ description: String,
        trials: Int,
        _ incumbent: [Double],
        _ candidate: [Double],
        breaksShift: Bool = false
    ) {
        self.description = description
        self.trials = trials
        self.incumbent = incumbent
        self.candidate = candidate
        self.breaksShift = breaksShift
    }

    /// The true loss of the candidate against the incumbent, over all trials of a task, in millionths.
    var shift: Int {
        let loss = incumbent.reduce(0, +) - candidate.reduce(0, +)
        return Int((loss / Double(incumbent.count) * 1_000_000).rounded()) * trials
    }
}

@Suite("The error of the non-inferior rule")
struct NonInferiorTests {
    private static let count = 20
    private static let even = TaskSpread.even.rates(count)

    private static func each(_ rate: Double, _ tasks: Int = count) -> [Double] {
        [Double](repeating: rate, count: tasks)
    }

    /// Rates of the candidate come to 0.9 times those of the incumbent.
    static let settings = [
        JustUntrue(
            "always solved, seldom failed",
            trials: 1,
            each(1),
            each(0.9),
            breaksShift: true
        ),
        JustUntrue("the same, three trials", trials: 3, each(1), each(0.9), breaksShift: true),
        JustUntrue("eight tasks", trials: 1, each(1, 8), each(0.9, 8), breaksShift: true),
        JustUntrue("rates spread evenly", trials: 3, even, even.map { 0.9 * $0 }),
        JustUntrue("all solved every other time", trials: 1, each(0.5), each(0.45)),
        JustUntrue("two tasks lost of twenty", trials: 3, each(1), each(1, 18) + each(0, 2)),
        JustUntrue("half gained, half lost", trials: 3, each(0.5), each(0.8, 10) + each(0.1, 10)),
        JustUntrue("seldom solved", trials: 5, each(0.1), each(0.09)),
    ]

    private func arm(
        _ rates: [Double],
        _ trials: Int,
        _ generator: inout SeededGenerator
    ) throws -> [ExamResults] {
        let planned = try tasks(rates.count)
        return try (0..<trials).map { _ in
            var outcomes: [TaskID: TaskOutcome] = [:]
            for (task, rate) in zip(planned, rates) {
                let isSolved = Double.random(in: 0..<1, using: &generator) < rate
                outcomes[task] = .graded(isSolved ? .one : .zero)
            }
            return try ExamResults(planned: planned, outcomes: outcomes)
        }
    }

    @Test("a candidate just as bad as must be refused is seldom accepted", arguments: settings)
    func error(_ setting: JustUntrue) throws {
        let level = 0.05
        let rule = SealedRule.nonInferior(
            ErrorBudget(error: try Proportion(level), tests: 1),
            margin: try Proportion(0.1)
        )
        let exams = 800
        var generator = SeededGenerator(seed: 19)
        let best = try arm([1], 1, &generator)[0].mean()
        var (accepted, acceptedWithShift) = (0, 0)
        for _ in 0..<exams {
            let exam = try TrialResults(
                candidate: try arm(setting.candidate, setting.trials, &generator),
                incumbent: try arm(setting.incumbent, setting.trials, &generator),
                seed: generator.next()
            )
            let decision = Gate.decide(
                suite: .empty,
                sealed: exam,
                best: best,
                rules: rules(rule, trials: setting.trials)
            )
            if decision.verdict == "accepted" { accepted += 1 }
            // The control: a loss that is added to each difference makes their mean 0, and leaves
            // them as lopsided as they were.
            let shifted = try exam.differences().map { $0 + setting.shift }
            if SignFlipTest.pValue(shifted) <= level { acceptedWithShift += 1 }
        }
        let most = level + 3 * (level * (1 - level) / Double(exams)).squareRoot()
        #expect(Double(accepted) / Double(exams) <= most)
        let share = Double(acceptedWithShift) / Double(exams)
        #expect(setting.breaksShift ? share > most : share <= most, "\(share) with the loss added")
    }
}
