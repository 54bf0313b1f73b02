import SandboxPlan
import SandboxPolicy
import TestSupport
import Testing

/// The repository's own policies, found from this file.
let policyDirectory: String = {
    let parts = #filePath.split(separator: "/").dropLast(3)
    return "/" + parts.joined(separator: "/") + "/policies"
}()

/// A host in which everything that the shipped policies mount is there.
func plainHost(_ path: String) -> SourceFacts? {
    let files = ["/etc/ld.so.cache"]
    return SourceFacts(
        device: 1,
        inode: UInt64(path.utf8.reduce(7) { $0 &* 31 &+ Int($1) }.magnitude),
        kind: files.contains(path) ? .file : .directory,
        permissions: 0o755
    )
}

/// A context with a state directory, a vault and the plain host.
func plainContext() -> ResolutionContext {
    ResolutionContext(
        stateDirectory: "/var/lib/invigilator",
        variables: PolicyVariables(vaultSplit: "/var/lib/invigilator/vault/x/test"),
        lookUp: plainHost
    )
}

@Suite("Shipped policies")
struct ShippedPolicyTests {
    private let library: PolicyLibrary
    private let resolver: PolicyResolver

    init() throws {
        library = try PolicyLibrary(directory: policyDirectory)
        resolver = PolicyResolver(groups: library.groups, context: plainContext())
    }

    @Test("the shipped policies resolve into plans that keep the invariants")
    func resolve() throws {
        #expect(
            library.policyNames == [
                "broker", "candidate", "candidate-with-model", "coding-agent", "examiner",
                "examiner-with-model",
            ]
        )
        for name in library.policyNames {
            let resolved = try resolver.resolve(try library.policy(named: name))
            try PlanInvariants.check(resolved.plan)
            #expect(resolved.plan.name == name)
            #expect(resolved.plan.demandedLevel == .full)
        }
    }
}

@Suite("Filters of the shipped policies")
struct ShippedFilterTests {
    private func plan(_ name: String) throws -> SandboxPlan {
        let library = try PolicyLibrary(directory: policyDirectory)
        let resolver = PolicyResolver(groups: library.groups, context: plainContext())
        return try resolver.resolve(try library.policy(named: name)).plan
    }

    private func evaluator(_ name: String) throws -> FilterEvaluator {
        FilterEvaluator(try plan(name).filter)
    }

    private func allows(
        _ filter: FilterEvaluator,
        _ number: UInt32,
        _ arguments: [UInt64] = []
    ) -> Bool {
        filter.answer(FilterQuestion(number: number, arguments: arguments)).answer == .allowed
    }

    @Test("counters of the host and anonymous programs are refused everywhere")
    func counters() throws {
        for name in ["coding-agent", "candidate", "examiner"] {
            let filter = try evaluator(name)
            // sysinfo, memfd_create, execveat, sync, syncfs, io_setup, getrandom's opposite: none.
            for number: UInt32 in [99, 319, 322, 162, 306, 206] {
                #expect(!allows(filter, number), "\(name) \(number)")
            }
        }
    }

    @Test("page-cache advice is refused and memory advice is not")
    func advice() throws {
        for name in ["coding-agent", "candidate", "examiner"] {
            let filter = try evaluator(name)
            for advice: UInt64 in [3, 9, 12, 20, 21, 22, 23, 3 | 1 << 32] {
                #expect(!allows(filter, 28, [0, 4096, advice]))
            }
            for advice: UInt64 in [0, 4, 8, 14, 4 | 1 << 32] {
                #expect(allows(filter, 28, [0, 4096, advice]))
            }
        }
    }

    @Test("a terminal can be asked and set up, never typed into")
    func terminals() throws {
        let coding = try evaluator("coding-agent")
        for high: UInt64 in [0, 1 << 32, 1 << 63] {
            for request: UInt64 in [0x5412, 0x541c, 0x541d, 0x5423] {
                #expect(!allows(coding, 16, [0, request | high]))
            }
            for request: UInt64 in [0x5401, 0x5402, 0x5413, 0x540f] {
                #expect(allows(coding, 16, [0, request | high]))
            }
        }
        let candidate = try evaluator("candidate")
        #expect(allows(candidate, 16, [0, 0x5401]))
        #expect(!allows(candidate, 16, [0, 0x5402]))
    }

    @Test("nobody gets a process descriptor: its number counts the forks of the whole host")
    func processDescriptors() throws {
        for name in ["coding-agent", "candidate", "examiner"] {
            let filter = try evaluator(name)
            for call: UInt32 in [424, 434, 438] { #expect(!allows(filter, call)) }
            #expect(!allows(filter, 56, [0x1011]))
            #expect(allows(filter, 56, [0x11]))
            #expect(!allows(filter, 55, [3, 1, 77]) && !allows(filter, 54, [3, 1, 76]))
        }
    }

    @Test(
        "who may know a sealed task makes Unix sockets and no other, with a model as without",
        arguments: ["candidate", "candidate-with-model", "examiner", "examiner-with-model"]
    )
    func examSockets(name: String) throws {
        let filter = try evaluator(name)
        #expect(try !plan(name).landlock.allowsTCP)
        let counted = try plan(name).counted
        for family: UInt32 in 0..<64 {
            // Those are left to init, which counts them; others that are left to it are refused.
            let answer = filter.answer(FilterQuestion(number: 41, arguments: [UInt64(family), 1]))
            #expect(answer.answer != .allowed)
            let isCounted = counted.contains { $0.covers(41, family) }
            #expect(isCounted == (family == 1))
        }
    }

    @Test("options of a process that change what it may do are refused")
    func processOptions() throws {
        for name in ["coding-agent", "candidate", "examiner"] {
            let filter = try evaluator(name)
            for option: UInt64 in [8, 22, 24, 28, 35, 47, 62, 0x5961_6d61, 22 | 1 << 40] {
                #expect(!allows(filter, 157, [option, 2]), "\(name) \(option)")
            }
            #expect(allows(filter, 157, [38, 1]))
            #expect(allows(filter, 157, [15]))
            #expect(!allows(filter, 157, [4, 1]), "becoming dumpable again")
        }
        #expect(allows(try evaluator("coding-agent"), 157, [4, 0]))
    }

    @Test("filters stay far below the kernel's limit")
    func size() throws {
        let library = try PolicyLibrary(directory: policyDirectory)
        let resolver = PolicyResolver(groups: library.groups, context: plainContext())
        for name in library.policyNames {
            let plan = try resolver.resolve(try library.policy(named: name)).plan
            #expect(plan.filter.count < 1000)
        }
    }
}
