internal import SandboxPlan

/// Attacks over sockets.
enum SocketProbes {
    static let all: [Probe] = families + addresses + options

    private static func family(
        _ name: String,
        _ words: String,
        _ threat: String,
        _ roles: [SandboxRole] = .everywhere,
        behind backstop: Layer? = nil,
        severity: Severity = .high
    ) -> Probe {
        Probe(
            "sockets.\(name)",
            "makes a socket of \(words)",
            threat: threat,
            .layer(.filter, before: backstop),
            severity,
            roles,
            variants: ["", "high"].map { ProbeVariant($0, [.refused("EPERM")]) }
        )
    }

    private static let families: [Probe] = [
        family(
            "vsock",
            "the hypervisor's family",
            "no network namespace divides it",
            .everywhere,
            severity: .critical
        ),
        family("packet", "raw packets", "all traffic is seen", .everywhere, behind: .capabilities),
        family("algorithm", "the kernel's cipher interface", "large kernel code is reached"),
        family("bluetooth", "Bluetooth", "large kernel code is reached"),
        family(
            "can",
            "the CAN bus",
            "large kernel code is reached",
            .everywhere,
            severity: .medium
        ),
        family("tipc", "TIPC", "large kernel code is reached", .everywhere, severity: .medium),
        family("rds", "RDS", "large kernel code is reached", .everywhere, severity: .medium),
        family("xdp", "XDP", "memory shared with drivers", .everywhere, behind: .capabilities),
        family("kcm", "KCM", "programs in the kernel", .everywhere, severity: .medium),
        family("smc", "SMC", "large kernel code is reached", .everywhere, severity: .medium),
        family("inet", "IPv4", "the network", .exam),
        family("inet6", "IPv6", "the network", .exam),
        family(
            "raw-inet",
            "raw IPv4",
            "packets of its own making",
            .everywhere,
            behind: .capabilities
        ),
        family(
            "audit",
            "the kernel's audit",
            "what others do is read",
            .everywhere,
            severity: .medium
        ),
        family(
            "uevents",
            "device events",
            "what happens on the host is read",
            .everywhere,
            severity: .medium
        ),
        family(
            "diagnosis",
            "socket diagnosis",
            "sockets of others are listed",
            .everywhere,
            severity: .medium
        ),
        family("route", "routing", "interfaces and routes", .exam, severity: .medium),
    ]

    private static let addresses: [Probe] = [
        Probe(
            "sockets.host-loopback",
            "connects to a listener on the host's loopback",
            threat: "services of the host trust whoever is on loopback",
            .layer(.network),
            .high,
            .coding,
            .refused("ECONNREFUSED")
        ),
        Probe(
            "sockets.name-look-up",
            "sends a datagram to a resolver",
            threat: "a name that is looked up carries bits to anybody",
            .layer(.network),
            .high,
            .coding,
            .refused("ENETUNREACH")
        ),
        Probe(
            "sockets.host-abstract",
            "connects to an abstract socket of the host",
            threat: "no file protects it; a network namespace does",
            .layer(.network),
            .high,
            .everywhere,
            .refused("ECONNREFUSED")
        ),
        Probe(
            "sockets.host-path",
            "connects to a socket file of the host",
            threat: "services of the host answer to whoever finds them",
            .named("private root: only listed mounts"),
            .high,
            .everywhere,
            .refused("ENOENT")
        ),
        Probe(
            "sockets.interfaces",
            "finds an interface beside loopback",
            threat: "an interface is a way out",
            .layer(.network),
            .high,
            .coding,
            .absent
        ),
        Probe(
            "sockets.add-address",
            "adds an address to loopback",
            threat: "routes and addresses are changed for others",
            .named("no capability over its network namespace"),
            .medium,
            .coding,
            .refused("EPERM")
        ),
        Probe(
            "sockets.low-port",
            "takes a port of a service",
            threat: "a service of the host is played",
            .named("no capability over its network namespace"),
            .low,
            .coding,
            .refused("EACCES")
        ),
    ]

    private static let options: [Probe] =
        [
            ("cookie", "asks a socket's cookie", "a number that counts every socket"),
            ("namespace-cookie", "asks its namespace's cookie", "a number that counts namespaces"),
            ("memory-counters", "asks a socket's memory counters", "counters of the host's making"),
            ("peer-groups", "asks the groups of its peer", "ids of the host"),
            ("attach-program", "attaches a program to a socket", "code of its own in the kernel"),
            ("force-buffer", "forces a large buffer", "memory that nothing limits"),
        ].map { name, title, threat in
            // Forcing needs a capability as well.
            Probe(
                "sockets.\(name)",
                title,
                threat: threat,
                .layer(.filter, before: name == "force-buffer" ? .capabilities : nil),
                .medium,
                .everywhere,
                .refused("EPERM")
            )
        } + [
            Probe(
                "sockets.upper-protocol",
                "puts another protocol on a socket",
                threat: "kernel code that few have read",
                .layer(.filter),
                .medium,
                .coding,
                .refused("EPERM")
            )
        ]
}
