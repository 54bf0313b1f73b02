import LauncherProtocol
import LinuxKernel
import SandboxPlan
import TestSupport
import Testing

extension Privileged {
    @Suite("System-call filter")
    struct FilterTests {
        /// What each attempt must answer inside; everything here works on the control.
        private static let refused = [
            "mount": "EPERM", "remount": "EPERM", "unshare": "EPERM", "clone-newuser": "EPERM",
            "clone-newuser-high": "EPERM", "clone3": "ENOSYS", "ptrace": "EPERM", "bpf": "EPERM",
            "keyctl": "EPERM", "add_key": "EPERM", "io_uring_setup": "ENOSYS",
            "userfaultfd": "EPERM", "perf_event_open": "EPERM", "process_vm_readv": "EPERM",
            "fsopen": "EPERM", "open_tree": "EPERM", "mincore": "EPERM", "packet": "EPERM",
            "memfd_create": "EPERM",
        ]

        @Test("refused calls give the stated error, in every role, and work where nothing refuses")
        func statedErrors() throws {
            let names = Self.refused.keys.sorted()
            let control = try Host.control(["call"] + names)
            for name in names { #expect(control[name] == "OK", "\(name) on the control") }
            try Lab.run { lab in
                for facts in [
                    try lab.candidate(["call"] + names).facts,
                    try lab.coding(["call"] + names).facts,
                ] {
                    for name in names { #expect(facts[name] == Self.refused[name], "\(name)") }
                }
            }
        }

        @Test("nobody gets a pidfd")
        func pidfd() throws {
            #expect(try Host.control(["call", "pidfd_open"])["pidfd_open"] == "OK")
            try Lab.run { lab in
                let candidate = try lab.candidate(["call", "pidfd_open"]).facts
                let coding = try lab.coding(["call", "pidfd_open"]).facts
                #expect(candidate["pidfd_open"] == "EPERM" && coding["pidfd_open"] == "EPERM")
            }
        }

        @Test("vsock is refused, also with a bit set that the kernel ignores")
        func highBits() throws {
            let control = try Host.control(["call", "vsock", "vsock-high"])
            // Where the kernel has vsock, both forms reach it; where not, it says so itself.
            #expect(control["vsock"] == control["vsock-high"])
            try Lab.run { lab in
                for facts in [
                    try lab.candidate(["call", "vsock", "vsock-high"]).facts,
                    try lab.coding(["call", "vsock", "vsock-high"]).facts,
                ] {
                    #expect(facts["vsock"] == "EPERM" && facts["vsock-high"] == "EPERM")
                }
            }
        }

        @Test("nothing can be typed into a terminal, also with a bit set that the kernel ignores")
        func terminalInjection() throws {
            let names = ["tiocsti", "tiocsti-high", "tioclinux"]
            let control = try Host.control(["call"] + names)
            // On something that is no terminal the kernel itself answers; inside, the filter does.
            for name in names { #expect(control[name] == "ENOTTY", "\(name) on the control") }
            try Lab.run { lab in
                for facts in [
                    try lab.candidate(["call"] + names).facts,
                    try lab.coding(["call"] + names).facts,
                ] {
                    for name in names { #expect(facts[name] == "EPERM", "\(name)") }
                }
            }
        }

        @Test("foreign call tables end the payload, as a violation", arguments: ["int80", "x32"])
        func foreignTables(_ gate: String) throws {
            let control = try Host.control(["call", gate])
            // x32 is compiled out of most kernels; the filter must kill before the kernel can say so.
            #expect(control[gate] == (gate == "int80" ? "OK" : "ENOSYS"))
            try Lab.run { lab in
                let guest = try lab.candidate(["call-here", gate])
                #expect(guest.exit?.kind == .violation)
                #expect(guest.exit?.signal == 31 && guest.exit?.code == nil)
                #expect(guest.text.isEmpty)
            }
        }

        @Test("the kernel answers every unconditional refusal as the plan's own evaluator says")
        func sweep() throws {
            try Lab.run { lab in
                for plan in [try Plans.candidate(), try Plans.coding()] {
                    let evaluator = FilterEvaluator(plan.filter)
                    var expected: [String: String] = [:]
                    // The kernel lets uretprobe and uprobe past every filter and ends whoever calls
                    // them from anywhere but its own trampoline (Linux 6.14, kernel/seccomp.c).
                    for number in UInt32(0)..<512 where number != 335 && number != 336 {
                        let (answer, looks) = evaluator.answer(FilterQuestion(number: number))
                        guard !looks else { continue }
                        switch answer {
                        case .refused(let code):
                            expected["\(number)"] = SystemError("sweep", number: Int32(code)).name
                        case .told:
                            // A counted call goes on.
                            guard !plan.counted.contains(where: { $0.covers(number, 0) }) else {
                                continue
                            }
                            expected["\(number)"] = "EPERM"
                        case .allowed, .killed, .other: continue
                        }
                    }
                    #expect(expected.count > 150)
                    let numbers = expected.keys.sorted()
                    // A command has at most 256 words.
                    for part in [numbers.prefix(200), numbers.dropFirst(200)] {
                        let words = ["sweep"] + part
                        let guest =
                            plan.role == .coding ? try lab.coding(words) : try lab.candidate(words)
                        for number in part {
                            let answer = guest.facts[number]
                            #expect(answer == expected[number], "call \(number), \(plan.name)")
                        }
                    }
                    for call in RefusedCalls.all {
                        #expect(expected["\(call.number)"] != nil, "\(call.name) is not refused")
                    }
                }
            }
        }

        @Test("seccomp runs in filter mode")
        func mode() throws {
            #expect(try Host.control(["facts"])["Seccomp"] == "0")
            try Lab.run { lab in
                let candidate = try lab.candidate(["facts"]).facts
                let coding = try lab.coding(["facts"]).facts
                #expect(candidate["Seccomp"] == "2" && coding["Seccomp"] == "2")
            }
        }

        @Test("Landlock refuses what mounts and file modes allow")
        func landlock() throws {
            let path = "/proc/self/comm"
            #expect(try Host.control(["open", "write", path])[path] == "OK")
            try Lab.run { lab in
                let candidate = try lab.candidate(["open", "write", path]).facts
                let coding = try lab.coding(["open", "write", path]).facts
                #expect(candidate[path] == "EACCES" && coding[path] == "EACCES")
                // With the rule for devices a device can be written to, without it nothing else refuses.
                let device = "/dev/null"
                let open = try lab.candidate(["open", "write", device])
                #expect(open.facts[device] == "OK")
                let closed = try lab.candidate(["open", "write", device]) { plan in
                    plan.landlock.rules.removeAll { $0.access == .device }
                }
                #expect(closed.facts[device] == "EACCES")
            }
        }
    }
}
