internal import SandboxPlan

/// Attacks on mounts; without the filter the missing capability answers the same.
enum MountProbes {
    static let all: [Probe] = [
        ("new-tmpfs", "mounts a file system over a directory", "what is below is hidden or faked"),
        (
            "bind-root", "shows its root a second time",
            "a second view without the first one's flags"
        ),
        (
            "remount-writable", "takes the read-only flag off its root",
            "every file can be written to"
        ),
        ("look-under", "unmounts procfs", "what the mount covers is seen"),
        ("change-propagation", "shares its mounts", "mounts appear in another namespace"),
        (
            "detached-tree", "clones a tree of mounts",
            "a mount that no path leads to outlives a check"
        ),
        (
            "new-interface", "opens a file system for mounting",
            "the newer calls are forgotten in a list"
        ),
        (
            "change-flags", "clears flags by mount_setattr",
            "the newer calls are forgotten in a list"
        ),
        ("overlay", "lays a writable directory over others", "read-only files get writable copies"),
        ("group-files", "mounts control groups", "a group names a program that the host runs"),
    ].map { name, title, threat in
        Probe(
            "mounts.\(name)",
            title,
            threat: threat,
            .layer(.filter, before: .capabilities),
            .critical,
            .everywhere,
            .refused("EPERM")
        )
    }
}
