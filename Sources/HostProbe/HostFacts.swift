internal import LinuxKernel
public import StrictJSON

/// How the host's control groups divide the work.
public enum ControlGroupMode: String, Sendable, Equatable {
    /// Version 2 alone.
    case v2
    /// Version 1 controllers alone.
    case v1
    /// Limits through version 1, freezing and killing through version 2.
    case hybrid
    /// Version 2, in a group that cannot be divided because processes are in it, as in a container.
    case occupied
    /// Something that limits need is not mounted.
    case unusable
}

/// What a host is, as far as it can be read; what it enforces is measured by doing, elsewhere.
public struct HostFacts: Sendable, Equatable {
    /// `uname -r`.
    public let kernelRelease: String
    /// The newest Landlock ABI; 0 where there is none.
    public let landlockABI: Int
    /// The control groups.
    public let controlGroups: ControlGroupMode
    /// Whether the kernel lets anyone make user namespaces, as far as its limits say.
    public let hasUserNamespaces: Bool
    /// Whether AppArmor keeps ordinary users' programs without a rule from user namespaces, as Ubuntu
    /// does since 24.04 (`kernel.apparmor_restrict_unprivileged_userns`).
    public let restrictsUserNamespaces: Bool
    /// Whether seccomp filters can kill a process.
    public let hasSeccomp: Bool
    /// Number of processors that are on.
    public let processors: Int
    /// Installed memory in bytes.
    public let memoryBytes: UInt64
    /// Whether `/bin`, `/lib` and `/lib64` are links into `/usr`.
    public let hasMergedUsr: Bool
    /// The interpreter that images are made of; nil where none fits.
    public let python: PythonInterpreter?

    /// Creates facts from all of their parts.
    public init(
        kernelRelease: String,
        landlockABI: Int,
        controlGroups: ControlGroupMode,
        hasUserNamespaces: Bool,
        restrictsUserNamespaces: Bool = false,
        hasSeccomp: Bool,
        processors: Int,
        memoryBytes: UInt64,
        hasMergedUsr: Bool,
        python: PythonInterpreter?
    ) {
        self.kernelRelease = kernelRelease
        self.landlockABI = landlockABI
        self.controlGroups = controlGroups
        self.hasUserNamespaces = hasUserNamespaces
        self.restrictsUserNamespaces = restrictsUserNamespaces
        self.hasSeccomp = hasSeccomp
        self.processors = processors
        self.memoryBytes = memoryBytes
        self.hasMergedUsr = hasMergedUsr
        self.python = python
    }

    /// The facts as they are recorded when an experiment begins and printed by `doctor`.
    public var json: JSONValue {
        let pythonText: JSONValue = python.map { .string("\($0.path) (\($0.version))") } ?? .null
        return [
            "control_groups": .string(controlGroups.rawValue),
            "kernel": .string(kernelRelease),
            "landlock_abi": JSONValue(landlockABI),
            "memory_bytes": .integer(Int64(clamping: memoryBytes)),
            "merged_usr": .bool(hasMergedUsr),
            "processors": JSONValue(processors),
            "python": pythonText,
            "seccomp": .bool(hasSeccomp),
            "restricts_user_namespaces": .bool(restrictsUserNamespaces),
            "user_namespaces": .bool(hasUserNamespaces),
        ]
    }
}

/// Something that a host lacks for the shipped policies, and what to do about it.
public struct HostShortcoming: Sendable, Equatable {
    /// What is missing.
    public let lack: String
    /// The command, package or setting that brings it.
    public let remedy: String
}

extension HostFacts {
    /// What keeps this host from running the shipped policies at full assurance; empty when nothing
    /// that can be read does.
    public var shortcomings: [HostShortcoming] {
        var found: [HostShortcoming] = []
        func need(_ isThere: Bool, _ lack: String, _ remedy: String) {
            if !isThere { found.append(HostShortcoming(lack: lack, remedy: remedy)) }
        }
        need(
            landlockABI >= 6,
            "Landlock ABI 6 (this kernel has \(landlockABI))",
            "boot Linux 6.12 or newer with landlock in the list of lsm="
        )
        need(hasSeccomp, "seccomp with kill_process", "boot a kernel with CONFIG_SECCOMP_FILTER")
        need(
            hasUserNamespaces,
            "user namespaces",
            "sysctl user.max_user_namespaces=15000 (and kernel.unprivileged_userns_clone=1)"
        )
        need(
            controlGroups != .unusable,
            "control groups for memory, pids and cpu",
            "mount cgroup2 on /sys/fs/cgroup, or enable the three controllers"
        )
        need(
            controlGroups != .occupied,
            "a control group without processes of its own, which alone can be divided",
            "move its processes into a group below it"
        )
        need(hasMergedUsr, "/bin, /lib and /lib64 as links into /usr", "install usrmerge")
        need(python != nil, "CPython 3.9 or newer", "apt-get install python3, or name one")
        return found
    }

    /// Reads this host.
    ///
    /// - Parameters:
    ///   - pythonPath: an interpreter named by the configuration; nil to look for one.
    ///   - homes: home directories whose version managers are looked at.
    /// - Returns: what could be read; what could not is the value that promises least.
    public static func probe(pythonPath: String?, homes: [String]) -> HostFacts {
        HostFacts(
            kernelRelease: HostText.line("/proc/sys/kernel/osrelease") ?? "unknown",
            landlockABI: LandlockRuleset.kernelVersion,
            controlGroups: controlGroupMode(),
            hasUserNamespaces: hasUserNamespaceSupport(),
            restrictsUserNamespaces: HostText.line(restriction) == "1",
            hasSeccomp: HostText.line("/proc/sys/kernel/seccomp/actions_avail")?
                .contains("kill_process") ?? false,
            processors: HostText.count(
                ofRanges: HostText.line("/sys/devices/system/cpu/online") ?? "0"
            ),
            memoryBytes: HostText.kibibytes("MemTotal:", in: HostText.whole("/proc/meminfo"))
                * 1024,
            hasMergedUsr: ["/bin", "/lib", "/lib64"].allSatisfy {
                HostFile.resolved($0)?.hasPrefix("/usr/") ?? false
            },
            python: interpreter(pythonPath, homes)
        )
    }

    private static let restriction = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

    /// The AppArmor rule that ships, by its place in the installation.
    public static let userNamespaceRule = "policies/apparmor/invigilator-launcher"

    /// What is known to keep ordinary users from user namespaces on this host; nothing where none of
    /// the settings that can be read does.
    public var userNamespaceObstacle: String? {
        guard hasUserNamespaces else { return "user namespaces are switched off" }
        return restrictsUserNamespaces
            ? "AppArmor lets no ordinary user's program make user namespaces without a rule" : nil
    }

    /// What lets an ordinary user make user namespaces on this host.
    ///
    /// - Parameter rule: the AppArmor rule that ships.
    /// - Returns: what to do, as root or instead of that.
    public func userNamespaceCure(rule: String) -> String {
        guard !hasUserNamespaces || !restrictsUserNamespaces else {
            return "load the AppArmor rule as root: install -m 644 \(rule) /etc/apparmor.d/ && "
                + "apparmor_parser -r /etc/apparmor.d/invigilator-launcher, with the launcher's path in "
                + "it; or run as root"
        }
        guard !hasUserNamespaces else {
            return "run outside a container whose filter refuses unshare(2), or with a larger "
                + "user.max_user_namespaces; or run as root"
        }
        return "sysctl -w user.max_user_namespaces=15000 and, where it exists, "
            + "kernel.unprivileged_userns_clone=1; or run as root"
    }

    private static func controlGroupMode() -> ControlGroupMode {
        do throws(SystemError) {
            let hierarchies = try ControlGroupHierarchies.detect()
            switch hierarchies.mode {
            case .v1: return .v1
            case .v2: return isOccupied(hierarchies.unified ?? "") ? .occupied : .v2
            case .hybrid: return .hybrid
            }
        } catch {
            return .unusable
        }
    }

    // A group but the hierarchy's own root has either processes or controllers for groups below it
    // (cgroups(7), "No internal processes"); the root alone has no type.
    private static func isOccupied(_ root: String) -> Bool {
        HostFile.status("\(root)/cgroup.type") != nil
            && HostText.line("\(root)/cgroup.procs") != nil
            && HostText.line("\(root)/cgroup.subtree_control")?.contains("memory") != true
    }

    private static func hasUserNamespaceSupport() -> Bool {
        guard
            HostFile.status("/proc/self/ns/user") != nil
                || HostText.line("/proc/self/uid_map") != nil
        else { return false }
        let limits = [
            "/proc/sys/user/max_user_namespaces", "/proc/sys/kernel/unprivileged_userns_clone",
        ]
        return limits.allSatisfy { HostText.line($0) != "0" }
    }

    private static func interpreter(_ named: String?, _ homes: [String]) -> PythonInterpreter? {
        do throws(HostProbeError) {
            return try PythonSearch.find(named: named, homes: homes)
        } catch {
            // `doctor` asks PythonSearch itself for the reason.
            return nil
        }
    }
}
