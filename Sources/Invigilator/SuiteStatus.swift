internal import ExamResults
internal import Gate
internal import IterationLoop
internal import Ledger
internal import StrictJSON
internal import Workspace

/// The regression suite and what is kept out of it, for people and programs.
struct SuiteStatus {
    private let state: CampaignState
    private let flaky: [(task: String, count: Int)]

    init(_ state: CampaignState, _ entries: [LedgerEntry]) {
        self.state = state
        var counts: [String: Int] = [:]
        let suite = Set(state.suite.map(\.text))
        for entry in entries where entry.kind == .decision {
            for task in (entry.body["flaky"]?.arrayValue ?? []).compactMap(\.stringValue)
            where suite.contains(task) {
                counts[task, default: 0] += 1
            }
        }
        flaky = counts.map { (task: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.task) < ($0.count, $1.task) }
    }

    var json: JSONValue {
        [
            "tasks": JSONValue(state.suite.count),
            "threshold": .number(state.content.suite.threshold),
            "quarantined": JSONValue(state.quarantine.map(\.text)),
            "retired": JSONValue((state.evidence?.retired ?? []).map(\.text)),
            "flaky": .object(
                Dictionary(uniqueKeysWithValues: flaky.map { ($0.task, JSONValue($0.count)) })
            ),
        ]
    }

    var lines: [String] {
        var table = TextTable()
        func add(_ name: String, _ tasks: [String]) {
            guard !tasks.isEmpty else { return }
            table.add([name, tasks.joined(separator: " ")])
        }
        add("quarantined", state.quarantine.map(\.text))
        add("retired", (state.evidence?.retired ?? []).map(\.text))
        add("flaky", flaky.map { "\($0.task) (\($0.count))" })
        return table.lines()
    }
}
