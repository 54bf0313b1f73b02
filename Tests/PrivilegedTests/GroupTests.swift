import Foundation
import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    /// What the running kernel makes of a leaf, whichever version of control groups it offers.
    @Suite("Control groups of this kernel")
    struct GroupTests {
        /// The leaves of a process, without the empty version 2 of a hybrid host twice.
        private func contents(of name: String, in groups: [Census.Group]) -> [String] {
            // A hierarchy without the controller has no such file.
            Set(groups.map(\.path)).compactMap {
                try? String(contentsOfFile: $0 + "/" + name, encoding: .utf8)
            }
            .map { String($0.dropLast()) }
        }

        @Test("the form of control groups is the one that this run is for")
        func mode() throws {
            let mode = try ControlGroupHierarchies.detect().mode.rawValue
            let wanted = ProcessInfo.processInfo.environment["INVIGILATOR_TESTS_GROUPS"]
            #expect(mode == wanted ?? mode)
        }

        @Test("every thread of init and payload is in the same leaf of each hierarchy in use")
        func membership() throws {
            let hierarchies = try ControlGroupHierarchies.detect()
            let places = hierarchies.controllers.values + [hierarchies.unified].compactMap(\.self)
            try Lab.run { lab in
                // The second launch finds a leaf that was entered before.
                for _ in 0..<2 {
                    try lab.withWaiting { _, initial, payload in
                        let paths = try Census.groups(of: initial).map(\.path)
                        let leaves = Set(paths.map { $0.split(separator: "/").suffix(2) })
                        #expect(leaves.count == 1, "\(paths)")
                        for place in places {
                            #expect(paths.count { $0.hasPrefix(place + "/") } == 1, "\(place)")
                        }
                        for pid in [initial, payload] {
                            let threads = try FileManager.default
                                .contentsOfDirectory(atPath: "/proc/\(pid)/task")
                            #expect(!threads.isEmpty)
                            for thread in threads.compactMap({ Int32($0) }) {
                                #expect(try Census.groups(of: thread).map(\.path) == paths)
                            }
                        }
                    }
                }
            }
        }

        @Test("the kernel holds the plan's limits, for init and payload alike", arguments: [1, 2])
        func limits(_ factor: UInt32) throws {
            let plan = try Plans.candidate().with { plan in
                plan.limits.memory = .mebibytes(64 * UInt64(factor))
                plan.limits.processes = 16 * factor
                plan.limits.cpuPercent = 60 * factor
            }
            let memory = "\((64 << 20) * factor)"
            let wanted =
                switch try ControlGroupHierarchies.detect().mode {
                case .v2:
                    [
                        "memory.max": memory, "memory.swap.max": "0", "pids.max": "\(16 * factor)",
                        "cpu.max": "\(60_000 * factor) 100000",
                    ]
                case .v1, .hybrid:
                    [
                        "memory.limit_in_bytes": memory, "pids.max": "\(16 * factor)",
                        "cpu.cfs_quota_us": "\(60_000 * factor)",
                    ]
                }
            try Lab.run { lab in
                try lab.withWaiting(plan) { _, initial, payload in
                    for pid in [initial, payload] {
                        let groups = try Census.groups(of: pid)
                        for (name, value) in wanted {
                            #expect(contents(of: name, in: groups) == [value], "\(pid) \(name)")
                        }
                    }
                }
            }
        }

        @Test("a leaf serves one sandbox after another, until one was killed in it while frozen")
        func reuse() throws {
            try Lab.run { lab in
                var leaves: [Set<Census.Group>] = []
                for isFrozen in [false, true, false] {
                    try lab.withWaiting { guest, initial, _ in
                        leaves.append(Set(try Census.groups(of: initial)))
                        if isFrozen { try guest.sandbox.freeze() }
                    }
                }
                #expect(!leaves[0].isEmpty && leaves[0] == leaves[1])
                // Where version 2 kills, the leaf is spent; where version 1 does, it is not.
                let isSpent = try ControlGroupHierarchies.detect().mode != .v1
                #expect(leaves[1].isDisjoint(with: leaves[2]) == isSpent)
            }
        }

        @Test("a child that takes too much memory dies alone, and the payload lives to say so")
        func greedyChild() throws {
            try Lab.run { lab in
                let script = "\(Lab.codingProbe) eat $0 >/dev/null; echo ended $?"
                for (mebibytes, said) in [("16", "ended 0\n"), ("512", "ended 137\n")] {
                    let plan = try Plans.coding().with { $0.limits.memory = .mebibytes(96) }
                    let words = ["/bin/sh", "-c", script, mebibytes]
                    let guest = try lab.run(plan, try lab.codingTrees(), words)
                    #expect(guest.text.hasSuffix(said), "\(guest.text)")
                    #expect(guest.exit?.kind == .exited && guest.exit?.code == 0)
                    #expect((guest.exit?.memoryKills ?? 0 > 0) == (mebibytes == "512"))
                }
            }
        }
    }
}
