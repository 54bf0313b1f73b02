import Foundation
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

        private static let place = "/dev/\(NetworkView.socketName)"

        @Test("who may know a sealed task has its model at a socket file, which it cannot replace")
        func socketFile() throws {
            try Lab.run { lab in
                let plan = try Plans.candidateWithModel()
                let guest = try lab.run(
                    plan,
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "unix", Self.place]
                )
                #expect(guest.facts["connect"] == "OK", "\(guest.text)")
                #expect(guest.sandbox.endpoint != nil)
                // What it is told of who listens is the same in each sandbox.
                #expect(guest.facts["peer-name"] == NetworkView.socketName, "\(guest.text)")
                #expect(["EPERM", "OK"].contains(guest.facts["pass"]), "\(guest.text)")
                #expect(guest.facts["unlink"] == "EROFS" && guest.facts["bind"] == "EADDRINUSE")
                let without = try lab.run(
                    plan.with { $0.network = .loopback },
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "unix", Self.place]
                )
                #expect(without.facts["connect"] == "ENOENT" && without.sandbox.endpoint == nil)
            }
        }

        @Test("two sandboxes have two socket files")
        func twoSocketFiles() throws {
            try Lab.run { lab in
                let plan = try Plans.candidateWithModel()
                let first = try lab.start(
                    plan,
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "wait"]
                )
                try first.waitFor("waiting")
                // Nobody listens at the first one's any more.
                do { _ = try #require(first.sandbox.endpoint).take() }
                let second = try lab.run(
                    plan,
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "unix", Self.place]
                )
                #expect(second.facts["connect"] == "OK")
                try first.sandbox.kill()
                try first.waitForEnd()
            }
        }

        // What let candidates make internet sockets: the shipped policy of an older version.
        private static func withInternet() throws -> SandboxPlan {
            try Plans.candidateWithModel(changing: [
                "network: model-socket": "network: endpoint",
                "sockets: [unix]": "sockets: [unix, inet]",
                "descriptors: { 3: frames }":
                    "descriptors: { 3: frames }\nbecause: { sockets.inet: to show what it costs }",
            ])
        }

        private static let message = Array("1011001110001011")

        // What a coding agent reads in the ports of its own connections while a candidate runs between them.
        private static func readBits(
            _ lab: Lab,
            _ plan: SandboxPlan
        ) throws -> ([Character], Facts) {
            let reader = try lab.start(
                try Plans.coding(),
                try lab.codingTrees(),
                [Lab.codingProbe, "ports-read", "\(message.count)"]
            )
            try reader.waitFor("look.0")
            let writer = try lab.run(
                plan,
                [try lab.rootTree()],
                [Lab.candidateProbe, "ports-write", String(message)]
            )
            reader.send("\n")
            try reader.waitForEnd()
            let facts = reader.facts
            let bits = try message.indices.map { bit -> Character in
                let ports = try (0..<2).map { look in
                    try #require(facts["port.\(look).\(bit)"].flatMap { Int($0) }, "\(facts)")
                }
                // Each connection moves the next port on by 2 to 16, and they wrap around.
                let moved = (ports[1] - ports[0] + 28_232) % 28_232
                return moved > 150 ? "1" : "0"
            }
            return (bits, writer.facts)
        }

        @Test(
            "without internet sockets no candidate chooses the ports that a coding agent is given"
        )
        func ports() throws {
            try Lab.run { lab in
                // The kernel salts its table anew every 10 s; a look before and one after show noise.
                var found: [Character] = []
                for _ in 0..<4 where found != Self.message {
                    let (bits, written) = try Self.readBits(lab, try Self.withInternet())
                    #expect(written["socket"] == "OK", "\(written)")
                    found = bits
                }
                #expect(found == Self.message, "with internet sockets the message arrives")
                let (bits, written) = try Self.readBits(lab, try Plans.candidateWithModel())
                #expect(written["socket"] == "EPERM", "\(written)")
                #expect(bits != Self.message)
            }
        }

        // The first column of each processor's line: packets that the whole host has taken (proc_net(5)).
        private static func packets() throws -> Int {
            try String(contentsOfFile: "/proc/net/softnet_stat", encoding: .utf8)
                .split(separator: "\n")
                .compactMap { $0.split(separator: " ").first }
                .reduce(0) { sum, count in sum + (Int(count, radix: 16) ?? 0) }
        }

        @Test("without internet sockets no candidate counts up the packets of the whole host")
        func datagrams() throws {
            try Lab.run { lab in
                func counted(_ plan: SandboxPlan) throws -> (Int, Facts) {
                    let before = try Self.packets()
                    let guest = try lab.run(
                        plan,
                        [try lab.rootTree()],
                        [Lab.candidateProbe, "datagrams", "200000"]
                    )
                    return (try Self.packets() - before, guest.facts)
                }
                let (open, sent) = try counted(try Self.withInternet())
                #expect(sent["sent"] == "200000", "\(sent)")
                #expect(open >= 200_000, "with internet sockets the host's counter says \(open)")
                let (closed, refused) = try counted(try Plans.candidateWithModel())
                #expect(refused["socket"] == "EPERM" && refused["sent"] == nil, "\(refused)")
                #expect(closed < 100_000, "other programs of the host sent \(closed)")
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
