internal import SandboxPlan
internal import StrictYAML

/// Turns the mounts of a policy into planned mounts.
struct MountResolution {
    let policy: SandboxPolicy
    let context: ResolutionContext
    let problems: ProblemList
    /// Whether a vault mount without a vault gets a stand-in that no launcher would open, instead of
    /// being a problem (`policy check` and `policy explain`).
    let toleratesMissingVault: Bool
    /// Optional sources that are not on this host.
    private(set) var missing: [String] = []

    init(
        policy: SandboxPolicy,
        context: ResolutionContext,
        problems: ProblemList,
        toleratesMissingVault: Bool
    ) {
        self.policy = policy
        self.context = context
        self.problems = problems
        self.toleratesMissingVault = toleratesMissingVault
    }

    mutating func mounts() -> [PlannedMount] {
        var planned: [PlannedMount] = []
        for mount in policy.mounts {
            checkExecution(mount)
            guard let target = target(of: mount),
                let source = source(of: mount, target: target, after: planned)
            else { continue }
            planned.append(
                PlannedMount(
                    target: target,
                    source: source,
                    access: mount.access,
                    isExecutable: mount.isExecutable
                )
            )
        }
        do throws(PlanError) { return try policy.surface.mounts(of: planned) } catch {
            problems.add(error, at: policy.place(of: "surface"))
            return planned
        }
    }

    private func checkExecution(_ mount: PolicyMount) {
        guard mount.access == .readWrite, mount.isExecutable, policy.role != .coding else { return }
        problems.add(mount.place.child("exec"), .executesOwn(policy.role))
    }

    private func expanded(_ text: String, _ place: DocumentPlace) -> String? {
        guard let value = context.variables.expanded(text) else {
            let names = PolicyVariables.names.map { "${\($0)}" }.joined(separator: ", ")
            problems.add(place, .unknownVariable(text.debugDescription, names))
            return nil
        }
        return value
    }

    private func target(of mount: PolicyMount) -> InsidePath? {
        guard let text = expanded(mount.target, mount.place) else { return nil }
        do throws(PlanError) {
            return try InsidePath(text)
        } catch {
            problems.add(mount.place, "target: \(error.reason)", remedy: error.remedy)
            return nil
        }
    }

    private mutating func source(
        of mount: PolicyMount,
        target: InsidePath,
        after earlier: [PlannedMount]
    ) -> MountSource? {
        let sources = SourceResolution(context: context, problems: problems)
        switch mount.source {
        case .tree(let index): return .tree(index: index)
        case .tmpfs(let size, let inodes): return .tmpfs(size: size, inodes: inodes)
        case .vaultSplit:
            guard let path = context.variables.vaultSplit else {
                guard toleratesMissingVault else {
                    problems.add(mount.place, .noVault)
                    return nil
                }
                return .vault(
                    PinnedSource(path: "/no-vault", device: 0, inode: 0, isDirectory: true)
                )
            }
            guard case .pinned(let source) = sources.resolveVault(path, at: mount.place) else {
                return nil
            }
            return .vault(source)
        case .host(let text):
            guard let path = expanded(text, mount.place) else { return nil }
            if mount.isOptional, isShown(path, at: target, by: earlier) { return nil }
            switch sources.resolve(path, isOptional: mount.isOptional, at: mount.place) {
            case .pinned(let source): return .host(source)
            case .absent:
                missing.append(path)
                return nil
            case .refused: return nil
            }
        }
    }

    /// Whether an earlier mount shows the same host path at the same place.
    private func isShown(
        _ path: String,
        at target: InsidePath,
        by earlier: [PlannedMount]
    ) -> Bool {
        earlier.contains { mount in
            guard case .host(let source) = mount.source else { return false }
            guard path == source.path || path.hasPrefix(source.path + "/") else { return false }
            return target.text == mount.target.text + path.dropFirst(source.path.count)
        }
    }

    /// Environment variables with their variables replaced.
    func environment() -> [EnvironmentVariable] {
        policy.environment.compactMap { variable in
            expanded(variable.value.value, variable.place)
                .map { EnvironmentVariable(name: variable.value.name, value: $0) }
        }
    }
}
