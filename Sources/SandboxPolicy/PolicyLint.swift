internal import SandboxPlan
internal import StrictYAML

/// Refuses what a role may not have, before any host is looked at.
///
/// No verdict depends on this: the resolver and the launcher check `PlanInvariants`, which hold all
/// that keeps sandboxes apart. Here the author is told everything at once, where it stands and what
/// to write in its place; and what only costs a secret or a launch is found before it does.
struct PolicyLint {
    let policy: SandboxPolicy
    let groups: [String: SyscallGroup]
    let context: ResolutionContext
    let problems: ProblemList

    func check() {
        checkCounts()
        checkRoot()
        for mount in policy.mounts {
            checkWriting(mount)
            checkSource(mount)
        }
        checkEnvironment()
        checkCommand()
        checkConnections()
        JustificationLint(policy: policy, groups: groups, problems: problems).check()
        context.site.check(policy, groups: groups, context.variables, problems)
    }

    /// No more than the launcher reads of one plan, with room for what resolution adds to it; a policy
    /// that needs more shows a directory in place of what lies in it.
    private func checkCounts() {
        var entries = 0
        if case .skeleton(let skeleton) = policy.root { entries = skeleton.count }
        let counts = [
            ("root", entries, 192), ("mounts", policy.mounts.count, 128),
            ("environment", policy.environment.count, 96), ("command", policy.command.count, 256),
        ]
        for (key, count, most) in counts where count > most {
            problems.add(
                policy.place(of: key),
                "there are \(count) entries, and at most \(most) are allowed",
                remedy: "show one directory in place of many mounts; leave out what is not needed"
            )
        }
    }

    private func checkRoot() {
        switch (policy.role, policy.root) {
        case (.coding, .tree):
            problems.add(
                policy.place(of: "root"),
                "a coding sandbox may not share a tree with candidates",
                remedy: "use a skeleton"
            )
        case (.broker, .tree):
            problems.add(
                policy.place(of: "root"),
                "a broker may not see a tree of an experiment",
                remedy: "use a skeleton"
            )
        case (.candidate, .skeleton):
            problems.add(
                policy.place(of: "root"),
                "a candidate's root must be a tree on a superblock of its own",
                remedy: "write root: {tree: true}"
            )
        case (.coding, .skeleton), (.candidate, .tree), (.examiner, _), (.broker, .skeleton): break
        }
    }

    private func checkWriting(_ mount: PolicyMount) {
        guard mount.access == .readWrite else { return }
        switch mount.source {
        case .tmpfs: break
        case .tree(let index) where policy.role == .coding && index > 0: break
        case .host, .vaultSplit, .tree:
            problems.add(
                mount.place.child("access"),
                "a \(policy.role) sandbox may not write to \(mount.target): it outlives the sandbox",
                remedy: policy.role == .coding
                    ? "use a tmpfs, or tree 1, of which only the surface is read back"
                    : "use a tmpfs"
            )
        }
    }

    private func checkSource(_ mount: PolicyMount) {
        switch (mount.source, policy.role) {
        case (.host, .candidate):
            problems.add(
                mount.place.child("source"),
                "a candidate may not see the host's file systems",
                remedy: "put what it needs into its image"
            )
        case (.vaultSplit, .coding), (.vaultSplit, .candidate), (.vaultSplit, .broker):
            problems.add(
                mount.place.child("vault"),
                "only an examiner may see a vault",
                remedy: "remove the mount"
            )
        case (.host, _), (.vaultSplit, .examiner), (.tree, _), (.tmpfs, _): break
        }
    }

    /// Words in names of variables that hold secrets.
    private static let secretWords = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"]

    private func checkEnvironment() {
        for variable in policy.environment {
            let name = variable.value.name
            if Self.secretWords.contains(where: { name.uppercased().contains($0) }) {
                problems.add(
                    variable.place,
                    "the name says that the value is a secret",
                    remedy: "remove it: keys stay with the broker, outside every sandbox"
                )
            }
            if name.hasPrefix("LD_") || name == "GCONV_PATH" {
                problems.add(
                    variable.place,
                    "it steers the dynamic loader",
                    remedy: "remove it"
                )
            }
        }
    }

    private func checkCommand() {
        guard let program = policy.command.first, !program.hasPrefix("/") else { return }
        problems.add(
            policy.place(of: "command"),
            "\(program.debugDescription) is no absolute path",
            remedy: "write the program's path inside the sandbox"
        )
    }

    private func checkConnections() {
        for slot in policy.descriptors where slot.purpose == .verdicts && policy.role != .examiner {
            problems.add(
                policy.place(of: "descriptors").child("\(slot.number)"),
                "a \(policy.role) may not give verdicts",
                remedy: "remove the descriptor"
            )
        }
        for slot in policy.descriptors where slot.purpose == .control && policy.role != .broker {
            problems.add(
                policy.place(of: "descriptors").child("\(slot.number)"),
                "only the broker is told what to listen at",
                remedy: "remove the descriptor"
            )
        }
        if (policy.network == .host) != (policy.role == .broker) {
            problems.add(
                policy.place(of: "network"),
                "the host's network is the broker's, and nobody else's",
                remedy: policy.role == .broker
                    ? "write network: host" : "write loopback, endpoint or model-socket"
            )
        }
    }
}
