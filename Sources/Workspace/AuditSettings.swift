internal import StrictJSON
internal import StrictYAML

/// How the candidates' audit judges: `audit` of the configuration.
public struct AuditSettings: Sendable, Equatable {
    /// What findings lead to.
    public let policy: Policy
    /// The growth against the best candidate, in bytes, that is no finding.
    public let growth: Int
    /// The growth against the best candidate, in lines, that is no finding.
    public let lines: Int
    /// The bits a character from which a long string is a finding; prose has 4 to 4.6, code up to 5,
    /// base 64 nearly 6.
    public let entropy: Double

    /// What findings lead to.
    public enum Policy: String, Sendable, CaseIterable {
        /// They are recorded and shown.
        case warn
        /// A candidate with findings is not judged, and the refusal names them.
        case refuse
    }

    /// The shipped settings.
    public static let standard = AuditSettings()

    init(policy: Policy? = nil, growth: Int? = nil, lines: Int? = nil, entropy: Double? = nil) {
        self.policy = policy ?? .warn
        self.growth = growth ?? 32 * 1024
        self.lines = lines ?? 800
        self.entropy = entropy ?? 5.2
    }

    static func read(_ top: inout MappingReader) -> AuditSettings {
        guard var section = top.mapping("audit") else { return .standard }
        let settings = AuditSettings(
            policy: section.word("policy", of: Policy.self)?.value,
            growth: section.bytes("growth", in: 1...(16 << 20)),
            lines: section.integer("lines", in: 1...1_000_000)?.value,
            entropy: section.number("entropy", in: 3...8)?.value
        )
        section.finish()
        return settings
    }

    /// The settings for the configuration's digest.
    var resolved: JSONValue {
        [
            "policy": .string(policy.rawValue), "growth": JSONValue(growth),
            "lines": JSONValue(lines), "entropy": .number(entropy),
        ]
    }
}
