import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged.CallFaultTests {
    /// What came of one launch by a resident launcher.
    private enum Outcome {
        case refused(LaunchFailure)
        case ended(SandboxExit, output: String)
        case lost
    }

    /// A resident launcher with the trees of a coding sandbox.
    private final class Resident {
        let lab: Lab
        let trees: [SandboxTree]
        private let plan: CompiledPlan
        private var isLost = false
        /// Whether the launcher was waited for.
        private(set) var isOver = false

        init(_ plan: CompiledPlan) throws {
            self.plan = plan
            lab = try Lab()
            trees = try lab.codingTrees()
            lab.client.onLost = { [unowned self] in isLost = true }
        }

        func launch() throws -> Outcome {
            let output = try SharedPair.pipe()
            try output.first.descriptor.setNonBlocking(true)
            let null = try Descriptor.open("/dev/null", .readWrite)
            var streams = DescriptorPlacements()
            streams.add(null)
            streams.add(output.second.descriptor)
            streams.add(null)
            var exit: SandboxExit?
            do {
                let sandbox = try lab.client.launch(
                    plan,
                    trees: trees,
                    command: [Lab.codingProbe, "facts"],
                    descriptors: streams,
                    onExit: { exit = $0 }
                )
                try lab.wait("an exit of sandbox \(sandbox.id)") { exit != nil || isLost }
            } catch LauncherError.refused(let failure) {
                return .refused(failure)
            } catch LauncherError.lost {
                return .lost
            }
            guard let exit else { return .lost }
            return .ended(exit, output: Self.text(output.first.descriptor))
        }

        // Less than a pipe holds, and all of it is there; which namespaces they are differs.
        private static func text(_ output: borrowing Descriptor) -> String {
            var bytes: [UInt8] = []
            // What is not there is an error: the pipe's other end is our own.
            while let part = try? output.read(atMost: 65536), !part.isEmpty { bytes += part }
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
                .filter { !$0.hasPrefix("ns.") }.joined(separator: "\n")
        }

        /// Ends the launcher and expects nothing to outlive it.
        func end() throws {
            guard !isOver else { return }
            let family = try Census.descendants(of: lab.client.pid)
            try lab.client.shutDown()
            isOver = true
            #expect(try Census.waitUntilGone(family).isEmpty)
        }

        /// Waits for a launcher that ended by itself; its sandboxes end with it.
        func waitForEnd() throws {
            _ = try ProcessEnd.wait(for: lab.client.pid)
            isOver = true
            #expect(try Census.waitUntilGone(members()).isEmpty)
        }

        func launch(_ call: LaunchCall?) throws -> (Outcome, FaultReport) {
            let tracer = try FaultTracer(lab.client.pid, at: call)
            let outcome = try launch()
            return (outcome, try tracer.report())
        }
    }

    private static let ahead = "a launch that finds no network namespace made ahead makes its own"

    /// What is harmless in a launcher that stays, besides what is so in every one.
    private static func harmless(_ normal: FaultReport) -> [Harmless] {
        // The last child of the launcher makes the network namespace of the next launch.
        let children = normal.calls.map(\.process).filter { $0.hasPrefix("0.") }
        let last = children.filter { $0.split(separator: ".").count == 2 }.max() ?? ""
        let own = ["prctl", "read", "socket", "ioctl"]
        let parents = ["pipe2", "clone3", "openat", "write", "wait4"]
        return harmless + told(by: "0.2") + [
            Harmless(names: own, process: last, isLate: true, reason: ahead),
            Harmless(names: parents, process: "0", isLate: true, reason: ahead),
        ]
    }

    // Without its loop, its socket or its own network a launcher ends, and takes everything along.
    private static func ends(_ call: LaunchCall) -> Bool {
        let names = ["poll", "restart_syscall", "recvmsg", "sendmsg", "setns"]
        return call.process == "0" && (names.contains(call.name) || call.isAllocation)
    }

    @Test("of a launch by a resident launcher: each is failed")
    func resident() throws {
        let plan = CompiledPlan(try Plans.coding())
        var resident = try Resident(plan)
        for _ in 0..<2 { _ = try resident.launch() }
        let (outcome, normal) = try resident.launch(nil)
        guard case .ended(_, let output) = outcome else { throw OneShotStage.NotReady() }
        try #require(normal.calls.count > 500 && normal.walls.contains("payload landlock on"))
        let harmless = Self.harmless(normal)
        let chosen = normal.calls.filter(\.canFail)
        var before = try Remains(of: resident.lab)
        var hits = 0
        for call in chosen {
            let (outcome, report) = try resident.launch(call)
            guard let hit = report.calls.first?.settled(by: normal), hit.canFail else { continue }
            hits += 1
            #expect(report.isWalled(like: normal), "\(hit)")
            switch outcome {
            case .refused(let failure):
                #expect(Self.isTyped("invigilator-launcher: \(failure)"), "\(hit): \(failure)")
                #expect(report.walls.isEmpty || hit.isLate || hit.process == "0.2", "\(hit)")
            case .ended(let exit, let text) where exit.kind == .exited:
                #expect(text == output || hit.isLate, "\(hit)")
                #expect(report.walls == normal.walls, "\(hit)")
                // A launcher that cannot say that the payload ended says its exit, and ends.
                let isLastWord = Self.ends(hit) && hit.isLate
                #expect(isLastWord || harmless.contains { $0.covers(hit) }, "swallowed: \(hit)")
            case .ended(let exit, _): #expect(exit.kind == .setup && hit.isLate, "\(hit)")
            case .lost:
                #expect(Self.ends(hit), "\(hit)")
                try resident.waitForEnd()
            }
            // A process that was not waited for stays until its launcher ends; no kernel refuses that.
            if hit.name == "wait4" { try resident.end() }
            // The word that it could not give may have been of no consequence for this launch.
            if !resident.isOver, Self.ends(hit), case .lost = try resident.launch() {
                try resident.waitForEnd()
            }
            if resident.isOver {
                resident = try Resident(plan)
                for _ in 0..<2 { _ = try resident.launch() }
                before = try Remains(of: resident.lab)
            }
            let next = try resident.launch()
            guard case .ended(let exit, _) = next, exit.kind == .exited else {
                Issue.record("the launch after \(hit): \(next)")
                return
            }
            let after = try Remains(of: resident.lab)
            #expect(after == before, "\(hit)")
        }
        #expect(hits * 10 > chosen.count * 9, "\(hits) of \(chosen.count)")
        try resident.end()
    }
}
