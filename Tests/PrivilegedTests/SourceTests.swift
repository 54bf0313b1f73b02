import HostKernel
import Foundation
import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    @Suite("Mount sources")
    struct SourceTests {
        private let scratch: Scratch
        private let state: String

        init() throws {
            scratch = try Scratch()
            state = try scratch.directory("host/state")
            _ = try scratch.directory("host/state/experiments/one")
            _ = try scratch.file("host/state/experiments/one/key")
            _ = try scratch.directory("host/open")
            _ = try scratch.file("host/open/text", "in the open\n")
        }

        private func plan(mounting source: PinnedSource) throws -> SandboxPlan {
            try Plans.coding().with { plan in
                let target = try InsidePath("/planted")
                plan.mounts.append(
                    PlannedMount(
                        target: target,
                        source: .host(source),
                        access: .readOnly,
                        isExecutable: false
                    )
                )
                plan.landlock.rules.append(LandlockRule(path: target, access: .read))
            }
        }

        private func refusal(
            _ source: PinnedSource,
            vault: String? = nil
        ) throws -> LaunchFailure? {
            var failure: LaunchFailure?
            try Lab.run(protected: [state], vault: vault) { lab in
                failure = try lab.refusal(
                    CompiledPlan(try plan(mounting: source)),
                    try lab.codingTrees(),
                    [Lab.codingProbe, "facts"]
                )
                #expect(try Census.descendants(of: lab.client.pid).isEmpty)
            }
            return failure
        }

        @Test("an ordinary source is mounted and readable: the instrument works")
        func ordinary() throws {
            try Lab.run(protected: [state]) { lab in
                let plan = try plan(mounting: try PinnedSource(scratch.path + "/host/open"))
                let words = [Lab.codingProbe, "cat", "/planted/text"]
                #expect(try lab.run(plan, try lab.codingTrees(), words).text == "in the open\n")
                let file = try self.plan(
                    mounting: try PinnedSource(scratch.path + "/host/open/text")
                )
                let guest = try lab.run(
                    file,
                    try lab.codingTrees(),
                    [Lab.codingProbe, "cat", "/planted"]
                )
                #expect(guest.text == "in the open\n")
            }
        }

        @Test(
            "what lies in a protected directory, is one or shows one is refused",
            arguments: [
                "host/state", "host/state/experiments", "host/state/experiments/one",
                "host/state/experiments/one/key", "host", "",
            ]
        )
        func protected(_ name: String) throws {
            let path = name.isEmpty ? scratch.path : scratch.path + "/" + name
            let failure = try #require(try refusal(try PinnedSource(path)), "it was mounted")
            #expect(failure.step == .sources)
            #expect(failure.reason.contains("no sandbox may see"), "\(failure)")
        }

        @Test("a vault is protected from ordinary mounts, whether or not it is listed")
        func vaultAsHost() throws {
            let vault = try scratch.directory("vault")
            let split = try scratch.directory("vault/one/test")
            let tasks = try scratch.file("vault/one/test/tasks.json")
            for path in [vault, split, tasks] {
                let failure = try refusal(try PinnedSource(path), vault: vault)
                #expect(failure?.step == .sources, "\(path)")
            }
        }

        @Test("a source replaced after the plan was made is refused")
        func swapped() throws {
            let path = try scratch.directory("host/swapped")
            let pinned = try PinnedSource(path)
            // The old one stays under another name, so its inode number cannot come back.
            try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
            _ = try scratch.directory("host/swapped")
            let failure = try #require(try refusal(pinned))
            #expect(failure.reason.contains("is not the file that the plan pinned"))
        }

        @Test("a source that became a symbolic link is refused, at its end and on the way")
        func symbolicLinks() throws {
            let open = scratch.path + "/host/open"
            let pinned = try PinnedSource(open)
            let file = try PinnedSource(open + "/text")
            try FileManager.default.moveItem(atPath: open, toPath: open + ".old")
            try FileManager.default.createSymbolicLink(
                atPath: open,
                withDestinationPath: open + ".old"
            )
            for source in [pinned, file] {
                let failure = try #require(try refusal(source), "\(source.path)")
                #expect(failure.reason.contains("ELOOP"), "\(failure)")
            }
        }

        @Test("a file where the plan says directory is refused, and the reverse")
        func kinds() throws {
            var directory = try PinnedSource(scratch.path + "/host/open")
            directory.isDirectory = false
            var file = try PinnedSource(scratch.path + "/host/open/text")
            file.isDirectory = true
            for source in [directory, file] {
                #expect(try refusal(source)?.step == .sources)
            }
        }

        @Test("a source that is gone, a FIFO and a device are refused")
        func others() throws {
            let gone = PinnedSource(path: "/nowhere", device: 1, inode: 1, isDirectory: true)
            #expect(try refusal(gone)?.reason.contains("ENOENT") == true)
            let fifo = scratch.path + "/host/fifo"
            _ = try Spawn.run("/usr/bin/mkfifo", arguments: [fifo])
            for path in [fifo, "/dev/null"] {
                #expect(try refusal(try PinnedSource(path))?.step == .sources, "\(path)")
            }
        }

        @Test("a source swapped in a loop during launches never shows the other directory")
        func swappedInALoop() throws {
            let open = scratch.path + "/host/open"
            let plan = CompiledPlan(try plan(mounting: try PinnedSource(open)))
            let script = """
                cd \(scratch.path)/host; while :; do mv open kept; ln -s state/experiments/one open; \
                rm open; mkdir open; echo other > open/text; rm -r open; mv kept open; done
                """
            let null = try Descriptor.open("/dev/null", .readWrite)
            var descriptors = DescriptorPlacements()
            for _ in 0..<3 { descriptors.add(null) }
            let swapper = try Spawn.start(
                "/bin/sh",
                arguments: ["-c", script],
                environment: ["PATH=/usr/bin:/bin"],
                descriptors: descriptors
            )
            defer {
                _ = kill(swapper, SIGKILL)
                _ = try? ProcessEnd.wait(for: swapper)
            }
            var shown = 0
            var refused = 0
            try Lab.run(protected: [state]) { lab in
                let trees = try lab.codingTrees()
                let words = [Lab.codingProbe, "cat", "/planted/text"]
                for _ in 0..<150 {
                    do {
                        let guest = try Guest(lab, plan, trees, words)
                        try guest.waitForEnd()
                        shown += 1
                        #expect(guest.text == "in the open\n")
                    } catch LauncherError.refused(let failure) {
                        refused += 1
                        #expect(failure.step == .sources, "\(failure)")
                    }
                }
            }
            #expect(shown + refused == 150 && refused > 0, "\(shown) shown, \(refused) refused")
        }

        @Test(
            "file systems of the kernel's own are refused, and everything below /dev",
            arguments: [
                "/proc", "/proc/sys", "/sys", "/sys/fs/cgroup", "/dev", "/dev/pts", "/dev/shm",
            ]
        )
        func kernels(_ path: String) throws {
            guard FileManager.default.fileExists(atPath: path) else { return }
            let failure = try #require(try refusal(try PinnedSource(path)), "it was mounted")
            #expect(failure.reason.contains("no sandbox may see"), "\(failure)")
        }

        @Test("a procfs is refused wherever the host mounts it")
        func procElsewhere() throws {
            let place = scratch.path + "/host/open"
            let mounts = try scratch.launcher(
                after: "/usr/bin/mount -t proc none \(place) && "
                    + "/usr/bin/stat --format=%d:%i \(place) > \(scratch.path)/pin"
            )
            try Lab.run(launcher: mounts) { lab in
                let pin = try String(contentsOfFile: scratch.path + "/pin", encoding: .utf8)
                    .split { !$0.isNumber }.compactMap { UInt64($0) }
                let source = PinnedSource(
                    path: place,
                    device: try #require(pin.first),
                    inode: try #require(pin.last),
                    isDirectory: true
                )
                let plan = CompiledPlan(try plan(mounting: source))
                let words = [Lab.codingProbe, "facts"]
                let failure = try lab.refusal(plan, try lab.codingTrees(), words)
                #expect(failure?.reason.contains("no sandbox may see") == true, "\(failure as Any)")
            }
        }

        @Test("the place where a launcher keeps its trees is no source, nor is a tree in it")
        func yard() throws {
            try Lab.run { lab in
                let trees = try lab.codingTrees()
                let yard = "/proc/\(lab.client.pid)/root/sys/kernel"
                let kept = try FileManager.default.contentsOfDirectory(atPath: yard)
                #expect(kept.count == trees.count)
                for name in [""] + kept.map({ "/" + $0 }) {
                    let seen = try PinnedSource(yard + name)
                    let source = PinnedSource(
                        path: "/sys/kernel" + name,
                        device: seen.device,
                        inode: seen.inode,
                        isDirectory: true
                    )
                    let plan = CompiledPlan(try plan(mounting: source))
                    let failure = try lab.refusal(plan, trees, [Lab.codingProbe, "facts"])
                    #expect(failure?.reason.contains("no sandbox may see") == true, "\(name)")
                }
            }
        }

        @Test("only the mount itself is shown, not what is mounted below it")
        func notRecursive() throws {
            let below = try scratch.directory("host/open/below")
            _ = try scratch.file("host/open/below/own", "")
            let mounts = try scratch.launcher(
                after: "/usr/bin/mount -t tmpfs none \(below) && /usr/bin/touch \(below)/other"
            )
            try Lab.run(launcher: mounts) { lab in
                let plan = try plan(mounting: try PinnedSource(scratch.path + "/host/open"))
                let words = [Lab.codingProbe, "list", "/planted/below"]
                let guest = try lab.run(plan, try lab.codingTrees(), words)
                #expect(guest.exit?.code == 0 && guest.facts.lines == ["own"], "\(guest.text)")
            }
        }
    }

    @Suite("Vault")
    struct VaultTests {
        private let scratch: Scratch
        private let vault: String
        private var split: String { vault + "/one/test" }

        init() throws {
            scratch = try Scratch()
            vault = try scratch.directory("vault")
            for split in ["train", "test"] {
                _ = try scratch.directory("vault/one/\(split)")
                _ = try scratch.file("vault/one/\(split)/tasks.json", "gold of \(split)\n")
            }
            _ = try scratch.directory("vault/one/test/deeper")
            // As the supervisor leaves it: its own, and closed to everybody else.
            let outcome = try Spawn.run(
                "/usr/bin/env",
                arguments: [
                    "sh", "-c",
                    "chown -R \(Lab.supervisor):\(Lab.supervisor) \(vault) && chmod -R go= \(vault)",
                ],
                environment: ["PATH=/usr/bin:/bin"]
            )
            try #require(outcome.end.exitCode == 0)
        }

        @Test("an examiner reads the one split that its plan names")
        func oneSplit() throws {
            try Lab.run(protected: [scratch.path], vault: vault) { lab in
                let plan = try Plans.examiner(split: split, state: scratch.path)
                let probe = Lab.candidateProbe
                let tree = try lab.rootTree()
                let guest = try lab.run(plan, [tree], [probe, "cat", "/vault/tasks.json"])
                #expect(guest.text == "gold of test\n", "\(guest.text)")
                let names = try lab.run(plan, [tree], [probe, "list", "/vault"]).facts.lines
                #expect(names.sorted() == ["deeper", "tasks.json"])
                let facts = try lab.run(plan, [tree], [probe, "change", "/vault"]).facts
                #expect(facts["create"] == "EROFS" || facts["create"] == "EACCES")
                let up = try lab.run(plan, [tree], [probe, "list", "/vault/../one"])
                #expect(up.facts["list"] == "ENOENT")
            }
        }

        @Test(
            "no other level of the vault can be mounted",
            arguments: ["", "/one", "/one/test/deeper"]
        )
        func otherLevels(_ below: String) throws {
            try Lab.run(protected: [], vault: vault) { lab in
                let plan = try Plans.examiner(split: split, state: scratch.path).with { plan in
                    plan.mounts = try plan.mounts.map { mount in
                        guard case .vault = mount.source else { return mount }
                        var changed = mount
                        changed.source = .vault(try PinnedSource(vault + below))
                        return changed
                    }
                }
                let failure = try lab.refusal(
                    CompiledPlan(plan),
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "facts"]
                )
                #expect(failure?.step == .sources)
            }
        }

        @Test("what sealed exams left for auditors is shown to nobody, and no key of the vault is")
        func sealedOutcomes() throws {
            let outcomes = try scratch.directory("experiments/one/sealed")
            let key = try scratch.file("vault/one/reveal.key", "secret")
            for (path, isVault) in [(outcomes, true), (outcomes, false), (key, false)] {
                try Lab.run(protected: [scratch.path], vault: vault) { lab in
                    let plan = try Plans.examiner(split: split, state: scratch.path).with { plan in
                        plan.mounts = try plan.mounts.map { mount in
                            guard case .vault = mount.source else { return mount }
                            var changed = mount
                            let source = try PinnedSource(path)
                            changed.source = isVault ? .vault(source) : .host(source)
                            return changed
                        }
                    }
                    let failure = try lab.refusal(
                        CompiledPlan(plan),
                        [try lab.rootTree()],
                        [Lab.candidateProbe, "facts"]
                    )
                    #expect(failure?.step == .sources, "\(path)")
                }
            }
        }

        @Test("without a vault, or with another, nothing counts as a split")
        func otherVault() throws {
            let other = try scratch.directory("other")
            for told in [nil, other] {
                try Lab.run(vault: told) { lab in
                    let plan = try Plans.examiner(split: split, state: scratch.path)
                    let failure = try lab.refusal(
                        CompiledPlan(plan),
                        [try lab.rootTree()],
                        [Lab.candidateProbe, "facts"]
                    )
                    #expect(failure?.step == .sources)
                }
            }
        }

        @Test("candidates and coding agents cannot have a vault mount, nor an examiner two")
        func roles() throws {
            let source = MountSource.vault(try PinnedSource(split))
            let mount = PlannedMount(
                target: try InsidePath("/vault"),
                source: source,
                access: .readOnly,
                isExecutable: false
            )
            var second = mount
            second.target = try InsidePath("/second")
            let plans = [
                try Plans.candidate().with { $0.mounts.append(mount) },
                try Plans.coding().with { $0.mounts.append(mount) },
                try Plans.examiner(split: split, state: scratch.path).with {
                    $0.mounts.append(second)
                },
                try Plans.examiner(split: split, state: scratch.path).with { plan in
                    plan.mounts = plan.mounts.map { mount in
                        var changed = mount
                        changed.access = .readWrite
                        return changed
                    }
                },
            ]
            try Lab.run(vault: vault) { lab in
                for plan in plans {
                    let failure = try lab.refusal(
                        CompiledPlan(plan),
                        [try lab.rootTree(), try lab.rootTree()],
                        [Lab.candidateProbe, "facts"]
                    )
                    #expect(failure?.step == .check, "\(plan.name)")
                }
            }
        }
    }
}
