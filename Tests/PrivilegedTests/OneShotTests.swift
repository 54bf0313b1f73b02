import LauncherClient
import HostKernel
import Foundation
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    @Suite("The one-shot launcher")
    struct OneShotTests {
        private let scratch: Scratch

        init() throws {
            scratch = try Scratch()
            for name in ["proc", "dev", "tmp", "candidate", "usr/bin"] {
                _ = try scratch.directory("root/\(name)")
            }
        }

        // The tree is a tmpfs that exists in the mount namespace of the one run alone.
        private func run(
            _ plan: [UInt8],
            _ words: [String],
            input: String = "",
            fill: String = Self.filling
        ) throws -> Spawn.Outcome {
            let path = scratch.path + "/plan"
            try Data(plan).write(to: URL(fileURLWithPath: path))
            _ = try scratch.directory("tree")
            let script = """
                cd \(scratch.path) && \(fill) && exec \(Host.launcher) run plan \
                --tree \(scratch.path)/tree -- "$@"
                """
            return try Spawn.run(
                "/usr/bin/unshare",
                arguments: ["--mount", "--propagation", "private", "sh", "-c", script, "sh"]
                    + words,
                environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "PROBE=\(Host.probe)"],
                input: Array(input.utf8)
            )
        }

        private static let filling =
            "mount -t tmpfs none tree && cp -r root/. tree && cp $PROBE tree/usr/bin/probe"

        private func run(
            _ words: [String],
            input: String = "",
            fill: String = Self.filling,
            _ change: (inout SandboxPlan) throws -> Void = { _ in }
        ) throws -> Spawn.Outcome {
            let plan = try Plans.candidate().with(change)
            return try run(
                CompiledPlan(plan).file,
                [Lab.candidateProbe] + words,
                input: input,
                fill: fill
            )
        }

        @Test("its exit code is the command's, a signal's, or that of a limit")
        func codes() throws {
            #expect(try run(["exit", "0"]).end.exitCode == 0)
            #expect(try run(["exit", "42"]).end.exitCode == 42)
            #expect(try run(["raise", "9"]).end.exitCode == 128 + 9)
            #expect(try run(["call-here", "int80"]).end.exitCode == 128 + 31)
            let late = try run(["wait"]) { $0.limits.wallClock = Milliseconds(200) }
            #expect(late.end.exitCode == 137)
            #expect(String(decoding: late.errors, as: UTF8.self).contains("wall"))
            // After an end by a limit the next run is none the worse.
            #expect(try run(["exit", "42"]).end.exitCode == 42)
        }

        @Test("every limit holds on a host that has version 1 control groups alone")
        func versionOne() throws {
            let unmount = "umount -l /sys/fs/cgroup/unified && " + Self.filling
            guard try ControlGroupHierarchies.detect().mode == .hybrid else { return }
            #expect(try run(["exit", "42"], fill: unmount).end.exitCode == 42)
            let cases: [(words: [String], kind: String)] = [
                (["eat", "400"], "oom"), (["overfork", "200"], "pids"), (["spin"], "cpu"),
                (["crowd", "9"], "wall"),
            ]
            for (words, kind) in cases {
                let outcome = try run(words, fill: unmount) { plan in
                    plan.limits.memory = .mebibytes(96)
                    // The one limit that is meant, however busy the host is.
                    plan.limits.wallClock = Milliseconds(kind == "wall" ? 1500 : 60_000)
                    plan.limits.cpuTime = Milliseconds(kind == "cpu" ? 300 : 30_000)
                }
                #expect(outcome.end.exitCode == 137, "\(kind)")
                let errors = String(decoding: outcome.errors, as: UTF8.self)
                #expect(errors.contains("ended by its limit: \(kind)"), "\(errors)")
            }
            #expect(try run(["exit", "42"]).end.exitCode == 42)
        }

        // Runs in a control-group namespace as a container has it: at its root is a group of the host.
        private func runInContainer(_ first: String) throws -> Spawn.Outcome {
            let box = "/sys/fs/cgroup/box"
            let fill = """
                \(Self.filling) && mkdir -p \(box) && echo $$ >\(box)/cgroup.procs && \
                exec unshare --cgroup sh -c 'umount -l /sys/fs/cgroup && \
                mount -t cgroup2 none /sys/fs/cgroup && \(first) \
                exec \(Host.launcher) run plan --tree \(scratch.path)/tree -- "$@"' sh "$@"
                """
            return try run(["exit", "42"], fill: fill)
        }

        @Test("a container's group is divided only where no process is in it; doctor says so")
        func container() throws {
            guard try ControlGroupHierarchies.detect().mode == .v2 else { return }
            defer {
                // What is left of the groups would be counted as left by a launcher.
                for name in ["invigilator/0", "invigilator", "init", ""] {
                    try? FileManager.default.removeItem(atPath: "/sys/fs/cgroup/box/" + name)
                }
            }
            let doctor = scratch.path + "/doctor"
            let occupied = try runInContainer("\(Host.programs)/invigilator doctor >\(doctor);")
            #expect(occupied.end.exitCode == 3)
            let errors = String(decoding: occupied.errors, as: UTF8.self)
            #expect(
                errors.contains("cgroup.subtree_control +memory +pids +cpu: EBUSY"),
                "\(errors)"
            )
            #expect(errors.contains("`invigilator doctor`"))
            let found = try String(contentsOfFile: doctor, encoding: .utf8)
            #expect(found.contains("whose own processes keep it from being divided"), "\(found)")
            let divided = try runInContainer(
                "mkdir -p /sys/fs/cgroup/init && echo 0 >/sys/fs/cgroup/init/cgroup.procs &&"
            )
            #expect(divided.end.exitCode == 42)
        }

        @Test("input, output and errors are the caller's")
        func streams() throws {
            let text = String(repeating: "through the sandbox\n", count: 10_000)
            let outcome = try run(["echo"], input: text)
            #expect(String(decoding: outcome.output, as: UTF8.self) == text)
            #expect(try run(["say", "2", "trouble"]).errors == Array("trouble".utf8))
        }

        /// Starts a run that goes on until it is stopped, and waits until its payload is there.
        private func startWaiting() throws -> (pid: Int32, family: [Int32]) {
            let path = scratch.path + "/plan"
            let plan = CompiledPlan(try Plans.candidate())
            try Data(plan.file).write(to: URL(fileURLWithPath: path))
            _ = try scratch.directory("tree")
            let script = """
                cd \(scratch.path) && \(Self.filling) && exec \(Host.launcher) run plan \
                --tree \(scratch.path)/tree -- \(Lab.candidateProbe) wait
                """
            var pair = try DescriptorPair.pipe()
            let reader = pair.takeFirst()
            let writer = pair.takeSecond()
            let null = try Descriptor.open("/dev/null", .readWrite)
            var descriptors = DescriptorPlacements()
            descriptors.add(null)
            descriptors.add(writer)
            descriptors.add(null)
            let pid = try Spawn.start(
                "/usr/bin/unshare",
                arguments: ["--mount", "--propagation", "private", "sh", "-c", script],
                environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "PROBE=\(Host.probe)"],
                descriptors: descriptors
            )
            #expect(try reader.read(atMost: 8) == Array("waiting\n".utf8))
            return (pid, try Census.descendants(of: pid))
        }

        @Test("asked to end, it takes its sandbox along", arguments: [SIGTERM, SIGINT, SIGHUP])
        func signalled(_ signal: Int32) throws {
            let (pid, family) = try startWaiting()
            #expect(family.count == 2)
            #expect(kill(pid, signal) == 0)
            #expect(try ProcessEnd.wait(for: pid).exitCode == 137)
            #expect(try Census.living(family).isEmpty)
        }

        @Test("killed, it takes its sandbox along")
        func killed() throws {
            let (pid, family) = try startWaiting()
            #expect(family.count == 2)
            #expect(kill(pid, SIGKILL) == 0)
            #expect(try Census.waitUntilGone(family).isEmpty)
            #expect(try ProcessEnd.wait(for: pid).signal == SIGKILL)
            #expect(try run(["exit", "9"]).end.exitCode == 9)
        }

        @Test("a slot that the caller left closed is connected to nothing")
        func closedSlot() throws {
            #expect(try run(["say", "3", "frame"]).end.exitCode == 0)
            let outcome = try run(["descriptors"])
            let facts = Facts(String(decoding: outcome.output, as: UTF8.self))
            #expect(
                facts.keys == ["fd.0", "fd.1", "fd.2", "fd.3"]
                    && facts["fd.3"]?.hasSuffix("null") == true,
                "\(facts)"
            )
        }

        @Test("what the caller has open besides does not get in")
        func strayDescriptor() throws {
            let here = try Host.namespace("mnt").filter(\.isNumber)
            let control = try Spawn.run(
                "/usr/bin/unshare",
                arguments: [
                    "--mount", "sh", "-c",
                    "exec 9</etc/passwd; exec $PROBE --control $HERE descriptors",
                ],
                environment: ["PATH=/usr/bin:/bin", "PROBE=\(Host.probe)", "HERE=\(here)"]
            )
            // The instrument: where nothing closes it, it is there.
            #expect(Facts(String(decoding: control.output, as: UTF8.self))["fd.9"] == "/etc/passwd")
            let stray = Self.filling + " && exec 9</etc/passwd"
            let outcome = try run(["descriptors"], fill: stray)
            let facts = Facts(String(decoding: outcome.output, as: UTF8.self))
            #expect(facts.keys == ["fd.0", "fd.1", "fd.2", "fd.3"])
        }

        @Test("a changed plan, another file and a broken invariant are refused with code 3")
        func refusedPlans() throws {
            let good = CompiledPlan(try Plans.candidate()).file
            var flipped = good
            flipped[good.count / 2] ^= 4
            let words = [Lab.candidateProbe, "exit", "0"]
            #expect(try run(good, words).end.exitCode == 0)
            let endless = try Plans.candidate().with { $0.limits.wallClock = Milliseconds(0) }
            for plan in [flipped, Array(good.dropFirst()), [], CompiledPlan(endless).file] {
                let outcome = try run(plan, words)
                #expect(outcome.end.exitCode == 3 && outcome.output.isEmpty)
                #expect(!outcome.errors.isEmpty)
            }
        }

        @Test("a tree that is not a tmpfs is refused")
        func otherTree() throws {
            let plan = CompiledPlan(try Plans.candidate()).file
            let outcome = try run(
                plan,
                [Lab.candidateProbe, "exit", "0"],
                fill: Self.filling.replacing("-t tmpfs", with: "-t ramfs")
            )
            #expect(outcome.end.exitCode == 3)
            #expect(String(decoding: outcome.errors, as: UTF8.self).contains("is not a tmpfs"))
        }

        @Test("a wrong command line is code 2")
        func usage() throws {
            for words in [[], ["run"], ["run", "--tree"], ["serve", "--channel", "4"], ["jump"]] {
                #expect(
                    try Spawn.run(Host.launcher, arguments: words).end.exitCode == 2,
                    "\(words)"
                )
            }
            let version = try Spawn.run(Host.launcher, arguments: ["--version"])
            #expect(version.end.exitCode == 0)
            // It is written to a pipe here, and must not stay in a buffer.
            #expect(String(decoding: version.output, as: UTF8.self).hasPrefix("invigilator-l"))
        }

        @Test("an ordinary user sweeps no control group")
        func ordinaryUser() throws {
            let outcome = try Spawn.run(
                "/usr/bin/setpriv",
                arguments: [
                    "--reuid", "65534", "--regid", "65534", "--clear-groups", Host.launcher,
                    "sweep",
                ]
            )
            #expect(outcome.end.exitCode != 0)
        }

        @Test("the probe itself refuses to run where nothing contains it")
        func probeRefuses() throws {
            #expect(try Spawn.run(Host.probe, arguments: ["facts"]).end.exitCode == 77)
            let here = try Host.namespace("mnt").filter(\.isNumber)
            let control = ["--control", here, "facts"]
            #expect(try Spawn.run(Host.probe, arguments: control).end.exitCode == 77)
        }
    }
}
