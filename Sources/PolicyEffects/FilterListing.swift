public import SeccompCompiler

/// A filter in words.
public enum FilterListing {
    /// One line a rule, in order of call numbers, framed by the answers to everything else; stable,
    /// for goldens and differences.
    ///
    /// - Throws: `SeccompError` for a call that has no number, which no compiled filter holds.
    public static func text(of filter: CompiledFilter) throws(SeccompError) -> String {
        var lines = [
            "architecture x86_64; any other, and x32: kill the process",
            "calls \(SeccompCompiler.absent.map(String.init).joined(separator: ", ")): ENOSYS",
        ]
        for rule in filter.rules { lines.append(try line(for: rule)) }
        lines.append("everything else: EPERM")
        return lines.joined(separator: "\n") + "\n"
    }

    private static func line(for rule: SyscallRule) throws(SeccompError) -> String {
        let head = "allow \(rule.call) (\(try SyscallNumbers.number(of: rule.call)))"
        return rule.conditions.isEmpty ? head : head + " if " + text(of: rule.conditions)
    }

    /// Conditions that must all hold.
    static func text(of conditions: [ArgumentCondition]) -> String {
        conditions.map(text).joined(separator: " and ")
    }

    private static func text(of condition: ArgumentCondition) -> String {
        let name = "argument \(condition.argument)"
        let left = condition.mask == .max ? name : "(\(name) & \(hexadecimal(condition.mask)))"
        return "\(left) == \(hexadecimal(condition.value))"
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        "0x" + String(value, radix: 16)
    }
}
