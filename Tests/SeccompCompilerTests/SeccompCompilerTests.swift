import FilterLint
import PolicyEffects
import SandboxPlan
import SeccompCompiler
import TestSupport
import Testing

/// The smallest list that the compiler takes.
private let base = [
    SyscallRule("execve"), SyscallRule("exit_group"), SyscallRule("rt_sigreturn"),
    SyscallRule("close_range"), SyscallRule("read"), SyscallRule("write"),
]

private func compiled(_ rules: [SyscallRule]) throws -> FilterEvaluator {
    FilterEvaluator(try SeccompCompiler.compile(base + rules).program)
}

private func allowed(
    _ filter: FilterEvaluator,
    _ name: String,
    _ arguments: [UInt64] = []
) throws -> Bool {
    let question = FilterQuestion(
        number: try SyscallNumbers.number(of: name),
        arguments: arguments
    )
    return filter.answer(question).answer == .allowed
}

@Suite("Compiled filters")
struct CompiledFilterTests {
    @Test("a listed call is allowed and an unlisted one gets EPERM")
    func listedAndUnlisted() throws {
        let filter = try compiled([])
        #expect(filter.answer(FilterQuestion(number: 0)).answer == .allowed)
        #expect(filter.answer(FilterQuestion(number: 2)).answer == .refused(errno: 1))
        #expect(filter.answer(FilterQuestion(number: 999)).answer == .refused(errno: 1))
    }

    @Test("i386 and x32 calls kill the process, whatever their number")
    func foreignArchitectures() throws {
        let filter = try compiled([])
        for number: UInt32 in [0, 1, 20, 59, 231, 435] {
            let foreign = FilterQuestion(number: number, architecture: FilterQuestion.i386)
            #expect(filter.answer(foreign).answer == .killed)
            let x32 = FilterQuestion(number: number | FilterQuestion.x32Bit)
            #expect(filter.answer(x32).answer == .killed)
        }
    }

    @Test("clone3 and io_uring look as if the kernel did not have them")
    func absentCalls() throws {
        let filter = try compiled([])
        for number: UInt32 in [435, 425, 426, 427] {
            #expect(filter.answer(FilterQuestion(number: number)).answer == .refused(errno: 38))
        }
    }

    @Test("only the listed socket families pass, also with a bit set above the 32nd")
    func socketFamilies() throws {
        let filter = try compiled(try SocketFamily.unix.rules() + SocketFamily.inet.rules())
        for high: UInt64 in [0, 1 << 32, 1 << 63] {
            for family: UInt64 in 0..<64 {
                let isListed = family == 1 || family == 2
                #expect(try allowed(filter, "socket", [family | high, 1, 0]) == isListed)
                #expect(try allowed(filter, "socketpair", [family | high, 1]) == (family == 1))
            }
        }
        #expect(try allowed(filter, "socket", [2, 0x80001, 6]))
        #expect(try allowed(filter, "socket", [2, 2, 17]))
        #expect(try !allowed(filter, "socket", [2, 3, 1]), "raw sockets")
        #expect(try !allowed(filter, "socket", [2, 2, 1]), "ICMP")
        #expect(try !allowed(filter, "socket", [2, 1, 262]), "MPTCP")
    }

    @Test("no socket can be made without a listed family")
    func noFamilies() throws {
        let filter = try compiled([])
        for family: UInt64 in 0..<64 {
            #expect(try !allowed(filter, "socket", [family, 1, 0]))
        }
    }

    @Test("a thread may be cloned and no namespace, also with upper bits set")
    func cloneFlags() throws {
        let mask: UInt32 = 0x7e02_1000
        let filter = try compiled([
            SyscallRule("clone", when: [ArgumentCondition(argument: 0, mask: mask, equals: 0)])
        ])
        #expect(try allowed(filter, "clone", [0x3d0f00]))
        #expect(try allowed(filter, "clone", [17]))
        for bit: UInt64 in [12, 17, 25, 26, 27, 28, 29, 30] {
            #expect(try !allowed(filter, "clone", [1 << bit | 17]))
            #expect(try !allowed(filter, "clone", [1 << bit | 17 | 1 << 40]))
        }
    }

    @Test("every value of a long list of ioctl requests is found in the tree")
    func longArgumentLists() throws {
        let requests = (0..<60).map { UInt32(0x8000_0000 | $0 * 7) }
        let filter = try compiled(
            try requests.map { request throws(SeccompError) in
                SyscallRule("ioctl", when: [try ArgumentCondition(argument: 1, equals: request)])
            }
        )
        for request in requests {
            #expect(try allowed(filter, "ioctl", [0, UInt64(request)]))
            #expect(try allowed(filter, "ioctl", [0, UInt64(request) | 1 << 32]))
            #expect(try !allowed(filter, "ioctl", [0, UInt64(request) + 1]))
        }
        #expect(try !allowed(filter, "ioctl", [0, 0x5412]))
        #expect(try !allowed(filter, "ioctl", [0, 0x5412 | 1 << 32]))
    }

    @Test("the same rules give the same bytes in whatever order they are listed")
    func stableBytes() throws {
        let rules = base + (try SocketFamily.unix.rules())
        let once = try SeccompCompiler.compile(rules)
        let again = try SeccompCompiler.compile(rules.reversed() + rules)
        #expect(once == again)
    }

    @Test("a rule without conditions takes the place of narrower ones")
    func widerRule() throws {
        let narrow = SyscallRule("lseek", when: [try ArgumentCondition(argument: 2, equals: 0)])
        let filter = try SeccompCompiler.compile(base + [narrow, SyscallRule("lseek")])
        #expect(filter.rules.filter { $0.call == "lseek" } == [SyscallRule("lseek")])
    }

    @Test("the listing says each rule and both default answers")
    func listing() throws {
        let rule = SyscallRule(
            "clone",
            when: [try ArgumentCondition(argument: 0, mask: 0x7e02_1000, equals: 0)]
        )
        let filter = try SeccompCompiler.compile(base + [rule])
        let text = try FilterListing.text(of: filter)
        #expect(
            text == """
                architecture x86_64; any other, and x32: kill the process
                calls 425, 426, 427, 435: ENOSYS
                allow read (0)
                allow write (1)
                allow rt_sigreturn (15)
                allow clone (56) if (argument 0 & 0x7e021000) == 0x0
                allow execve (59)
                allow exit_group (231)
                allow close_range (436)
                everything else: EPERM

                """
        )
    }

    @Test("a small filter satisfies the launcher's invariants")
    func invariants() throws {
        let filter = try SeccompCompiler.compile(base)
        #expect(filter.program.count > 10)
        #expect(filter.program.count < 200)
    }
}

@Suite("Lists whose filter no launcher would take")
struct RefusedProgramTests {
    @Test(
        "the compiler asks its own program what the launcher will ask",
        arguments: ["ptrace", "ioctl", "personality", "mknodat", "arch_prctl", "setsockopt"]
    )
    func refused(name: String) throws {
        let rules = base + [SyscallRule(name)]
        let error = #expect(throws: SeccompError.self) {
            try SeccompCompiler.compile(rules)
        }
        guard case .refusedProgram(let location, _) = error else {
            Issue.record("\(name): \(String(describing: error))")
            return
        }
        #expect(location.contains(name))
        #expect(throws: Never.self) { try SeccompCompiler.compile(base) }
    }
}

@Suite("Lists that no filter is made from")
struct RefusedRuleTests {
    private func problem(_ rule: SyscallRule) -> SeccompError? {
        FilterLint.problems(in: base + [rule]).first
    }

    @Test("a call that the launcher always refuses is refused by name")
    func withheld() throws {
        for name in RefusedCalls.all.map(\.name) {
            #expect(problem(SyscallRule(name)) == .refusedCall(name: name))
        }
        #expect(RefusedCalls.all.count > 80)
    }

    @Test(
        "an unknown name stops the compilation",
        arguments: ["", "frobnicate", "read ", "re\0ad"]
    )
    func unknownName(name: String) {
        #expect(problem(SyscallRule(name)) == .unknownCall(name))
    }

    @Test(
        "a call that x86_64 does not have is unknown",
        arguments: ["socketcall", "ipc", "_llseek"]
    )
    func foreignName(name: String) {
        #expect(problem(SyscallRule(name)) == .unknownCall(name))
    }

    @Test(
        "a call with dangerous arguments needs a condition",
        arguments: [
            "clone", "ioctl", "prctl", "personality", "madvise", "getsockopt", "setsockopt",
            "socket",
            "socketpair", "mknod", "mknodat", "arch_prctl",
        ]
    )
    func unguarded(name: String) {
        guard case .unguarded(name, _, _) = problem(SyscallRule(name)) else {
            Issue.record("\(name) was accepted without a condition")
            return
        }
    }

    @Test(
        "a condition that lets a dangerous argument through is refused",
        arguments: [
            ("ioctl", UInt8(1), UInt32.max, UInt32(0x5412)), ("ioctl", 1, .max, 0x541c),
            ("ioctl", 1, 0xff, 0x12), ("prctl", 0, .max, 22), ("prctl", 0, .max, 0x5961_6d61),
            ("personality", 0, .max, 0x0040_0000), ("madvise", 2, .max, 3),
            ("madvise", 2, .max, 21), ("clone", 0, 0x1000_0000, 0),
            ("clone", 0, 0x7e02_1000, 0x1000_0000), ("socket", 0, .max, 40),
            ("socket", 0, .max, 38), ("socket", 0, 0x3f, 1), ("socketpair", 0, .max, 2),
            ("getsockopt", 1, .max, 1), ("setsockopt", 1, .max, 6), ("mknod", 1, 0xf000, 0x6000),
            ("mknodat", 2, 0xf000, 0x2000),
            ("arch_prctl", 0, .max, 0x1012),
        ]
    )
    func dangerous(name: String, argument: UInt8, mask: UInt32, value: UInt32) throws {
        let condition = try ArgumentCondition(argument: argument, mask: mask, equals: value)
        guard case .unguarded(name, _, _) = problem(SyscallRule(name, when: [condition])) else {
            Issue.record("\(name) was accepted")
            return
        }
    }

    @Test(
        "the cookies of sockets are refused and their errors are not",
        arguments: [57, 71, 55, 77]
    )
    func socketOptions(option: UInt32) throws {
        let level = try ArgumentCondition(argument: 1, equals: 1)
        let bad = SyscallRule(
            "getsockopt",
            when: [level, try ArgumentCondition(argument: 2, equals: option)]
        )
        #expect(problem(bad) != nil)
        let good = SyscallRule(
            "getsockopt",
            when: [level, try ArgumentCondition(argument: 2, equals: 4)]
        )
        #expect(problem(good) == nil)
    }

    @Test(
        "options that load a program or a protocol layer cannot be set",
        arguments: [(UInt32(1), UInt32(26)), (1, 50), (1, 51), (1, 52), (1, 76), (6, 31)]
    )
    func settableOptions(level: UInt32, option: UInt32) throws {
        let condition = try ArgumentCondition(argument: 1, equals: level)
        func rule(_ option: UInt32) throws -> SyscallRule {
            SyscallRule(
                "setsockopt",
                when: [condition, try ArgumentCondition(argument: 2, equals: option)]
            )
        }
        #expect(problem(try rule(option)) != nil)
        #expect(problem(try rule(9)) == nil)
    }

    @Test("CLONE_PIDFD must be ruled out")
    func clonePidfd() throws {
        for (mask, isFine) in [(UInt32(0x7e02_0000), false), (0x7e02_1000, true)] {
            let condition = try ArgumentCondition(argument: 0, mask: mask, equals: 0)
            #expect((problem(SyscallRule("clone", when: [condition])) == nil) == isFine)
        }
    }

    @Test("a list without the calls that start and end a program is refused")
    func indispensable() {
        #expect(
            FilterLint.problems(in: [SyscallRule("read")]) == [
                .missingCall("execve"), .missingCall("exit_group"), .missingCall("rt_sigreturn"),
                .missingCall("close_range"),
            ]
        )
    }

    @Test("a condition that can never hold cannot be written")
    func impossible() {
        #expect(throws: SeccompError.impossibleCondition(argument: 6, mask: .max, value: 0)) {
            try ArgumentCondition(argument: 6, equals: 0)
        }
        #expect(throws: SeccompError.impossibleCondition(argument: 0, mask: 1, value: 2)) {
            try ArgumentCondition(argument: 0, mask: 1, equals: 2)
        }
        #expect(throws: SeccompError.impossibleCondition(argument: 0, mask: 0, value: 0)) {
            try ArgumentCondition(argument: 0, mask: 0, equals: 0)
        }
    }

    @Test("all problems of a list are reported, not only the first")
    func collected() {
        let rules = base + [SyscallRule("ptrace"), SyscallRule("bpf"), SyscallRule("nonsense")]
        #expect(FilterLint.problems(in: rules).count == 3)
    }
}
