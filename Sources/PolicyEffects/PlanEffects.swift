internal import SandboxPlan
internal import SandboxPolicy
internal import SeccompCompiler
internal import StrictYAML

/// Derives statements about effects from a plan.
struct PlanEffects {
    let resolved: ResolvedPolicy
    private var plan: SandboxPlan { resolved.plan }

    init(resolved: ResolvedPolicy) {
        self.resolved = resolved
    }

    // MARK: - files

    var reads: [String] {
        var lines: [String] = []
        switch plan.root {
        case .tree: lines.append("/: a tree made for this exam alone, on a file system of its own")
        case .skeleton(let entries):
            let files = entries.compactMap { entry -> String? in
                if case .file(let path, let contents) = entry, !contents.isEmpty {
                    return path.text
                }
                return nil
            }
            lines.append("/: an empty private file system")
            if !files.isEmpty {
                lines.append("written by the policy: \(files.joined(separator: ", "))")
            }
        }
        return lines + plan.mounts.map { "\($0.target): \(source(of: $0))" }
            + resolved.missingSources.map { "not on this host and left out: \($0)" }
    }

    var writes: [String] {
        plan.mounts.filter { $0.access == .readWrite }.map { mount in
            switch mount.source {
            case .tmpfs(let size, let inodes):
                "\(mount.target): \(Quantity.text(size)) and \(inodes) files; gone with the sandbox"
            case .tree(let index) where index == 1:
                "\(mount.target): tree \(index); of it only \(kept) is ever read back"
            case .tree(let index): "\(mount.target): tree \(index); it stays for the run"
            case .treeFile:
                "\(mount.target): its contents; it cannot be renamed, removed or given another name"
            case .host(let source), .vault(let source):
                "\(mount.target): \(source.path) of the host"
            }
        }
    }

    private var kept: String {
        resolved.policy.surface.patterns.map(\.text).joined(separator: ", ")
    }

    var executes: [String] {
        var lines: [String] = []
        if plan.root == .tree { lines.append("/: every program of the tree") }
        lines += plan.mounts.filter(\.isExecutable).map { mount in
            let note = mount.access == .readWrite ? ", also what it wrote itself" : ""
            return "\(mount.target)\(note)"
        }
        return lines
    }

    private func source(of mount: PlannedMount) -> String {
        switch mount.source {
        case .host(let source):
            "the host's \(source.path) (\(source.isDirectory ? "directory" : "file"))"
        case .vault: "one split of the vault: tasks and gold answers"
        case .tree(let index): "tree \(index), filled by the supervisor"
        case .treeFile(let index, let path):
            "\(path.text.dropFirst()) of tree \(index), filled by the supervisor"
        case .tmpfs(let size, _): "a private tmpfs of \(Quantity.text(size))"
        }
    }

    // MARK: - the outside

    var reaches: [String] {
        let isHosts = plan.network == .host
        let place = isHosts ? "anywhere that the host reaches" : "on loopback, the only interface"
        var lines = [network]
        lines += resolved.policy.sockets.map { family in
            switch family {
            case .unix: "Unix sockets inside the sandbox"
            case .inet: "TCP and UDP over IPv4 \(place)"
            case .inet6: "TCP and UDP over IPv6 \(place)"
            case .netlinkRoute: "the list of its own interfaces (netlink)"
            }
        }
        lines += plan.descriptors.map { slot in
            switch slot.purpose {
            case .frames: "descriptor \(slot.number): frames to and from the supervisor"
            case .verdicts: "descriptor \(slot.number): verdicts to the supervisor"
            case .control: "descriptor \(slot.number): what the supervisor asks of the broker"
            }
        }
        switch plan.streams {
        case .pipes: lines.append("descriptors 0 to 2: pipes that the launcher drains")
        case .terminal: lines.append("descriptors 0 to 2: a terminal of its own")
        }
        return lines
    }

    private var network: String {
        switch plan.network {
        case .loopback: "loopback of its own network namespace; there is no other interface"
        case .endpoint:
            "loopback of its own network namespace, on 127.0.0.1:\(NetworkView.port) the broker; "
                + "there is no other interface"
        case .modelSocket:
            "at the Unix socket /dev/\(NetworkView.socketName) the broker; loopback of its own network "
                + "namespace is the only interface"
        case .host: "the host's network"
        }
    }

    var sees: [String] {
        let processes =
            switch plan.proc {
            case .none: "in /proc nothing"
            case .pidOnly: "in /proc its own processes and nothing of the host"
            case .masked(let constants):
                "in /proc its own processes, and constants in the place of the host's counters: "
                    + Self.files(constants).joined(separator: ", ")
            }
        let devices = plan.devices.map(\.rawValue).joined(separator: ", ")
        let names = plan.environment.map(\.name).joined(separator: ", ")
        return [
            processes, "in /dev: \(devices.isEmpty ? "nothing" : devices)",
            "in its environment: \(names.isEmpty ? "nothing" : names)",
        ]
    }

    // The files of a skeleton, without the slash that each begins with.
    private static func files(_ entries: [SkeletonEntry]) -> [String] {
        entries.compactMap { entry in
            switch entry {
            case .file(let path, _): String(path.text.dropFirst())
            case .directory, .link: nil
            }
        }
    }

    var limits: [String] {
        let limits = plan.limits
        var lines = [
            "memory: \(Quantity.text(limits.memory)), its file systems included",
            "processes and threads: \(limits.processes)",
            "processor: \(limits.cpuPercent) percent of one core",
            "wall clock: \(Quantity.text(limits.wallClock))",
        ]
        if let time = limits.cpuTime { lines.append("processor time: \(Quantity.text(time))") }
        if let idle = limits.idle { lines.append("silence: \(Quantity.text(idle))") }
        let action =
            limits.killsOnOutput ? "more ends the sandbox" : "the rest is dropped and counted"
        lines += [
            "output: \(Quantity.text(limits.output)); \(action)",
            "open files: \(limits.openFiles) each process",
            "pipes, sockets and shared memory: "
                + (limits.objects > 0 ? "\(limits.objects) in all" : "not counted"),
            "a single file: \(Quantity.text(limits.fileSize))",
        ]
        return lines
    }

    // MARK: - the kernel

    var calls: [String] {
        let groups = resolved.groups.map { "\($0.name): \($0.reason)" }
        let single = resolved.policy.syscalls.allow.map {
            "the call \($0.value.call), by the policy"
        }
        return groups + Set(single).sorted()
    }

    var refused: [String] {
        let withheld = RefusedCalls.all.map(\.name).sorted()
        let left = resolved.policy.syscalls.refuse.map(\.value)
        var lines = [
            "capabilities, new privileges and new namespaces, whatever it tries",
            "socket families other than those above, vsock included",
            "typing into a terminal by TIOCSTI or TIOCLINUX",
            "\(withheld.count) system calls always: \(withheld.joined(separator: ", "))",
            "every other call that no group lists: EPERM",
            "32-bit and x32 calls: the process is killed",
            "anything on a kernel without Landlock ABI \(plan.landlock.minimumABI), and on a host "
                + "below assurance level \(plan.demandedLevel.name): the launch is refused",
        ]
        if !left.isEmpty {
            lines.append("taken out of the groups: \(left.joined(separator: ", "))")
        }
        return lines
    }

    /// Settings that an administrator chose and that let more through than the shipped documents.
    var weaker: [String] {
        var lines: [String] = []
        if plan.demandedLevel < .full {
            lines.append("assurance \(plan.demandedLevel.name) is enough")
        }
        if plan.landlock.minimumABI < 6 {
            lines.append("Landlock without scopes for signals and abstract sockets is enough")
        }
        if plan.landlock.isLogged {
            lines.append("what Landlock refuses fills the host's audit log")
        }
        for (group, reason) in Self.weakGroups
        where resolved.groups.contains(where: { $0.name == group }) {
            lines.append("group \(group): \(reason)")
        }
        for mount in plan.mounts where mount.access == .readWrite && mount.isExecutable {
            lines.append("\(mount.target): what was written there can be executed")
        }
        for rule in resolved.policy.syscalls.allow {
            lines.append("the call \(rule.value.call) beside the groups")
        }
        return lines
    }

    /// What needs a reason, with the reason.
    var reasons: [String] {
        let groups = Dictionary(uniqueKeysWithValues: resolved.groups.map { ($0.name, $0) })
        return resolved.policy.dangerousAllowances(groups: groups).map { allowance in
            let reason = resolved.policy.because.reasons[allowance.name]?.value ?? "no reason"
            return "\(allowance.name): \(allowance.danger); allowed because: \(reason)"
        }
    }

    private static let weakGroups = [
        ("host-totals", "counters of the whole host"),
        ("memory-files", "programs without a file"),
    ]
}

/// Quantities in words.
enum Quantity {
    /// A size in the largest binary unit that divides it.
    static func text(_ size: ByteCount) -> String {
        let units: [(UInt64, String)] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        let unit = units.first { size.bytes % $0.0 == 0 && size.bytes > 0 } ?? (1, "B")
        return "\(size.bytes / unit.0) \(unit.1)"
    }

    /// A time in the largest unit that divides it.
    static func text(_ time: Milliseconds) -> String {
        let units: [(UInt64, String)] = [(3_600_000, "h"), (60_000, "min"), (1000, "s")]
        let unit = units.first { time.count % $0.0 == 0 && time.count > 0 } ?? (1, "ms")
        return "\(time.count / unit.0) \(unit.1)"
    }
}
