public import StrictJSON

/// What a payload gains and loses when one policy takes the place of another.
public struct PolicyDifference: Sendable, Equatable {
    /// The version of ``json``'s shape.
    public static let schema = "invigilator.policy-difference/1"

    /// The statements of one section that only one side makes.
    public struct Section: Sendable, Equatable {
        /// The section's identifier, as in ``PolicyExplanation``.
        public let name: String
        /// The section's heading.
        public let title: String
        /// Statements that the new policy adds.
        public let gained: [String]
        /// Statements that it drops.
        public let lost: [String]
    }

    /// The old policy's name.
    public let old: String
    /// The new policy's name.
    public let new: String
    /// The sections in which the two differ.
    public let sections: [Section]

    /// Compares two explanations.
    public init(from old: PolicyExplanation, to new: PolicyExplanation) {
        self.old = old.name
        self.new = new.name
        sections = zip(old.sections, new.sections).compactMap { before, after in
            let gained = after.lines.filter { !before.lines.contains($0) }
            let lost = before.lines.filter { !after.lines.contains($0) }
            guard !gained.isEmpty || !lost.isEmpty else { return nil }
            return Section(name: after.name, title: after.title, gained: gained, lost: lost)
        }
    }

    /// The difference for people: `-` for what is lost, `+` for what is gained.
    public var text: String {
        var lines = ["policy \(old), replaced by \(new)"]
        if sections.isEmpty { lines.append("nothing changes") }
        for section in sections {
            lines += ["", "\(section.title):"]
            lines += section.lost.map { "- \($0)" } + section.gained.map { "+ \($0)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The difference for programs.
    public var json: JSONValue {
        let entries = sections.map { section -> JSONValue in
            [
                "section": .string(section.name), "gained": JSONValue(section.gained),
                "lost": JSONValue(section.lost),
            ]
        }
        return [
            "schema": .string(Self.schema), "old": .string(old), "new": .string(new),
            "sections": .array(entries),
        ]
    }
}
