import HostProbe
import Invigilator
import Testing

@Suite("What doctor says of root in a container")
struct ContainedRootChecksTests {
    private func checks(_ capabilities: String, _ mounts: String) -> [HostCheck] {
        ContainedRootChecks(
            ContainedRoot(status: "CapEff:\t\(capabilities)\n", mountInfo: mounts)
        ).all
    }

    @Test("nothing is missing on a host")
    func host() {
        let all = checks("000001ffffffffff", "24 30 0:22 / /proc rw - proc proc rw\n")
        #expect(all.map(\.state) == [.good, .good])
    }

    @Test("a missing capability and a covered procfs are gaps, with the option that closes each")
    func gaps() {
        let mounts = "36 24 0:5 /null /proc/kcore rw - devtmpfs devtmpfs rw\n"
        let all = checks("000001fff7ffffff", mounts)
        #expect(all[0].found == "root here lacks CAP_MKNOD")
        #expect(all[1].found.hasPrefix("covered at /proc/kcore, "))
        let cures = all.map { check in
            guard case .gap(let cure) = check.state else { return "" }
            return cure
        }
        #expect(cures[0].contains("--cap-add"))
        #expect(cures[1].contains("unmask=ALL"))
    }
}
