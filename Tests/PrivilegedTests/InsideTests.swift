import HostKernel
import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    @Suite("What is inside")
    struct InsideTests {
        @Test("the program of init cannot be opened, nor the payload's own be written to")
        func ownPrograms() throws {
            let paths = ["/proc/1/exe", "/proc/1/root", "/proc/1/fd", "/proc/1/ns/mnt"]
            try Lab.run { lab in
                for guest in [
                    try lab.candidate(["open", "read"] + paths),
                    try lab.coding(["open", "read"] + paths),
                ] {
                    for path in paths {
                        #expect(["ENOENT", "EACCES"].contains(guest.facts[path]), "\(path)")
                    }
                }
                let own = try lab.candidate(["open", "write", Lab.candidateProbe]).facts
                #expect(["EROFS", "EACCES"].contains(own[Lab.candidateProbe]))
            }
        }

        @Test("init cannot be signalled")
        func initIsSafe() throws {
            try Lab.run { lab in
                for signal in ["0", "9", "15", "19"] {
                    let facts = try lab.candidate(["kill", "1", signal]).facts
                    #expect(facts["kill"] == "EPERM", "signal \(signal)")
                }
                #expect(try lab.coding(["kill", "1", "9"]).facts["kill"] == "EPERM")
            }
        }

        @Test("/dev has the listed devices and nothing else, and none can be made")
        func devices() throws {
            let usual = [
                "fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom",
                "zero",
            ]
            try Lab.run { lab in
                #expect(try lab.candidate(["list", "/dev"]).facts.lines.sorted() == usual)
                let fewer = try lab.candidate(["list", "/dev"]) { $0.devices = [.null] }
                #expect(
                    fewer.facts.lines.sorted()
                        == ["fd", "null", "shm", "stderr", "stdin", "stdout"]
                )
                let facts = try lab.candidate(["open", "write", "/dev/null", "/dev/full"]).facts
                #expect(facts["/dev/null"] == "OK" && facts["/dev/full"] == "OK")
                // S_IFCHR and S_IFBLK of mknod(2); the host's root may make both.
                let control = try Host.control(["node", "/tmp/probe-node"], unshare: [])
                #expect(control["character"] == "OK" && control["block"] == "OK")
                for guest in [
                    try lab.candidate(["node", "/tmp/node"]),
                    try lab.coding(["node", "/work/agent/node"]),
                ] {
                    #expect(guest.facts["character"] == "EPERM")
                    #expect(guest.facts["block"] == "EPERM")
                }
            }
        }

        @Test("TCP is Landlock's to allow: on loopback where the plan says so, and else nowhere")
        func tcp() throws {
            try Lab.run { lab in
                let allowed = try lab.coding(["tcp", "127.0.0.1", "9"]) { plan in
                    plan.landlock.allowsTCP = true
                }
                #expect(allowed.facts["bind"] == "OK")
                #expect(allowed.facts["connect"] == "ECONNREFUSED")
                let refused = try lab.coding(["tcp", "127.0.0.1", "9"]) { plan in
                    plan.landlock.allowsTCP = false
                }
                #expect(refused.facts["bind"] == "EACCES")
                #expect(refused.facts["connect"] == "EACCES")
                let none = try lab.candidate(["tcp", "127.0.0.1", "9"]).facts
                #expect(none["socket"] == "EPERM")
            }
        }

        @Test("what the agent writes is the supervisor's to read, and only in its own tree")
        func writableTree() throws {
            try Lab.run { lab in
                let trees = try lab.codingTrees()
                let plan = try Plans.coding()
                let words = [Lab.codingProbe, "change", "/work/agent"]
                let first = try lab.run(plan, trees, words)
                #expect(first.facts["create"] == "OK" && first.facts["mkdir"] == "OK")
                let make = [Lab.codingProbe, "open", "create", "/work/agent/agent.py"]
                #expect(try lab.run(plan, trees, make).facts["/work/agent/agent.py"] == "OK")
                let status = try FileStatus(of: "agent.py", in: trees[1].directory)
                #expect(status.owner == Lab.supervisor && status.group == Lab.supervisor)
                // A second sandbox has another host user, and the file is still its own.
                let again = try lab.run(
                    plan,
                    trees,
                    [Lab.codingProbe, "stat", "/work/agent/agent.py"]
                )
                #expect(again.facts["owner"] == "1000" && again.facts["group"] == "1000")
                let write = [Lab.codingProbe, "open", "write", "/work/agent/agent.py"]
                #expect(try lab.run(plan, trees, write).facts["/work/agent/agent.py"] == "OK")
            }
        }

        @Test("what the supervisor writes into a tree is seen by who runs in it, at once")
        func liveView() throws {
            try Lab.run { lab in
                let trees = try lab.codingTrees()
                let guest = try lab.start(try Plans.coding(), trees, [Lab.codingProbe, "wait"])
                try guest.waitFor("waiting")
                let payload = try #require(try Census.descendants(of: lab.client.pid).last)
                try trees[0].directory.replace("news", with: Array("new\n".utf8))
                let seen = try Host.control(
                    ["enter", "\(payload)", "user+mnt", "cat", "/work/news"]
                )
                #expect(seen.text == "new\n")
                try guest.sandbox.kill()
                try guest.waitForEnd()
            }
        }

        @Test("a client that closes its end loses output, and the payload goes on to its end")
        func closedClient() throws {
            try Lab.run { lab in
                let guest = try Guest(
                    lab,
                    CompiledPlan(try Plans.candidate()),
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "print", "700000"],
                    collects: false
                )
                guest.closeOutputs()
                try guest.waitForExit()
                #expect(guest.exit?.kind == .exited && guest.exit?.code == 0)
                #expect(guest.exit?.outputBytes == 700_000)
            }
        }
    }
}
