// PolicyEffects: what policies amount to, for people and programs; it explains and decides nothing.

public import SandboxPlan
public import SandboxPolicy
public import StrictJSON

/// What a sandbox can do, in the words of effects: what its payload can read, write, execute, reach
/// and use up, and what is refused.
public struct PolicyExplanation: Sendable, Equatable {
    /// The version of ``json``'s shape.
    public static let schema = "invigilator.policy-explanation/1"

    /// One heading with its lines.
    public struct Section: Sendable, Equatable {
        /// A short identifier, the member's name in ``json``.
        public let name: String
        /// The heading in ``text``.
        public let title: String
        /// The lines, each a full statement.
        public let lines: [String]
    }

    /// The policy's name.
    public let name: String
    /// Who it is for.
    public let role: SandboxRole
    /// The sections, always the same ones in the same order.
    public let sections: [Section]

    /// Explains a resolved policy.
    public init(_ resolved: ResolvedPolicy) {
        let effects = PlanEffects(resolved: resolved)
        name = resolved.plan.name
        role = resolved.plan.role
        sections = [
            Section(name: "reads", title: "It can read", lines: effects.reads),
            Section(name: "writes", title: "It can write", lines: effects.writes),
            Section(name: "executes", title: "It can execute", lines: effects.executes),
            Section(name: "reaches", title: "It can reach", lines: effects.reaches),
            Section(name: "sees", title: "It can see", lines: effects.sees),
            Section(name: "limits", title: "It can use up", lines: effects.limits),
            Section(name: "calls", title: "It may ask the kernel for", lines: effects.calls),
            Section(name: "refused", title: "It is refused", lines: effects.refused),
            Section(
                name: "weaker",
                title: "Weaker than the shipped policies",
                lines: effects.weaker
            ),
            Section(
                name: "reasons",
                title: "Allowed for a reason that its author gives",
                lines: effects.reasons
            ),
        ]
    }

    /// The explanation for people.
    public var text: String {
        var lines = ["policy \(name), for a sandbox of role \(role)"]
        for section in sections {
            lines += ["", "\(section.title):"]
            lines += (section.lines.isEmpty ? ["nothing"] : section.lines).map { "  \($0)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The explanation for programs.
    public var json: JSONValue {
        var members: [String: JSONValue] = [
            "schema": .string(Self.schema), "policy": .string(name), "role": .string("\(role)"),
        ]
        for section in sections { members[section.name] = JSONValue(section.lines) }
        return .object(members)
    }
}
