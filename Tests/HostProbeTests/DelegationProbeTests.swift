import HostProbe
import Testing

@Suite("What was delegated to an ordinary user")
struct DelegationProbeTests {
    private static let scope = "/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope"
    private static let map = "         0       1000          1\n         1     100000      65535\n"

    private func probe(
        map: String = map,
        membership: String = "0::\(scope)\n",
        controllers: String = "cpu memory pids\n",
        owners: [String: UInt32] = [:]
    ) -> DelegationProbe {
        DelegationProbe(
            idMap: .success(map),
            membership: membership,
            user: 1000,
            offered: { $0 == Self.scope ? controllers : "" },
            owner: { owners[$0] ?? ($0.hasPrefix(Self.scope) ? 1000 : 0) }
        )
    }

    @Test("65,536 ids and a group of the user's own with three controllers are all that is needed")
    func whole() {
        #expect(probe().isWhole)
        #expect(probe(controllers: "cpuset cpu io memory hugetlb pids rdma misc\n").isWhole)
    }

    @Test(
        "a map that ends before the last id of a sandbox is none",
        arguments: [
            "", "0 1000 1\n", "0 1000 1\n1 100000 65534\n", "0 1000 1\n3 100000 65533\n", "0 0 x\n",
        ]
    )
    func fewIDs(map: String) {
        let found = probe(map: map)
        #expect(found.users?.reason == "fewer than 65,536 subordinate ids" && found.group == nil)
        #expect(found.users?.cure.contains("usermod --add-subuids") == true)
    }

    @Test("why no ids could be mapped is told")
    func refused() {
        let found = DelegationProbe(
            idMap: .failure(.init(reason: "unshare said: no entry in /etc/subuid")),
            membership: "",
            user: 1000,
            offered: { _ in "" },
            owner: { _ in nil }
        )
        #expect(found.users?.reason == "unshare said: no entry in /etc/subuid" && !found.isWhole)
    }

    @Test(
        "control groups of version 1, and none at all, are not for ordinary users",
        arguments: ["", "4:memory:/a\n0::/a\n", "1:name=systemd:/a\n", "0::/a\n0::/a\n"]
    )
    func version1(membership: String) {
        #expect(probe(membership: membership).group?.reason.contains("version 1") == true)
    }

    @Test(
        "a group is another's as soon as one of its files is",
        arguments: ["", "/cgroup.procs", "/cgroup.subtree_control"]
    )
    func foreign(file: String) {
        let found = probe(owners: [Self.scope + file: 0])
        #expect(found.group?.reason == "the control group \(Self.scope) is not this user's")
        #expect(found.group?.cure.contains("-p Delegate=yes") == true)
        let root = probe(membership: "0::/\n")
        #expect(root.group?.reason == "the control group / is not this user's")
    }

    @Test("a controller that user managers are not given by default is named, with the drop-in")
    func controllers() {
        let found = probe(controllers: "memory pids\n")
        #expect(found.group?.reason.hasSuffix("has no controller cpu") == true)
        #expect(found.group?.cure.contains("user@.service.d/delegate.conf") == true)
    }
}
