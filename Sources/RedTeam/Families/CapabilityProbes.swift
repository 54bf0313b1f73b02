internal import SandboxPlan

/// Attacks that need a capability, or get one back.
enum CapabilityProbes {
    static let all: [Probe] = sets + deeds

    // The ambient and inheritable sets of a root that did nothing special are empty on any control.
    private static let sets: [Probe] = [
        Probe(
            "capabilities.sets",
            "holds a capability in a set",
            threat: "each capability is a key to some part of the kernel",
            .layer(.capabilities),
            .critical,
            .everywhere,
            variants: ["CapPrm", "CapEff", "CapBnd"].map { ProbeVariant($0, [.absent]) },
            word: "capabilities.set"
        ),
        Probe(
            "capabilities.bounding-set",
            "may get a capability by starting a program",
            threat: "a file with capabilities gives them to whoever starts it",
            .layer(.capabilities),
            .high,
            .everywhere,
            .absent
        ),
        Probe(
            "capabilities.root-magic",
            "gains rights by being user 0",
            threat: "securebits that are not locked let user 0 gain everything",
            .layer(.capabilities),
            .high,
            .everywhere,
            .absent
        ),
    ]

    private static let deeds: [Probe] = [
        Probe(
            "capabilities.override-modes",
            "reads a file that its modes close",
            threat: "modes and owners mean nothing to it",
            .named("a user that is not root"),
            .high,
            .everywhere,
            .refused("EACCES")
        ),
        Probe(
            "capabilities.override-search",
            "enters a directory that its modes close",
            threat: "modes and owners mean nothing to it",
            .named("a user that is not root"),
            .high,
            .everywhere,
            .refused("EACCES")
        ),
        Probe(
            "capabilities.unlock-magic",
            "unlocks its securebits",
            threat: "the magic of user 0 comes back",
            .layer(.filter, before: .capabilities),
            .high,
            .everywhere,
            .refused("EPERM")
        ),
        Probe(
            "capabilities.ambient",
            "clears its ambient set",
            threat: "the calls that change sets are reached",
            .layer(.filter),
            .low,
            .everywhere,
            .refused("EPERM")
        ),
        Probe(
            "capabilities.capset",
            "sets its capability sets",
            threat: "the calls that change sets are reached",
            .layer(.filter),
            .medium,
            .everywhere,
            .refused("EPERM")
        ),
        Probe(
            "capabilities.keep",
            "keeps capabilities when it changes user",
            threat: "the calls that change sets are reached",
            .layer(.filter, before: .capabilities),
            .low,
            .everywhere,
            .refused("EPERM")
        ),
        Probe(
            "capabilities.be-nicer",
            "raises its priority",
            threat: "others get less time",
            .layer(.filter),
            .medium,
            .exam,
            .refused("EPERM")
        ),
        Probe(
            "capabilities.be-nicer-coding",
            "raises its priority, where it may lower it",
            threat: "others get less time",
            .named("no capability on the host"),
            .medium,
            .coding,
            variants: [ProbeVariant("", [.refused("EACCES")])],
            word: "capabilities.be-nicer"
        ),
        Probe(
            "capabilities.groups",
            "changes its supplementary groups",
            threat: "a group that opens more files",
            .layer(.filter, before: .capabilities),
            .medium,
            .everywhere,
            .refused("EPERM")
        ),
    ]
}
