internal import SandboxPlan

/// Attacks on files.
enum FileProbes {
    static let all: [Probe] = reading + writing + starting + devices

    private static let view: Wall = .named("private root: only listed mounts")
    private static let noDevices: Wall = .named("a /dev with listed devices alone")

    private static let reading: [Probe] = [
        Probe(
            "files.host-secret",
            "opens a host file that every user may read",
            threat: "a file of the host, a vault or another experiment is read by its path",
            view,
            .critical,
            .everywhere,
            .refused("ENOENT")
        ),
        Probe(
            "files.supervisor-state",
            "lists the supervisor's state directory",
            threat: "ledger, keys and vault lie one directory away",
            .layer(.privateRoot),
            .critical,
            .coding + [.candidate],
            .refused("ENOENT")
        ),
        Probe(
            "files.parent-escape",
            "goes up sixty-four directories and down to the secret",
            threat: "a root that is only a working directory can be left upwards",
            view,
            .critical,
            .everywhere,
            .refused("ENOENT")
        ),
        Probe(
            "files.through-init",
            "opens the secret below the root of process 1",
            threat: "a process with another root shows that root in procfs",
            .layer(.pid),
            .critical,
            .everywhere,
            .refused("ENOENT")
        ),
        Probe(
            "files.through-own-root",
            "opens the secret above its own root in procfs",
            threat: "magic links are followed past a root",
            view,
            .critical,
            .everywhere,
            .refused("ENOENT")
        ),
        Probe(
            "files.symlink-out",
            "follows a link of its own to the secret",
            threat: "a link made inside leads outside",
            view,
            .high,
            .everywhere,
            .refused("ENOENT")
        ),
        Probe(
            "files.open-by-handle",
            "opens a file by its handle instead of a path",
            threat: "a handle reaches any file of a file system, whatever is mounted",
            .layer(.filter, before: .capabilities),
            .critical,
            .everywhere,
            .refused("EPERM")
        ),
        Probe(
            "files.swap-source",
            "is launched again and again while a mount's source is swapped",
            threat: "what was checked is not what is mounted",
            .named("sources opened once, without links, and compared with the plan"),
            .critical,
            .coding,
            variants: [ProbeVariant("link", [.absent]), ProbeVariant("rename", [.absent])],
            launch: .race
        ),
        Probe(
            "files.watch-directory",
            "is sent a signal for each use of a directory",
            threat: "signals that were queued while it stood still count who used /usr meanwhile",
            .layer(.filter),
            .high,
            .everywhere,
            variants: ["", "high"].map {
                ProbeVariant($0, [.refused("EPERM")], control: .reached)
            }
        ),
        Probe(
            "files.free-space",
            "asks how full a file system of the host is",
            threat: "free blocks are a counter that a candidate moves and the agent reads",
            .layer(.filter),
            .medium,
            .coding,
            .refused("EPERM")
        ),
    ]

    private static let writing: [Probe] = [
        Probe(
            "files.hard-link",
            "gives a read-only file a second name in a writable place",
            threat: "a second name makes a file writable, or has another one judged",
            .named("separate mounts"),
            .high,
            .everywhere,
            .refused("EXDEV")
        ),
        Probe(
            "files.write-root",
            "makes a file in the root directory",
            threat: "what is written outlives the sandbox, or is read by a host program",
            .layer(.readOnlyMounts),
            .high,
            .everywhere,
            .refused("EROFS")
        ),
        Probe(
            "files.write-programs",
            "makes a file among the programs",
            threat: "a program of the guest's runs in the place of another",
            .layer(.readOnlyMounts),
            .critical,
            .everywhere,
            .refused("EROFS")
        ),
        Probe(
            "files.write-view",
            "makes a file beside what it was given",
            threat: "records, suite or examiner are edited",
            .layer(.readOnlyMounts),
            .high,
            .everywhere,
            .refused("EROFS")
        ),
        Probe(
            "files.write-own-program",
            "opens the program it runs for writing",
            threat: "what runs next for another sandbox is changed",
            .named("a running program, owned by nobody inside"),
            .critical,
            .everywhere,
            .refused("EACCES"),
            exceptions: [.coding: [.refused("ETXTBSY")]]
        ),
        Probe(
            "files.plant-configuration",
            "plants files that tools of the host would obey",
            threat: "hooks, start-up files and settings run outside the sandbox",
            .layer(.readOnlyMounts),
            .high,
            .everywhere,
            .refused("EROFS")
        ),
        Probe(
            "files.rename-mount-point",
            "renames a directory that something is mounted on",
            threat: "what is mounted next lands where the guest wants it",
            .layer(.readOnlyMounts),
            .medium,
            .everywhere,
            .refused("EROFS")
        ),
        Probe(
            "files.change-mode",
            "opens its view to writing by changing its mode",
            threat: "modes are all that protects a file on a writable mount",
            .layer(.readOnlyMounts),
            .medium,
            .everywhere,
            .refused("EROFS")
        ),
        Probe(
            "files.truncate",
            "empties a file that it was given",
            threat: "a view that shrinks under its reader misleads the loop",
            .layer(.readOnlyMounts),
            .medium,
            .coding,
            .refused("EROFS")
        ),
        Probe(
            "files.truncate-exam",
            "empties a program that it was given",
            threat: "what the next candidate runs is changed",
            .named("files of another user"),
            .medium,
            .exam,
            // The file is another's, and its mount read-only; which is asked first depends on the kernel
            // (fs/open.c, vfs_truncate: the mount on 6.12, the file on 6.18).
            variants: [ProbeVariant("", [.refused("EACCES"), .refused("EROFS")])],
            word: "files.truncate"
        ),
    ]

    private static let starting: [Probe] = [
        Probe(
            "files.execute-scratch",
            "starts a copy of itself from scratch space",
            threat: "a program that no image holds runs",
            .named("noexec mounts"),
            .medium,
            .everywhere,
            .refused("EACCES")
        ),
        Probe(
            "files.map-scratch",
            "maps a file of its scratch space as code",
            threat: "code that no image holds runs",
            .named("noexec mounts"),
            .medium,
            .everywhere,
            .refused("EPERM")
        ),
        Probe(
            "files.execute-memory",
            "starts a copy of itself from an anonymous file",
            threat: "no mount's flags apply to a file without a mount",
            .layer(.filter),
            .medium,
            .everywhere,
            .refused("EPERM")
        ),
    ]

    private static let devices: [Probe] =
        [
            Probe(
                "files.make-device",
                "makes device nodes",
                threat: "a node opens the device whatever /dev shows",
                .layer(.filter),
                .critical,
                .everywhere,
                variants: [
                    ProbeVariant("character", [.refused("EPERM")]),
                    ProbeVariant("block", [.refused("EPERM")]),
                ]
            ),
            Probe(
                "files.raw-disk",
                "reads the disk below the file system",
                threat: "every file of the host is on it",
                .layer(.filter),
                .critical,
                .everywhere,
                .refused("EPERM")
            ),
            Probe(
                "files.shared-memory",
                "makes a file in the host's /dev/shm",
                threat: "a place that two sandboxes would share",
                noDevices,
                .medium,
                .everywhere,
                .absent
            ),
        ] + nodes

    private static let nodes: [Probe] = [
        ("kernel-messages", "/dev/kmsg", "writes to the host's log"),
        ("virtual-machines", "/dev/kvm", "reaches the hypervisor of the kernel"),
        ("loop-devices", "/dev/loop-control", "makes block devices of files"),
        ("user-file-systems", "/dev/fuse", "serves a file system to the host"),
        ("vsock-device", "/dev/vsock", "learns the machine's address on its hypervisor"),
    ].map { name, path, threat in
        Probe(
            "files.\(name)",
            "opens \(path)",
            threat: threat,
            noDevices,
            .high,
            .everywhere,
            .refused("ENOENT")
        )
    }
}
