/// System calls that no policy can allow, whatever their arguments.
///
/// Each group says what the calls would open. Numbers are those of the x86-64 table
/// (arch/x86/entry/syscalls/syscall_64.tbl, Linux 6.18).
public enum RefusedCalls {
    /// Names and numbers, in the order of the groups.
    public static var all: [(name: String, number: UInt32)] {
        [
            // Loads code into the kernel or reads what it keeps; the last three are left over from Linux 2.4.
            ("bpf", 321), ("init_module", 175), ("finit_module", 313), ("delete_module", 176),
            ("kexec_load", 246), ("kexec_file_load", 320), ("perf_event_open", 298),
            ("syslog", 103), ("lookup_dcookie", 212), ("userfaultfd", 323), ("create_module", 174),
            ("get_kernel_syms", 177), ("query_module", 178),
            // Changes or lists mounts, or reaches files by handle instead of by path.
            ("mount", 165), ("umount2", 166), ("pivot_root", 155), ("chroot", 161),
            ("open_tree", 428), ("fsopen", 430), ("fsconfig", 431), ("fsmount", 432),
            ("fspick", 433), ("move_mount", 429), ("mount_setattr", 442), ("statmount", 457),
            ("listmount", 458), ("open_tree_attr", 467), ("open_by_handle_at", 304),
            ("name_to_handle_at", 303), ("fanotify_init", 300), ("fanotify_mark", 301),
            // Makes, enters or lists namespaces; clone3 hides its flags behind a pointer (section 5.2 of seccomp's
            // own caveats), so it is answered ENOSYS and libc falls back to clone.
            ("unshare", 272), ("setns", 308), ("clone3", 435), ("listns", 470),
            // Reads, writes or steers another process.
            ("ptrace", 101), ("process_vm_readv", 310), ("process_vm_writev", 311),
            ("process_madvise", 440), ("pidfd_getfd", 438), ("kcmp", 312),
            ("process_mrelease", 448),
            // Kernel keyrings outlive a sandbox.
            ("add_key", 248), ("request_key", 249), ("keyctl", 250),
            // Makes system calls that no filter sees, keeps memory from everybody else, or hands out the
            // notification descriptors of filters.
            ("io_uring_setup", 425), ("io_uring_enter", 426), ("io_uring_register", 427),
            ("memfd_secret", 447), ("seccomp", 317),
            // Belongs to the machine, not to a guest.
            ("reboot", 169), ("swapon", 167), ("swapoff", 168), ("sethostname", 170),
            ("setdomainname", 171), ("settimeofday", 164), ("clock_settime", 227),
            ("clock_adjtime", 305), ("adjtimex", 159), ("acct", 163), ("quotactl", 179),
            ("quotactl_fd", 443), ("iopl", 172), ("ioperm", 173), ("modify_ldt", 154),
            ("vhangup", 153), ("uselib", 134), ("ustat", 136), ("sysfs", 139), ("nfsservctl", 180),
            ("_sysctl", 156),
            // Reads or steers which pages are held, or where: a mailbox between two sandboxes (DESIGN 5).
            ("mincore", 27), ("cachestat", 451), ("readahead", 187), ("fadvise64", 221),
            ("preadv2", 327), ("pwritev2", 328), ("migrate_pages", 256), ("move_pages", 279),
            // Each descriptor of a process moves an inode number that the whole host shares.
            ("pidfd_open", 434), ("pidfd_send_signal", 424),
        ]
    }
}
