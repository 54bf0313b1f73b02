// What every plan must satisfy, compiled into the launcher: a compromised supervisor cannot obtain a
// sandbox that breaks one. Rules that need the host (devices, inodes, protected directories) are
// checked where the sources are opened; everything else is here and pure.

/// The compiled-in rules, checked by the resolver for the administrator and by the launcher for us.
public enum PlanInvariants {
    /// Checks every rule.
    ///
    /// - Throws: ``PlanError`` naming the first rule that does not hold.
    public static func check(_ plan: SandboxPlan) throws(PlanError) {
        try checkText(plan)
        try checkMounts(plan)
        try checkWritable(plan)
        try checkLimits(plan)
        try checkDescriptors(plan)
        try checkLandlock(plan)
        try checkCounted(plan)
    }

    /// An error with the operation of this file.
    static func refusal(_ location: String, _ reason: String, _ remedy: String) -> PlanError {
        PlanError("check the plan's invariants", location, reason, remedy)
    }

    private static func checkText(_ plan: SandboxPlan) throws(PlanError) {
        let isName = plan.name.utf8.allSatisfy { byte in
            (97...122).contains(byte) || (48...57).contains(byte) || byte == 45
        }
        guard isName, (1...64).contains(plan.name.utf8.count) else {
            throw refusal("name", "not 1 to 64 of a-z, 0-9, -", "rename the policy")
        }
        var seen: Set<String> = []
        for variable in plan.environment {
            let place = "environment.\(variable.name.debugDescription)"
            guard isVariableName(variable.name), seen.insert(variable.name).inserted else {
                throw refusal(place, "malformed or given twice", "use A-Z, 0-9 and _ once each")
            }
            guard !variable.name.hasPrefix("LD_"), variable.name != "GCONV_PATH" else {
                throw refusal(place, "it steers the dynamic loader", "remove the variable")
            }
        }
    }

    private static func isVariableName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(48...57).contains(first) else { return false }
        return name.utf8.allSatisfy { byte in
            (65...90).contains(byte) || (97...122).contains(byte) || (48...57).contains(byte)
                || byte == 95
        }
    }

    private static func checkMounts(_ plan: SandboxPlan) throws(PlanError) {
        var targets: [InsidePath] = []
        var vaults = 0
        var trees: [UInt8: [String]] = plan.root == .tree ? [0: ["/"]] : [:]
        for mount in plan.mounts {
            let place = "mounts, \(mount.target)"
            let reserved = ["/", "/proc", "/dev"].contains { name in
                mount.target.text == name
                    || (name != "/" && mount.target.text.hasPrefix(name + "/"))
            }
            guard !reserved, !targets.contains(mount.target) else {
                throw refusal(place, "reserved, or mounted twice", "choose another target")
            }
            for earlier in targets where earlier.isWithin(mount.target) {
                throw refusal(place, "it would hide \(earlier)", "list parents before children")
            }
            targets.append(mount.target)
            switch mount.source {
            case .host(let source), .vault(let source):
                guard InsidePath.isNormal(source.path) else {
                    throw refusal(place, "not an absolute, plain path", "write it without . and ..")
                }
                if case .vault = mount.source { vaults += 1 }
            case .tree(let index):
                guard trees.updateValue(["/"], forKey: index) == nil else { throw twice(place) }
            case .treeFile(let index, let path):
                let shown = trees[index] ?? []
                guard !shown.contains("/"), !shown.contains(path.text) else { throw twice(place) }
                trees[index] = shown + [path.text]
            case .tmpfs: break
            }
        }
        guard plan.role != .broker || trees.isEmpty else {
            throw refusal("mounts", "a tree shows the broker an experiment", "remove it")
        }
        let allowed = plan.role == .examiner ? 0...1 : 0...0
        guard allowed.contains(vaults) else {
            throw refusal("mounts", "\(vaults) of the vault", "show an examiner one split of it")
        }
    }

    private static func twice(_ place: String) -> PlanError {
        refusal(place, "a tree or a file of one is shown twice", "use each once")
    }

    private static func checkWritable(_ plan: SandboxPlan) throws(PlanError) {
        for mount in plan.mounts where mount.access == .readWrite {
            let isOwn =
                switch mount.source {
                case .tmpfs: true
                case .tree(let index), .treeFile(let index, _): plan.role == .coding && index > 0
                case .host, .vault: false
                }
            guard isOwn else {
                throw refusal(
                    "mounts, \(mount.target)",
                    "a \(plan.role) sandbox may not write to what outlives it",
                    "make it read-only, or a tmpfs; only a coding sandbox has a writable tree"
                )
            }
        }
        guard ![.coding, .broker].contains(plan.role) || plan.root != .tree else {
            throw refusal("root", "a \(plan.role) has no tree as root", "use a skeleton root")
        }
        guard plan.role != .candidate || plan.root == .tree else {
            throw refusal("root", "a candidate's root must be a tree", "set it to the exam's tree")
        }
        guard (plan.network == .host) == (plan.role == .broker) else {
            let reason = "a \(plan.role) sandbox with the network \(plan.network)"
            throw refusal("network", reason, "give the host's to the broker, and to nobody else")
        }
        for mount in plan.mounts where plan.role == .candidate {
            if case .host = mount.source {
                let place = "mounts, \(mount.target)"
                throw refusal(place, "it shows a candidate the host", "put it into the image")
            }
        }
    }

    private static func checkLimits(_ plan: SandboxPlan) throws(PlanError) {
        let limits = plan.limits
        let week: UInt64 = 7 * 24 * 3_600_000
        guard (1...week).contains(limits.wallClock.count) else {
            throw refusal("limits.wall", "not above 0 and at most a week", "set a wall-clock limit")
        }
        guard limits.memory >= .mebibytes(4), limits.memory <= .mebibytes(1 << 20) else {
            throw refusal("limits.memory", "not within 4 MiB and 1 TiB", "set a memory limit")
        }
        guard (1...32768).contains(limits.processes), (1...25600).contains(limits.cpuPercent)
        else {
            throw refusal("limits", "out of range", "use 1-32768 processes, 1-25600 percent of cpu")
        }
        guard (8...1_048_576).contains(limits.openFiles) else {
            throw refusal("limits.files", "not within 8 and 1048576", "set a descriptor limit")
        }
    }

    private static func checkCounted(_ plan: SandboxPlan) throws(PlanError) {
        let knowsTasks = [.candidate, .examiner].contains(plan.role)
        guard !knowsTasks || (1...CountedCalls.most).contains(plan.limits.objects) else {
            throw refusal(
                "limits.objects",
                "a \(plan.role) that takes numbers of the host's counters uncounted can write a message",
                "set 1 to 1048576 of them"
            )
        }
        for call in plan.counted where CountedCalls.takes(call.number) == nil {
            let remedy = "compile the policy again"
            throw refusal("counted calls", "call \(call.number) takes no number", remedy)
        }
        let isCounting = plan.limits.objects > 0
        guard isCounting || plan.counted.isEmpty else {
            throw refusal("counted calls", "there is no limit of them", "set limits.objects")
        }
        try FilterInvariants.check(plan.filter, counting: isCounting ? plan.counted : nil)
    }

    private static func checkDescriptors(_ plan: SandboxPlan) throws(PlanError) {
        var previous: UInt8 = 2
        for slot in plan.descriptors {
            guard slot.number > previous, slot.number < 32 else {
                throw refusal("descriptors", "out of order or range", "list 3 to 31 in order")
            }
            guard slot.purpose != .verdicts || plan.role == .examiner,
                slot.purpose != .control || plan.role == .broker
            else {
                let reason = "a \(plan.role) has no use for \(slot.purpose)"
                throw refusal("descriptors", reason, "remove the slot")
            }
            previous = slot.number
        }
    }

    private static func checkLandlock(_ plan: SandboxPlan) throws(PlanError) {
        guard !plan.landlock.rules.isEmpty else {
            throw refusal("landlock", "there is no rule", "list what the payload may read")
        }
        let writable = plan.mounts.filter { $0.access == .readWrite }.map(\.target)
        let devices = [try InsidePath("/dev")]
        for rule in plan.landlock.rules where ![.read, .readExecute].contains(rule.access) {
            let places = rule.access == .device ? devices : writable
            guard places.contains(where: { rule.path.isWithin($0) }) else {
                throw refusal(
                    "landlock, \(rule.path)",
                    "a writing rule outside every writable mount, or a device rule outside /dev",
                    "name a path on a writable mount, or /dev"
                )
            }
        }
    }
}
