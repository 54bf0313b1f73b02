import SandboxPlan
import SeccompCompiler
import TestSupport
import Testing

@Suite("Compiled filters against their rules")
struct FilterPropertyTests {
    private static let base = [
        SyscallRule("execve"), SyscallRule("exit_group"), SyscallRule("rt_sigreturn"),
        SyscallRule("close_range"),
    ]
    /// Calls without a guard of their own, so that any conditions may be drawn.
    private static let calls = ["lseek", "ftruncate", "mmap", "flock", "kill", "openat", "futex"]
    private static let masks: [UInt32] = [.max, .max, .max, 0xf, 0xff00, 0x8000_0001, 0x7e02_0000]

    private func rules(_ generator: inout SeededGenerator) throws -> [SyscallRule] {
        var rules = Self.base
        for call in Self.calls {
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                var conditions: [ArgumentCondition] = []
                for argument: UInt8 in 0..<4 where Bool.random(using: &generator) {
                    let mask = Self.masks.randomElement(using: &generator) ?? .max
                    let value = UInt32.random(in: 0...9, using: &generator) & mask
                    conditions.append(
                        try ArgumentCondition(argument: argument, mask: mask, equals: value)
                    )
                }
                rules.append(SyscallRule(call, when: conditions))
            }
        }
        return rules
    }

    private func allows(_ rules: [SyscallRule], _ call: String, _ arguments: [UInt64]) -> Bool {
        rules.contains { rule in
            rule.call == call
                && rule.conditions.allSatisfy { $0.holds(for: arguments[Int($0.argument)]) }
        }
    }

    @Test("the program answers as the rules read, for any rules and arguments", arguments: 0..<40)
    func agreement(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let rules = try rules(&generator)
        let program = try SeccompCompiler.compile(rules).program
        let filter = FilterEvaluator(program)
        for _ in 0..<600 {
            let call = Self.calls.randomElement(using: &generator) ?? "lseek"
            let arguments = (0..<6).map { _ -> UInt64 in
                let low = UInt64.random(in: 0...11, using: &generator)
                let high: [UInt64] = [0, 1 << 32, 1 << 63, 1 << 31, 0x0100_0000]
                return low | (high.randomElement(using: &generator) ?? 0)
            }
            let question = FilterQuestion(
                number: try SyscallNumbers.number(of: call),
                arguments: arguments
            )
            let isAllowed = filter.answer(question).answer == .allowed
            #expect(
                isAllowed == allows(rules, call, arguments),
                "seed \(seed), \(call) \(arguments)"
            )
        }
    }
}

extension ArgumentCondition {
    /// Whether an argument fulfils the condition.
    fileprivate func holds(for argumentValue: UInt64) -> Bool {
        UInt32(truncatingIfNeeded: argumentValue) & mask == value
    }
}
