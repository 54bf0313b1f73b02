internal import StrictJSON
internal import StrictYAML

/// What a tripwire leads to: `tripwires` of the configuration.
public struct TripwireSettings: Sendable, Equatable {
    /// What a tripwire leads to.
    public let policy: Policy
    /// Whether files that look like answers are laid out for who looks for them.
    public let honeytokens: Bool
    /// The difference between the mean reward of train tasks that have twins and that of their twins
    /// above which a candidate counts as one that knows its train tasks by heart; 0 to 1.
    public let twinGap: Double

    /// What a tripwire leads to.
    public enum Policy: String, Sendable, CaseIterable {
        /// The candidate is void, and the night goes on.
        case void
        /// The candidate is void, and the run ends with exit code 4.
        case stop
    }

    /// The shipped settings.
    public static let standard = TripwireSettings()

    init(policy: Policy? = nil, honeytokens: Bool? = nil, twinGap: Double? = nil) {
        self.policy = policy ?? .void
        self.honeytokens = honeytokens ?? true
        self.twinGap = twinGap ?? 0.5
    }

    static func read(_ top: inout MappingReader) -> TripwireSettings {
        guard var section = top.mapping("tripwires") else { return .standard }
        let settings = TripwireSettings(
            policy: section.word("policy", of: Policy.self)?.value,
            honeytokens: section.bool("honeytokens")?.value,
            twinGap: section.number("twin-gap", in: 0...1)?.value
        )
        section.finish()
        return settings
    }

    /// The settings for the configuration's digest.
    var resolved: JSONValue {
        [
            "policy": .string(policy.rawValue), "honeytokens": .bool(honeytokens),
            "twin-gap": .number(twinGap),
        ]
    }
}
