internal import HostKernel
internal import LinuxKernel

/// Whether this host makes audit records of what Landlock refuses.
public enum AuditState: Sendable, Equatable {
    /// It does, and we may hear them.
    case given
    /// It does not, or not for us; what would change that.
    case missing(reason: String, remedy: String)

    // The ABI that can log what a program is refused after its exec (Linux 6.15).
    private static let landlockABI = 7

    /// Asks the kernel; as root, in the host's own namespaces.
    ///
    /// - Parameter landlockABI: the kernel's.
    /// - Returns: what it answered.
    public static func probe(landlockABI: Int) -> AuditState {
        guard landlockABI >= Self.landlockABI else {
            return .missing(
                reason: "Landlock ABI \(landlockABI) makes none",
                remedy: "boot Linux 6.15 or newer, whose ABI is 7"
            )
        }
        do throws(SystemError) {
            guard try AuditSocket.isEnabled() else {
                return .missing(
                    reason: "audit is off",
                    remedy: "auditctl -e 1, or boot with audit=1"
                )
            }
            _ = try AuditSocket.listener()
            return .given
        } catch {
            return .missing(
                reason: "we may not hear them (\(error))",
                remedy: "be root in the host's own user and network namespaces, on a kernel with "
                    + "CONFIG_AUDIT=y"
            )
        }
    }
}
