import HostKernel
import Glibc
import LinuxKernel
import SandboxPlan
import SandboxPolicy
import Testing

@Suite("Shipped filters, loaded")
struct LoadedFilterTests {
    private static func load(_ name: String) throws {
        let library = try PolicyLibrary(directory: policyDirectory)
        let resolver = PolicyResolver(groups: library.groups, context: plainContext())
        let plan = try resolver.resolve(try library.policy(named: name)).plan
        try Identity.setNoNewPrivileges()
        _ = try SystemCallFilter.load(plan.filter.bytes, tells: false)
    }

    /// The error number of a socket of this family; 0 when it can be made.
    private static func socketError(_ family: Int32, _ kind: UInt32) -> Int32 {
        let made = socket(family, Int32(kind), 0)
        guard made >= 0 else { return errno }
        close(made)
        return 0
    }

    @Test("a candidate can open no internet socket, also where no listener lives to say so")
    func sockets() async {
        await #expect(processExitsWith: .success) {
            precondition(Self.socketError(AF_INET, SOCK_STREAM.rawValue) == 0)
            try Self.load("candidate")
            // Refused and told: here nobody listens, and the kernel refuses by itself.
            precondition(Self.socketError(AF_INET, SOCK_STREAM.rawValue) == ENOSYS)
            precondition(Self.socketError(40, SOCK_STREAM.rawValue) == ENOSYS)
            // Allowed and counted: where nobody counts, none is made.
            precondition(Self.socketError(AF_UNIX, SOCK_STREAM.rawValue) == ENOSYS)
        }
    }

    @Test("typing into a terminal is refused by the filter, also where no listener lives")
    func terminals() async {
        await #expect(processExitsWith: .success) {
            let file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            precondition(ioctl(file, 0x5412, 0) == -1 && errno != EPERM)
            try Self.load("coding-agent")
            // Told, with nobody to listen.
            precondition(ioctl(file, 0x5412, 0) == -1 && errno == ENOSYS)
            precondition(ioctl(file, 0x1_0000_5412, 0) == -1 && errno == ENOSYS)
            precondition(ioctl(file, 0x5401, 0) == -1 && errno != EPERM)
        }
    }

    @Test(
        "threads, files and clocks work under every shipped filter",
        arguments: ["candidate", "examiner", "coding-agent"]
    )
    func ordinaryWork(name: String) async {
        await #expect(processExitsWith: .success) { [name = name as String] in
            try Self.load(name)
            let directory = try Descriptor.open("/tmp", [.read, .directory])
            let file = "filter-\(UInt64.random(in: 0...UInt64.max))"
            try directory.replace(file, with: [1, 2, 3])
            let contents = try directory.contents(of: file, limit: 8)
            precondition(contents == [1, 2, 3])
            try directory.remove(file)
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
