internal import CheckReports
internal import SandboxPlan

/// The report in the form that test runners read.
extension RedTeamReport {
    /// A suite for each family, a case for each attack and sandbox.
    public var junit: String {
        JUnit.text(
            ProbeFamily.allCases.map { family in
                .init(
                    family.rawValue,
                    results.filter { $0.probe.family == family }.map(Self.check)
                )
            }
        )
    }

    private static func check(_ result: ProbeResult) -> Check {
        let outcome: Check.Outcome =
            switch result.outcome {
            case .closed, .declared: .passed
            case .open: .failed("\(result.observed), expected \(result.expected)")
            case .openAtLevel: .failed("open for this level: \(result.observed)")
            case .broken: .broken(result.observed)
            case .notApplicable, .unproven: .skipped(result.observed)
            }
        return Check(result.probe.id, in: result.place, outcome)
    }
}

/// The report as the page that a release is committed with.
extension RedTeamReport {
    /// Counts by family, sandbox and severity, and every attack with what answered it.
    public var markdown: String {
        let parts = [
            introduction, familyTable, severityTable, exceptionTable, attackTables,
        ]
        return parts.joined(separator: "\n\n") + "\n"
    }

    private var introduction: String {
        """
        # Red team

        Written by `\(level < .full ? "" : "sudo ")invigilator redteam --markdown` on Linux \(kernel.prefix { $0.isNumber || $0 == "." }).

        Each attack is made twice: on a control, where it must work, and in a sandbox under the shipped policy,
        where it must be refused for the stated reason. *Closed* is that; *open* is anything else inside;
        *declared* is a channel of a size that THREAT_MODEL.md states; *n/a* means that this kernel has no such
        feature, which the control showed; *broken* means that the control did not work, so that nothing is
        shown. An attack in several sandboxes counts once in each. Those of *relay* are made by a candidate in an
        exam; their control is a harness that believes what it reads. Those of *ledger* are made on copies of a
        record; their control reads it without verifying, or without what the attack is refused by. Those of
        *endpoint* are made in sandboxes that have a model, with a real broker before a model that tells what
        reached it; where they ask the endpoint, their control is a proxy that has the key and passes things on.
        BENCHMARKS.md says how those of the coding sandbox fare in calls of bubblewrap, firejail and crun
        (`--against`).

        \(probeCount) attacks, made \(results.count) times:
        **\(outcomes.map { "\(count($0)) \($0.rawValue)" }.joined(separator: ", "))**.
        Channels between two sandboxes: \(Int(openBits.rounded(.up))) bits open, \(declaredBits) bits a
        hand-over declared.\(levelWords)
        """
    }

    private var levelWords: String {
        guard level < .full else { return "" }
        return """


            An ordinary user made them, at the level `\(level.name)`. *Open-at-level* is what this level has no
            wall against; *unproven* is what a control without root cannot do either, so that nothing is shown.
            """
    }

    private var familyTable: String {
        let rows = ProbeFamily.allCases.compactMap { family -> String? in
            let own = results.filter { $0.probe.family == family }
            guard !own.isEmpty else { return nil }
            let probes = Set(own.map(\.probe.id)).count
            let roles = [SandboxRole].everywhere.map { role in
                "\(own.count { $0.role == role })"
            }
            let record = "\(own.count { $0.role == nil })"
            return row([family.rawValue, "\(probes)"] + roles + [record] + counts(own))
        }
        let head =
            ["family", "attacks"] + [SandboxRole].everywhere.map(\.label) + ["record"]
            + outcomeNames
        return "## By family\n\n" + table(head, rows)
    }

    private var severityTable: String {
        let rows = Severity.allCases.compactMap { severity -> String? in
            let own = results.filter { $0.probe.severity == severity }
            guard !own.isEmpty else { return nil }
            return row([severity.rawValue, "\(Set(own.map(\.probe.id)).count)"] + counts(own))
        }
        return "## By severity\n\n" + table(["severity", "attacks"] + outcomeNames, rows)
    }

    private var exceptionTable: String {
        let own = results.filter { $0.outcome != .closed }
        guard !own.isEmpty else { return "## Not closed\n\nNothing." }
        let rows = Dictionary(grouping: own, by: \.probe.id).sorted { $0.key < $1.key }.map {
            id,
            results in
            let outcomes = Set(results.map(\.outcome.rawValue)).sorted().joined(separator: ", ")
            let roles = results.map(\.place).joined(separator: ", ")
            let seen = Set(results.map(\.observed)).sorted().joined(separator: "; ")
            return row(["`\(id)`", outcomes, roles, seen])
        }
        return "## Not closed\n\n" + table(["attack", "outcome", "sandboxes", "seen"], rows)
    }

    private var attackTables: String {
        let families = ProbeFamily.allCases.compactMap { family -> String? in
            var seen: Set<String> = []
            let probes = results.map(\.probe).filter {
                $0.family == family && seen.insert($0.id).inserted
            }
            guard !probes.isEmpty else { return nil }
            let rows = probes.map { probe in
                let name = probe.id.dropFirst(family.rawValue.count + 1)
                return row([
                    "`\(name)`", "\(probe.actor) \(probe.title)", probe.threat, probe.wall.name,
                    probe.severity.rawValue,
                ])
            }
            let head = ["attack", "what it does", "what would be lost", "what answers", "severity"]
            return "### \(family.rawValue)\n\n" + table(head, rows)
        }
        return "## Attacks\n\n" + families.joined(separator: "\n\n")
    }

    private var outcomeNames: [String] { outcomes.map(\.rawValue) }

    private func counts(_ results: [ProbeResult]) -> [String] {
        outcomes.map { outcome in "\(results.count { $0.outcome == outcome })" }
    }

    private func row(_ cells: [String]) -> String {
        "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }

    private func table(_ head: [String], _ rows: [String]) -> String {
        ([row(head), row(head.map { _ in "---" })] + rows).joined(separator: "\n")
    }
}
