internal import SandboxPlan
public import StrictYAML

/// The key `because`: why a policy allows what needs a reason, by the allowance's name.
public struct Justifications: Sendable, Equatable {
    /// The reasons, each with where it stands.
    public private(set) var reasons: [String: Placed<String>] = [:]

    /// The longest reason, in bytes; it is printed on one line of an explanation.
    static let longest = 1000

    /// No reason at all.
    init() {}

    /// Reads a mapping of names to texts.
    init(_ node: YAMLNode) {
        for entry in node.entries(remedy: "write «allowance: why it is needed»") ?? [] {
            guard let text = entry.value.text() else { continue }
            guard text.utf8.count <= Self.longest else {
                entry.value.refuse(.longReason)
                continue
            }
            reasons[entry.name] = Placed(text, at: entry.key.place)
        }
    }

    /// Gives a reason for one allowance.
    mutating func add(_ reason: String, to allowance: DangerousAllowance) {
        reasons[allowance.name] = Placed(reason, at: allowance.place)
    }

    /// Gives the reason for host paths that were not named in the document.
    mutating func add(_ reason: String, forMountsAt targets: [String], _ place: DocumentPlace) {
        for target in targets where reasons["mounts.\(target)"] == nil {
            reasons["mounts.\(target)"] = Placed(reason, at: place)
        }
    }
}

/// Something that a policy allows and that needs a reason in writing, since it takes away from what the
/// shipped policies promise.
public struct DangerousAllowance: Sendable, Equatable {
    /// Its name below the key `because`.
    public let name: String
    /// What it is dangerous for.
    public let danger: String
    /// Where the policy says it.
    public let place: DocumentPlace
}

/// Refuses what is dangerous and has no reason, and reasons for nothing.
struct JustificationLint {
    let policy: SandboxPolicy
    let groups: [String: SyscallGroup]
    let problems: ProblemList

    func check() {
        let dangerous = policy.dangerousAllowances(groups: groups)
        for allowance in dangerous where policy.because.reasons[allowance.name] == nil {
            problems.add(allowance.place, .unjustified(allowance))
        }
        let names = Set(dangerous.map(\.name))
        for (name, reason) in policy.because.reasons where !names.contains(name) {
            // What is shown for an experiment may lie where no reason is needed.
            guard reason.place != policy.place(of: "mounts") else { continue }
            problems.add(reason.place, .justifiesNothing(name.printablePrefix(120)))
        }
    }
}
