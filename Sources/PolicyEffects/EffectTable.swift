public import SandboxPolicy
internal import SandboxPlan
internal import SeccompCompiler
internal import StrictYAML

/// All that a payload under one policy has, in one statement a thing: two policies with the same table
/// give the same plan, but for its name.
///
/// An explanation leaves out what people need not be told each time; this leaves out nothing.
public struct EffectTable: Sendable, Equatable {
    /// What statements are about.
    public enum Section: String, Sendable, CaseIterable {
        /// Who the payload is, and below which level of the host it is refused.
        case role, assurance
        /// What it sees of files.
        case root, mounts, surface
        /// What it sees of the rest.
        case proc, devices, environment, start, network, descriptors
        /// What it may use up.
        case limits
        /// What it may ask of the kernel.
        case sockets, calls, landlock
        /// What of this needs a reason.
        case dangers
    }

    /// Statements by what they are about, of each section.
    public private(set) var sections: [Section: [String: String]] = [:]

    /// The table of nothing: what a payload has that is never started.
    public init() {}

    /// Lists what a resolved policy gives.
    public init(_ resolved: ResolvedPolicy) {
        let plan = resolved.plan
        sections[.role] = ["role": "\(plan.role)"]
        sections[.assurance] = ["level": plan.demandedLevel.name]
        sections[.root] = Self.root(plan.root)
        sections[.mounts] = Self.mounts(resolved)
        sections[.surface] = Self.surface(resolved)
        sections[.proc] = Self.proc(plan.proc, plan.limits)
        sections[.devices] = Self.each(plan.devices.map { ($0.rawValue, "there") })
        sections[.environment] = Self.each(plan.environment.map { ($0.name, $0.value) })
        sections[.start] = Self.start(plan)
        sections[.network] = ["network": plan.network.rawValue]
        sections[.descriptors] = Self.each(
            plan.descriptors.map { ("\($0.number)", "\($0.purpose)") }
        )
        sections[.limits] = Self.limits(plan.limits)
        sections[.sockets] = Self.each(resolved.policy.sockets.map { ($0.rawValue, "may be made") })
        sections[.calls] = Self.calls(resolved.filter.rules)
        sections[.landlock] = ["minimum-abi": "\(plan.landlock.minimumABI)"]
        if plan.landlock.isLogged {
            sections[.landlock]?["log"] = "refusals are audit records of the host"
        }
        let groups = Dictionary(uniqueKeysWithValues: resolved.groups.map { ($0.name, $0) })
        sections[.dangers] = Self.each(
            resolved.policy.dangerousAllowances(groups: groups).map { ($0.name, $0.danger) }
        )
    }

    // What stands twice is said once, with both.
    private static func each(_ pairs: [(String, String)]) -> [String: String] {
        Dictionary(pairs) { $0 == $1 ? $0 : "\($0), \($1)" }
    }

    // MARK: - files

    private static func root(_ root: RootSource) -> [String: String] {
        switch root {
        case .tree: ["/": "a tree made for this exam alone"]
        case .skeleton(let entries):
            each(
                [("/", "an empty private file system")]
                    + entries.map { entry in
                        switch entry {
                        case .directory(let path): (path.text, "a directory")
                        case .link(let path, let target): (path.text, "a link to \(target)")
                        case .file(let path, let contents):
                            (path.text, "a file: \(quoted(contents))")
                        }
                    }
            )
        }
    }

    // Long contents differ by their digests.
    private static func quoted(_ bytes: [UInt8]) -> String {
        guard bytes.count > 200 else {
            return String(decoding: bytes, as: UTF8.self).debugDescription
        }
        return "\(bytes.count) bytes, SHA-256 \(SHA256Digest(of: bytes))"
    }

    private static func mounts(_ resolved: ResolvedPolicy) -> [String: String] {
        each(
            resolved.plan.mounts.map { mount in
                let rights = mount.access == .readWrite ? "read-write" : "read-only"
                let runs = mount.isExecutable ? ", executable" : ""
                return (mount.target.text, "\(source(of: mount)), \(rights)\(runs)")
            }
        )
    }

    private static func source(of mount: PlannedMount) -> String {
        switch mount.source {
        case .host(let source):
            "the host's \(source.path) (\(source.isDirectory ? "directory" : "file"))"
        case .vault: "one split of the vault"
        case .tree(let index): "tree \(index)"
        case .treeFile(let index, let path): "\(path.text.dropFirst()) of tree \(index)"
        case .tmpfs(let size, let inodes):
            "a private tmpfs of \(Quantity.text(size)) and \(inodes) files"
        }
    }

    private static func surface(_ resolved: ResolvedPolicy) -> [String: String] {
        guard resolved.plan.role == .coding else { return [:] }
        let surface = resolved.policy.surface
        return each(
            [("saved by", surface.save.rawValue)] + surface.patterns.map { ($0.text, "kept") }
        )
    }

    // MARK: - the rest

    // The constants follow from the limits and are said there.
    private static func proc(_ view: ProcView, _ limits: SandboxLimits) -> [String: String] {
        switch view {
        case .none: ["/proc": "nothing"]
        case .pidOnly: ["/proc": "its own processes and nothing of the host"]
        case .masked:
            ["/proc": "its own processes, and constants in the place of the host's counters"]
        }
    }

    private static func start(_ plan: SandboxPlan) -> [String: String] {
        var start = ["working directory": plan.workingDirectory.text]
        for (index, word) in plan.command.enumerated() { start["argument \(index)"] = word }
        switch plan.streams {
        case .pipes: start["streams"] = "pipes that the launcher drains"
        case .terminal: start["streams"] = "a terminal of its own"
        }
        return start
    }

    private static func limits(_ limits: SandboxLimits) -> [String: String] {
        [
            "memory": Quantity.text(limits.memory), "processes": "\(limits.processes)",
            "cpu": "\(limits.cpuPercent) percent of one core",
            "wall": Quantity.text(limits.wallClock),
            "cpu-time": limits.cpuTime.map(Quantity.text) ?? "no limit",
            "idle": limits.idle.map(Quantity.text) ?? "no limit",
            "output": Quantity.text(limits.output),
            "output-action": limits.killsOnOutput ? "more ends the sandbox" : "the rest is dropped",
            "files": "\(limits.openFiles)",
            "objects": limits.objects > 0 ? "\(limits.objects)" : "not counted",
            "file-size": Quantity.text(limits.fileSize),
        ]
    }

    // What makes sockets is said by families.
    private static func calls(_ rules: [SyscallRule]) -> [String: String] {
        let others = rules.filter { !["socket", "socketpair"].contains($0.call) }
        return Dictionary(grouping: others, by: \.call).mapValues { rules in
            if rules.contains(where: \.conditions.isEmpty) { return "always" }
            return Set(rules.map { "if " + FilterListing.text(of: $0.conditions) }).sorted()
                .joined(separator: "; ")
        }
    }
}
