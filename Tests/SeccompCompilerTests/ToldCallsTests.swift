import FilterLint
import SandboxPlan
import SeccompCompiler
import TestSupport
import Testing

@Suite("Refusals that are told")
struct ToldCallsTests {
    private static let base = [
        SyscallRule("execve"), SyscallRule("exit_group"), SyscallRule("rt_sigreturn"),
        SyscallRule("close_range"), SyscallRule("sendmsg"),
    ]

    private func clones() throws -> SyscallRule {
        SyscallRule(
            "clone",
            when: [try ArgumentCondition(argument: 0, mask: 0x7e02_1000, equals: 0)]
        )
    }

    private func answer(
        _ filter: FilterEvaluator,
        _ call: String,
        _ arguments: [UInt64] = []
    ) throws -> FilterAnswer {
        let number = try SyscallNumbers.number(of: call)
        return filter.answer(FilterQuestion(number: number, arguments: arguments)).answer
    }

    @Test("each call of the list is told, whatever its arguments, and passes the invariants")
    func whole() throws {
        let compiled = try FilterLint.compiled(Self.base)
        let filter = FilterEvaluator(compiled.program)
        #expect(compiled.program.isTelling)
        for call in ToldCalls.whole {
            #expect(try answer(filter, call) == .told, "\(call)")
            #expect(try answer(filter, call, [.max, .max, .max]) == .told, "\(call)")
        }
        #expect(throws: Never.self) { try FilterInvariants.check(compiled.program) }
    }

    @Test("a call that a policy allows runs and is not told")
    func allowed() throws {
        let filter = FilterEvaluator(
            try FilterLint.compiled(Self.base + [SyscallRule("memfd_create")]).program
        )
        #expect(try answer(filter, "memfd_create") == .allowed)
        #expect(try answer(filter, "shmget") == .told)
    }

    @Test(
        "foreign families are told, those of the policy run, other forms of them are plainly refused"
    )
    func families() throws {
        let rules = try Self.base + SocketFamily.unix.rules() + SocketFamily.inet.rules()
        let filter = FilterEvaluator(try FilterLint.compiled(rules).program)
        for family in ToldCalls.families where ![1, 2].contains(family.number) {
            #expect(try answer(filter, "socket", [UInt64(family.number), 1]) == .told)
        }
        #expect(try answer(filter, "socket", [1 << 32 | 40, 1]) == .told)
        #expect(try answer(filter, "socket", [2, 1]) == .allowed)
        #expect(try answer(filter, "socket", [2, 3]) == .refused(errno: 1))
        #expect(try answer(filter, "socket", [99, 1]) == .refused(errno: 1))
    }

    @Test("a clone into a new namespace is told, one without runs, clone3 looks absent")
    func clone() throws {
        let filter = FilterEvaluator(try FilterLint.compiled(Self.base + [clones()]).program)
        #expect(try answer(filter, "clone", [17]) == .allowed)
        for namespace in ToldCalls.namespaces {
            #expect(try answer(filter, "clone", [UInt64(namespace.flag) | 17]) == .told)
        }
        #expect(try answer(filter, "clone", [0x1000]) == .refused(errno: 1))
        #expect(try answer(filter, "clone3") == .refused(errno: 38))
        #expect(try answer(filter, "io_uring_setup") == .refused(errno: 38))
    }

    @Test("nothing is told where the payload could not hand the listener over")
    func withoutMessages() throws {
        let rules = Self.base.filter { $0.call != "sendmsg" }
        let program = try FilterLint.compiled(rules).program
        #expect(!program.isTelling)
        #expect(try answer(FilterEvaluator(program), "mount") == .refused(errno: 1))
    }

    @Test("no call of the list is one that programs make at each start")
    func rare() {
        let frequent = [
            "clone3", "io_uring_setup", "io_uring_enter", "fadvise64", "mincore", "readahead",
            "pidfd_open", "getrandom", "sysinfo", "statfs", "sched_getaffinity", "prlimit64",
        ]
        for call in frequent { #expect(!ToldCalls.whole.contains(call), "\(call)") }
    }
}
