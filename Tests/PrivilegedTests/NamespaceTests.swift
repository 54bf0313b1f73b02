import HostKernel
import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    @Suite("Namespaces")
    struct NamespaceTests {
        @Test("all seven namespaces differ from the host's, in every role")
        func allDiffer() throws {
            let control = try Host.control(["facts"])
            try Lab.run { lab in
                for facts in [
                    try lab.candidate(["facts"]).facts, try lab.coding(["facts"]).facts,
                ] {
                    for (name, _) in NamespaceKinds.names {
                        let host = try Host.namespace(name)
                        // The instrument sees the host's namespaces where nothing separates.
                        if name != "mnt" { #expect(control["ns.\(name)"] == host) }
                        let inside = try #require(facts["ns.\(name)"])
                        #expect(inside.hasPrefix("\(name):["))
                        #expect(inside != host, "\(name) is the host's")
                    }
                    #expect(facts["host"] == "sandbox")
                }
            }
        }

        @Test("two sandboxes of one plan share no namespace")
        func twoDiffer() throws {
            try Lab.run { lab in
                let tree = try lab.rootTree()
                let plan = try Plans.candidate()
                let words = [Lab.candidateProbe, "facts"]
                // Both alive at once, or the kernel may give one number twice.
                let first = try lab.start(plan, [tree], [Lab.candidateProbe, "wait"])
                try first.waitFor("waiting")
                let second = try lab.run(plan, [tree], words)
                let payload = try #require(try Census.descendants(of: lab.client.pid).last)
                for (name, _) in NamespaceKinds.names {
                    let other = try Host.namespace(name, of: "\(payload)")
                    #expect(second.facts["ns.\(name)"] != other, "\(name) is shared")
                }
                try first.sandbox.kill()
                try first.waitForEnd()
            }
        }

        @Test("A14: there is no interface but loopback, and no route leads out")
        func noNetwork() throws {
            let control = try Host.control(["cat", "/proc/self/net/dev"])
            try Lab.run { lab in
                let dev = try lab.coding(["cat", "/proc/self/net/dev"]).facts
                let routes = try lab.coding(["cat", "/proc/self/net/route"]).facts
                #expect(Self.interfaces(dev) == ["lo"])
                #expect(routes.lines.count <= 1, "a route: \(routes)")
                let out = try lab.coding(["connect", "192.0.2.1", "53"]).facts
                #expect(out["socket"] == "OK" && out["connect"] == "ENETUNREACH")
                let inward = try lab.coding(["connect", "127.0.0.1", "53"]).facts
                #expect(inward["connect"] == "OK")
            }
            // Where there is nothing but loopback outside, the instrument at least reads it.
            #expect(Self.interfaces(control).contains("lo"))
        }

        @Test("of the files about its network only those open that count nothing of the host's")
        func networkFiles() throws {
            let kept = NetworkView.readableFiles
            let counters = ["softnet_stat", "sockstat", "snmp", "netstat", "protocols", "packet"]
            // The instrument reads every one of them where nobody closed them, in an empty network, too.
            for more in [[], ["--net"]] {
                let control = try Host.control(["network-files"], unshare: more)
                for name in kept + counters + ["stat/rt_cache", "dev_snmp6/lo"] {
                    #expect(control["self/\(name)"] == "OK", "\(name) on the control")
                }
                #expect(control["again"] == "OK")
            }
            func names(_ facts: Facts) -> Set<Substring> {
                Set(facts.keys.compactMap { $0.split(separator: "/").first })
            }
            let scratch = try Scratch()
            let vault = try scratch.directory("vault")
            let split = try scratch.directory("vault/one/test")
            try Lab.run(protected: [scratch.path], vault: vault) { lab in
                let words = ["network-files"]
                let examiner = try Plans.examiner(split: split, state: scratch.path)
                    .with { $0.proc = .pidOnly }
                for guest in [
                    try lab.coding(words), try lab.candidate(words),
                    try lab.run(examiner, [try lab.rootTree()], [Lab.candidateProbe] + words),
                ] {
                    let facts = guest.facts
                    // `self`, `thread-self`, and the number of another process.
                    #expect(names(facts).subtracting(["chmod", "again"]).count == 3, "\(facts)")
                    for name in counters { #expect(facts["self/\(name)"] == "EACCES", "\(name)") }
                    for key in facts.keys where key.contains("/") {
                        let name = key.split(separator: "/", maxSplits: 1)[1]
                        let isKept = kept.contains(String(name))
                        #expect(facts[key] == (isKept ? "OK" : "EACCES"), "\(key)")
                    }
                    #expect(facts["chmod"] == "EPERM" && facts["again"] == "EACCES")
                }
            }
            // Nobody else's network was touched.
            let after = try Host.control(["network-files"])
            #expect(after["self/softnet_stat"] == "OK" && after["self/sockstat"] == "OK")
        }

        private static func interfaces(_ facts: Facts) -> [String] {
            facts.lines.dropFirst(2).compactMap { line in
                line.split(separator: ":").first.map { String($0.filter { $0 != " " }) }
            }
        }

        @Test("no process of the host is visible or can be signalled")
        func noHostProcess() throws {
            let own = CurrentProcess.pid
            let control = try Host.control(["kill", "\(own)", "0"])
            #expect(control["kill"] == "OK")
            try Lab.run { lab in
                for guest in [
                    try lab.candidate(["kill", "\(own)", "0"]),
                    try lab.coding(["kill", "\(own)", "0"]),
                ] { #expect(guest.facts["kill"] == "ESRCH") }
                // Init is there but may not be signalled: its uid is another.
                let found = try lab.candidate(["find", "32768"]).facts.lines
                #expect(found == ["found.1", "found.2"])
                let listed = try lab.candidate(["list", "/proc"]).facts.lines
                #expect(listed.filter { Int($0) != nil } == ["2"])
            }
        }

        @Test("neither the name of the control group nor that of the plan shows inside")
        func noNames() throws {
            try Lab.run { lab in
                let groups = try lab.candidate(["cat", "/proc/self/cgroup"]).facts.lines
                #expect(!groups.isEmpty)
                for line in groups {
                    #expect(!line.contains(ControlGroup.poolName), "\(line)")
                }
                let hierarchies = try ControlGroupHierarchies.detect()
                let ours = ["", "memory", "pids", "cpu"]
                for line in groups {
                    let parts = line.split(separator: ":", omittingEmptySubsequences: false)
                    guard ours.contains(String(parts[1])), hierarchies.mode != .v1 else { continue }
                    #expect(parts[2] == "/", "\(line)")
                }
            }
        }
    }
}
