internal import SandboxPlan

/// One attack for each system call that no policy can allow, by four ways into the kernel.
///
/// The list is the one that the launcher checks filters against, so a call that is added there is
/// attacked here. The answer of the 32-bit gate shows the filter alone: behind the filter, missing
/// capabilities would refuse many of the calls as well.
enum CallProbes {
    static let all: [Probe] = RefusedCalls.all.map { call in
        Probe(
            "calls.\(call.name)",
            "makes the call \(call.name)",
            threat: "kernel code that no guest has a use for is reached",
            .layer(.filter),
            severity(of: call.name),
            .everywhere,
            variants: [
                ProbeVariant("", refused, control: .reached),
                ProbeVariant("high", refused, control: .reached),
                ProbeVariant("x32", [.killed("SIGSYS")], control: .nothing),
                ProbeVariant("int80", [.killed("SIGSYS")], control: .nothing),
            ],
            word: "calls.\(call.name)@\(call.number)"
        )
    }

    private static let refused: Set<Answer> = [.refused("EPERM"), .refused("ENOSYS")]

    private static func severity(of name: String) -> Severity {
        switch name {
        case "mount", "bpf", "ptrace", "unshare", "setns", "clone3", "init_module", "finit_module",
            "kexec_load", "io_uring_setup", "open_by_handle_at", "add_key":
            .critical
        case "mincore", "cachestat", "readahead", "fadvise64", "preadv2", "pwritev2",
            "pidfd_open", "keyctl", "request_key":
            .high
        default: .medium
        }
    }
}
