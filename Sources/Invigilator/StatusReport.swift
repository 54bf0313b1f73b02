internal import ExamResults
internal import Gate
package import IterationLoop
package import Ledger
package import StrictJSON
internal import Supervisor
package import Workspace

/// Where an experiment stands, for people and programs; made from values alone.
package struct StatusReport {
    /// The version of ``json``'s shape.
    package static let schema = "invigilator.status/1"
    /// How many of the last decisions are told.
    private static let decisionCount = 5

    private let directory: String
    let state: CampaignState
    let entries: [LedgerEntry]
    let verification: VerificationReport
    private let surroundings: StatusSurroundings

    package init(
        directory: String,
        state: CampaignState,
        entries: [LedgerEntry],
        verification: VerificationReport,
        surroundings: StatusSurroundings
    ) {
        self.directory = directory
        self.state = state
        self.entries = entries
        self.verification = verification
        self.surroundings = surroundings
    }

    // MARK: - what is told

    // A preparation answers as well, and is no run.
    var isRunning: Bool { surroundings.control != nil && phase != Self.preparing }
    private static let preparing = "preparing"

    /// What it does now, or how far it got.
    private var phase: String {
        if let phase = surroundings.control?["phase"]?.stringValue { return phase }
        if state.genesis == nil { return "initialised" }
        if state.baseline == nil { return "partly-prepared" }
        if state.runs == 0 { return "prepared" }
        return state.isRunning ? "interrupted" : "ended"
    }

    var isPaused: Bool {
        surroundings.control?["paused"]?.boolValue ?? state.isPaused
    }

    private var lastEnd: String? {
        entries.last { $0.kind == .runEnded }?.body["reason"]?.stringValue
    }

    var refusals: RefusalStatus { RefusalStatus(entries) }

    private func refusalCounts(
        by name: ((kind: RefusalKind, layer: String, count: Int)) -> String
    ) -> JSONValue {
        let counts = refusals.rows.reduce(into: [String: Int]()) {
            $0[name($1), default: 0] += $1.count
        }
        return .object(counts.mapValues { JSONValue($0) })
    }

    /// How often the coding agent was started again, by how it had ended, the most frequent first.
    var restarts: [(end: String, count: Int)] {
        var counts: [String: Int] = [:]
        for entry in entries where entry.kind == .sandboxExited {
            guard entry.body["restart"] != nil else { continue }
            counts[entry.body["kind"]?.stringValue ?? "unnamed", default: 0] += 1
        }
        return counts.map { (end: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.end) < ($0.count, $1.end) }
    }

    private var decisions: [LedgerEntry] {
        Array(entries.filter { $0.kind == .decision }.suffix(Self.decisionCount))
    }

    var budgets: [Budget] {
        let limits = surroundings.configuration?.budget
        // The clock of a run that nobody runs stands still.
        let elapsed =
            isRunning
            ? state.elapsedMilliseconds(at: Moment(milliseconds: surroundings.now))
            : state.usage.elapsedMilliseconds
        let hours = Double(elapsed) / 3_600_000
        let more = allowedMore
        func count(_ name: String, _ used: Int, _ limit: Int?, _ extra: Int = 0) -> Budget {
            Budget(
                name: name,
                used: Double(used),
                limit: limit.map { Double($0 + extra) },
                unit: ""
            )
        }
        let tests = state.genesis?.rules.sealed.budget?.tests
        return (tests.map { [count("paired_tests", state.usage.tests, $0)] } ?? []) + [
            count("iterations", state.usage.iterations, limits?.iterations, more.iterations),
            count("submissions", state.usage.submissions, limits?.submissions, more.submissions),
            count("train_runs", state.usage.trainRuns, limits?.trainRuns, more.trainRuns),
            count(
                "without_improvement",
                state.usage.sinceImprovement,
                limits?.noImprovement,
                more.noImprovement
            ),
            Budget(
                name: "hours",
                used: hours,
                limit: limits.map { $0.hours + Double(more.milliseconds) / 3_600_000 },
                unit: "h"
            ),
        ]
    }

    private var told: ReleaseStatus { ReleaseStatus(state, entries) }

    private var models: ModelsStatus {
        ModelsStatus(
            entries,
            unbooked: surroundings.unbooked,
            hours: budgets.first { $0.name == "hours" }?.used ?? 0
        )
    }

    private var warnings: [String] {
        var warnings: [String] = []
        if let fault = verification.fault {
            warnings.append("the record is damaged: \(fault); stop and run `invigilator verify`")
        }
        if let key = verification.replacement {
            warnings.append(
                "the record's key was replaced at row \(key.row) without the old one's signature"
            )
        }
        let alarms = entries.filter { $0.kind == .tripwire }.count
        if alarms > 0 {
            warnings.append(
                "\(alarms) tripwires fired: see `invigilator ledger show --kind tripwire`"
            )
        }
        if phase == "interrupted" {
            warnings.append("the last run was cut off; `invigilator run` goes on where it ended")
        }
        if phase == "partly-prepared" {
            warnings.append("preparing was cut off; `invigilator prepare` goes on where it ended")
        }
        if let genesis = state.genesis {
            if let configuration = surroundings.configuration {
                if configuration.digest != genesis.configDigest {
                    warnings.append(
                        "experiment_config.yaml changed since the genesis row; `run` refuses it"
                    )
                }
            } else {
                warnings.append(
                    "experiment_config.yaml cannot be read, so limits of budgets are not shown"
                )
            }
            if genesis.isolation == .experiment {
                warnings.append(
                    "isolation: experiment: other coding agents of the host run beside sealed exams, so live"
                        + " channels are not bounded"
                )
            }
            if !genesis.internet.isEmpty {
                warnings.append(
                    "internet sockets of \(genesis.internet.joined(separator: ", ")): what the host's counters of"
                        + " sockets tell coding agents is not bounded"
                )
            }
            if genesis.assurance != "full" {
                warnings.append("the host's assurance level was \(genesis.assurance), not full")
            }
        }
        if let best = state.best, case let floors = state.floors(above: best.score), !floors.isEmpty
        {
            warnings.append(
                "the best candidate is under the floor of \(floors.joined(separator: " and "))"
            )
        }
        for floor in state.floors where !floor.isCeiling && floor.sealed.mean >= 0.1 {
            warnings.append(
                "the floor \(floor.name) scores \(floor.sealed): the benchmark pays for nothing"
            )
        }
        return warnings
    }

    // MARK: - for programs

    /// The status for programs.
    package var json: JSONValue {
        [
            "schema": .string(Self.schema), "directory": .string(directory),
            "experiment": text(state.genesis?.experiment),
            "benchmark": text(state.genesis?.benchmark),
            "assurance": text(state.genesis?.assurance),
            "isolation": text(state.genesis?.isolation.rawValue),
            "phase": .string(phase), "running": .bool(isRunning), "paused": .bool(isPaused),
            "frozen": surroundings.control?["frozen"] ?? .null,
            "waiting": surroundings.control?["waiting"] ?? .null,
            "agent_time": surroundings.control?["agent_time"] ?? .null,
            "exam": surroundings.control?["exam"] ?? .null, "last_end": text(lastEnd),
            "iteration": JSONValue(state.iteration), "open_ticket": text(state.open?.intent.ticket),
            "best": bestJSON, "baseline": baselineJSON,
            "floors": .array(state.floors.map(Self.json(of:))),
            "suite": SuiteStatus(state, entries).json,
            "train_tasks": JSONValue(state.train.count),
            "sealed_tasks": JSONValue(state.genesis?.testCount ?? 0),
            "budgets": .object(
                Dictionary(uniqueKeysWithValues: budgets.map { ($0.name, Self.json(of: $0)) })
            ),
            "refusals": [
                "total": JSONValue(state.usage.refusals),
                "by_kind": refusalCounts { $0.kind.rawValue },
                "by_layer": refusalCounts(by: \.layer),
                "calls": refusals.calls, "sentences": refusals.sentences,
            ],
            "restarts": [
                "total": JSONValue(restarts.map(\.count).reduce(0, +)),
                "by_end": .object(
                    Dictionary(
                        uniqueKeysWithValues: restarts.map { ($0.end, JSONValue($0.count)) }
                    )
                ),
            ],
            "tripwires": TripwiresStatus(entries).json, "models": models.json,
            "released_bits": told.json,
            "decisions": .array(decisions.map(Self.json(of:))),
            "verification": VerificationFinding(verification).json,
            "manifests": ManifestStatus(state).json, "needs": NeedsStatus(state).json,
            "warnings": JSONValue(warnings),
        ]
    }

    private func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    private var bestJSON: JSONValue {
        guard let best = state.best else { return .null }
        return [
            "digest": .string(best.digest.hex), "iteration": JSONValue(best.iteration),
            "sealed_mean": .number(best.score.mean),
            "released": best.released.map { .number($0.value) } ?? .null,
        ]
    }

    private var baselineJSON: JSONValue {
        guard let baseline = state.baseline else { return .null }
        return [
            "digest": .string(baseline.digest.hex), "train_mean": .number(baseline.trainMean),
            "sealed_mean": .number(baseline.sealed.mean),
            "released": baseline.released.map { .number($0.value) } ?? .null,
        ]
    }

    private static func json(of floor: FloorRecord) -> JSONValue {
        [
            "name": .string(floor.name), "sealed_mean": .number(floor.sealed.mean),
            "ceiling": .bool(floor.isCeiling),
        ]
    }

    private static func json(of budget: Budget) -> JSONValue {
        ["used": .number(budget.used), "limit": budget.limit.map { .number($0) } ?? .null]
    }

    private static func json(of decision: LedgerEntry) -> JSONValue {
        var members: [String: JSONValue] = ["time": .integer(decision.time)]
        for name in [
            "iteration", "ticket", "digest", "verdict", "step", "reasons", "sealed_mean",
            "released", "suite_passed", "suite_total", "under_floors", "paired",
        ] { members[name] = decision.body[name] ?? .null }
        return .object(members)
    }

    // MARK: - for people

    /// The status for people, without colours.
    package var text: String { text(.none) }

    /// The status for people, in which kinds of refusals have colours.
    package func text(_ colours: RefusalColours) -> String {
        var facts = TextTable()
        facts.add(["experiment", "\(state.genesis?.experiment ?? "not prepared") in \(directory)"])
        if let genesis = state.genesis {
            facts.add(["benchmark", "\(genesis.benchmark), assurance \(genesis.assurance)"])
        }
        facts.add(["phase", phaseText])
        if state.iteration > 0 { facts.add(["iteration", "\(state.iteration)"]) }
        if let best = state.best {
            facts.add([
                "best",
                "\(best.score) exact, \(Self.released(best.released?.value)), "
                    + (best.iteration == 0
                        ? "the template" : "from iteration \(best.iteration)"),
            ])
        }
        if let baseline = state.baseline {
            facts.add([
                "baseline",
                "\(baseline.sealed) exact, \(Self.released(baseline.released?.value)); train mean "
                    + Decimal.text(baseline.trainMean),
            ])
        }
        if !state.floors.isEmpty {
            let floors = state.floors.map {
                "\($0.name) \($0.sealed)" + ($0.isCeiling ? " (ceiling)" : "")
            }
            facts.add(["floors", floors.joined(separator: ", ")])
        }
        if let genesis = state.genesis {
            facts.add([
                "tasks",
                "\(state.train.count) train, \(genesis.testCount) sealed; suite of "
                    + "\(state.suite.count), threshold \(genesis.rules.threshold)",
            ])
        }
        if state.genesis != nil { facts.add(["told", told.text]) }
        if let worth = told.worth { facts.add(["bound", worth]) }
        facts.add(["record", recordText])
        let lines =
            facts.lines(indent: "") + section("budgets", budgetLines)
            + section("models", models.lines)
            + section("coding agent started again, by how it had ended", restartLines)
            + section(refusals.title, refusals.lines(colours))
            + section("tripwires, by wire", TripwiresStatus(entries).lines)
            + section("last decisions", decisionLines)
            + section("not in the suite, or unsure there", SuiteStatus(state, entries).lines)
            + section("manifests, by coding agent", ManifestStatus(state).lines)
            + section("needed from you, says the coding agent", NeedsStatus(state).lines)
            + section("warnings", warningLines)
        return lines.map { $0 + "\n" }.joined()
    }

    private func section(_ title: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? [] : ["", "\(title):"] + lines
    }

    private var phaseText: String {
        var text = isRunning ? "running: \(phase)" : phase
        if isPaused { text += ", paused" }
        if let exam { text += "; \(exam)" }
        if let waiting { text += "; \(waiting)" }
        if let ticket = state.open?.intent.ticket { text += ", judging \(ticket)" }
        if !isRunning, phase == "ended", let lastEnd { text += ": \(SafeText.cleaned(lastEnd))" }
        return text
    }

    private var exam: String? {
        guard let exam = surroundings.control?["exam"],
            let purpose = exam["purpose"]?.stringValue, let split = exam["split"]?.stringValue,
            let done = exam["done"]?.intValue, let count = exam["count"]?.intValue
        else { return nil }
        return "\(purpose) exam over the \(split) split, \(done) of \(count) rollouts done"
    }

    private var waiting: String? {
        surroundings.control?["waiting"].flatMap { TurnWait.text(of: $0, at: surroundings.now) }
    }

    private var recordText: String {
        verification.isIntact
            ? "intact, \(verification.count) rows"
            : "DAMAGED after row \(verification.count)"
    }

    private var budgetLines: [String] {
        guard state.genesis != nil else { return [] }
        var table = TextTable()
        for budget in budgets {
            let digits = budget.unit.isEmpty ? 0 : 1
            let used = Decimal.text(budget.used, decimals: digits)
            let limit = budget.limit.map { " of \(Decimal.text($0, decimals: digits))" } ?? ""
            let unit = budget.unit.isEmpty ? "" : " \(budget.unit)"
            table.add([budget.name.replacing("_", with: " "), used + limit + unit])
        }
        return table.lines()
    }

    private var restartLines: [String] {
        var table = TextTable()
        for restart in restarts {
            table.add([SafeText.cleaned(restart.end, atMost: 60), "\(restart.count)"])
        }
        return table.lines()
    }

    private var decisionLines: [String] {
        var table = TextTable()
        for decision in decisions {
            let reasons = (decision.body["reasons"]?.arrayValue ?? []).compactMap(\.stringValue)
            table.add([
                "\(decision.body["iteration"]?.intValue ?? 0)",
                decision.body["verdict"]?.stringValue ?? "",
                decision.body["sealed_mean"]?.numberValue.map { Decimal.text($0) } ?? "-",
                SafeText.cleaned(reasons.joined(separator: "; "), atMost: 160),
            ])
        }
        return table.lines()
    }

    private var warningLines: [String] { warnings.map { "  \($0)" } }

    private static func released(_ value: Double?) -> String {
        value.map { "\(Decimal.text($0, decimals: 2)) released" } ?? "not released"
    }
}
