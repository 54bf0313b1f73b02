internal import SandboxPlan

/// Attacks on terminals.
enum TerminalProbes {
    private static func request(_ name: String, _ title: String, _ threat: String) -> Probe {
        Probe(
            "terminals.\(name)",
            title,
            threat: threat,
            .layer(.filter),
            .critical,
            .everywhere,
            variants: ["", "high"].map {
                ProbeVariant($0, [.refused("EPERM")], control: .reached)
            }
        )
    }

    static let all: [Probe] = [
        request("inject", "types into its terminal", "what is typed is run by whoever started it"),
        request("console", "pastes by the console's request", "what is pasted is run"),
        request("line-discipline", "loads a line discipline", "large kernel code is reached"),
        request("keyboard-map", "changes the keyboard's map", "what is typed is changed"),
        Probe(
            "terminals.controlling",
            "opens the terminal that controls it",
            threat: "the operator's terminal is read and written",
            .named("a session and a /dev of its own"),
            .high,
            .everywhere,
            .refused("ENOENT")
        ),
        Probe(
            "terminals.host",
            "opens a terminal of the host",
            threat: "another user's terminal is read",
            .named("a /dev with listed devices alone"),
            .high,
            .everywhere,
            .refused("ENOENT")
        ),
    ]
}

/// Attacks through what a process was started with.
enum DescriptorProbes {
    static let all: [Probe] = [
        Probe(
            "descriptors.stray",
            "finds a descriptor that nobody listed",
            threat: "a file of the supervisor or of another sandbox is open in it",
            .layer(.descriptors),
            .critical,
            .everywhere,
            .absent
        ),
        Probe(
            "descriptors.directories",
            "finds a directory among its descriptors",
            threat: "a way around every path",
            .named("close-on-exec on every descriptor of the launcher"),
            .critical,
            .everywhere,
            .absent
        ),
        Probe(
            "descriptors.outside-directory",
            "stands in a directory outside its root",
            threat: "relative paths lead out",
            .named("change of directory after the change of root"),
            .critical,
            .everywhere,
            .absent
        ),
        Probe(
            "descriptors.environment",
            "finds a secret in its environment",
            threat: "keys are often handed on by accident",
            .named("listed environment variables alone"),
            .high,
            .everywhere,
            .absent
        ),
    ]
}
