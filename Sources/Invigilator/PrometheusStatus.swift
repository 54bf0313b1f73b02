internal import ExamResults
internal import IterationLoop
internal import Ledger
internal import ModelDialects
internal import StrictJSON
internal import Supervisor
internal import Workspace

/// A status in the text exposition format of Prometheus, version 0.0.4.
///
/// Metrics leave this host: of sealed exams they hold what was released, and nothing else.
struct PrometheusText {
    private(set) var text = ""
    private let experiment: String

    /// Begins without any metric.
    ///
    /// - Parameter experiment: the value of the label that every sample has.
    init(experiment: String) { self.experiment = experiment }

    enum Kind: String { case counter, gauge }

    /// One sample: labels beside the experiment's, and a value.
    typealias Sample = (labels: [(String, String)], value: Double)

    /// Adds a metric with its samples; a metric without any is left out.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        guard !samples.isEmpty else { return }
        text += "# HELP invigilator_\(name) \(help)\n# TYPE invigilator_\(name) \(kind.rawValue)\n"
        for sample in samples {
            let labels = ([("experiment", experiment)] + sample.labels)
                .map { "\($0)=\"\(Self.escaped($1))\"" }
            text += "invigilator_\(name){\(labels.joined(separator: ","))} "
            text += Self.number(sample.value) + "\n"
        }
    }

    /// Adds a metric with one sample; nothing where there is no value.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Double?) {
        add(name, kind, help, value.map { [([], $0)] } ?? [])
    }

    // Label values are names of the record, where a coding agent's words may stand.
    private static func escaped(_ text: String) -> String {
        SafeText.cleaned(text, atMost: 80).map { character in
            switch character {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            default: String(character)
            }
        }.joined()
    }

    private static func number(_ value: Double) -> String {
        let whole = value.rounded()
        return whole == value && abs(value) < 1e15 ? "\(Int64(whole))" : "\(value)"
    }
}

extension StatusReport {
    /// The status for a monitoring system.
    package var prometheus: String {
        var page = PrometheusText(experiment: state.genesis?.experiment ?? "")
        addState(&page)
        addBudgets(&page)
        addCounts(&page)
        addModels(&page)
        return page.text
    }

    private func addState(_ page: inout PrometheusText) {
        let genesis = state.genesis
        page.add(
            "experiment_info",
            .gauge,
            "Benchmark and assurance level of the experiment; always 1.",
            genesis.map {
                [([("benchmark", $0.benchmark), ("assurance", $0.assurance)], 1)]
            } ?? []
        )
        page.add("run_active", .gauge, "Whether a run is on.", isRunning ? 1 : 0)
        page.add("run_paused", .gauge, "Whether the run is paused.", isPaused ? 1 : 0)
        page.add(
            "best_released_ratio",
            .gauge,
            "What was released of the best candidate's score, from 0 to 1.",
            state.best?.released?.value
        )
        page.add("suite_tasks", .gauge, "Tasks of the regression suite.", Double(state.suite.count))
        page.add(
            "ledger_rows",
            .gauge,
            "Rows of the record that verify.",
            Double(verification.count)
        )
        page.add(
            "ledger_intact",
            .gauge,
            "Whether every row of the record verifies.",
            verification.isIntact ? 1 : 0
        )
        page.add(
            "ledger_last_row_timestamp_seconds",
            .gauge,
            "When the last row was written, in seconds since 1970.",
            entries.last.map { Double($0.time) / 1000 }
        )
    }

    private func addBudgets(_ page: inout PrometheusText) {
        let counted = budgets.filter { $0.unit.isEmpty }
        page.add(
            "budget_used",
            .gauge,
            "What was used of a budget that is counted.",
            counted.map { ([("budget", $0.name)], $0.used) }
        )
        page.add(
            "budget_limit",
            .gauge,
            "The limit of a budget that is counted, extensions included.",
            counted.compactMap { budget in budget.limit.map { ([("budget", budget.name)], $0) } }
        )
        let hours = budgets.first { $0.name == "hours" }
        page.add(
            "run_seconds_total",
            .counter,
            "How long runs lasted, pauses not counted.",
            hours.map { $0.used * 3600 }
        )
        page.add(
            "run_limit_seconds",
            .gauge,
            "How long runs may last in all, extensions included.",
            hours?.limit.map { $0 * 3600 }
        )
        page.add(
            "released_bits",
            .gauge,
            "Bits about sealed tasks that all releases can have told at the most.",
            (state.usage.releasedBits * 100).rounded() / 100
        )
        page.add(
            "unbounded_channels",
            .gauge,
            "Channels beside the answers that some release says nothing bounds.",
            Double(state.usage.unboundedChannels.count)
        )
    }

    private func addCounts(_ page: inout PrometheusText) {
        page.add(
            "decisions_total",
            .counter,
            "Released decisions of the gate by verdict.",
            counts(.release, by: "verdict", as: "verdict")
        )
        page.add(
            "refusals_total",
            .counter,
            "Refusals by kind (adjusted, denied, attempt) and by what refused.",
            refusals.rows.map {
                ([("kind", $0.kind.rawValue), ("layer", $0.layer)], Double($0.count))
            }
        )
        page.add(
            "tripwires_total",
            .counter,
            "Tripwires that fired, by wire.",
            counts(.tripwire, by: "wire", as: "wire")
        )
        page.add(
            "key_changes_total",
            .counter,
            "Changes of the record's key: signed by the key before, or replaced without it.",
            [("replaced", EventKind.keyReplaced), ("rotated", .keyRotated)].map { name, kind in
                ([("kind", name)], Double(entries.count { $0.kind == kind }))
            }
        )
        page.add(
            "agent_restarts_total",
            .counter,
            "How often the coding agent was started again, by how it had ended.",
            restarts.map { ([("end", $0.end)], Double($0.count)) }
        )
        for (name, kind, help) in [
            ("voids_total", EventKind.void, "Pieces of work that count for nothing."),
            ("runs_total", .runEnded, "Runs that ended in order."),
            ("extensions_total", .extended, "Extensions of the budget."),
            ("unpublished_total", .unpublished, "Checkpoints that could not be kept elsewhere."),
            ("unnotified_total", .unnotified, "Hooks that could not be told, once a run each."),
        ] { page.add(name, .counter, help, Double(entries.count { $0.kind == kind })) }
    }

    private func counts(
        _ kind: EventKind,
        by member: String,
        as label: String
    ) -> [PrometheusText.Sample] {
        var counts: [String: Int] = [:]
        for entry in entries where entry.kind == kind {
            counts[entry.body[member]?.stringValue ?? "unnamed", default: 0] += 1
        }
        return counts.sorted { $0.key < $1.key }.map { ([(label, $0.key)], Double($0.value)) }
    }

    private func addModels(_ page: inout PrometheusText) {
        let usage = ModelUsage(adding: entries.filter { $0.kind == ModelUsage.kind }.map(\.body))
        let shares = usage.shares.sorted { $0.key.rawValue < $1.key.rawValue }
        func each(_ value: (ModelUsage.Share) -> Double) -> [PrometheusText.Sample] {
            shares.map { ([("role", $0.key.rawValue)], value($0.value)) }
        }
        page.add(
            "model_calls_total",
            .counter,
            "Calls of models by role.",
            each { Double($0.calls) }
        )
        page.add(
            "model_failures_total",
            .counter,
            "Calls of models that ended with an error, by role.",
            each { Double($0.failures) }
        )
        page.add(
            "model_tokens_total",
            .counter,
            "Tokens of questions (input) and answers (output) by role.",
            shares.flatMap { role, share in
                [("input", share.inputTokens), ("output", share.outputTokens)].map {
                    ([("role", role.rawValue), ("direction", $0.0)], Double($0.1))
                }
            }
        )
        page.add(
            "model_cost_dollars_total",
            .counter,
            "Cost of models in dollars by role, as far as there are prices.",
            each { Double($0.microdollars) / 1e6 }
        )
    }
}
