import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import TestSupport
import Testing

extension Privileged {
    @Suite("Requests that no client would send")
    struct ProtocolTests {
        private func launch(_ plan: SandboxPlan, trees: [UInt32] = []) throws -> [UInt8] {
            LauncherRequest.launch(
                LaunchRequest(
                    id: 1,
                    plan: CompiledPlan(plan),
                    trees: trees,
                    command: ["/work/probe"]
                )
            ).bytes
        }

        private func expectRefused(
            _ reply: LauncherReply,
            _ reason: String,
            _ comment: Comment? = nil
        ) {
            guard case .refused(_, let failure) = reply else {
                Issue.record("it answered \(reply)")
                return
            }
            #expect(failure.step == .check, comment)
            #expect(failure.reason.contains(reason), comment)
        }

        @Test("a plan with any flipped byte is refused before anything is built")
        func flippedByte() throws {
            let launcher = try RawLauncher()
            let bytes = try launch(try Plans.coding())
            // Behind verb, id, and the digest with its count, up to the tree list and command.
            let first = 1 + 4 + 4 + 32 + 4
            let plan = CompiledPlan(try Plans.coding())
            for step in 0..<64 {
                let at = first + step * (plan.bytes.count - 1) / 63
                var changed = bytes
                changed[at] ^= 1 << UInt8(step % 8)
                expectRefused(try launcher.ask(changed, descriptors: 3), "the bytes hash to")
            }
            #expect(try Census.descendants(of: launcher.pid).isEmpty)
            #expect(try launcher.end().exitCode == 0)
        }

        @Test("a plan under another digest is refused")
        func wrongDigest() throws {
            let launcher = try RawLauncher()
            var bytes = try launch(try Plans.coding())
            bytes[9] ^= 0x80
            expectRefused(try launcher.ask(bytes, descriptors: 3), "the bytes hash to")
            #expect(try launcher.end().exitCode == 0)
        }

        @Test("a plan with its own digest that breaks an invariant is refused")
        func brokenInvariant() throws {
            let launcher = try RawLauncher()
            let plans = [
                try Plans.coding().with { $0.limits.wallClock = Milliseconds(0) },
                try Plans.coding().with { $0.filter = SeccompProgram(bytes: []) },
                try Plans.coding().with { plan in
                    // BPF_RET | BPF_K, SECCOMP_RET_ALLOW: everything is allowed.
                    plan.filter = SeccompProgram(bytes: [6, 0, 0, 0, 0, 0, 0xff, 0x7f])
                },
                try Plans.coding().with { plan in
                    plan.mounts.append(
                        PlannedMount(
                            target: try InsidePath("/planted"),
                            source: .host(try PinnedSource("/tmp")),
                            access: .readWrite,
                            isExecutable: false
                        )
                    )
                },
            ]
            for plan in plans {
                guard
                    case .refused(_, let failure) = try launcher.ask(
                        launch(plan),
                        descriptors: 3
                    )
                else {
                    Issue.record("it was launched")
                    continue
                }
                #expect(failure.location.contains("check the plan's invariants"), "\(failure)")
            }
            #expect(try launcher.end().exitCode == 0)
        }

        @Test("too few and too many descriptors are refused, and none stays open")
        func descriptorCount() throws {
            let launcher = try RawLauncher()
            let bytes = try launch(try Plans.coding())
            let before = try Census.descriptors(of: launcher.pid)
            for count in [0, 1, 2, 4, 7] {
                expectRefused(try launcher.ask(bytes, descriptors: count), "came, the plan lists")
            }
            // The next answer comes when all of the last request has been let go.
            _ = try launcher.ask(LauncherRequest.kill(id: 1).bytes)
            let after = try Census.descriptors(of: launcher.pid)
            #expect(after == before)
            #expect(try launcher.end().exitCode == 0)
        }

        @Test("a stream of mutated requests leaves a launcher that works and has nothing left over")
        func mutations() throws {
            let launcher = try RawLauncher()
            var generator = SeededGenerator(seed: 0x1a0c)
            let good: [[UInt8]] = [
                try launch(try Plans.coding()), try launch(try Plans.candidate(), trees: [1]),
                LauncherRequest.makeTree(id: 1, size: .mebibytes(1), inodes: 16).bytes,
                LauncherRequest.dropTree(id: 1).bytes, LauncherRequest.freeze(id: 1).bytes,
                LauncherRequest.thaw(id: 2).bytes, LauncherRequest.kill(id: 3).bytes,
                LauncherRequest.resize(id: 4, WindowSize(rows: 1, columns: 1)).bytes,
            ]
            for _ in 0..<600 {
                var bytes = good[generator.below(good.count)]
                for _ in 0..<generator.below(3) {
                    bytes[generator.below(bytes.count)] = UInt8(generator.below(256))
                }
                let reply = try launcher.ask(bytes, descriptors: generator.below(6))
                if case .launched = reply {
                    Issue.record("a sandbox without its tree was launched")
                }
            }
            #expect(try Census.descendants(of: launcher.pid).isEmpty)
            #expect(try launcher.end().exitCode == 0)
        }

        @Test("a supervisor that goes away in the middle of its requests leaves nothing")
        func goesAway() throws {
            for count in 1...6 {
                let launcher = try RawLauncher()
                let waiting = try Plans.coding().with { $0.limits.wallClock = .seconds(60) }
                for id in 0..<UInt32(count) {
                    // No tree: these fail late, at the mounts, while the next are on their way.
                    let request = LaunchRequest(
                        id: id,
                        plan: CompiledPlan(waiting),
                        trees: [],
                        command: ["/usr/bin/sleep", "60"]
                    )
                    try launcher.send(LauncherRequest.launch(request).bytes, descriptors: 3)
                }
                launcher.close()
                let family = try Census.descendants(of: launcher.pid)
                #expect(try ProcessEnd.wait(for: launcher.pid).exitCode == 0)
                #expect(try Census.living(family).isEmpty)
            }
        }

        @Test("unknown trees, taken ids and garbage are refused, and the launcher goes on")
        func garbage() throws {
            let launcher = try RawLauncher()
            expectRefused(
                try launcher.ask(launch(try Plans.coding(), trees: [7]), descriptors: 3),
                "there is none"
            )
            let tree = LauncherRequest.makeTree(id: 3, size: .mebibytes(1), inodes: 16).bytes
            guard case .treeMade(3) = try launcher.ask(tree) else { throw RawLauncher.Unexpected() }
            expectRefused(try launcher.ask(tree), "it exists")
            let valid = try launch(try Plans.coding())
            for bytes in [[0], [9, 1, 0, 0, 0], [255], Array(valid.prefix(400)), valid + [0]] {
                guard case .refused(0, _) = try launcher.ask(bytes) else {
                    Issue.record("\(bytes.prefix(8)) was understood")
                    continue
                }
            }
            guard case .done(12) = try launcher.ask(LauncherRequest.kill(id: 12).bytes) else {
                throw RawLauncher.Unexpected()
            }
            #expect(try launcher.end().exitCode == 0)
        }
    }
}
