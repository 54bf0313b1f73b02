internal import StrictJSON
internal import StrictYAML

/// What the section `promotion` says: how train tasks enter the regression suite and are protected.
public struct PromotionSettings: Sendable, Equatable {
    /// When a newly passing task enters the suite.
    public let policy: Policy
    /// The passes on fresh seeds that confirm a task.
    public let confirm: Int
    /// The most runs on fresh seeds.
    public let of: Int
    /// Whether a suite task that fails is run again, and a confirmed loss refuses the candidate.
    public let protects: Bool
    /// Whether a newly passing task that is not confirmed is kept apart as flaky.
    public let quarantines: Bool
    /// The most suite tasks of one family; nothing where there is no limit.
    public let cap: Int?

    /// When a newly passing task enters the suite.
    public enum Policy: String, Sendable, CaseIterable {
        /// After the one run that showed it.
        case once
        /// After enough passes on fresh seeds.
        case confirmed
    }

    /// What holds where the section is left out: auto-harness's behaviour.
    static let standard = PromotionSettings()

    private init() {
        (policy, confirm, of, protects, quarantines, cap) = (.once, 3, 5, false, true, nil)
    }

    init(reading top: inout MappingReader) {
        var section = top.mapping("promotion")
        let standard = Self.standard
        policy = section?.word("policy", of: Policy.self)?.value ?? standard.policy
        let confirm = section?.integer("confirm", in: 1...50)
        let of = section?.integer("of", in: 1...50)
        protects = section?.bool("protect")?.value ?? standard.protects
        let quarantine = section?.bool("quarantine")
        quarantines = quarantine?.value ?? standard.quarantines
        cap = section?.integer("cap", in: 1...100_000)?.value
        self.of = of?.value ?? max(standard.of, confirm?.value ?? 0)
        self.confirm = confirm?.value ?? min(standard.confirm, self.of)
        section?.finish()
        let isRepeated = policy == .confirmed || protects
        for (key, found) in [("confirm", confirm), ("of", of)] {
            guard let found, !isRepeated else { continue }
            top.refuse(
                "promotion.\(key)",
                line: found.line,
                "nothing is run again under policy: once without protect",
                remedy: "write policy: confirmed or protect: true, or remove the key"
            )
        }
        if let quarantine, policy == .once {
            top.refuse(
                "promotion.quarantine",
                line: quarantine.line,
                "policy: once finds no flaky task",
                remedy: "write policy: confirmed, or remove the key"
            )
        }
        if let confirm, self.confirm > self.of {
            top.refuse(
                "promotion.confirm",
                line: confirm.line,
                "\(self.confirm) passes cannot come of \(self.of) runs",
                remedy: "write a number that is at most that of the key of"
            )
        }
    }

    var resolved: JSONValue {
        [
            "policy": .string(policy.rawValue), "confirm": JSONValue(confirm),
            "of": JSONValue(of), "protect": .bool(protects), "quarantine": .bool(quarantines),
            "cap": cap.map { JSONValue($0) } ?? .null,
        ]
    }
}
