internal import SandboxPlan
public import SeccompCompiler

/// The refusals that init counts one by one (seccomp_unotify(2)); every other one is a plain errno.
///
/// A refusal that is told costs its caller some eight microseconds instead of a fifth of one. So only
/// calls are here that an honest program makes seldom, and none that programs try and do without at each
/// start: `clone3` and io_uring look absent, `fadvise64`, `mincore` and `pidfd_open` are merely refused.
public enum ToldCalls {
    /// Calls that are told whatever their arguments, where a policy does not allow them in any form.
    public static let whole: [String] = [
        // Mounts, and files by handle instead of by path.
        "mount", "umount2", "pivot_root", "chroot", "open_tree", "fsopen", "fsconfig", "fsmount",
        "fspick", "move_mount", "mount_setattr", "open_by_handle_at", "fanotify_init",
        // Namespaces.
        "unshare", "setns",
        // Other processes.
        "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
        // Keyrings.
        "add_key", "request_key", "keyctl",
        // The kernel's own insides, or calls that no filter sees.
        "bpf", "perf_event_open", "userfaultfd", "memfd_secret", "seccomp", "init_module",
        "finit_module", "delete_module", "kexec_load", "kexec_file_load", "syslog",
        // The machine.
        "reboot", "swapon", "swapoff", "sethostname", "setdomainname", "settimeofday",
        "clock_settime", "clock_adjtime", "acct", "quotactl", "iopl", "ioperm", "modify_ldt",
        // What a policy can allow and the shipped ones mostly do not.
        "memfd_create", "shmget", "semget", "msgget", "mq_open", "inotify_init", "inotify_init1",
        "setuid", "setgid", "setresuid", "setresgid", "setgroups", "capset", "mlock", "mlock2",
        "mlockall", "mbind", "set_mempolicy", "sched_setscheduler", "sched_setattr",
        "landlock_create_ruleset",
    ]

    /// The families of socket(2) that are told apart by their names (address_families(7)).
    public static let families: [(name: String, number: UInt32)] = [
        ("unix", 1), ("inet", 2), ("ax25", 3), ("ipx", 4), ("appletalk", 5), ("x25", 9),
        ("inet6", 10), ("key", 15), ("netlink", 16), ("packet", 17), ("rds", 21), ("pppox", 24),
        ("llc", 26), ("can", 29), ("tipc", 30), ("bluetooth", 31), ("alg", 38), ("nfc", 39),
        ("vsock", 40), ("kcm", 41), ("qipcrtr", 42), ("smc", 43), ("xdp", 44), ("mctp", 45),
    ]

    /// The flags of clone(2) and unshare(2) that ask for a new namespace.
    public static let namespaces: [(name: String, flag: UInt32)] = [
        ("user", 0x1000_0000), ("mount", 0x2_0000), ("pid", 0x2000_0000), ("network", 0x4000_0000),
        ("ipc", 0x800_0000), ("host name", 0x400_0000), ("control group", 0x200_0000),
    ]

    // TIOCSTI and TIOCLINUX: typing into a terminal.
    private static let terminalRequests: [UInt32] = [0x5412, 0x541c]

    /// The refusals to tell beside what is allowed; none where the payload could not hand the listener
    /// over, for which it needs `sendmsg`.
    ///
    /// - Throws: nothing for the constants that there are.
    public static func rules(besides allowed: [SyscallRule]) throws(SeccompError) -> [SyscallRule] {
        guard allowed.contains(SyscallRule("sendmsg")) else { return [] }
        let names = Set(allowed.map(\.call))
        var rules = whole.filter { !names.contains($0) }.map { SyscallRule($0) }
        let taken = Set(
            allowed.filter { $0.call == "socket" }
                .compactMap { $0.conditions.first { $0.argument == 0 }?.value }
        )
        for family in families where !taken.contains(family.number) {
            rules.append(try rule("socket", 0, family.number))
        }
        for namespace in namespaces {
            rules.append(try rule("clone", 0, mask: namespace.flag, namespace.flag))
        }
        for request in terminalRequests { rules.append(try rule("ioctl", 1, request)) }
        return rules
    }

    private static func rule(
        _ call: String,
        _ argument: UInt8,
        mask: UInt32 = .max,
        _ value: UInt32
    ) throws(SeccompError) -> SyscallRule {
        SyscallRule(
            call,
            when: [try ArgumentCondition(argument: argument, mask: mask, equals: value)]
        )
    }
}

extension FilterLint {
    /// Compiles a list of rules that has no problem, with the refusals that are told.
    ///
    /// - Parameters:
    ///   - rules: what is allowed.
    ///   - counts: whether calls that take numbers of the host's counters are counted, for which the payload
    ///     has to hand over a listener.
    /// - Returns: the filter.
    /// - Throws: `SeccompError`, the first problem.
    public static func compiled(
        _ rules: [SyscallRule],
        counting counts: Bool = false
    ) throws(SeccompError) -> CompiledFilter {
        if let problem = problems(in: rules).first { throw problem }
        if counts, !rules.contains(SyscallRule("sendmsg")) { throw .missingCall("sendmsg") }
        return try SeccompCompiler.compile(
            rules,
            telling: ToldCalls.rules(besides: rules),
            counting: counts
        )
    }
}
