public import SandboxPlan
public import StrictJSON

/// What a run of the red team found.
public struct RedTeamReport: Sendable {
    /// The version of ``json``'s shape.
    public static let schema = "invigilator.red-team/1"

    /// Attack by attack, sandbox by sandbox.
    public let results: [ProbeResult]
    /// What the honest program met with, by sandbox; nothing where it passed.
    public let honest: [HonestResult]
    /// The version of the kernel that it ran on.
    public let kernel: String
    /// The level of assurance at which the sandboxes were made.
    public let level: AssuranceLevel

    /// Creates a report of attacks at a level, for which each is judged.
    public init(
        results: [ProbeResult],
        honest: [HonestResult],
        kernel: String,
        level: AssuranceLevel = .full
    ) {
        self.results = results.map { $0.at(level) }
        self.level = level
        self.honest = honest
        self.kernel = kernel
    }

    /// What came of the honest program in one sandbox.
    public struct HonestResult: Sendable, Equatable {
        /// The sandbox.
        public let role: SandboxRole
        /// What went wrong; absent when it did all that it should.
        public let problem: String?

        /// Creates a result.
        public init(role: SandboxRole, problem: String?) {
            self.role = role
            self.problem = problem
        }
    }

    var outcomes: [ProbeOutcome] { ProbeOutcome.all(at: level) }

    /// How many attacks came to something; each counts once for each sandbox.
    public func count(_ outcome: ProbeOutcome) -> Int {
        results.count { $0.outcome == outcome }
    }

    /// Attacks that came to something, by id.
    public func ids(_ outcome: ProbeOutcome) -> [String] {
        Array(Set(results.filter { $0.outcome == outcome }.map(\.probe.id))).sorted()
    }

    /// Attacks of which nothing is open or broken, and something is closed.
    public var closedProbes: [String] {
        let kinds: [ProbeOutcome] = [.open, .openAtLevel, .broken, .unproven]
        let bad = Set(kinds.flatMap { ids($0) })
        return ids(.closed).filter { !bad.contains($0) }
    }

    /// Whether the sandbox let an attack through.
    public var hasOpen: Bool { count(.open) > 0 }

    /// Whether an attack or the honest program could not be judged or did not run.
    public var hasBroken: Bool { count(.broken) > 0 || honest.contains { $0.problem != nil } }

    /// Attacks made, without repetition for sandboxes.
    public var probeCount: Int { Set(results.map(\.probe.id)).count }

    /// What a code could carry over all channels that are open, in bits a pair of sandboxes.
    public var openBits: Double {
        results.reduce(0) { sum, result in
            sum + (result.outcome == .open ? result.measurement?.capacity ?? 0 : 0)
        }
    }

    /// What the threat model says of channels that are not closed, in bits a hand-over.
    public var declaredBits: Int {
        results.reduce(0) { sum, result in
            sum + (result.outcome == .declared ? result.probe.declaredBits ?? 0 : 0)
        }
    }

    // MARK: - for people

    /// A line for each attack that is not closed, a line for each family, and the counts.
    ///
    /// - Parameter lists: whether every attack has its line.
    /// - Returns: the lines, without one at the end.
    public func text(listing lists: Bool) -> String {
        var lines: [String] = []
        for result in results
        where lists
            || [.open, .openAtLevel, .declared, .broken, .unproven].contains(result.outcome)
        {
            lines.append(line(result))
        }
        if !lines.isEmpty { lines.append("") }
        lines += familyLines + [""]
        for result in honest {
            lines.append("honest program, \(result.role.label): \(result.problem ?? "passes")")
        }
        if results.contains(where: { $0.measurement != nil }) {
            lines.append(
                "channels between two sandboxes: \(Int(openBits.rounded(.up))) bits open, "
                    + "\(declaredBits) bits a hand-over declared"
            )
        }
        if level < .full {
            lines.append(
                "assurance \(level.name): \(count(.openAtLevel)) times open for this level, "
                    + "\(count(.unproven)) times nothing shown, because its control is no root"
            )
        }
        lines.append(
            "\(probeCount) attacks, \(results.count) times: "
                + outcomes.map { "\(count($0)) \($0.rawValue)" }
                .joined(separator: ", ")
        )
        return lines.joined(separator: "\n")
    }

    private func line(_ result: ProbeResult) -> String {
        let outcome = result.outcome.rawValue
        let words = "\(outcome) \(result.probe.id) in \(result.place): \(result.observed)"
        switch result.outcome {
        case .open:
            return "\(words); expected \(result.expected) from \(result.probe.wall.name) "
                + "[\(result.probe.severity.rawValue)]: \(result.probe.actor) \(result.probe.title)"
        case .openAtLevel:
            let why = OpenAtLevel.reason(for: result.probe, at: level) ?? ""
            return "\(words); open for this level: \(why)"
        case .closed, .declared, .notApplicable, .broken, .unproven: return words
        }
    }

    private var familyLines: [String] {
        ProbeFamily.allCases.compactMap { family in
            let own = results.filter { $0.probe.family == family }
            guard !own.isEmpty else { return nil }
            let counts = outcomes.compactMap { outcome -> String? in
                let count = own.count { $0.outcome == outcome }
                return count == 0 ? nil : "\(count) \(outcome.rawValue)"
            }
            return "\(family.rawValue): \(counts.joined(separator: ", "))"
        }
    }

    // MARK: - for programs

    /// The report for programs.
    public var json: JSONValue {
        let probes = results.map { result -> JSONValue in
            var members: [String: JSONValue] = [
                "id": .string(result.probe.id),
                "family": .string(result.probe.family.rawValue),
                "title": .string(result.probe.title),
                "layer": .string(result.probe.wall.name),
                "severity": .string(result.probe.severity.rawValue),
                "role": .string(result.place),
                "outcome": .string(result.outcome.rawValue),
                "expected": .string(result.expected),
                "observed": .string(result.observed),
            ]
            if let measurement = result.measurement {
                members["bits"] = JSONValue(measurement.bits)
                members["error_rate"] = measurement.errorRate.map { .number($0) } ?? .null
                members["capacity_bits"] = .number(measurement.capacity)
            }
            return .object(members)
        }
        let honestResults = honest.map { result -> JSONValue in
            [
                "role": .string(result.role.label),
                "problem": result.problem.map { .string($0) } ?? .null,
            ]
        }
        let counts: [String: JSONValue] = Dictionary(
            uniqueKeysWithValues: outcomes.map {
                ($0.rawValue, JSONValue(count($0)))
            }
        )
        return [
            "schema": .string(Self.schema),
            "kernel": .string(kernel),
            "assurance": .string(level.name),
            "counts": .object(counts),
            "probe_count": JSONValue(probeCount),
            "open_bits": .number(openBits),
            "declared_bits": JSONValue(declaredBits),
            "probes": .array(probes),
            "honest": .array(honestResults),
        ]
    }
}
