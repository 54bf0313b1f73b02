package import HostProbe
internal import SandboxPlan
package import SelfCheck
package import StrictJSON

/// One thing that a sandbox needs of the host.
package struct HostCheck: Sendable, Equatable {
    /// Whether it is there.
    package enum State: Sendable, Equatable {
        /// It is as it must be.
        case good
        /// It is missing or too weak; what to do about it.
        case gap(cure: String)
    }

    /// A short identifier.
    package let name: String
    /// Whether it is there.
    package let state: State
    /// What was found.
    package let found: String

    package init(_ name: String, _ state: State, _ found: String) {
        self.name = name
        self.state = state
        self.found = found
    }
}

/// What a host was found to enforce.
package struct Diagnosis {
    /// The version of ``json``'s shape.
    package static let schema = "invigilator.doctor/1"

    /// The level that was measured, and why it is not the highest; absent when nothing was.
    package var measured: MeasuredLevel?
    /// Whether each invariant holds.
    package var invariants: [InvariantFinding] = []
    private let facts: HostFacts
    private var checks: [HostCheck] = []

    package init(facts: HostFacts) {
        self.facts = facts
    }

    /// Adds a check.
    package mutating func add(_ check: HostCheck) { checks.append(check) }

    /// Adds several checks.
    package mutating func add(_ checks: [HostCheck]) { self.checks += checks }

    private var gaps: [HostCheck] { checks.filter { $0.state != .good } }

    /// Whether the host reaches the highest level, every invariant was seen to hold, and nothing is
    /// missing.
    package var isSound: Bool {
        measured?.level == .full && gaps.isEmpty
            && Set(invariants.map(\.invariant)).count == Invariant.allCases.count
            && invariants.allSatisfy { $0.state == .enforced }
    }

    /// A line a check and an invariant, the level, then the cures.
    package var text: String {
        var table = TextTable()
        for check in checks {
            table.add([check.state == .good ? "ok" : "GAP", check.name, check.found])
        }
        var lines = table.lines(indent: "")
        var held = TextTable()
        for finding in invariants {
            let word =
                switch finding.state {
                case .enforced: "ok"
                case .missing: "GAP"
                case .unknown: "?"
                }
            held.add([word, finding.invariant.rawValue, finding.invariant.enforcedBy])
            if finding.state != .enforced { held.add(["", "", finding.evidence]) }
        }
        if !invariants.isEmpty { lines += [""] + held.lines(indent: "") }
        lines += ["", "assurance level: \(measured?.level.name ?? "not measured")"]
        if let shortfall = measured?.shortfall { lines.append("  \(shortfall.reason)") }
        if !cures.isEmpty { lines += ["", "what to do:"] + cures }
        return lines.map { $0 + "\n" }.joined()
    }

    // Each cure once, after what it is for.
    private var cures: [String] {
        var lines: [String] = []
        for gap in gaps {
            guard case .gap(let cure) = gap.state else { continue }
            lines.append("  \(gap.name): \(cure)")
        }
        var names: [String: [String]] = [:]
        var order: [String] = []
        for finding in invariants {
            guard let cure = finding.cure else { continue }
            if names[cure] == nil { order.append(cure) }
            names[cure, default: []].append(finding.invariant.rawValue)
        }
        for cure in order {
            let all = names[cure] ?? []
            let who = all.count > 3 ? "\(all.count) invariants" : all.joined(separator: ", ")
            lines.append("  \(who): \(cure)")
        }
        return lines
    }

    /// The findings for programs.
    package var json: JSONValue {
        let entries = checks.map { check -> JSONValue in
            switch check.state {
            case .good:
                [
                    "name": .string(check.name), "state": "ok", "found": .string(check.found),
                    "cure": .null,
                ]
            case .gap(let cure):
                [
                    "name": .string(check.name), "state": "gap", "found": .string(check.found),
                    "cure": .string(cure),
                ]
            }
        }
        return [
            "schema": .string(Self.schema),
            "assurance": measured.map { .string($0.level.name) } ?? .null,
            "assurance_shortfall": measured?.shortfall.map { .string($0.reason) } ?? .null,
            "host": facts.json, "checks": .array(entries),
            "invariants": .array(invariants.map(\.json)),
        ]
    }
}

extension HostCheck {
    /// Whether a policy with `landlock: { log: true }` would be told anything here; never a gap, because no
    /// wall depends on it.
    package static func landlockRecords(_ state: AuditState) -> HostCheck {
        switch state {
        case .given: HostCheck("landlock-records", .good, "made, and heard by root")
        case .missing(let reason, let remedy):
            HostCheck("landlock-records", .good, "none: \(reason); where a policy logs, \(remedy)")
        }
    }
}

/// Checks of facts that can be read without any right.
package struct HostChecks {
    /// Landlock with scopes for signals and abstract sockets, as the shipped policies demand.
    private static let landlockABI = 6
    private let facts: HostFacts

    package init(_ facts: HostFacts) {
        self.facts = facts
    }

    /// The checks in the order in which gaps should be closed.
    package var all: [HostCheck] {
        [kernel, landlock, seccomp, userNamespaces, controlGroups, mergedUsr, memory]
    }

    private var kernel: HostCheck {
        let parts = facts.kernelRelease.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        let isNew = parts.count == 2 && (parts[0], parts[1]) >= (6, 12)
        return HostCheck(
            "kernel",
            isNew ? .good : .gap(cure: "boot Linux 6.12 or newer"),
            facts.kernelRelease
        )
    }

    private var landlock: HostCheck {
        let found = facts.landlockABI == 0 ? "absent" : "ABI \(facts.landlockABI)"
        guard facts.landlockABI < Self.landlockABI else {
            return HostCheck("landlock", .good, found)
        }
        let cure =
            facts.landlockABI == 0
            ? "add landlock to the kernel parameter lsm=, in front, and boot again"
            : "boot Linux 6.12 or newer, whose ABI is 6"
        return HostCheck("landlock", .gap(cure: cure), found)
    }

    private var seccomp: HostCheck {
        facts.hasSeccomp
            ? HostCheck("seccomp", .good, "filters can kill a process")
            : HostCheck(
                "seccomp",
                .gap(cure: "boot a kernel with CONFIG_SECCOMP_FILTER=y"),
                "no filter can kill a process"
            )
    }

    private var userNamespaces: HostCheck {
        facts.hasUserNamespaces
            ? HostCheck("user-namespaces", .good, "can be made")
            : HostCheck(
                "user-namespaces",
                .gap(
                    cure: "sysctl -w user.max_user_namespaces=15000 and, where it exists, "
                        + "kernel.unprivileged_userns_clone=1"
                ),
                "switched off"
            )
    }

    private var controlGroups: HostCheck {
        let found: String
        switch facts.controlGroups {
        case .v2: found = "version 2"
        case .v1: found = "version 1"
        case .hybrid: found = "limits by version 1, freezing and killing by version 2"
        case .occupied:
            return HostCheck(
                "control-groups",
                .gap(
                    cure: "mkdir /sys/fs/cgroup/init and write each number in "
                        + "/sys/fs/cgroup/cgroup.procs to /sys/fs/cgroup/init/cgroup.procs"
                ),
                "version 2, in a group whose own processes keep it from being divided"
            )
        case .unusable:
            return HostCheck(
                "control-groups",
                .gap(
                    cure: "mount -t cgroup2 none /sys/fs/cgroup with the controllers memory, pids "
                        + "and cpu; in a container, give it a writable cgroup file system"
                ),
                "memory, pids or cpu cannot be limited"
            )
        }
        return HostCheck("control-groups", .good, found)
    }

    private var mergedUsr: HostCheck {
        facts.hasMergedUsr
            ? HostCheck("merged-usr", .good, "/bin, /lib and /lib64 lie in /usr")
            : HostCheck(
                "merged-usr",
                .gap(cure: "apt-get install usrmerge, or a policy with mounts for /bin and /lib"),
                "/bin, /lib or /lib64 does not lie in /usr"
            )
    }

    // Four candidates of 512 MiB and an examiner of 1 GiB, as the shipped policies allow at most;
    // in practice a fifth of it is used.
    private var memory: HostCheck {
        let mebibytes = facts.memoryBytes >> 20
        let found = "\(mebibytes) MiB, \(facts.processors) processors"
        guard mebibytes < 1024 else { return HostCheck("memory", .good, found) }
        return HostCheck("memory", .gap(cure: "use a host with 1 GiB of memory or more"), found)
    }
}
