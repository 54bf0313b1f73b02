/// What root may lack in a container or in a hardened unit, as far as it can be read.
public struct ContainedRoot: Sendable, Equatable {
    /// Capabilities that are needed and that this root has not, by name.
    public let missingCapabilities: [String]
    /// Places of procfs that something else is mounted on.
    public let coveredPlaces: [String]

    // Those that the launcher keeps, and CAP_FOWNER, by which the root phase sets modes of what the
    // supervisor owns (linux/capability.h).
    private static let needed: [(number: Int, name: String)] = [
        (0, "CAP_CHOWN"), (1, "CAP_DAC_OVERRIDE"), (3, "CAP_FOWNER"), (5, "CAP_KILL"),
        (6, "CAP_SETGID"), (7, "CAP_SETUID"), (8, "CAP_SETPCAP"), (21, "CAP_SYS_ADMIN"),
        (27, "CAP_MKNOD"),
    ]

    // A directory that is always empty, so that what is mounted there covers nothing.
    private static let emptyPlace = "/proc/sys/fs/binfmt_misc"

    /// Reads the texts of `/proc/self/status` and `/proc/self/mountinfo` (proc(5)).
    ///
    /// Where the first has no effective set, every capability counts as missing.
    public init(status: String, mountInfo: String) {
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let set = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
        missingCapabilities = Self.needed.filter { set >> $0.number & 1 == 0 }.map(\.name)
        coveredPlaces = mountInfo.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 4, fields[4].hasPrefix("/proc/"), fields[4] != Self.emptyPlace
            else { return nil }
            return String(fields[4])
        }
    }

    /// Looks at this process.
    public static func probe() -> ContainedRoot {
        ContainedRoot(
            status: HostText.whole("/proc/self/status"),
            mountInfo: HostText.whole("/proc/self/mountinfo")
        )
    }
}
