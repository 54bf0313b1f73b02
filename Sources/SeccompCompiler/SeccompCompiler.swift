public import SandboxPlan

/// A filter in the form the kernel takes, with what it says in words.
public struct CompiledFilter: Sendable, Equatable {
    /// The BPF program.
    public let program: SeccompProgram
    /// The rules it was made from, sorted by number, without duplicates.
    public let rules: [SyscallRule]
}

/// Compiles lists of allowed calls into BPF programs.
///
/// The program answers EPERM to what is not listed, ENOSYS to ``absent``, and ends the
/// process for a foreign architecture (i386, x32). Some of what it refuses it leaves to a listener, which
/// answers EPERM and counts. Nothing here runs when a sandbox is launched.
public enum SeccompCompiler {
    /// Calls that answer ENOSYS instead of EPERM, so that a C library uses its older way.
    ///
    /// `clone3` hides its flags behind a pointer, which a filter cannot read; glibc then calls
    /// `clone`, whose flags it can. The other three are the io_uring calls, which programs try and
    /// do without.
    public static let absent: [UInt32] = [425, 426, 427, 435]

    /// Compiles a filter.
    ///
    /// - Parameters:
    ///   - rules: what is allowed.
    ///   - told: of the refusals, those that init counts; no rule among them may meet one that allows.
    /// - Returns: the filter.
    /// - Throws: ``SeccompError/refusedProgram(location:reason:)`` for a list of which the launcher
    ///   would refuse the filter, which `FilterLint` explains rule by rule, or
    ///   ``SeccompError/library(step:code:)``.
    public static func compile(
        _ rules: [SyscallRule],
        telling told: [SyscallRule] = []
    ) throws(SeccompError) -> CompiledFilter {
        let numbered = try numbered(rules)
        let context = try SeccompContext.empty()
        for number in absent {
            try context.answer(SeccompContext.absence, number)
        }
        for entry in numbered {
            let action = SeccompContext.allowance
            try context.answer(action, entry.number, when: entry.rule.conditions)
        }
        for entry in try self.numbered(told) {
            let action = SeccompContext.notification
            try context.answer(action, entry.number, when: entry.rule.conditions)
        }
        let program = SeccompProgram(bytes: try context.exported())
        do throws(PlanError) {
            try FilterInvariants.check(program)
        } catch {
            throw .refusedProgram(location: error.location, reason: error.reason)
        }
        return CompiledFilter(
            program: program,
            rules: numbered.map(\.rule)
        )
    }

    /// Rules with their numbers, sorted, each once, without those that a wider rule covers.
    private static func numbered(
        _ rules: [SyscallRule]
    ) throws(SeccompError) -> [NumberedRule] {
        let unconditional = Set(rules.filter { $0.conditions.isEmpty }.map(\.call))
        var result: [NumberedRule] = []
        for rule in Set(rules) where rule.conditions.isEmpty || !unconditional.contains(rule.call) {
            result.append(
                NumberedRule(number: try SyscallNumbers.number(of: rule.call), rule: rule)
            )
        }
        return result.sorted { $0.sortKey.lexicographicallyPrecedes($1.sortKey) }
    }
}

/// A rule together with its call's number.
struct NumberedRule {
    let number: UInt32
    let rule: SyscallRule

    /// Orders by number, then by conditions, so that equal policies give equal bytes.
    var sortKey: [UInt32] {
        [number] + rule.conditions.flatMap { [UInt32($0.argument), $0.mask, $0.value] }
    }
}
