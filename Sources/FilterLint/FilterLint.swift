// FilterLint: tells the author of a list of allowed calls what is wrong with it, rule by rule.

internal import SandboxPlan
public import SeccompCompiler

/// The checks that a list of rules must pass before anything is compiled.
///
/// A policy author can make a filter smaller than the shipped ones; these checks bound how large
/// it can become, and name the rule. What they promise does not rest on them: the compiler and the
/// launcher ask the compiled program itself (`FilterInvariants`).
public enum FilterLint {
    /// Calls without which the launcher cannot start a payload or a payload cannot end.
    static let indispensable = ["execve", "exit_group", "rt_sigreturn", "close_range"]

    /// Every problem of a list of rules, in the order of the list.
    public static func problems(in rules: [SyscallRule]) -> [SeccompError] {
        let found = rules.compactMap { problem(with: $0) }
        let names = Set(rules.map(\.call))
        return found
            + indispensable.filter { !names.contains($0) }.map { SeccompError.missingCall($0) }
    }

    /// What is wrong with one rule, whatever stands beside it.
    public static func problem(with rule: SyscallRule) -> SeccompError? {
        do throws(SeccompError) {
            try check(rule)
            return nil
        } catch {
            return error
        }
    }

    private static func check(_ rule: SyscallRule) throws(SeccompError) {
        let number = try SyscallNumbers.number(of: rule.call)
        guard !RefusedCalls.all.contains(where: { $0.number == number }) else {
            throw .refusedCall(name: rule.call)
        }
        let guarding = ArgumentRule.all.first { $0.number == number }
        guard guarding?.permits(rule.known) ?? true else {
            throw ArgumentGuards.problem(with: rule.call)
        }
    }
}
