internal import SandboxPlan

/// Attacks on namespaces.
enum NamespaceProbes {
    static let all: [Probe] = shared + made + identity

    private static let kinds = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"]

    // One attack for each kind: each has a layer of its own.
    private static let shared: [Probe] = kinds.map { kind in
        let wall: Wall =
            switch kind {
            case "pid": .layer(.pid)
            case "net": .layer(.network)
            case "ipc": .layer(.ipc)
            default: .named("a \(kind) namespace of its own")
            }
        return Probe(
            "namespaces.shared-\(kind)",
            "has the host's \(kind) namespace",
            threat: "what the namespace divides is one for host and guest",
            wall,
            .critical,
            .everywhere,
            variants: [ProbeVariant(kind, [.absent])],
            word: "namespaces.shared"
        )
    }

    private static let others = kinds.dropFirst() + ["time"]

    private static let made: [Probe] = [
        Probe(
            "namespaces.unshare-user",
            "makes a user namespace",
            threat: "most kernel bugs of the last years need one",
            .layer(.filter),
            .critical,
            .everywhere,
            variants: [ProbeVariant("user", [.refused("EPERM")])],
            word: "namespaces.unshare"
        ),
        Probe(
            "namespaces.unshare-others",
            "makes every other namespace",
            threat: "kernel code for the privileged is reached",
            .layer(.filter, before: .capabilities),
            .high,
            .everywhere,
            variants: others.map { ProbeVariant($0, [.refused("EPERM")]) },
            word: "namespaces.unshare"
        ),
        Probe(
            "namespaces.clone-user",
            "clones into a user namespace",
            threat: "as unsharing, by the flags of clone",
            .layer(.filter),
            .critical,
            .everywhere,
            variants: [ProbeVariant("user", [.refused("EPERM")])],
            word: "namespaces.clone"
        ),
        Probe(
            "namespaces.clone-user-high",
            "clones into a user namespace with bit 32 of the flags set",
            threat: "a filter that compares 64 bits lets through what the kernel reads as 32",
            .layer(.filter),
            .critical,
            .everywhere,
            variants: [ProbeVariant("user", [.refused("EPERM")])],
            word: "namespaces.clone-high"
        ),
        Probe(
            "namespaces.clone-others",
            "clones into every other namespace",
            threat: "kernel code for the privileged is reached",
            .layer(.filter, before: .capabilities),
            .high,
            .everywhere,
            variants: others.dropLast().map { ProbeVariant($0, [.refused("EPERM")]) },
            word: "namespaces.clone"
        ),
        Probe(
            "namespaces.clone3",
            "clones with flags behind a pointer",
            threat: "a filter cannot see what a pointer points to",
            .layer(.filter),
            .critical,
            .everywhere,
            .refused("ENOSYS")
        ),
        Probe(
            "namespaces.enter",
            "enters a namespace by its file",
            threat: "a namespace of another process is entered",
            .layer(.filter, before: .capabilities),
            .critical,
            .everywhere,
            .refused("EPERM")
        ),
        Probe(
            "namespaces.enter-by-pidfd",
            "enters a namespace by a process's descriptor",
            threat: "a namespace of another process is entered",
            .layer(.filter, before: .capabilities),
            .critical,
            .everywhere,
            .refused("EPERM")
        ),
        Probe(
            "namespaces.rename-host",
            "changes the host's name",
            threat: "a name that others read is a channel",
            .layer(.filter, before: .capabilities),
            .low,
            .everywhere,
            .refused("EPERM")
        ),
    ]

    private static let identity: [Probe] = [
        Probe(
            "namespaces.become-init",
            "becomes the user of its init",
            threat: "init's files and process are its own then",
            .layer(.payloadNamespace),
            .high,
            .coding,
            .refused("EINVAL")
        ),
        Probe(
            "namespaces.become-group",
            "becomes the group of its init",
            threat: "init's files are its group's then",
            .layer(.payloadNamespace),
            .high,
            .coding,
            .refused("EINVAL")
        ),
        Probe(
            "namespaces.give-to-init",
            "gives a file to its init",
            threat: "a file of another user, with that user's rights",
            .layer(.payloadNamespace),
            .medium,
            .coding,
            .refused("EINVAL")
        ),
        Probe(
            "namespaces.write-map",
            "writes its id map again",
            threat: "more ids than one map into the sandbox",
            .layer(.landlock, with: .readOnlyMounts),
            .medium,
            .everywhere,
            .refused("EACCES")
        ),
    ]
}
