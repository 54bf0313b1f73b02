internal import CLinux

/// Calls that can only be allowed for some arguments, because of what they do when given others.
///
/// Numbers are those of the kernel's x86-64 interface; each is named beside it. The kernel reads all
/// of these arguments as 32 bits.
public struct ArgumentRule: Sendable {
    /// The call's name.
    public let call: String
    /// The call's number.
    public let number: UInt32
    /// Whether a call may run of whose six arguments this is known, and nothing else.
    public let permits: @Sendable (_ known: [KnownBits]) -> Bool

    private init(
        _ call: String,
        _ number: Int32,
        _ permits: @escaping @Sendable (_ known: [KnownBits]) -> Bool
    ) {
        self.call = call
        self.number = UInt32(number)
        self.permits = permits
    }

    /// A call of which one argument must be known in full, and must not be one of these.
    private init(_ call: String, _ number: Int32, _ argument: Int, refusing values: [UInt32]) {
        self.init(call, number) { known in
            known[argument].mask == .max && !values.contains(known[argument].value)
        }
    }

    /// A call of which one argument must be known in some bits, and must be one of these there.
    private init(
        _ call: String,
        _ number: Int32,
        _ argument: Int,
        mask: UInt32 = .max,
        allowing values: [UInt32]
    ) {
        self.init(call, number) { known in
            known[argument].mask & mask == mask && values.contains(known[argument].value & mask)
        }
    }

    /// The rule of each such call.
    public static var all: [ArgumentRule] {
        let files: [UInt32] = [0x1000, 0x8000]  // S_IFIFO, S_IFREG; inode(7)
        return [
            // AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
            ArgumentRule("socket", SYS_socket, 0, allowing: [1, 2, 10, 16]),
            ArgumentRule("socketpair", SYS_socketpair, 0, allowing: [1]),
            ArgumentRule("ioctl", SYS_ioctl, 1, refusing: requests),
            ArgumentRule("clone", SYS_clone, 0, mask: cloneFlags, allowing: [0]),
            ArgumentRule("prctl", SYS_prctl, 0, refusing: processControls),
            // The ordinary one, and the question which it is.
            ArgumentRule("personality", SYS_personality, 0, allowing: [0, .max]),
            // ARCH_SET_CPUID
            ArgumentRule("arch_prctl", SYS_arch_prctl, 0, refusing: [0x1012]),
            ArgumentRule("mknod", SYS_mknod, 1, mask: 0xf000, allowing: files),
            ArgumentRule("mknodat", SYS_mknodat, 2, mask: 0xf000, allowing: files),
            ArgumentRule("fcntl", SYS_fcntl, 1, refusing: descriptorCommands),
            ArgumentRule("madvise", SYS_madvise, 2, refusing: memoryAdvice),
            ArgumentRule("getsockopt", SYS_getsockopt) { known in
                known[1].mask == .max
                    && (known[1].value != 1
                        || known[2].mask == .max && !readableOptions.contains(known[2].value))
            },
            ArgumentRule("setsockopt", SYS_setsockopt) { known in
                let refused = [1: settableOptions, 6: tcpOptions][known[1].value] ?? []
                return known[1].mask == .max && known[2].mask == .max
                    && !refused.contains(known[2].value)
            },
        ]
    }

    // The flags of new mount, cgroup, UTS, IPC, user, pid and network namespaces and CLONE_PIDFD
    // (clone(2)); CLONE_NEWTIME is part of the exit signal in clone and has no effect there.
    private static let cloneFlags: UInt32 = 0x7e02_1000

    // TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD, TIOCVHANGUP, FIBMAP, FS_IOC_FIEMAP, FIDEDUPERANGE,
    // PAGEMAP_SCAN: typing into a terminal, reaching a console, loading a line discipline, or seeing
    // block layout, shared contents and residency.
    private static let requests: [UInt32] = [
        0x5412, 0x541c, 0x541d, 0x5423, 0x5437, 1, 0xc020_660b, 0xc018_9436, 0xc060_6610,
    ]

    // PR_SET_KEEPCAPS, SET_SECCOMP, CAPBSET_DROP, SET_SECUREBITS, MCE_KILL, SET_MM, CAP_AMBIENT,
    // SET_IO_FLUSHER, SET_SYSCALL_USER_DISPATCH, SCHED_CORE, SET_PTRACER.
    private static let processControls: [UInt32] = [
        8, 22, 24, 28, 33, 35, 47, 57, 59, 62, 0x5961_6d61,
    ]

    // MADV_WILLNEED, REMOVE, MERGEABLE, HWPOISON, SOFT_OFFLINE, COLD, PAGEOUT, POPULATE_READ,
    // POPULATE_WRITE; madvise(2).
    private static let memoryAdvice: [UInt32] = [3, 9, 12, 100, 101, 20, 21, 22, 23]

    // F_SETOWN, SETSIG, SETOWN_EX, SETLEASE, GETLEASE, NOTIFY, SET_RW_HINT, SET_FILE_RW_HINT, GETDELEG,
    // SETDELEG: signals about what others do with a shared directory or file, and marks on its inode;
    // fcntl(2), include/uapi/linux/fcntl.h.
    private static let descriptorCommands: [UInt32] = [
        8, 10, 15, 1024, 1025, 1026, 1036, 1038, 1039, 1040,
    ]

    // SO_MEMINFO, SO_COOKIE, SO_NETNS_COOKIE, SO_PEERPIDFD: host-wide counters; socket(7).
    private static let readableOptions: [UInt32] = [55, 57, 71, 77]

    // SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF and _EBPF, which load programs, and
    // SO_PASSPIDFD; socket(7).
    private static let settableOptions: [UInt32] = [26, 50, 51, 52, 76]

    // TCP_ULP, which loads protocols by name; tcp.h.
    private static let tcpOptions: [UInt32] = [31]
}
