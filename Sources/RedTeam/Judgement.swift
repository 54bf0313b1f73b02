public import SandboxPlan

/// What an attack came to in one sandbox.
public enum ProbeOutcome: String, Sendable, CaseIterable {
    /// Refused, for the stated reason, and it works where nothing refuses it.
    case closed
    /// Not refused, or not by the wall that should.
    case open
    /// A channel that is not closed, of a size that the threat model states.
    case declared
    /// This kernel has no such feature.
    case notApplicable = "n/a"
    /// The control did not work, so that nothing is shown.
    case broken
    /// Not refused, at a level of assurance that does not close it.
    case openAtLevel = "open-at-level"
    /// Nothing is shown, because a control of this level cannot do it either.
    case unproven

    /// What attacks can come to at a level.
    public static func all(at level: AssuranceLevel) -> [ProbeOutcome] {
        allCases.filter { level < .full || ![.openAtLevel, .unproven].contains($0) }
    }
}

/// One attack in one sandbox, judged.
public struct ProbeResult: Sendable, Equatable {
    /// The attack.
    public let probe: Probe
    /// The sandbox; absent where the record was attacked.
    public let role: SandboxRole?
    /// What it came to.
    public let outcome: ProbeOutcome
    /// What was seen in the sandbox, and on the control where that matters.
    public let observed: String
    /// What a receiver understood, where there is one.
    public let measurement: PairMeasurement?
    private let isControlBroken: Bool
    private let openAnswers: Set<Answer>
    private let levelAnswers: Set<Answer>

    /// Judges one attack.
    ///
    /// - Parameters:
    ///   - probe: the attack.
    ///   - role: the sandbox; nothing where the record was attacked.
    ///   - control: answers on the control, by the program's word.
    ///   - inside: answers in the sandbox, by the program's word.
    public init(
        _ probe: Probe,
        in role: SandboxRole?,
        control: [String: Answer],
        inside: [String: Answer]
    ) {
        var parts: [String] = []
        var outcomes: Set<ProbeOutcome> = []
        var isControlBroken = true
        var openAnswers: Set<Answer> = []
        for variant in probe.variants {
            let word = probe.word(for: variant)
            let outside = control[word] ?? .broken("no answer")
            let answer = inside[word] ?? .broken("no answer")
            let expected = Self.expected(probe, variant, role)
            let outcome = Self.outcome(
                control: outside,
                need: variant.control,
                inside: answer,
                isExpected: expected.contains(answer)
            )
            outcomes.insert(outcome)
            if outcome == .open { openAnswers.insert(answer) }
            let name = variant.name.isEmpty ? "" : "\(variant.name): "
            switch outcome {
            case .broken:
                parts.append("\(name)control \(outside.text), inside \(answer.text)")
                if case .broken = answer { isControlBroken = false }
            case .notApplicable: parts.append("\(name)\(outside.text)")
            case .closed, .open, .declared, .openAtLevel, .unproven:
                parts.append(name + answer.text)
            }
        }
        self.probe = probe
        self.role = role
        measurement = nil
        self.isControlBroken = isControlBroken
        self.openAnswers = openAnswers
        levelAnswers = []
        self.outcome = Self.combined(outcomes)
        observed = Self.shortened(parts)
    }

    /// Judges a channel between two sandboxes.
    ///
    /// - Parameters:
    ///   - probe: the attack.
    ///   - control: what the receiver understood on the control.
    ///   - inside: what it understood in a sandbox.
    public init(pair probe: Probe, control: PairMeasurement, inside: PairMeasurement) {
        self.probe = probe
        role = .coding
        measurement = inside
        isControlBroken = true
        (openAnswers, levelAnswers) = ([], [])
        if !control.isUnderstood {
            outcome = control.errors == nil ? .notApplicable : .broken
            observed = "control \(control.text), inside \(inside.text)"
        } else {
            outcome = inside.isNoise ? .closed : probe.declaredBits == nil ? .open : .declared
            observed = inside.text
        }
    }

    /// The same judged for a level: what it does not close by its nature is named so, what another wall
    /// answers there is closed, and what an ordinary user's control cannot do shows nothing.
    public func at(_ level: AssuranceLevel) -> ProbeResult {
        let others = OpenAtLevel.answers(to: probe, at: level)
        return switch outcome {
        case .open where !openAnswers.isEmpty && openAnswers.isSubset(of: others):
            ProbeResult(self, .closed, levelAnswers: others)
        case .open where OpenAtLevel.reason(for: probe, at: level) != nil:
            ProbeResult(self, .openAtLevel)
        case .broken where level < .full && isControlBroken: ProbeResult(self, .unproven)
        // Without root a sender cannot leave everything that the kernel lets root leave.
        case .notApplicable where level < .full && measurement != nil: ProbeResult(self, .unproven)
        case .open, .broken, .closed, .declared, .notApplicable, .openAtLevel, .unproven: self
        }
    }

    private init(
        _ other: ProbeResult,
        _ outcome: ProbeOutcome,
        levelAnswers: Set<Answer> = []
    ) {
        (probe, role, observed) = (other.probe, other.role, other.observed)
        (measurement, isControlBroken) = (other.measurement, other.isControlBroken)
        openAnswers = other.openAnswers
        self.levelAnswers = levelAnswers
        self.outcome = outcome
    }

    private static func expected(
        _ probe: Probe,
        _ variant: ProbeVariant,
        _ role: SandboxRole?
    ) -> Set<Answer> {
        role.map { probe.expected(variant, in: $0) } ?? variant.expected
    }

    /// Where it was made: the sandbox's label, or the record.
    public var place: String { role?.label ?? "record" }

    // A thing that was seen of every variant is said once.
    private static func shortened(_ parts: [String]) -> String {
        let values = Set(parts.map { $0.split(separator: ": ", maxSplits: 1).last ?? "" })
        guard parts.count > 1, values.count == 1, let value = values.first else {
            return parts.joined(separator: ", ")
        }
        return String(value)
    }

    private static func outcome(
        control: Answer,
        need: ControlNeed,
        inside: Answer,
        isExpected: Bool
    ) -> ProbeOutcome {
        switch control {
        case .lacking, .refused("ENOSYS"):
            // What the kernel lacks must still not work inside; a refusal there says nothing.
            guard need != .nothing else { return isExpected ? .closed : .open }
            return inside == .works ? .open : .notApplicable
        case .works: break
        case .refused(let name) where need != .works && !["EPERM", "EACCES"].contains(name): break
        case .refused, .killed, .absent, .ended, .timedOut, .broken:
            // What works inside got through, whoever could not do it outside.
            guard need == .nothing else { return inside == .works ? .open : .broken }
        }
        if case .broken = inside { return .broken }
        return isExpected ? .closed : .open
    }

    private static func combined(_ outcomes: Set<ProbeOutcome>) -> ProbeOutcome {
        for outcome in [ProbeOutcome.open, .broken, .closed] where outcomes.contains(outcome) {
            return outcome
        }
        return .notApplicable
    }

    /// What would have been right.
    public var expected: String {
        guard measurement == nil else { return "45 to 55 % errors, or nothing to read" }
        let answers = probe.variants.flatMap { variant in
            Self.expected(probe, variant, role).map(\.text)
        }
        return Set(answers + levelAnswers.map(\.text)).sorted().joined(separator: " or ")
    }
}
