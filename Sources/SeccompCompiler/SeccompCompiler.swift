public import SandboxPlan

/// A filter in the form the kernel takes, with what it says in words.
public struct CompiledFilter: Sendable, Equatable {
    /// The BPF program.
    public let program: SeccompProgram
    /// The rules it was made from, sorted by number, without duplicates.
    public let rules: [SyscallRule]
    /// Which of the allowed calls are left to init, which counts them.
    public let counted: [CountedCall]
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
    ///   - counts: whether calls that take numbers of the host's counters are left to init (`CountedCalls`).
    /// - Returns: the filter.
    /// - Throws: ``SeccompError/refusedProgram(location:reason:)`` for a list of which the launcher
    ///   would refuse the filter, which `FilterLint` explains rule by rule, or
    ///   ``SeccompError/library(step:code:)``.
    public static func compile(
        _ rules: [SyscallRule],
        telling told: [SyscallRule] = [],
        counting counts: Bool = false
    ) throws(SeccompError) -> CompiledFilter {
        let numbered = try numbered(rules)
        var counted: [CountedCall] = []
        let context = try SeccompContext.empty()
        for number in absent {
            try context.answer(SeccompContext.absence, number)
        }
        for entry in numbered {
            let isCounted = counts && CountedCalls.takes(entry.number) != nil
            if isCounted { counted.append(CountedCall(entry)) }
            for (action, conditions) in try entry.answers(isCounted: isCounted) {
                try context.answer(action, entry.number, when: conditions)
            }
        }
        for entry in try self.numbered(told) {
            let action = SeccompContext.notification
            try context.answer(action, entry.number, when: entry.rule.conditions)
        }
        let program = SeccompProgram(bytes: try context.exported())
        do throws(PlanError) {
            try FilterInvariants.check(program, counting: counts ? counted : nil)
        } catch {
            throw .refusedProgram(location: error.location, reason: error.reason)
        }
        return CompiledFilter(
            program: program,
            rules: numbered.map(\.rule),
            counted: counted
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

    /// What the filter answers, and when: a mapping that nobody shares takes no number, and one of huge
    /// pages takes one whoever shares it, which is refused.
    func answers(
        isCounted: Bool
    ) throws(SeccompError) -> [(action: UInt32, conditions: [ArgumentCondition])] {
        let (allowed, left) = (SeccompContext.allowance, SeccompContext.notification)
        guard isCounted else { return [(allowed, rule.conditions)] }
        guard number == CountedCalls.map else { return [(left, rule.conditions)] }
        let ways = [(allowed, UInt32(0)), (left, CountedCalls.sharedMap)]
        var answers: [(action: UInt32, conditions: [ArgumentCondition])] = []
        for (action, value) in ways {
            let flags = try ArgumentCondition(
                argument: 3,
                mask: CountedCalls.mapFlags,
                equals: value
            )
            answers.append((action, rule.conditions + [flags]))
        }
        return answers
    }

    /// Orders by number, then by conditions, so that equal policies give equal bytes.
    var sortKey: [UInt32] {
        [number] + rule.conditions.flatMap { [UInt32($0.argument), $0.mask, $0.value] }
    }
}

extension CountedCall {
    /// What init lets through of a rule; a condition on another argument than the first is the filter's.
    fileprivate init(_ entry: NumberedRule) {
        let first = entry.rule.conditions.first { $0.argument == 0 && $0.mask == .max }
        self.init(entry.number, argument: first?.value)
    }
}
