import Foundation
import HostKernel
import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    @Suite("More requests than a launcher has room for")
    struct FloodTests {
        @Test("trees past the limit are refused, and nothing is left when they are dropped")
        func trees() throws {
            try Lab.run { lab in
                let before = try Remains(of: lab)
                var trees: [SandboxTree] = []
                for number in 0..<300 {
                    do {
                        trees.append(try lab.client.makeTree(size: .mebibytes(1), inodes: 16))
                    } catch LauncherError.refused(let failure) {
                        #expect(failure.reason.contains("too many"), "\(failure)")
                        #expect(number >= 256)
                    }
                }
                #expect(trees.count == 256)
                while let tree = trees.popLast() { try lab.client.drop(tree) }
                let after = try Remains(of: lab)
                #expect(after == before)
            }
        }

        // A launcher that may have so many descriptors.
        private func launcher(_ limit: String, _ scratch: Scratch) throws -> String {
            let script = "#!/bin/sh\nulimit \(limit) && exec '\(Host.launcher)' \"$@\"\n"
            let path = try scratch.file("launcher", script)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            return path
        }

        @Test(
            "sandboxes past the limit, or past the descriptors that there are, are refused",
            arguments: [("-Sn 1024", "too many"), ("-n 300", "")]
        )
        func sandboxes(limit: String, reason: String) throws {
            let scratch = try Scratch()
            let plan = CompiledPlan(try Plans.coding())
            try Lab.run(launcher: try launcher(limit, scratch)) { lab in
                let trees = try lab.codingTrees()
                var started: [RunningSandbox] = []
                var exits = 0
                var failures: [LaunchFailure] = []
                let null = try Descriptor.open("/dev/null", .readWrite)
                var streams = DescriptorPlacements()
                for _ in 0..<3 { streams.add(null) }
                func start() throws {
                    do {
                        let sandbox = try lab.client.launch(
                            plan,
                            trees: trees,
                            command: ["/usr/bin/sleep", "600"],
                            descriptors: streams,
                            onExit: { _ in exits += 1 }
                        )
                        started.append(sandbox)
                    } catch LauncherError.refused(let failure) {
                        failures.append(failure)
                    }
                }
                for _ in 0..<260 where failures.count < 4 { try start() }
                #expect(failures.count == 4 && started.count > 5, "\(started.count) started")
                for failure in failures {
                    #expect(reason.isEmpty || failure.reason.contains(reason), "\(failure)")
                    #expect(!failure.remedy.isEmpty)
                }
                #expect(reason.isEmpty || started.count == 256)
                for sandbox in started { try sandbox.kill() }
                try lab.wait("every sandbox to be gone") { exits == started.count }
                #expect(try Census.descendants(of: lab.client.pid).isEmpty)
                // There is room again.
                failures = []
                try start()
                #expect(failures.isEmpty, "\(failures)")
                try started.last?.kill()
                try lab.wait("the last one to be gone") { exits == started.count }
            }
        }
    }
}
