internal import SandboxPlan
internal import SeccompCompiler

/// What the rules of a call with dangerous arguments must look like, for the error.
///
/// What they may let through is said by `SandboxPlan.ArgumentRule`.
enum ArgumentGuards {
    /// What is wrong with a rule that lets through more than its call may.
    static func problem(with call: String) -> SeccompError {
        let (argument, requirement) =
            requirements[call] ?? (0, "the conditions let a refused argument through")
        return .unguarded(call: call, argument: argument, requirement: requirement)
    }

    private static let fileType =
        "the file type (0xf000) must be compared with a FIFO or a regular file"

    /// The argument that selects what the call does, and what is asked of a rule.
    private static let requirements: [String: (argument: UInt8, requirement: String)] = [
        "clone": (
            0, "every namespace flag (0x7e020000) and CLONE_PIDFD (0x1000) must be compared with 0"
        ),
        "ioctl": (
            1,
            "the request must be compared in full, and TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS, "
                + "TIOCVHANGUP, FIBMAP, FIEMAP, FIDEDUPERANGE and PAGEMAP_SCAN are always refused"
        ),
        "prctl": (
            0,
            "the option must be compared in full, and those that change filters, memory layout, "
                + "capabilities, tracing or core scheduling are always refused"
        ),
        "fcntl": (
            1,
            "the command must be compared in full; F_NOTIFY, F_SETSIG, F_SETOWN, F_SETOWN_EX, leases, "
                + "delegations and write hints are always refused"
        ),
        "personality": (0, "only 0 and the query 0xffffffff are allowed"),
        "madvise": (
            2,
            "the advice must be compared in full; MADV_WILLNEED, REMOVE, COLD, PAGEOUT, "
                + "POPULATE_READ, POPULATE_WRITE and MERGEABLE are always refused"
        ),
        "getsockopt": (
            1,
            "the level must be compared in full, and at SOL_SOCKET the option too; "
                + "SO_COOKIE, SO_NETNS_COOKIE, SO_MEMINFO and SO_PEERPIDFD are always refused"
        ),
        "setsockopt": (
            1,
            "level and option must be compared in full; SO_ATTACH_FILTER, SO_ATTACH_BPF, "
                + "SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF, SO_PASSPIDFD and TCP_ULP "
                + "are always refused"
        ),
        "socket": (0, "only the families of the key sockets"),
        "socketpair": (0, "only AF_UNIX"),
        "mknod": (1, fileType),
        "mknodat": (2, fileType),
        "arch_prctl": (
            0, "the code must be compared in full, and ARCH_SET_CPUID is always refused"
        ),
    ]
}

extension SyscallRule {
    /// What is known of the arguments of a call that this rule lets through.
    var known: [KnownBits] {
        var known = [KnownBits](repeating: (0, 0), count: 6)
        for condition in conditions {
            known[Int(condition.argument)].mask |= condition.mask
            known[Int(condition.argument)].value |= condition.value
        }
        return known
    }
}
