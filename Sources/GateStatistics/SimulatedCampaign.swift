public import ExamResults
public import Gate

/// What the candidates of a simulated campaign are truly like.
public struct CampaignScenario: Sendable, Equatable {
    /// The change of the true rate against the incumbent of its moment; 0 is none.
    public let effect: Double
    /// Every so many-th candidate has it, at least 1.
    public let every: Int
    /// The change of the others.
    public let others: Double
    /// The share that every candidate loses of the incumbent's rate, instead of such changes; 0 where
    /// there are such.
    public let loss: Proportion

    /// Every candidate is as good as the incumbent: a null campaign.
    public static let null = CampaignScenario(effect: 0)

    /// Every candidate's rate is that of the incumbent of its moment less a share of it, on each task.
    ///
    /// - Parameter share: the share.
    /// - Returns: the scenario.
    public static func losing(_ share: Proportion) -> CampaignScenario {
        CampaignScenario(effect: 0, every: 1, others: 0, loss: share)
    }

    /// Makes a scenario.
    ///
    /// - Parameters:
    ///   - effect: the change of the true rate, as far as rates from 0 to 1 allow.
    ///   - every: which candidates have it; 1 where it is less.
    ///   - others: the change of the others.
    public init(effect: Double, every: Int = 1, others: Double = 0) {
        self.init(effect: effect, every: every, others: others, loss: .zero)
    }

    private init(effect: Double, every: Int, others: Double, loss: Proportion) {
        self.effect = effect
        self.every = max(1, every)
        self.others = others
        self.loss = loss
    }

    func effect(of number: Int) -> Double { number.isMultiple(of: every) ? effect : others }

    func candidate(_ number: Int, after incumbent: TaskRates) -> TaskRates {
        incumbent.changed(by: effect(of: number)).handicapped(by: loss)
    }
}

/// What simulated campaigns came to, as means over them.
public struct CampaignFigures: Sendable, Equatable {
    /// The recorded best at the end less the true rate of what holds it.
    public let drift: Estimate
    /// How many candidates were accepted.
    public let accepted: Estimate
    /// The share of campaigns that accepted a candidate of which the rule's claim is untrue.
    public let misled: Estimate
    /// The true rate at the end less that at the start.
    public let gain: Estimate
    /// The share of truly better candidates that were accepted; 0 where there were none.
    public let caught: Estimate
}

/// A campaign of the real gate with simulated outcomes.
///
/// A baseline, then candidates, each judged by ``Gate/decide(suite:sealed:best:rules:)`` over an exam
/// of rewards that are 0 or 1, with the incumbent beside it where the rule wants one. An accepted
/// candidate is the next incumbent. The regression suite is empty.
///
/// What misleads a campaign is an acceptance that the rule does not mean: by the ratchet and the
/// paired rule of a candidate that is not better than the incumbent, by the non-inferior rule of one
/// whose rate is not above (1 - margin) times the incumbent's.
public struct SimulatedCampaign: Sendable, Equatable {
    /// The rules of the gate.
    public let rules: GateRules
    /// The number of sealed tasks, at least 1.
    public let tasks: Int
    /// How many candidates are judged.
    public let tries: Int
    /// How often the first incumbent solves the tasks.
    public let spread: TaskSpread
    /// What the candidates are like.
    public let scenario: CampaignScenario

    /// Describes a campaign.
    ///
    /// - Parameters:
    ///   - rules: the rules of the gate.
    ///   - tasks: the number of sealed tasks; 1 where it is less.
    ///   - tries: how many candidates are judged; 0 where it is less.
    ///   - spread: how often the first incumbent solves the tasks.
    ///   - scenario: what the candidates are like.
    public init(
        rules: GateRules,
        tasks: Int,
        tries: Int,
        spread: TaskSpread = .even,
        scenario: CampaignScenario = .null
    ) {
        self.rules = rules
        self.tasks = max(1, tasks)
        self.tries = max(0, tries)
        self.spread = spread
        self.scenario = scenario
    }

    /// Simulates campaigns.
    ///
    /// - Parameters:
    ///   - campaigns: how many; 1 where it is less.
    ///   - seed: what the draws follow from; more campaigns of one seed begin with the same ones.
    /// - Returns: the means over them.
    public func figures(campaigns: Int, seed: UInt64) -> CampaignFigures {
        var stream = SeedStream(seed: seed)
        let examiner = SimulatedExaminer(tasks: tasks, trials: rules.trials)
        let courses = (0..<max(1, campaigns)).map { _ in course(examiner, &stream) }
        let offered = courses.reduce(0) { $0 + $1.better }
        return CampaignFigures(
            drift: Estimate(courses.map(\.drift)),
            accepted: Estimate(courses.map { Double($0.accepted) }),
            misled: Estimate(courses.map { $0.misled ? 1 : 0 }),
            gain: Estimate(courses.map(\.gain)),
            caught: offered == 0
                ? Estimate([])
                : Estimate(courses.map { Double($0.caught) / Double(max(1, $0.better)) })
        )
    }

    private struct Course {
        var drift = 0.0
        var gain = 0.0
        var accepted = 0
        var better = 0
        var caught = 0
        var misled = false
    }

    private func course(_ examiner: SimulatedExaminer, _ stream: inout SeedStream) -> Course {
        var course = Course()
        let start = TaskRates(spread.rates(tasks))
        var incumbent = start
        var best = decide(examiner.results(start, nil, &stream), nil)
        for number in stride(from: 1, through: tries, by: 1) {
            let effect = scenario.effect(of: number)
            let candidate = scenario.candidate(number, after: incumbent)
            let sealed = examiner.results(
                candidate,
                rules.sealed.budget == nil ? nil : incumbent,
                &stream
            )
            if effect > 0 { course.better += 1 }
            guard let score = decide(sealed, best) else { continue }
            if isMisleading(candidate, after: incumbent) { course.misled = true }
            best = score
            incumbent = candidate
            course.accepted += 1
            if effect > 0 { course.caught += 1 }
        }
        course.drift = (best?.mean ?? 0) - incumbent.mean
        course.gain = incumbent.mean - start.mean
        return course
    }

    /// The score of an accepted candidate.
    private func decide(_ sealed: TrialResults, _ best: Score?) -> Score? {
        switch Gate.decide(suite: .empty, sealed: sealed, best: best, rules: rules) {
        case .accept(let score, _): score
        case .reject: nil
        case .void: fatalError("invariant: a simulated exam has no fault")
        }
    }

    private func isMisleading(_ candidate: TaskRates, after incumbent: TaskRates) -> Bool {
        // The margin is 0 for the other rules. Sums of rates that are the same number are not always.
        candidate.mean <= incumbent.handicapped(by: rules.sealed.margin).mean + 1e-9
    }
}

/// Makes exams of drawn rewards.
private struct SimulatedExaminer {
    private let names: [TaskID]
    private let trials: Int

    init(tasks: Int, trials: Int) {
        do throws(ExamError) {
            var names: [TaskID] = []
            for number in 1...tasks { names.append(try TaskID("task-\(10_000_000 + number)")) }
            self.names = names
        } catch {
            fatalError("invariant: a word, a hyphen and digits are a task's name: \(error)")
        }
        self.trials = trials
    }

    func results(
        _ candidate: TaskRates,
        _ incumbent: TaskRates?,
        _ stream: inout SeedStream
    ) -> TrialResults {
        do throws(ExamError) {
            let first = try arm(candidate, &stream)
            let second = try incumbent.map { rates throws(ExamError) in try arm(rates, &stream) }
            return try TrialResults(
                candidate: first,
                incumbent: second ?? [],
                seed: second == nil ? 0 : stream.next()
            )
        } catch {
            fatalError("invariant: every trial has every task once: \(error)")
        }
    }

    private func arm(
        _ rates: TaskRates,
        _ stream: inout SeedStream
    ) throws(ExamError) -> [ExamResults] {
        var arm: [ExamResults] = []
        for _ in 0..<trials {
            var outcomes: [TaskID: TaskOutcome] = [:]
            outcomes.reserveCapacity(names.count)
            for (place, name) in names.enumerated() {
                outcomes[name] = .graded(rates.isSolved(place, &stream) ? .one : .zero)
            }
            arm.append(try ExamResults(planned: names, outcomes: outcomes))
        }
        return arm
    }
}
