internal import HostKernel
internal import LinuxKernel
public import SelfCheck

/// Where this program and what ships with it lie.
public struct Installation: Sendable {
    /// The directory that holds `templates`.
    public let resources: String
    /// The directory that holds the shipped policies.
    public let policies: String
    /// The launcher's program.
    public let launcher: String

    package init(resources: String, policies: String, launcher: String) {
        self.resources = resources
        self.policies = policies
        self.launcher = launcher
    }

    /// The broker's program.
    public var broker: String { Self.parent(of: launcher) + "/invigilator-broker" }

    /// Where a package keeps the policies: they are an administrator's to change, and an upgrade asks
    /// before it replaces a changed one.
    static let packagedPolicies = "/etc/invigilator/policies"

    /// Looks beside the running program, then upwards: an installed tree has both directories next to
    /// `bin`, a checkout has them above its build directory.
    ///
    /// A package has a link in place of `policies`, which counts only if it says exactly
    /// ``packagedPolicies``.
    ///
    /// No environment variable and no option changes what is found.
    public static func find() throws(SupervisorError) -> Installation {
        let program = try system("find this program", "/proc/self/exe") {
            () throws(SystemError) in
            try Descriptor.open("/proc/\(CurrentProcess.pid)", [.read, .directory])
                .linkText("exe")
        }
        let directory = parent(of: program)
        var candidate = directory
        for _ in 0..<6 {
            if isDirectory("\(candidate)/templates"), let policies = policies(in: candidate) {
                return Installation(
                    resources: candidate,
                    policies: policies,
                    launcher: "\(directory)/invigilator-launcher"
                )
            }
            candidate = parent(of: candidate)
        }
        throw SupervisorError(
            .hostFailed,
            operation: "find policies and templates",
            location: directory,
            reason: "neither this directory nor one above it holds both",
            remedy: "install with `make install`, or run from a checkout's build directory"
        )
    }

    /// What the quick set of probes needs, read as root.
    public func quickSetKit(_ layout: StateLayout) throws(SupervisorError) -> QuickSetKit {
        do throws(SystemError) {
            return try QuickSetKit(
                besideLauncher: launcher,
                hidden: layout.root == StateLayout.shippedRoot
                    ? [layout.root] : [layout.root, StateLayout.shippedRoot]
            )
        } catch {
            throw SupervisorError(
                .hostFailed,
                operation: "read the self-check's program",
                location: QuickSetKit.programName,
                reason: "\(error)",
                remedy: "install all programs of one build side by side"
            )
        }
    }

    /// A file that ships with the program.
    public func contents(of path: String) throws(SupervisorError) -> [UInt8] {
        try Self.contents("\(resources)/\(path)")
    }

    /// Whether a file ships with the program.
    public func has(_ path: String) -> Bool {
        do throws(SystemError) {
            return try FileStatus(path: "\(resources)/\(path)").kind == .regular
        } catch {
            return false  // what cannot be looked at does not ship
        }
    }

    /// A file by its path, at most 64 MiB.
    static func contents(_ path: String) throws(SupervisorError) -> [UInt8] {
        do throws(SystemError) {
            return try Descriptor.open(path, [.read, .nonBlocking]).readAll(limit: 64 << 20)
        } catch {
            guard error.isMissing else { throw SupervisorError(error, "read a file", path) }
            throw SupervisorError(
                .usage,
                operation: "read a file",
                location: path,
                reason: "it does not exist",
                remedy: "write it, or name a directory that holds it"
            )
        }
    }

    private static func parent(of path: String) -> String {
        let parts = path.split(separator: "/").dropLast()
        return "/" + parts.joined(separator: "/")
    }

    private static func policies(in directory: String) -> String? {
        let path = "\(directory)/policies"
        if isDirectory(path) { return path }
        do throws(SystemError) {
            let said = try Descriptor.open(directory, [.read, .directory]).linkText("policies")
            return said == packagedPolicies && isDirectory(said) ? said : nil
        } catch {
            return nil  // as below
        }
    }

    private static func isDirectory(_ path: String) -> Bool {
        do throws(SystemError) {
            return try FileStatus(path: path).kind == .directory
        } catch {
            // What cannot be looked at is not there for us; the caller goes on upwards.
            return false
        }
    }
}
