import PolicyEffects
import SandboxPolicy
import StrictJSON
import Testing

@Suite("What was observed, as changes for review")
struct PolicyProposalTests {
    private func proposal(
        _ lines: [String],
        under name: String = "coding-agent"
    ) throws -> PolicyProposal {
        let library = try PolicyLibrary(directory: policyDirectory)
        var context = plainContext()
        context.lookUp = { $0.hasPrefix("/absent") ? nil : plainHost($0) }
        let resolver = PolicyResolver(groups: library.groups, context: context)
        var failures = FailureCount()
        for line in lines { failures.add(line) }
        let resolved = try resolver.resolve(library.policy(named: name))
        return PolicyProposal(failures, under: resolved, resolver)
    }

    @Test("a line of strace is read into program, call, arguments, path and error")
    func reading() throws {
        let call = try #require(
            ObservedFailure(
                "7<my prog> ioctl(0x3, 0x5412, 0x7ffd00000001) = -1 EPERM (Operation not permitted)"
            )
        )
        #expect(call.program == "my prog" && call.call == "ioctl" && call.error == "EPERM")
        #expect(call.arguments == [3, 0x5412, 1])
        let file = try #require(
            ObservedFailure(
                "7<a> openat(AT_FDCWD, \"/a, b\\\") = -1 E\", O_RDONLY) = -1 ENOENT (No such)"
            )
        )
        #expect(file.path == "/a, b\\\") = -1 E" && file.error == "ENOENT")
        for line in ["", "7<a> read(0x3) = 4", "7<a> x(", "+++ exited", "a> b(1) = -1 EPERM (x)"] {
            #expect(ObservedFailure(line) == nil, "\(line)")
        }
    }

    @Test("names that a program gives itself reach no terminal as they are")
    func hostileNames() throws {
        let line = "7<\u{1B}[2J> sysinfo(0x1) = -1 EPERM (x)"
        #expect(try proposal([line]).text.contains("\u{1B}") == false)
    }

    @Test(
        "each refused call becomes the line that would allow it, and dangerous ones are marked",
        arguments: [
            ("sysinfo(0x7f)", "syscalls.groups", "host-totals", "calls.host-totals"),
            ("statfs(\"/usr\", 0x7f)", "syscalls.groups", "free-space", "calls.free-space"),
            ("shmget(0, 1, 0)", "syscalls.groups", "shared-memory", nil),
            ("swapcontext(0)", nil, nil, nil),
            ("getcpu(0)", nil, nil, nil),
            ("sync()", "syscalls.allow", "sync", "calls.flushing"),
            ("rseq_slice_yield(0)", nil, nil, nil),
            (
                "ioctl(0x3, 0x5418, 0x1)", "syscalls.allow",
                "{ call: ioctl, when: [{ argument: 1, in: [0x5418] }] }", "calls.ioctl"
            ),
        ] as [(String, String?, String?, String?)]
    )
    func calls(call: String, key: String?, text: String?, because: String?) throws {
        let lines = try proposal(["7<prog> \(call) = -1 EPERM (Operation not permitted)"]).lines
        guard let key else {
            // Allowed by the filter already, or unknown to it: no line of a policy helps.
            #expect(lines.allSatisfy { $0.key == nil })
            return
        }
        let line = try #require(lines.first)
        #expect(line.key == key && line.text == text && line.because == because)
        #expect((line.danger != nil) == (because != nil))
        #expect(line.askers.values.reduce(0, +) == 1)
    }

    @Test(
        "what no policy can allow is said to be impossible",
        arguments: [
            "ptrace(0x10, 0x1)", "ioctl(0x3, 0x5412, 0x1)", "socket(0x28, 0x1, 0)",
            "prctl(0x16, 0x2)", "unshare(0x10000000)",
        ]
    )
    func impossible(call: String) throws {
        let line = try #require(
            try proposal(["7<prog> \(call) = -1 EPERM (Operation not permitted)"]).lines.first
        )
        #expect(line.key == nil && line.danger != nil && line.because == nil)
    }

    @Test("a family of sockets is proposed under its key")
    func sockets() throws {
        let lines = [
            "7<prog> socket(0x2, 0x80001, 0) = -1 EPERM (x)",
            "7<prog> socket(0x10, 0x80003, 0) = -1 EPERM (x)",
        ]
        let found = try proposal(lines, under: "candidate").lines
        #expect(found.map(\.text) == ["inet", "netlink-route"])
        #expect(found.map(\.because) == ["sockets.inet", "sockets.netlink-route"])
    }

    @Test("a path that the host has and the sandbox does not is a mount for review")
    func paths() throws {
        func line(_ path: String, _ error: String = "ENOENT") -> String {
            "7<prog> openat(AT_FDCWD, \"\(path)\", O_RDONLY) = -1 \(error) (x)"
        }
        let found = try proposal([
            line("/srv/data"), line("/srv/data"), line("/absent/x"), line("/usr/lib/none"),
            line("/etc/shadow"), line("/usr/lib/x", "EROFS"), line("/usr/share/doc"),
            line("/tmp/x"), line("/tmp/y", "EACCES"),
        ])
        let mounts = found.lines.filter { $0.key == "mounts" }
        #expect(mounts.map(\.because) == ["mounts./srv/data", "mounts./tmp/x"])
        #expect(mounts.first?.askers == ["openat ENOENT, prog": 2])
        let refused = found.lines.filter { $0.key == nil }.map(\.text)
        #expect(refused == ["/etc/shadow", "/tmp/y", "/usr/lib/x"])
    }

    @Test("a flood is counted, and what our own programs do is left out")
    func flood() throws {
        var failures = FailureCount()
        for index in 0..<(FailureCount.most + 10) {
            failures.add("7<prog> sysinfo(0x\(String(index, radix: 16))) = -1 EPERM (x)")
        }
        failures.add("7<invigilator-lau> sysinfo(0x1) = -1 EPERM (x)")
        #expect(failures.counts.count == FailureCount.most && failures.others == 10)
        #expect(try proposal(["7<invigilator> sysinfo(0x1) = -1 EPERM (x)"]).lines == [])
    }

    @Test("text and JSON say the same, and JSON names its schema")
    func output() throws {
        let found = try proposal(["7<prog> sysinfo(0x1) = -1 EPERM (x)"])
        #expect(found.json["schema"]?.stringValue == "invigilator.policy-proposal/1")
        #expect(found.json["lines"]?.arrayValue?.first?["because"] == "calls.host-totals")
        #expect(
            found.text.hasPrefix(
                """
                --- policy coding-agent
                +++ policy coding-agent, for review: nothing was changed
                @@ syscalls.groups @@
                + host-totals
                    # asked 1 times: sysinfo EPERM, prog
                    # dangerous: memory
                """
            )
        )
    }
}
