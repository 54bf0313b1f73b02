package import SandboxPlan

/// Compares what was said in a sandbox with its plan and with the host.
package struct FactsJudge {
    private let facts: SandboxFacts
    private let plan: SandboxPlan
    private let host: [String: UInt64]
    private let makesDevices: Bool

    /// Prepares a judgement.
    ///
    /// - Parameters:
    ///   - facts: what was said in the sandbox.
    ///   - plan: the plan that it was built from.
    ///   - host: inode numbers of the host's namespaces, by kind.
    ///   - makesDevices: whether the launcher was the host's root's, which alone can make device nodes.
    package init(
        _ facts: SandboxFacts,
        plan: SandboxPlan,
        host: [String: UInt64],
        makesDevices: Bool
    ) {
        self.makesDevices = makesDevices
        self.facts = facts
        self.plan = plan
        self.host = host
    }

    /// Everything but what takes more than looking: freezing and killing.
    package var findings: [QuickFinding] {
        [
            finding(.namespaces, namespaces),
            finding(.network, network),
            finding(.netFiles, networkFiles),
            finding(.ipc, namespace("ipc")),
            finding(.pid, processes),
            finding(.payloadNamespace, payloadNamespace),
            finding(.capabilities, capabilities),
            finding(.filter, filter),
            finding(.landlock, landlock),
            finding(.privateRoot, privateRoot),
            finding(.readOnlyMounts, mountFlags),
            finding(.descriptors, descriptors),
            finding(.objects, objects),
            finding(.limits, limits),
        ]
    }

    /// What was seen, and what is wrong with it.
    private typealias Seen = (problem: String?, evidence: String)

    private func finding(_ probe: QuickProbe, _ seen: Seen) -> QuickFinding {
        guard facts.isComplete else {
            let reason = "the self-check's program did not say everything"
            return QuickFinding(probe, plan.role, .unknown(reason), evidence: "")
        }
        let state = seen.problem.map { QuickFinding.State.missing($0) } ?? .enforced
        return QuickFinding(probe, plan.role, state, evidence: seen.evidence)
    }

    // MARK: - namespaces

    private func namespace(_ kind: String) -> Seen {
        let evidence = "the number of the \(kind) namespace inside was compared with the host's"
        guard let inside = facts.table("namespace")[kind]?.first.flatMap({ UInt64($0) }),
            let outside = host[kind]
        else { return ("the \(kind) namespace cannot be read", evidence) }
        return (inside == outside ? "the \(kind) namespace is the host's" : nil, evidence)
    }

    private var namespaces: Seen {
        let kinds = ["user", "mnt", "uts", "cgroup"]
        let problem = kinds.lazy.compactMap { namespace($0).problem }.first
        let names = kinds.joined(separator: ", ")
        return (problem, "the numbers of \(names) inside are not the host's")
    }

    private var network: Seen {
        let interfaces = facts.values("interface")
        let problem =
            interfaces == ["lo"] ? nil : "the interfaces are \(interfaces.joined(separator: ", "))"
        return (
            namespace("net").problem ?? problem,
            "interfaces listed inside: \(interfaces.joined(separator: ", "))"
        )
    }

    private var networkFiles: Seen {
        let files = facts.values("net-file")
        let open = files.filter { $0.hasPrefix("open ") }.map { String($0.dropFirst(5)) }
        let problem: String? =
            if let extra = open.first(where: { !NetworkView.readableFiles.contains($0) }) {
                "/proc/self/net/\(extra) can be opened"
            } else {
                files.isEmpty && plan.proc != .none ? "/proc/self/net cannot be listed" : nil
            }
        return (
            problem,
            files.isEmpty
                ? "there is no procfs inside"
                : "of \(files.count) files in /proc/self/net inside, these opened: "
                    + open.sorted().joined(separator: ", ")
        )
    }

    // What procfs has for every process: links to its own directory.
    private static let ownLinks = ["self", "thread-self", "mounts", "net"].map { "link \($0)" }

    private var processes: Seen {
        let parent = facts.values("parent").first ?? "unknown"
        let seen = facts.values("procfs")
        let shown = seen.first { !Self.ownLinks.contains($0) }?.split(separator: " ").last
        let problem: String? =
            if parent != "1" {
                "the parent is process \(parent) and not init"
            } else if seen.isEmpty {
                "procfs cannot be listed"
            } else {
                shown.map { "/proc/\($0) is the host's" }
            }
        return (
            namespace("pid").problem ?? problem,
            "the parent inside is process \(parent); of procfs, processes were seen and nothing else"
        )
    }

    private var payloadNamespace: Seen {
        let maps = facts.values("uid-map").map {
            $0.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        let isOne = maps == ["1000 1000 1"]
        return (
            isOne ? nil : "the id map is \(maps.joined(separator: "; "))",
            "the id map inside: \(maps.joined(separator: "; "))"
        )
    }

    // MARK: - rights

    // capabilities(7): all bits and their locks but SECBIT_KEEP_CAPS, which its lock keeps off.
    private static let lockedSecureBits = "239"

    private var capabilities: Seen {
        let status = facts.table("status")
        var wrong: [String] = []
        for name in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            let set = status[name + ":"]?.first ?? "unknown"
            if !set.allSatisfy({ $0 == "0" }) { wrong.append("\(name) is \(set)") }
        }
        if status["NoNewPrivs:"] != ["1"] { wrong.append("no_new_privs is not set") }
        if facts.values("securebits") != [Self.lockedSecureBits] {
            wrong.append("securebits are \(facts.values("securebits").joined())")
        }
        for name in ["Uid:", "Gid:"] where Set(status[name] ?? []) != ["1000"] {
            wrong.append("\(name) \((status[name] ?? []).joined(separator: " "))")
        }
        return (
            wrong.first, "five capability sets, securebits, no_new_privs and ids were read inside"
        )
    }

    // Libraries fall back to another call where the kernel has none of these.
    private static let absent = ["clone3", "io_uring_setup"]

    // What filters around ours answer, of a container or a unit. Where they refuse with an error and ours
    // would have told, theirs is what is seen (seccomp_unotify(2)); the call is refused all the same.
    private static let othersAnswers = ["ENOSYS", "EACCES", "EAFNOSUPPORT"]

    private var isUnderOtherFilters: Bool {
        (facts.table("status")["Seccomp_filters:"]?.first.flatMap { Int($0) } ?? 1) > 1
    }

    private var filter: Seen {
        let calls = facts.table("call")
        var wrong: [String] = []
        if facts.table("status")["Seccomp:"] != ["2"] { wrong.append("no filter is loaded") }
        if calls.isEmpty { wrong.append("no call was answered") }
        for (name, answer) in calls.sorted(by: { $0.key < $1.key }) {
            let expected = Self.absent.contains(name) ? "ENOSYS" : "EPERM"
            let isOthers =
                isUnderOtherFilters && answer.count == 1 && Self.othersAnswers.contains(answer[0])
            if answer != [expected], !isOthers {
                wrong.append("\(name) is answered \(answer.joined()), not \(expected)")
            }
        }
        let foreign = facts.table("foreign")
        if foreign["x32"] != ["SIGSYS"] { wrong.append("a call of the x32 table is not killed") }
        // A kernel without the 32-bit table faults before any filter is asked.
        if foreign["32-bit"] != ["SIGSYS"], foreign["32-bit"] != ["SIGSEGV"] {
            wrong.append("a call of the 32-bit table is not killed")
        }
        return (
            wrong.first,
            "\(calls.count) calls were made that must be refused: EPERM, and ENOSYS for clone3 and io_uring; "
                + "calls of the x32 and 32-bit tables ended their processes"
        )
    }

    private var landlock: Seen {
        let answer = facts.values("landlock").first ?? "unknown"
        return (
            answer == "EACCES" ? nil : "opening /proc/self/coredump_filter for writing: \(answer)",
            "opening /proc/self/coredump_filter for writing was refused: \(answer)"
        )
    }

    // MARK: - files

    private struct SeenMount {
        let target: String
        let options: Set<String>
    }

    private var mounts: [SeenMount] {
        facts.values("mount").compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3 else { return nil }
            return SeenMount(
                target: words[0],
                options: Set(words[1].split(separator: ",").map(String.init))
            )
        }
    }

    // What every sandbox has besides the mounts of its plan; covers lie below /proc.
    private func isUsual(_ target: String) -> Bool {
        ["/", "/proc", "/dev", "/dev/pts"].contains(target) || isCover(target)
            || isHostsDevice(target)
    }

    // An ordinary user's sandbox is shown the host's nodes, each by a mount.
    private func isHostsDevice(_ target: String) -> Bool {
        !makesDevices && plan.devices.contains { "/dev/\($0.rawValue)" == target }
    }

    private func isCover(_ target: String) -> Bool {
        plan.proc != .pidOnly && target.hasPrefix("/proc/")
    }

    private func planned(_ target: String) -> PlannedMount? {
        // As proc(5) writes a space in a name.
        plan.mounts.first { $0.target.text.replacing(" ", with: "\\040") == target }
    }

    private var privateRoot: Seen {
        let seen = mounts
        let strange = seen.map(\.target).filter { !isUsual($0) && planned($0) == nil }
        let visible = facts.values("path").filter { $0.hasPrefix("exists ") }
            .map { $0.dropFirst("exists ".count) }
        let problem: String? =
            if seen.isEmpty {
                "the mounts cannot be read"
            } else if let first = strange.first {
                "\(first) is mounted, and the plan lists no such mount"
            } else {
                visible.first.map { "\($0) can be seen" }
            }
        let paths = facts.values("path").count
        let evidence = "\(seen.count) mounts, all of them planned; \(paths) paths of state absent"
        return (problem, evidence)
    }

    private var mountFlags: Seen {
        let seen = mounts
        let problem = seen.lazy.compactMap(flagProblem).first
        return (
            seen.isEmpty ? "the mounts cannot be read" : problem,
            "the flags of \(seen.count) mounts were read inside"
        )
    }

    private func flagProblem(_ mount: SeenMount) -> String? {
        let plan = planned(mount.target)
        var needed: Set<String> = ["nosuid"]
        // /dev holds the nodes of the sandbox's own; its terminals are made there, too.
        if !["/dev", "/dev/pts"].contains(mount.target), !isHostsDevice(mount.target) {
            needed.insert("nodev")
        }
        let isCover = self.isCover(mount.target)
        if isCover || ["/", "/dev"].contains(mount.target) || plan?.access == .readOnly {
            needed.insert("ro")
        }
        if isCover || mount.target == "/proc" || plan?.isExecutable == false {
            needed.insert("noexec")
        }
        let lacking = needed.subtracting(mount.options).sorted()
        return lacking.isEmpty
            ? nil : "\(mount.target) is mounted without \(lacking.joined(separator: ", "))"
    }

    // MARK: - descriptors and limits

    private var descriptors: Seen {
        let open = facts.values("descriptor")
        let expected = ["0", "1", "2"] + plan.descriptors.map { "\($0.number)" }
        return (
            open == expected ? nil : "open are \(open.joined(separator: ", "))",
            "open inside: \(open.joined(separator: ", "))"
        )
    }

    private var objects: Seen {
        guard !plan.counted.isEmpty else { return (nil, "the plan counts no call") }
        let words = (facts.values("objects").first ?? "").split(separator: " ").map(String.init)
        guard words.count == 2, let made = UInt32(words[0]) else {
            return ("it was not tried how many pipes can be made", "")
        }
        let isRefused = words[1] == "EMFILE" && made <= plan.limits.objects
        return (
            isRefused
                ? nil
                : "\(made) pipes were made (\(words[1])), the plan allows \(plan.limits.objects)",
            "of \(plan.limits.objects) pipes \(made) were made, and the next was refused with \(words[1])"
        )
    }

    private var limits: Seen {
        let limits = facts.table("limit")
        let words = (facts.values("threads").first ?? "").split(separator: " ").map(String.init)
        guard words.count == 2, let made = UInt32(words[0]) else {
            return ("it was not tried how many processes can be made", "")
        }
        // Two more are alive: init and the program itself.
        let isRefused = words[1] != "none" && made <= max(plan.limits.processes, 2) - 2
        let files = "\(plan.limits.openFiles)"
        let size = "\(plan.limits.fileSize.bytes)"
        let signals = "\(SandboxLimits.pendingSignals)"
        let problem: String? =
            if !isRefused {
                "\(made + 2) processes ran, the plan allows \(plan.limits.processes)"
            } else if limits["core"] != ["0", "0"] {
                "core dumps are not off"
            } else if limits["files"] != [files, files] || limits["size"] != [size, size] {
                "open files or the size of files are not limited as planned"
            } else if limits["signals"] != [signals, signals] {
                "not \(signals) signals can wait, as in every sandbox"
            } else {
                nil
            }
        return (
            problem,
            "of \(plan.limits.processes) processes \(made + 2) ran, and the next was refused with "
                + "\(words[1]); every limit that the launcher wrote was read back"
        )
    }
}
