internal import SandboxPlan

/// Attacks on what a host trusts its users with.
enum CredentialProbes {
    static let all: [Probe] =
        [
            ("munge", "connects to the cluster's authentication", "jobs are submitted in its name"),
            ("message-bus", "connects to the message bus", "services of the host obey it"),
            ("docker", "connects to Docker", "its socket is the host's root"),
            ("containerd", "connects to containerd", "its socket is the host's root"),
            ("podman", "connects to Podman", "its socket is a user of the host"),
            ("key-agent", "connects to an SSH agent", "other machines are entered"),
            ("passwords", "opens the password file", "passwords are guessed elsewhere"),
            ("private-key", "opens a private key", "other machines are entered"),
            ("cloud", "opens cloud credentials", "machines are made and read"),
            ("logins", "opens stored logins", "other services are entered"),
            ("service-token", "opens a service token", "the cluster obeys it"),
        ].map { name, title, threat in
            Probe(
                "credentials.\(name)",
                title,
                threat: threat,
                .named("private root: only listed mounts"),
                .critical,
                .everywhere,
                .refused("ENOENT")
            )
        } + [
            Probe(
                "credentials.metadata",
                "asks the cloud's metadata address",
                threat: "the machine's credentials are handed out there",
                .layer(.filter),
                .critical,
                .exam,
                .refused("EPERM")
            ),
            Probe(
                "credentials.metadata-coding",
                "asks the cloud's metadata address, where it has sockets",
                threat: "the machine's credentials are handed out there",
                .layer(.network),
                .critical,
                .coding,
                variants: [ProbeVariant("", [.refused("ENETUNREACH")])],
                word: "credentials.metadata"
            ),
        ]
}
