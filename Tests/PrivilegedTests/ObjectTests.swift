import DenialEvents
import HostKernel
import LauncherClient
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    @Suite("Numbers of the host's counters")
    struct ObjectTests {
        private static let limit: UInt32 = 40

        // Each way to take a number that no filter can tell from an honest use, how many one call takes, and
        // how many there are.
        private static let ways: [(name: String, call: String, takes: Int, room: Int)] = [
            ("pipe", "pipe", 1, 40), ("socketpair", "socketpair", 2, 40),
            ("socket", "socket", 1, 40), ("failing-socket", "socket", 1, 40),
            // Both need a socket first.
            ("accept", "accept", 1, 39), ("accept4", "accept4", 1, 39),
            ("map", "mmap", 1, 5), ("validated-map", "mmap", 1, 5),
        ]

        // The Swift runtime, which is linked into the probe and does nothing there, looks for itself in procfs
        // when it starts, unless it is told where it is.
        private func bare() throws -> SandboxPlan {
            try Plans.shippedCandidate().with {
                $0.environment.append(EnvironmentVariable(name: "SWIFT_ROOT", value: "/"))
            }
        }

        private func limited() throws -> SandboxPlan {
            try bare().with { $0.limits.objects = Self.limit }
        }

        @Test("a candidate takes as many as its limit, by every way, and is then refused by name")
        func limit() throws {
            for way in Self.ways {
                let control = try Host.control(["take", way.name, "500"])
                #expect(control["taken"] == "500", "\(way.name) on the control")
            }
            try Lab.run { lab in
                for way in Self.ways {
                    let guest = try lab.run(
                        try limited(),
                        [try lab.rootTree()],
                        [Lab.candidateProbe, "take", way.name, "500"]
                    )
                    #expect(guest.facts["taken"] == "\(way.room / way.takes)", "\(way.name)")
                    #expect(guest.facts["end"] == "EMFILE", "\(way.name)")
                    let events = DenialEvent.events(in: guest.sandbox.denials)
                    #expect(events.count == 1, "\(way.name)")
                    let attempt = events.first?.attempt ?? ""
                    // The C library makes a pipe by pipe2(2).
                    #expect(attempt.hasPrefix(way.call), "\(way.name)")
                    #expect(attempt.hasSuffix(" (more than limits.objects)"), "\(way.name)")
                }
            }
        }

        @Test("memory that nobody shares is not counted, and huge pages are refused")
        func memory() throws {
            // On a host without huge pages the kernel refuses after it took the number.
            #expect(try Host.control(["take", "huge-map", "9"])["taken"] == "9")
            try Lab.run { lab in
                let tree = { try lab.rootTree() }
                let words = [Lab.candidateProbe, "take"]
                let free = try lab.run(
                    try limited(),
                    [try tree()],
                    words + ["private-map", "500"]
                )
                #expect(free.facts["taken"] == "500")
                let huge = try lab.run(try limited(), [try tree()], words + ["huge-map", "9"])
                #expect(huge.facts["taken"] == "0" && huge.facts["end"] == "EPERM")
            }
        }

        @Test("the host's counters move by no more than the limit, and a sandbox's own share")
        func movement() throws {
            let own = 96
            // What else runs moves them, too: the quietest of several tries counts.
            func least(_ body: () throws -> Void) throws -> Int {
                var least = Int.max
                for _ in 0..<12 where least > Int(Self.limit) + own {
                    let before = try ObjectCounter.inode.next()
                    try body()
                    least = min(least, Int(try ObjectCounter.inode.next() &- before))
                }
                return least
            }
            let processors = try ProcessorSet.current()
            // One processor has one batch of numbers.
            try processors.single[0].take()
            defer { try? processors.take() }
            let free = try least { _ = try Host.control(["take", "pipe", "5000"]) }
            #expect(free >= 5000)
            try Lab.run { lab in
                let bounded = try least {
                    _ = try lab.run(
                        try limited(),
                        [try lab.rootTree()],
                        [Lab.candidateProbe, "take", "failing-socket", "5000"]
                    )
                }
                #expect(bounded <= Int(Self.limit) + own + 1024, "\(bounded) numbers were taken")
            }
        }

        @Test("candidates and examiners have no procfs to look things up in, and run all the same")
        func noProcfs() throws {
            let control = try Host.control(["open", "read", "/proc/self/status"])
            #expect(control["/proc/self/status"] == "OK")
            try Lab.run { lab in
                let plan = try bare()
                #expect(plan.proc == .none)
                let guest = try lab.run(
                    plan,
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "open", "read", "/proc/self/status", "/proc/1/status"]
                )
                #expect(guest.facts["/proc/self/status"] == "ENOENT")
                #expect(guest.facts["/proc/1/status"] == "ENOENT")
                let listed = try lab.run(
                    plan,
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "survey", "/proc"]
                )
                #expect(Set(listed.facts.keys) == [".", ".."])
            }
        }
    }
}
