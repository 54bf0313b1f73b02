internal import IterationLoop
internal import Workspace
internal import StrictJSON

/// What the coding agent says it needs from a person: the last notes of that part, oldest first.
struct NeedsStatus {
    private static let count = 5
    private let needs: [(iteration: Int, text: String)]

    init(_ state: CampaignState) {
        needs = state.learnings
            .compactMap { learning in
                learning.note.parts[.needs].map { (learning.iteration, $0) }
            }
            .suffix(Self.count)
    }

    var json: JSONValue {
        .array(
            needs.map { ["iteration": JSONValue($0.iteration), "text": .string($0.text)] }
        )
    }

    var lines: [String] {
        var table = TextTable()
        for need in needs {
            table.add(["\(need.iteration)", SafeText.cleaned(need.text, atMost: 160)])
        }
        return table.lines()
    }
}
