// The files of procfs about a network namespace. Some of them count what the whole host does.
//
// A cover, `hidepid`, `subset=pid` or a rule of Landlock hides them under one path, and every process and
// thread has its own path. The mode belongs to the network namespace: it holds in every procfs, and only
// root of the user namespace that made the network namespace can change it.

internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

/// The files of one process's `/proc/PID/net`.
struct NetworkFiles {
    private let directory: Held

    /// Holds those of a process that is still the user that it was cloned as.
    ///
    /// - Throws: ``SystemError``; EXDEV where its network is ours, whose files stay as they are.
    init(of pid: Int32) throws(SystemError) {
        // Later it is another user's, whose namespaces nobody reads without CAP_SYS_PTRACE, and whose
        // directory `hidepid` may hide.
        let inside = try Descriptor.openNamespace("net", of: pid).status()
        let own = try Descriptor.openNamespace("net", of: CurrentProcess.pid).status()
        guard inside.inode != own.inode else {
            throw SystemError("compare", "the network namespace of a sandbox", number: 18)  // EXDEV
        }
        try self.init(in: "/proc/\(pid)/net")
    }

    /// Holds those of a directory.
    ///
    /// - Throws: ``SystemError``.
    init(in path: String) throws(SystemError) {
        directory = Held(try Descriptor.open(path, [.read, .directory]))
    }

    /// Sets the mode of all but a few to 0, and reads back that it is.
    ///
    /// - Throws: `LaunchFailure` naming the file.
    func close() throws(LaunchFailure) {
        guard !Layer.netFiles.isOmitted else { return }
        let entries = try attempt(.proc, "/proc/PID/net") { () throws(SystemError) in
            try directory.descriptor.listing()
        }
        for (name, kind) in entries where !NetworkView.readableFiles.contains(name) {
            // A mode is set through a link, to something else.
            guard kind != .symbolicLink else { throw Self.failure(name, "it is a link") }
            let left = try attempt(.proc, "/proc/PID/net/\(name)") { () throws(SystemError) in
                try directory.descriptor.setPermissions(0, of: name)
                return try FileStatus(of: name, in: directory.descriptor).permissions
            }
            guard left == 0 else {
                throw Self.failure(name, "its mode was set to 0 and is \(String(left, radix: 8))")
            }
        }
    }

    private static func failure(_ name: String, _ reason: String) -> LaunchFailure {
        let cure = "boot a kernel that lets root set these modes (Linux 6.12 does), or report this"
        return LaunchFailure("/proc/PID/net/\(name)", reason, cure, at: .proc)
    }
}
