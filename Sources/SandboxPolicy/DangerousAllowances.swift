internal import FilterLint
internal import SandboxPlan
public import SeccompCompiler
internal import StrictYAML

// What needs a reason. What no policy can allow (RefusedCalls, ArgumentRule, PlanInvariants) is not here, nor
// what the lint refuses a role. Sources: the manual page that is named, or the kernel file that keeps the state.
extension SandboxPolicy {
    /// What this policy allows that needs a reason, in the order of the document's keys.
    ///
    /// - Parameter groups: the groups of system calls by name; one that is missing is another's problem.
    /// - Returns: each allowance once.
    public func dangerousAllowances(groups: [String: SyscallGroup]) -> [DangerousAllowance] {
        let families = sockets.compactMap(danger)
        var found = levels + procfs + mounts.flatMap(dangers) + families + ceilings
        let names = CallDanger.all.filter { $0.applies(self) }
        for (call, place, isAllowed) in allowedCalls(groups) {
            let danger = names.first { $0.calls.contains(call) }
            guard let danger else {
                guard isAllowed else { continue }
                found.append(
                    DangerousAllowance(
                        name: "calls.\(call)",
                        danger: "no group of calls, with its own reason, has it",
                        place: place
                    )
                )
                continue
            }
            found.append(
                DangerousAllowance(
                    name: "calls.\(danger.name)",
                    danger: danger.danger,
                    place: place
                )
            )
        }
        var seen: Set<String> = []
        return found.filter { seen.insert($0.name).inserted }
    }

    // Call, where it is said, and whether by the key allow.
    private func allowedCalls(
        _ groups: [String: SyscallGroup]
    ) -> [(call: String, place: DocumentPlace, isAllowed: Bool)] {
        let refused = Set(syscalls.refuse.map(\.value))
        let listed = syscalls.groups.flatMap { group in
            (groups[group.value]?.rules ?? []).map { ($0.value.call, group.place, false) }
        }
        // A rule that is refused anyway needs no reason.
        let single = syscalls.allow.filter { FilterLint.problem(with: $0.value) == nil }
        return listed.filter { !refused.contains($0.0) }
            + single.map { ($0.value.call, $0.place, true) }
    }

    private var levels: [DangerousAllowance] {
        var found: [DangerousAllowance] = []
        if assurance < .full {
            found.append(
                DangerousAllowance(
                    name: "assurance",
                    danger: "a host of level \(assurance.name) closes less than the shipped "
                        + "policies promise",
                    place: place(of: "assurance")
                )
            )
        }
        if minimumABI < 6 {
            found.append(
                DangerousAllowance(
                    name: "landlock.minimum-abi",
                    danger: "before ABI 6 Landlock has no scopes for signals and abstract sockets "
                        + "(landlock(7))",
                    place: place(of: "landlock").child("minimum-abi")
                )
            )
        }
        if logsLandlock {
            found.append(
                DangerousAllowance(
                    name: "landlock.log",
                    danger: "a payload can fill the host's audit log, and without an audit daemon "
                        + "the kernel's log, with what it is refused",
                    place: place(of: "landlock").child("log")
                )
            )
        }
        return found
    }

    private var procfs: [DangerousAllowance] {
        guard [.candidate, .examiner].contains(role), proc != .none else { return [] }
        return [
            DangerousAllowance(
                name: "proc",
                danger:
                    "each look-up in procfs takes a number of a counter of the whole host, and nobody"
                    + " counts them (fs/proc/inode.c)",
                place: place(of: "proc")
            )
        ]
    }

    // What every distribution ships and what no host keeps secrets in; all else of a host may be private.
    private static let publicSources = [
        "/usr", "/lib", "/lib64", "/bin", "/sbin", "${python-prefix}", "/etc/ld.so.cache",
        "/etc/alternatives", "/etc/ssl/certs", "/etc/resolv.conf", "/etc/localtime",
    ]

    private func dangers(of mount: PolicyMount) -> [DangerousAllowance] {
        var found: [DangerousAllowance] = []
        if case .host(let path) = mount.source,
            !Self.publicSources.contains(where: { path == $0 || path.hasPrefix($0 + "/") })
        {
            found.append(
                DangerousAllowance(
                    name: "mounts.\(mount.target)",
                    danger: "it shows \(path), which lies outside of what every host publishes",
                    place: mount.place
                )
            )
        }
        if mount.access == .readWrite, mount.isExecutable {
            found.append(
                DangerousAllowance(
                    name: "mounts.\(mount.target).exec",
                    danger: "what was written there can be executed",
                    place: mount.place.child("exec")
                )
            )
        }
        return found
    }

    /// What is dangerous where this policy lists a family of sockets; nil where nothing is.
    ///
    /// - Parameter family: the family, which need not be listed.
    /// - Returns: the allowance that needs a reason.
    public func danger(of family: SocketFamily) -> DangerousAllowance? {
        let danger: String
        switch family {
        case .netlinkRoute:
            danger = "it opens the kernel's parsers of netlink messages (netlink(7))"
        case .inet, .inet6:
            guard [.candidate, .examiner].contains(role) else { return nil }
            danger =
                "its ports come from a table of the whole host, which the coding agent reads by its own "
                + "(net/ipv4/inet_hashtables.c), and the kernel counts its packets for the whole host"
        case .unix: return nil
        }
        return DangerousAllowance(
            name: "sockets.\(family.rawValue)",
            danger: danger,
            place: place(of: "sockets")
        )
    }

    private var ceilings: [DangerousAllowance] {
        let gibibyte: UInt64 = 1 << 30
        let values: [(key: String, value: UInt64, most: UInt64, text: String)] = [
            ("memory", limits.memory.bytes, 64 * gibibyte, "64GiB"),
            ("processes", UInt64(limits.processes), 4096, "4096"),
            ("wall", limits.wallClock.count, 24 * 3_600_000, "24h"),
            ("output", limits.output.bytes, gibibyte, "1GiB"),
            ("files", UInt64(limits.openFiles), 65_536, "65536"),
            ("file-size", limits.fileSize.bytes, 64 * gibibyte, "64GiB"),
        ]
        return values.filter { $0.value > $0.most }.map { limit in
            DangerousAllowance(
                name: "limits.\(limit.key)",
                danger: "above \(limit.text) it hardly bounds what one sandbox takes from the host",
                place: place(of: "limits").child(limit.key)
            )
        }
    }
}

/// Calls that are dangerous in the same way.
private struct CallDanger {
    let name: String
    let calls: Set<String>
    let danger: String
    /// Whether it tells something only of a file system that others write to.
    var needsHostDisk = false

    func applies(_ policy: SandboxPolicy) -> Bool {
        !needsHostDisk
            || policy.mounts.contains { mount in
                switch mount.source {
                case .host, .vaultSplit: true
                default: false
                }
            }
    }

    static let all = [
        CallDanger(
            name: "host-totals",
            calls: ["sysinfo"],
            danger:
                "memory, load and processes of the whole host are counters that one sandbox moves "
                + "and the next reads (sysinfo(2))"
        ),
        CallDanger(
            name: "memory-files",
            calls: ["memfd_create"],
            danger: "such a file can be executed although no mount allows it (memfd_create(2))"
        ),
        CallDanger(
            name: "watching",
            calls: ["inotify_init", "inotify_init1", "inotify_add_watch"],
            danger: "the cookies of renames count those of the whole host "
                + "(fs/notify/inotify, fsnotify_get_cookie)"
        ),
        CallDanger(
            name: "free-space",
            calls: ["statfs", "fstatfs", "ustat"],
            danger: "free blocks and inodes of a mounted host file system are counters of the host "
                + "(statfs(2))",
            needsHostDisk: true
        ),
        CallDanger(
            name: "process-descriptors",
            calls: ["pidfd_open", "pidfd_send_signal"],
            danger: "each takes an inode number of a counter of the whole host (fs/pidfs.c)"
        ),
        CallDanger(
            name: "memory-locks",
            calls: ["mlock", "mlock2", "mlockall"],
            danger:
                "pages of shared files that are locked stay in the page cache, which others can "
                + "time (mlock(2))"
        ),
        CallDanger(
            name: "flushing",
            calls: ["sync", "syncfs"],
            danger: "its time tells how much others have written (sync(2))"
        ),
    ]
}
