public import LinuxKernel

extension NamespaceKinds {
    /// The names under `/proc/PID/ns`, with the kind each stands for.
    public static let names: [(name: String, kind: NamespaceKinds)] = [
        ("user", .user), ("mnt", .mount), ("pid", .pid), ("net", .network), ("ipc", .ipc),
        ("uts", .hostName), ("cgroup", .controlGroup),
    ]
}
