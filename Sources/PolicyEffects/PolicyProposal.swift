internal import FilterLint
internal import SandboxPlan
public import SandboxPolicy
internal import SeccompCompiler
public import StrictJSON
internal import StrictYAML

/// What a policy would have to say so that a program is not refused what it was seen to ask for.
///
/// It is for review alone. Nothing applies it, and nothing says that a program ought to get what it asked for.
public struct PolicyProposal: Sendable, Equatable {
    /// The version of ``json``'s shape.
    public static let schema = "invigilator.policy-proposal/1"

    /// One line that would be added.
    public struct Line: Sendable, Equatable {
        /// The key that it is added to; absent where no policy can allow it.
        public let key: String?
        /// The line, or what was asked for.
        public let text: String
        /// Why it is dangerous or impossible; absent for what needs no reason.
        public let danger: String?
        /// The name below `because` that its reason has.
        public let because: String?
        /// Who asked how often: the call, its error and the program.
        public internal(set) var askers: [String: Int]
    }

    /// The policy's name.
    public let policy: String
    /// The lines, by key.
    public let lines: [Line]
    /// Failures that were not told apart.
    public let others: Int

    /// Derives lines from failures.
    ///
    /// - Parameters:
    ///   - failures: what was seen under the policy.
    ///   - resolved: the policy it was seen under.
    ///   - resolver: with the groups that can be proposed, and the host that paths are looked up on.
    public init(
        _ failures: FailureCount,
        under resolved: ResolvedPolicy,
        _ resolver: PolicyResolver
    ) {
        let deriving = LineDerivation(resolved: resolved, resolver: resolver)
        var found: [String: Line] = [:]
        for (failure, count) in failures.counts {
            guard let line = deriving.line(for: failure) else { continue }
            let id = "\(line.key ?? "~") \(line.text)"
            let asker = "\(failure.call) \(failure.error), \(failure.program)"
            found[id, default: line].askers[asker, default: 0] += count
        }
        policy = resolved.policy.name
        lines = found.sorted { $0.key < $1.key }.map(\.value)
        others = failures.others
    }

    /// The proposal for people, in the form of a difference.
    public var text: String {
        guard !lines.isEmpty else { return "policy \(policy): nothing that it refused was seen\n" }
        var text = [
            "--- policy \(policy)", "+++ policy \(policy), for review: nothing was changed",
        ]
        var key: String? = ""
        for line in lines {
            if line.key != key {
                key = line.key
                text.append("@@ \(key ?? "what no policy can allow") @@")
            }
            text.append((line.key == nil ? "  " : "+ ") + line.text)
            for (asker, count) in line.askers.sorted(by: { $0.key < $1.key }) {
                text.append("    # asked \(count) times: \(asker)")
            }
            guard let danger = line.danger else { continue }
            text.append("    # \(line.because == nil ? "impossible" : "dangerous"): \(danger)")
            if let because = line.because {
                text.append("    # refused until there is a reason: because: {\(because): ...}")
            }
        }
        if others > 0 { text.append("# \(others) further failures were not told apart") }
        return text.joined(separator: "\n") + "\n"
    }

    /// The proposal for programs.
    public var json: JSONValue {
        let entries = lines.map { line -> JSONValue in
            [
                "key": line.key.map { .string($0) } ?? .null, "line": .string(line.text),
                "danger": line.danger.map { .string($0) } ?? .null,
                "because": line.because.map { .string($0) } ?? .null,
                "askers": .object(line.askers.mapValues { JSONValue($0) }),
            ]
        }
        return [
            "schema": .string(Self.schema), "policy": .string(policy), "lines": .array(entries),
            "others": JSONValue(others),
        ]
    }
}

/// Derives the line that one failure asks for.
private struct LineDerivation {
    let resolved: ResolvedPolicy
    let resolver: PolicyResolver

    /// Nil for what the policy did not refuse.
    func line(for failure: ObservedFailure) -> PolicyProposal.Line? {
        if failure.error == "EPERM" { return callLine(failure) }
        return failure.path.flatMap { pathLine($0, failure) }
    }

    private func refused(_ text: String, _ reason: String) -> PolicyProposal.Line {
        .init(key: nil, text: text, danger: reason, because: nil, askers: [:])
    }

    // MARK: - calls

    // A call that the filter lets through was refused by somebody else, and no line of a policy helps.
    private func callLine(_ failure: ObservedFailure) -> PolicyProposal.Line? {
        let call = failure.call
        guard !allows(resolved.filter.rules, failure) else { return nil }
        guard !RefusedCalls.all.contains(where: { $0.name == call }) else {
            return refused(call, "it is among the calls that no policy can allow")
        }
        if ["socket", "socketpair"].contains(call) { return socketLine(failure) }
        for name in resolver.groups.keys.sorted() {
            guard let group = resolver.groups[name], allows(group.rules.map(\.value), failure)
            else { continue }
            // A group that the policy has, less what it takes out again.
            guard !resolved.groups.contains(group) else {
                return refused(call, "the policy takes it out of the group \(name) by refuse")
            }
            let changed = resolved.policy.allowing(group: name, rule: nil)
            return withDanger("syscalls.groups", name, of: changed)
        }
        return ruleLine(failure)
    }

    private func allows(_ rules: [SyscallRule], _ failure: ObservedFailure) -> Bool {
        rules.contains { rule in
            rule.call == failure.call
                && rule.conditions.allSatisfy { condition in
                    let index = Int(condition.argument)
                    let value = index < failure.arguments.count ? failure.arguments[index] : 0
                    return UInt32(truncatingIfNeeded: value) & condition.mask == condition.value
                }
        }
    }

    private func socketLine(_ failure: ObservedFailure) -> PolicyProposal.Line? {
        let wanted = SocketFamily.allCases.first { family in
            do throws(SeccompError) { return allows(try family.rules(), failure) } catch {
                return false
            }
        }
        guard let wanted else {
            let numbers = failure.arguments.prefix(3).map { "\($0)" }.joined(separator: ", ")
            return refused("\(failure.call)(\(numbers))", "it is of no family that can be listed")
        }
        let danger = resolved.policy.danger(of: wanted)
        return .init(
            key: "sockets",
            text: wanted.rawValue,
            danger: danger?.danger,
            because: danger?.name,
            askers: [:]
        )
    }

    /// The arguments by which calls are told apart that do many things.
    private static let selectors: [String: [UInt8]] = [
        "ioctl": [1], "prctl": [0], "madvise": [2], "setsockopt": [1, 2], "getsockopt": [1, 2],
        "personality": [0], "arch_prctl": [0], "clone": [0], "fcntl": [1],
    ]

    private func ruleLine(_ failure: ObservedFailure) -> PolicyProposal.Line? {
        let call = failure.call
        let selectors = Self.selectors[call] ?? []
        guard selectors.allSatisfy({ Int($0) < failure.arguments.count }) else { return nil }
        let values = selectors.map { ($0, failure.arguments[Int($0)]) }
        let rule: SyscallRule
        do throws(SeccompError) {
            let conditions = try values.map { index, value throws(SeccompError) in
                try ArgumentCondition(argument: index, equals: value)
            }
            rule = SyscallRule(call, when: conditions)
            if let fault = FilterLint.problem(with: rule) { throw fault }
        } catch {
            return refused(call, error.description)
        }
        let items = values.map { "{ argument: \($0), in: [0x\(String($1, radix: 16))] }" }
        let text =
            items.isEmpty ? call : "{ call: \(call), when: [\(items.joined(separator: ", "))] }"
        return withDanger(
            "syscalls.allow",
            text,
            of: resolved.policy.allowing(group: nil, rule: rule)
        )
    }

    // What the lint will say of it, found by asking it.
    private func withDanger(
        _ key: String,
        _ text: String,
        of changed: SandboxPolicy
    ) -> PolicyProposal.Line {
        let danger = newDanger(of: changed)
        return .init(
            key: key,
            text: text,
            danger: danger?.danger,
            because: danger?.name,
            askers: [:]
        )
    }

    private func newDanger(of changed: SandboxPolicy) -> DangerousAllowance? {
        let known = Set(resolved.policy.dangerousAllowances(groups: resolver.groups).map(\.name))
        return changed.dangerousAllowances(groups: resolver.groups)
            .first { !known.contains($0.name) }
    }

    // MARK: - files

    private func pathLine(
        _ path: String,
        _ failure: ObservedFailure
    ) -> PolicyProposal.Line? {
        // The last mount is on top: of what lies there the host's own is shown, or something else is.
        let top = resolved.plan.mounts.last { mount in
            path == mount.target.text || path.hasPrefix(mount.target.text + "/")
        }
        if top != nil, failure.error != "ENOENT" {
            return refused(path, "it is shown without this right; what may be written is a tmpfs")
        }
        if case .host = top?.source { return nil }
        guard path != "/", resolver.context.lookUp(path) != nil else { return nil }
        do throws(PolicyRefusal) {
            let shown = try resolver.preview(resolved.policy.showing([path])).policy
            let line = "{ source: \(path), target: \(path), access: read-only }"
            return withDanger("mounts", line, of: shown)
        } catch {
            return refused(path, error.problems.first?.reason ?? "it cannot be mounted")
        }
    }
}
