internal import SandboxPlan
package import SelfCheck
package import StrictJSON

/// One thing that every sandbox must keep, whatever its policy says.
package enum Invariant: String, Sendable, CaseIterable {
    case namespaces
    case loopbackOnly = "loopback-only"
    case protectedSources = "protected-sources"
    case oneVaultSplit = "one-vault-split"
    case pinnedSources = "pinned-sources"
    case mountFlags = "mount-flags"
    case privateRoot = "private-root"
    case noLastingWrites = "no-lasting-writes"
    case codingWrites = "coding-writes"
    case separateSuperblocks = "separate-superblocks"
    case noCapability = "no-capability"
    case nativeFilter = "native-filter"
    case refusedCalls = "refused-calls"
    case sideChannels = "side-channels"
    case landlock
    case coreDumps = "core-dumps"
    case wallClock = "wall-clock"
    case descriptors
    case environment
    case limits
    case freezer

    /// What enforces it on a host, in one sentence.
    package var enforcedBy: String {
        switch self {
        case .namespaces:
            "the launcher: seven namespaces for each sandbox, and a second user and mount namespace "
                + "for its payload"
        case .loopbackOnly: "the launcher: an empty network namespace for each sandbox"
        case .protectedSources:
            "the launcher: no source in the state directory, or at a container engine's socket"
        case .oneVaultSplit: "the launcher: a vault for examiners alone, and of it one split"
        case .pinnedSources:
            "the launcher: device and inode of each source, compared when it is opened"
        case .mountFlags: "mount flags, locked by the payload's own mount namespace, and read back"
        case .privateRoot:
            "a root of the sandbox's own, with nothing in it but what the plan lists"
        case .noLastingWrites: "the launcher: nothing writable that outlives an exam's sandbox"
        case .codingWrites:
            "the launcher: writable trees of the coding sandbox's own, and nothing else"
        case .separateSuperblocks: "the launcher: a tree is shown to one role"
        case .noCapability: "empty capability and bounding sets, locked securebits, no_new_privs"
        case .nativeFilter:
            "seccomp: the filter is proved before it is loaded; foreign tables are killed"
        case .refusedCalls:
            "seccomp: refused by default, with EPERM, clone3 and io_uring with ENOSYS"
        case .sideChannels:
            "seccomp: no call that shows or steers pages; procfs without the host's counters, those of "
                + "its network included, read back; "
                + "a limit of what takes numbers of the host"
        case .landlock: "Landlock, which says again what the mounts say"
        case .coreDumps: "RLIMIT_CORE 0"
        case .wallClock: "the launcher: a wall clock in every plan"
        case .descriptors: "close_range, before the program starts"
        case .environment: "the launcher: listed variables, none of them the dynamic loader's"
        case .limits: "control groups: memory, processes and CPU, each written and read back"
        case .freezer: "control groups: freezing, thawing, and killing what is frozen"
        }
    }

    /// The quick probes that show it.
    fileprivate var probes: [QuickProbe] {
        switch self {
        case .namespaces: [.namespaces, .ipc, .pid, .payloadNamespace]
        case .loopbackOnly: [.network]
        case .mountFlags: [.readOnlyMounts]
        case .privateRoot: [.privateRoot]
        case .noCapability: [.capabilities]
        case .nativeFilter, .refusedCalls: [.filter]
        case .sideChannels: [.filter, .pid, .netFiles, .objects]
        case .landlock: [.landlock]
        case .coreDumps, .limits: [.limits]
        case .descriptors: [.descriptors]
        case .freezer: [.freeze, .kill]
        case .protectedSources, .oneVaultSplit, .pinnedSources, .noLastingWrites, .codingWrites,
            .separateSuperblocks, .wallClock, .environment:
            []
        }
    }

    /// The plans that the launcher must refuse for it.
    fileprivate var trials: [PlanTrial] {
        switch self {
        case .protectedSources: [.stateDirectory]
        case .oneVaultSplit: [.vaultForCandidate]
        case .pinnedSources: [.replacedSource]
        case .noLastingWrites: [.hostForCandidate, .writableForExaminer]
        case .codingWrites: [.writablePrograms]
        case .separateSuperblocks: [.sharedTree]
        case .nativeFilter: [.openFilter]
        case .wallClock: [.noWallClock]
        case .environment: [.loaderVariable]
        case .namespaces, .loopbackOnly, .mountFlags, .privateRoot, .noCapability, .refusedCalls,
            .sideChannels, .landlock, .coreDumps, .descriptors, .limits, .freezer:
            []
        }
    }
}

/// Whether one invariant holds on this host.
package struct InvariantFinding: Sendable, Equatable {
    /// Whether it holds.
    package enum State: String, Sendable {
        /// It was seen to hold.
        case enforced
        /// It was seen not to hold.
        case missing
        /// Nothing was seen.
        case unknown
    }

    /// The invariant.
    package let invariant: Invariant
    /// Whether it holds.
    package let state: State
    /// What was done and seen.
    package let evidence: String
    /// The command or key that would close the gap; absent where there is none.
    package let cure: String?

    private static let reinstall =
        "install all programs of one build (`make install`); if it stays, report this"

    /// An invariant of which nothing was seen.
    package init(unknown invariant: Invariant, because reason: String, cure: String) {
        self.invariant = invariant
        state = .unknown
        evidence = reason
        self.cure = cure
    }

    /// Judges what was done for an invariant.
    ///
    /// - Parameters:
    ///   - invariant: the invariant.
    ///   - findings: every finding of the quick set.
    ///   - trials: every trial.
    package init(
        _ invariant: Invariant,
        from findings: [QuickFinding],
        trials: [TrialFinding]
    ) {
        self.invariant = invariant
        let seen = findings.filter { invariant.probes.contains($0.probe) }
        let tried = trials.filter { invariant.trials.contains($0.trial) }
        let accepted = tried.first { !$0.isRefused }
        if let short = seen.shortfalls.first {
            let isMissing = seen.contains { finding in
                if case .missing = finding.state { true } else { false }
            }
            state = isMissing ? .missing : .unknown
            evidence = "\(short.location): \(short.reason)"
            cure = short.probe.cure
        } else if let accepted {
            state = .missing
            evidence = "\(accepted.trial.rawValue): \(accepted.evidence)"
            cure = Self.reinstall
        } else if Set(seen.map(\.probe)) == Set(invariant.probes),
            tried.count == invariant.trials.count
        {
            state = .enforced
            evidence = Self.words(seen, tried)
            cure = nil
        } else {
            state = .unknown
            evidence = "not everything was tried"
            cure = "run `sudo invigilator doctor` with the policies that ship"
        }
    }

    /// The same with another cure, where it is a gap.
    package func cured(by cure: String) -> InvariantFinding {
        state == .enforced ? self : InvariantFinding(self, cure: cure)
    }

    private init(_ other: InvariantFinding, cure: String) {
        (invariant, state, evidence) = (other.invariant, other.state, other.evidence)
        self.cure = cure
    }

    // Each thing that was done, once, and where.
    private static func words(_ seen: [QuickFinding], _ tried: [TrialFinding]) -> String {
        var parts: [String] = []
        for finding in seen where !parts.contains(finding.evidence) {
            parts.append(finding.evidence)
        }
        parts += tried.map { trial in
            "a plan was sent that breaks it (\(trial.trial.rawValue)): \(trial.evidence)"
        }
        return parts.joined(separator: "; ")
    }

    /// The finding for programs.
    package var json: JSONValue {
        [
            "id": .string(invariant.rawValue), "enforced_by": .string(invariant.enforcedBy),
            "state": .string(state.rawValue), "evidence": .string(evidence),
            "cure": cure.map { .string($0) } ?? .null,
        ]
    }
}
