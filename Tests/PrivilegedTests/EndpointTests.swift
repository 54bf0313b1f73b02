import HostKernel
import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import SandboxPolicy
import Testing

extension Privileged {
    @Suite("The endpoint in a sandbox's network, and the broker's own sandbox")
    struct EndpointTests {
        private static let port = "\(NetworkView.port)"

        @Test("a plan with an endpoint gives the sandbox one, and us its listener")
        func endpoint() throws {
            try Lab.run { lab in
                let guest = try lab.coding(["tcp", "127.0.0.1", Self.port])
                #expect(guest.facts["connect"] == "OK")
                #expect(guest.sandbox.endpoint != nil)
                let without = try lab.coding(["tcp", "127.0.0.1", Self.port]) {
                    $0.network = .loopback
                }
                #expect(without.facts["connect"] == "ECONNREFUSED")
                #expect(without.sandbox.endpoint == nil)
            }
        }

        @Test("a sandbox does not reach the endpoint of another one")
        func separation() throws {
            try Lab.run { lab in
                let plan = try Plans.coding()
                let first = try lab.start(plan, try lab.codingTrees(), [Lab.codingProbe, "wait"])
                try first.waitFor("waiting")
                #expect(first.sandbox.endpoint != nil)
                let second = try lab.coding(["tcp", "127.0.0.1", Self.port]) {
                    $0.network = .loopback
                }
                #expect(second.facts["connect"] == "ECONNREFUSED")
                try first.sandbox.kill()
                try first.waitForEnd()
            }
        }

        @Test("the broker's sandbox has the host's network and cannot offer anything there")
        func broker() throws {
            let control = try Host.control(["cat", "/proc/self/net/dev"])
            try Lab.run { lab in
                let plan = try Plans.broker()
                let dev = try lab.run(plan, [], [Host.probe, "cat", "/proc/self/net/dev"])
                let names = { (facts: Facts) in
                    Set(facts.lines.dropFirst(2).compactMap { $0.split(separator: ":").first })
                }
                #expect(names(dev.facts) == names(control))
                let facts = try lab.run(plan, [], [Host.probe, "facts"]).facts
                for name in ["pid", "ipc", "uts", "user", "mnt", "cgroup"] {
                    #expect(
                        try facts["ns.\(name)"] != Host.namespace(name),
                        "\(name) is the host's"
                    )
                }
                #expect(try facts["ns.net"] == Host.namespace("net"))
                let tcp = try lab.run(plan, [], [Host.probe, "tcp", "127.0.0.1", "1"]).facts
                #expect(tcp["socket"] == "OK" && tcp["bind"] == "EPERM")
            }
        }

        @Test("the launcher gives the host's network to nobody but a broker without trees")
        func invariants() throws {
            try Lab.run { lab in
                let coding = try Plans.coding().with { $0.network = .host }
                let words = [Lab.codingProbe, "wait"]
                let refusal = try lab.refusal(CompiledPlan(coding), try lab.codingTrees(), words)
                #expect(refusal?.reason == "a coding sandbox with the network host")
                let broker = try Plans.broker().with {
                    $0.mounts.append(
                        PlannedMount(
                            target: try InsidePath("/shown"),
                            source: .tree(index: 0),
                            access: .readOnly,
                            isExecutable: false
                        )
                    )
                }
                let tree = try lab.rootTree()
                let shown = try lab.refusal(CompiledPlan(broker), [tree], [Host.probe, "wait"])
                #expect(shown?.reason == "a tree shows the broker an experiment")
            }
        }
    }
}
