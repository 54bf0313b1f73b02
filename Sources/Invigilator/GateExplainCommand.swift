internal import ArgumentParser
internal import ExamResults
internal import Gate

/// `gate`: a judgement, or what the rules of the gate are worth.
///
/// A group with a default, because a command with an argument of its own would take the word
/// `explain` for a directory.
struct GateGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gate",
        abstract: "Judge agent/agent.py of the experiment once, or explain the rules.",
        subcommands: [GateCommand.self, GateExplainCommand.self],
        defaultSubcommand: GateCommand.self
    )
}

/// `gate explain`.
struct GateExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say what each rule of the gate asks and costs, and what luck can do under it.",
        discussion: """
            The figures are for a benchmark of so many sealed tasks and a campaign of so many \
            candidates: for a paired rule how likely it accepts a candidate that is truly better by \
            so much, for the ratchet how far luck alone lifts the recorded best. With --campaigns \
            whole campaigns of the real gate are simulated as well. Everything follows from the \
            seed: two hosts print the same. Neither root nor an experiment is needed.
            """
    )

    @Option(help: "ratchet, paired or non-inferior; each of them otherwise.")
    var rule: String?

    @Option(help: "The sealed tasks.")
    var tasks = 40

    @Option(help: "How often a sealed exam runs every task.")
    var trials = 1

    @Option(help: "The candidates of a campaign; a paired rule spreads its error over them.")
    var tries = 96

    @Option(help: "The chance of any false acceptance that a campaign may run.")
    var error = 0.05

    @Option(help: "The share of the incumbent's rate that non-inferior lets a candidate lose.")
    var margin = 0.05

    @Option(help: "Simulate so many campaigns of each kind.")
    var campaigns = 0

    @Option(help: "What the simulations follow from.")
    var seed: UInt64 = GateQuestion.standardSeed

    @Flag(help: "Print everything for programs.")
    var json = false

    func validate() throws {
        try require(tasks, in: 1...10_000, "--tasks")
        try require(trials, in: 1...100, "--trials")
        try require(tries, in: 1...10_000, "--tries")
        try require(campaigns, in: 0...100_000, "--campaigns")
        guard error > 0, error <= 0.5 else {
            throw ValidationError("--error is above 0 and at most 0.5.")
        }
        guard margin > 0, margin <= 0.5 else {
            throw ValidationError("--margin is above 0 and at most 0.5.")
        }
        _ = try sealedRules()
    }

    func run() throws {
        let explanation = GateExplanation(try question())
        try json ? Console.write(explanation.json) : Console.write(explanation.text)
    }

    /// What is asked; the one place that knows where rules and numbers come from.
    private func question() throws -> GateQuestion {
        GateQuestion(
            rules: try sealedRules().map { sealed in
                GateRules(threshold: .fourFifths, sealed: sealed, trials: trials)
            },
            tasks: tasks,
            tries: tries,
            campaigns: campaigns,
            seed: seed
        )
    }

    private func sealedRules() throws -> [SealedRule] {
        let budget = ErrorBudget(error: try proportion(error), tests: tries)
        let each: [SealedRule] = [
            .ratchet, .paired(budget), .nonInferior(budget, margin: try proportion(margin)),
        ]
        guard let rule else { return each }
        let named = each.filter { $0.name == rule }
        guard !named.isEmpty else {
            throw ValidationError(
                "--rule is one of \(each.map(\.name).joined(separator: ", "))."
            )
        }
        return named
    }

    private func proportion(_ value: Double) throws -> Proportion {
        do throws(ExamError) { return try Proportion(value) } catch {
            throw ValidationError("\(error)")
        }
    }

    private func require(_ value: Int, in range: ClosedRange<Int>, _ name: String) throws {
        guard range.contains(value) else {
            throw ValidationError("\(name) is from \(range.lowerBound) to \(range.upperBound).")
        }
    }
}
