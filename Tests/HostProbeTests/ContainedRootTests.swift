import HostProbe
import Testing

@Suite("What a container leaves to root")
struct ContainedRootTests {
    private static let whole = """
        24 30 0:22 / /proc rw,nosuid - proc proc rw
        35 24 0:31 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw

        """

    private func root(capabilities: String, mounts: String = whole) -> ContainedRoot {
        ContainedRoot(
            status: "Name:\tdoctor\nCapPrm:\t000001ffffffffff\nCapEff:\t\(capabilities)\n",
            mountInfo: mounts
        )
    }

    @Test("root of a host lacks nothing")
    func host() {
        let found = root(capabilities: "000001fffeffffff")
        #expect(found.missingCapabilities.isEmpty)
        #expect(found.coveredPlaces.isEmpty)
    }

    @Test("each capability that is needed is missed by its name")
    func missing() {
        let found = root(capabilities: "000001fff7ffffdf")
        #expect(found.missingCapabilities == ["CAP_KILL", "CAP_MKNOD"])
    }

    @Test("a status without capabilities is one of a root that has none")
    func unread() {
        #expect(ContainedRoot(status: "", mountInfo: Self.whole).missingCapabilities.count == 9)
    }

    @Test("what covers procfs is named, but for what is mounted on an empty directory")
    func covered() {
        let masks = """
            24 30 0:22 / /proc rw - proc proc rw
            36 24 0:5 /null /proc/kcore rw - devtmpfs devtmpfs rw
            37 24 0:40 / /proc/acpi ro - tmpfs tmpfs ro

            """
        let found = root(capabilities: "000001ffffffffff", mounts: masks)
        #expect(found.coveredPlaces == ["/proc/kcore", "/proc/acpi"])
    }
}
