internal import FilterLint
internal import SandboxPlan
internal import SeccompCompiler
internal import StrictYAML

/// Turns the groups, rules and socket families of a policy into one list of allowed calls.
struct SyscallResolution {
    let policy: SandboxPolicy
    let groups: [String: SyscallGroup]
    let problems: ProblemList

    /// The allowed calls; problems are reported with the document they stand in.
    func rules() -> [SyscallRule] {
        var rules: [SyscallRule] = []
        for name in policy.syscalls.groups {
            guard let group = groups[name.value] else {
                problems.add(
                    name.place,
                    .noGroup(name.value, groups.keys.sorted().joined(separator: ", "))
                )
                continue
            }
            rules += group.rules.map(\.value)
            check(group)
        }
        rules = without(refused(rules), rules)
        for rule in policy.syscalls.allow {
            rules.append(rule.value)
            if let problem = FilterLint.problem(with: rule.value) {
                problems.add(rule.place, problem.description, remedy: "correct or remove the rule")
            }
        }
        return rules + socketRules()
    }

    /// A group's problem belongs to the group's own document.
    private func check(_ group: SyscallGroup) {
        for rule in group.rules {
            guard let problem = FilterLint.problem(with: rule.value) else {
                continue
            }
            problems.add(
                rule.place,
                of: group.file,
                problem.description,
                remedy: "correct the group, or leave it out of \(policy.file)"
            )
        }
    }

    private func refused(_ rules: [SyscallRule]) -> Set<String> {
        let present = Set(rules.map(\.call))
        for name in policy.syscalls.refuse where !present.contains(name.value) {
            problems.add(name.place, .notAllowed(name.value))
        }
        return Set(policy.syscalls.refuse.map(\.value))
    }

    private func without(_ names: Set<String>, _ rules: [SyscallRule]) -> [SyscallRule] {
        rules.filter { !names.contains($0.call) }
    }

    private func socketRules() -> [SyscallRule] {
        policy.sockets.flatMap { family in
            do throws(SeccompError) {
                return try family.rules()
            } catch {
                fatalError("the conditions of a socket family are constants: \(error)")
            }
        }
    }
}
