public import StrictJSON

/// The same attacks in another program's sandbox.
///
/// The other program makes no statement about reasons, so here only one question is asked: did the attack
/// get through? It did where it works, and, where its proof is that the kernel answers, where the kernel
/// did.
public struct RivalReport: Sendable {
    /// The version of ``json``'s shape.
    public static let schema = "invigilator.red-team-comparison/1"

    /// The other program, as it names itself.
    public let rival: String
    /// How it was called, without the attacks.
    public let command: [String]
    /// What its sandbox showed to the attacks, in a sentence.
    public let shown: String
    private let entries: [Entry]

    private struct Entry {
        let result: ProbeResult
        let isStopped: Bool
        let observed: String
    }

    /// Compares what attacks met with here with what they met with there.
    ///
    /// - Parameters:
    ///   - rival: the other program, as it names itself.
    ///   - command: how it was called.
    ///   - shown: what its sandbox showed to the attacks, in a sentence.
    ///   - results: what the attacks came to here; those that are closed or open are compared.
    ///   - answers: what they met with there, by the program's word.
    public init(
        rival: String,
        command: [String],
        shown: String,
        results: [ProbeResult],
        answers: [String: Answer]
    ) {
        self.rival = rival
        self.command = command
        self.shown = shown
        entries = results.filter { [.closed, .open].contains($0.outcome) }.compactMap { result in
            let seen = result.probe.variants.compactMap { variant in
                answers[result.probe.word(for: variant)].map { (variant, $0) }
            }
            guard seen.count == result.probe.variants.count else { return nil }
            let passed = seen.filter { !Self.isStopped($1, $0.control) }
            let shown = passed.first ?? seen[0]
            let name = shown.0.name.isEmpty || passed.isEmpty ? "" : "\(shown.0.name): "
            return Entry(
                result: result,
                isStopped: passed.isEmpty,
                observed: name + shown.1.text
            )
        }
    }

    private static func isStopped(_ answer: Answer, _ need: ControlNeed) -> Bool {
        switch answer {
        case .works: false
        case .refused(let name): need == .works || ["EPERM", "EACCES", "ENOSYS"].contains(name)
        case .killed, .absent, .ended, .lacking: true
        case .timedOut, .broken: false
        }
    }

    /// A line for each family, and one for each attack that got through there.
    public var text: String {
        var lines = [
            "\(rival), called as: \(command.joined(separator: " "))",
            "It shows: \(shown).",
            "Here an attack is stopped when it is refused for the stated reason; there, when it does not get",
            "through. A call gets through when the kernel answers it. A filter is what a caller of theirs may add.",
            "",
            "family: attacks, stopped here, stopped there",
        ]
        for family in ProbeFamily.allCases {
            let own = entries.filter { $0.result.probe.family == family }
            guard !own.isEmpty else { continue }
            lines.append("\(family.rawValue): \(counts(own))")
        }
        lines += ["all: \(counts(entries))", "", "through there:"]
        for entry in entries where !entry.isStopped {
            let probe = entry.result.probe
            lines.append(
                "\(probe.id) [\(probe.severity.rawValue)] \(entry.observed): \(probe.actor) \(probe.title)"
            )
        }
        return lines.joined(separator: "\n")
    }

    private func counts(_ entries: [Entry]) -> String {
        let here = entries.count { $0.result.outcome == .closed }
        return "\(entries.count), \(here), \(entries.count { $0.isStopped })"
    }

    /// The comparison for programs.
    public var json: JSONValue {
        let probes = entries.map { entry -> JSONValue in
            [
                "id": .string(entry.result.probe.id),
                "family": .string(entry.result.probe.family.rawValue),
                "severity": .string(entry.result.probe.severity.rawValue),
                "here": .string(entry.result.outcome.rawValue),
                "there": .string(entry.isStopped ? "closed" : "open"),
                "observed": .string(entry.observed),
            ]
        }
        return [
            "schema": .string(Self.schema), "against": .string(rival),
            "command": JSONValue(command), "shown": .string(shown), "probes": .array(probes),
        ]
    }
}
