internal import SandboxPlan
public import SandboxPolicy
public import StrictJSON

/// What changes for a payload when one policy takes the place of another, by effect and not by line.
///
/// It is empty exactly when both give the same plan, but for its name.
public struct PolicyDifference: Sendable, Equatable {
    /// One statement that is not the same for both.
    public struct Change: Sendable, Equatable {
        /// What the statement is about, such as a mount's target or a limit's name.
        public let subject: String
        /// What the old policy says of it; absent for nothing.
        public let old: String?
        /// What the new policy says of it; absent for nothing.
        public let new: String?
    }

    /// The old policy's name.
    public let old: String
    /// The new policy's name.
    public let new: String
    /// What changes, by section, in the order of the sections; none is empty.
    public let sections: [(section: EffectTable.Section, changes: [Change])]

    /// Whether nothing changes.
    public var isSame: Bool { sections.isEmpty }

    /// Compares two policies, of which one may be absent.
    ///
    /// - Parameters:
    ///   - old: the old policy's name and effects.
    ///   - new: the new policy's name and effects.
    public init(
        from old: (name: String, table: EffectTable),
        to new: (name: String, table: EffectTable)
    ) {
        self.old = old.name
        self.new = new.name
        sections = EffectTable.Section.allCases.compactMap { section in
            let before = old.table.sections[section] ?? [:]
            let after = new.table.sections[section] ?? [:]
            let subjects = Set(before.keys).union(after.keys).sorted()
            let changes = subjects.filter { before[$0] != after[$0] }.map {
                Change(subject: $0, old: before[$0], new: after[$0])
            }
            return changes.isEmpty ? nil : (section, changes)
        }
    }

    /// Compares two resolved policies.
    public init(from old: ResolvedPolicy, to new: ResolvedPolicy) {
        self.init(
            from: (old.plan.name, EffectTable(old)),
            to: (new.plan.name, EffectTable(new))
        )
    }

    /// Compares two differences.
    ///
    /// - Parameters:
    ///   - left: one difference.
    ///   - right: the other.
    /// - Returns: whether they say the same.
    public static func == (left: PolicyDifference, right: PolicyDifference) -> Bool {
        left.old == right.old && left.new == right.new
            && left.sections.elementsEqual(right.sections) { $0 == $1 }
    }

    /// The difference for people: `-` for what is lost, `+` for what is gained.
    public var text: String {
        let head = old == new ? "policy \(old)" : "policy \(old), replaced by \(new)"
        guard !isSame else { return "\(head): nothing changes\n" }
        var lines = [head]
        for (section, changes) in sections {
            lines += ["", "\(section.rawValue):"]
            for change in changes {
                if let text = change.old { lines.append("- \(change.subject): \(text)") }
                if let text = change.new { lines.append("+ \(change.subject): \(text)") }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The difference for programs, one entry of ``PolicyDifferences/json``.
    public var json: JSONValue {
        let entries = sections.map { section, changes -> JSONValue in
            [
                "section": .string(section.rawValue),
                "changes": .array(
                    changes.map { change in
                        [
                            "subject": .string(change.subject),
                            "old": change.old.map { .string($0) } ?? .null,
                            "new": change.new.map { .string($0) } ?? .null,
                        ]
                    }
                ),
            ]
        }
        return [
            "old": .string(old), "new": .string(new), "same": .bool(isSame),
            "sections": .array(entries),
        ]
    }
}

/// The result of `policy diff`: one difference a policy.
public struct PolicyDifferences: Sendable, Equatable {
    /// The version of ``json``'s shape.
    public static let schema = "invigilator.policy-difference/2"

    /// The differences, of policies that changed and of those that did not.
    public let all: [PolicyDifference]

    /// Collects differences.
    public init(_ all: [PolicyDifference]) {
        self.all = all
    }

    /// Whether nothing changes.
    public var isSame: Bool { all.allSatisfy(\.isSame) }

    /// The differences for people, an empty line between two.
    public var text: String { all.map(\.text).joined(separator: "\n") }

    /// The differences for programs.
    public var json: JSONValue {
        [
            "schema": .string(Self.schema), "same": .bool(isSame),
            "policies": .array(all.map(\.json)),
        ]
    }
}
