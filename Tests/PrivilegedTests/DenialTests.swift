import DenialEvents
import Foundation
import HostKernel
import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import SandboxPolicy
import Testing

extension Privileged {
    @Suite("Refused calls explain themselves")
    struct DenialTests {
        // Each attempt, and what its event says was tried. No policy can allow any of them.
        private static let compiledIn = [
            "mount": "mount", "umount2": "umount2", "unshare": "unshare (new namespaces: user)",
            "setns": "setns", "clone-newuser": "clone (new namespaces: user)",
            "ptrace": "ptrace (TRACEME)", "bpf": "bpf (operation 0)",
            "keyctl": "keyctl (operation 0)", "add_key": "add_key",
            "userfaultfd": "userfaultfd", "perf_event_open": "perf_event_open",
            "process_vm_readv": "process_vm_readv", "fsopen": "fsopen", "open_tree": "open_tree",
            "vsock": "socket (vsock)", "vsock-high": "socket (vsock)",
            "packet": "socket (packet)", "tiocsti": "ioctl (typing into a terminal)",
        ]

        // Each attempt that a policy can allow, and the line that does.
        private static let allowable = [
            "inet": "sockets: [inet]", "inet6": "sockets: [inet6]",
            "netlink": "sockets: [netlink-route]",
            "memfd_create": "syscalls.allow: [memfd_create]",
            "shmget": "syscalls.allow: [shmget]", "msgget": "syscalls.allow: [msgget]",
            "inotify_init1": "syscalls.allow: [inotify_init1]",
        ]

        private func events(of guest: Guest) -> [DenialEvent] {
            DenialEvent.events(in: guest.sandbox.denials)
        }

        @Test("a refused call of each family is one event, by its program, and nothing allows it")
        func families() throws {
            try Lab.run { lab in
                for (attempt, wanted) in Self.compiledIn {
                    for guest in [
                        try lab.candidate(["call", attempt]), try lab.coding(["call", attempt]),
                    ] {
                        #expect(guest.facts[attempt] == "EPERM", "\(attempt)")
                        let found = events(of: guest)
                        #expect(found.map(\.attempt) == [wanted], "\(attempt)")
                        #expect(found.first?.count == 1 && found.first?.program == "probe")
                        #expect(found.first?.cure == nil, "\(attempt)")
                    }
                }
            }
        }

        @Test("what looks absent, and what honest programs try at each start, is not told")
        func untold() throws {
            try Lab.run { lab in
                let guest = try lab.candidate([
                    "call", "clone3", "io_uring_setup", "mincore", "pidfd_open",
                ])
                #expect(guest.facts["clone3"] == "ENOSYS" && guest.facts["mincore"] == "EPERM")
                #expect(guest.sandbox.denials.isEmpty)
            }
        }

        @Test(
            "the policy line of an event, when added, allows that call and no other",
            arguments: allowable.keys.sorted()
        )
        func suggestion(_ attempt: String) throws {
            let all = Self.allowable.keys.sorted()
            try Lab.run { lab in
                let before = try lab.candidate(["call", attempt])
                #expect(before.facts[attempt] == "EPERM")
                let event = try #require(events(of: before).first)
                #expect(events(of: before).count == 1)
                let cure = try #require(event.cure)
                #expect("\(cure)" == Self.allowable[attempt])
                let plan = try Self.candidate(adding: cure)
                let guest = try lab.run(
                    plan,
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "call", "mount"] + all
                )
                #expect(guest.facts[attempt] == "OK", "\(cure)")
                for other in all where other != attempt {
                    #expect(guest.facts[other] == "EPERM", "\(other) beside \(cure)")
                }
                let refused = events(of: guest)
                #expect(!refused.contains { $0.attempt == event.attempt })
                #expect(refused.contains { $0.attempt == "mount" })
                #expect(refused.count == all.count)
            }
        }

        /// The shipped candidate's plan with one entry more in one list of its policy.
        private static func candidate(adding cure: PolicyAddition) throws -> SandboxPlan {
            let scratch = try Scratch()
            let shipped = Host.repository + "/policies"
            let folder = scratch.path + "/policies"
            try FileManager.default.copyItem(atPath: shipped, toPath: folder)
            let path = folder + "/candidate.yaml"
            var text = try String(contentsOfFile: path, encoding: .utf8)
            if cure.key == "sockets" {
                let wider = text.replacingOccurrences(of: "[unix]", with: "[unix, \(cure.entry)]")
                try #require(wider != text)
                text = wider
            } else {
                try #require(cure.key == "syscalls.allow")
                let wider = text.replacingOccurrences(
                    of: "syscalls:\n",
                    with: "syscalls:\n  allow: [\(cure.entry)]\n"
                )
                try #require(wider != text)
                text = wider
            }
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            var library = try PolicyLibrary(directory: folder)
            let dangers = try library.policy(named: "candidate")
                .dangerousAllowances(groups: library.groups)
            if !dangers.isEmpty {
                text += "because:\n" + dangers.map { "  \($0.name): a test\n" }.joined()
                try text.write(toFile: path, atomically: true, encoding: .utf8)
                library = try PolicyLibrary(directory: folder)
            }
            let context = try ResolutionContext.host(
                stateDirectory: "/var/lib/invigilator",
                variables: PolicyVariables()
            )
            return try PolicyResolver(groups: library.groups, context: context)
                .resolve(try library.policy(named: "candidate")).plan.with { $0.proc = .pidOnly }
        }

        @Test("a flood is counted to the last call, told a few times a second, and delays nobody")
        func flood() throws {
            try Lab.run { lab in
                var told = 0
                lab.client.onDenied = { _ in told += 1 }
                let start = MonotonicTime.now
                let flood = try lab.start(
                    try Plans.candidate(),
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "flood", "100000"]
                )
                try flood.waitFor("flooding")
                // Meanwhile the launcher serves others.
                #expect(try lab.candidate(["exit", "5"]).exit?.code == 5)
                try flood.waitForEnd()
                #expect(flood.facts["refused"] == "100000")
                let found = events(of: flood)
                #expect(found.map(\.attempt) == ["mount"] && found.first?.count == 100_000)
                let tenths = MonotonicTime.now.since(start).milliseconds / 100
                #expect(told > 0 && told <= tenths + 2, "told \(told) times")
            }
        }

        @Test(
            "a supervisor that does not read keeps the launcher from nothing, however much is told"
        )
        func unread() throws {
            try Lab.run { lab in
                let plan = try Plans.candidate().with { $0.limits.wallClock = Milliseconds(8000) }
                let floods = try (0..<16).map { _ in
                    try lab.start(plan, [try lab.rootTree()], [Lab.candidateProbe, "flood", "-1"])
                }
                for flood in floods { try flood.waitFor("flooding") }
                // From here on nothing is read: eighty tables a second fill the socket long before the
                // wall clock ends the sandboxes.
                let elsewhere = EventLoop()
                let end = MonotonicTime.now.advanced(by: .milliseconds(30_000))
                while try !Census.descendants(of: lab.client.pid).isEmpty, MonotonicTime.now < end {
                    try elsewhere.turn(atMost: .milliseconds(50))
                }
                #expect(try Census.descendants(of: lab.client.pid).isEmpty)
                for flood in floods {
                    try flood.waitForEnd()
                    #expect(flood.exit?.kind == .wallClock)
                    // What was missed had numbers that came again, the last at the sandbox's end.
                    #expect(events(of: flood).map(\.attempt) == ["mount"])
                }
            }
        }

        @Test("kinds of one call are bounded, and none of its calls is lost")
        func kinds() throws {
            try Lab.run { lab in
                let guest = try lab.candidate(["families"])
                let rows = guest.sandbox.denials
                #expect(rows.count == 9 && Set(rows.map(\.call)) == [41])
                let refused = guest.text.split(separator: "\n").filter { $0.hasSuffix("=1") }
                let told = DenialEvent.events(in: rows).reduce(0) { $0 + $1.count }
                // Families without a name are refused and not told.
                #expect(told > 15 && told <= refused.count)
                #expect(events(of: guest).contains { $0.kind == "several others" })
            }
        }

        @Test("a sandbox that is flooding can be frozen at once, goes on, and counts exactly")
        func freezing() throws {
            try Lab.run { lab in
                let guest = try lab.start(
                    try Plans.candidate(),
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "flood", "60000"]
                )
                try guest.waitFor("flooding")
                for _ in 0..<5 where guest.sandbox.exit == nil {
                    try guest.sandbox.freeze()
                    try guest.sandbox.thaw()
                }
                try guest.waitForEnd()
                #expect(guest.facts["refused"] == "60000")
                #expect(events(of: guest).first?.count == 60_000)
            }
        }

        @Test("init alone holds the listener: neither payload, launcher nor supervisor has it")
        func holder() throws {
            try Lab.run { lab in
                try lab.withWaiting { _, initial, payload in
                    let all = [initial, payload, lab.client.pid, CurrentProcess.pid]
                    let found = try all.map { try Self.listeners(of: $0) }
                    #expect(found == [1, 0, 0, 0])
                }
            }
        }

        private static func listeners(of pid: Int32) throws -> Int {
            let folder = "/proc/\(pid)/fd"
            return try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
                let target = try? FileManager.default
                    .destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
                return target?.contains("seccomp") == true
            }.count
        }
    }
}
