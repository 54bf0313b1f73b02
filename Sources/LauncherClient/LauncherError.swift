// LauncherClient: the supervisor's side of the launcher (M1): one socket, one request at a time.

public import LauncherProtocol
public import LinuxKernel
internal import SandboxPlan

/// Why the launcher could not do what was asked.
public enum LauncherError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The launcher's program could not be started.
    case notStarted(executable: String, SystemError)
    /// The launcher ended or closed its socket; every sandbox is dead.
    case lost(during: String)
    /// The launcher answered what no launcher of this version answers.
    case protocolBroken(during: String, detail: String)
    /// The launcher was built with layer switches and we were not, or the reverse.
    case wrongBuild
    /// The launcher refused a request.
    case refused(LaunchFailure)
    /// The host failed on our side of a request.
    case host(during: String, SystemError)

    /// Operation, location, reason and remedy on one line.
    public var description: String {
        switch self {
        case .notStarted(let executable, let error):
            "start the launcher: \(executable): \(error); install invigilator-launcher beside "
                + "invigilator and run as root"
        case .lost(let operation):
            "\(operation): launcher: it ended; look at its last words above and run again, "
                + "the ledger says where to go on"
        case .protocolBroken(let operation, let detail):
            "\(operation): launcher: \(detail); install both programs from one build"
        case .wrongBuild:
            "start the launcher: build: only one of the two programs has layer switches; "
                + "install both from one build"
        case .refused(let failure): failure.description
        case .host(let operation, let error):
            "\(operation): supervisor: \(error); free descriptors or memory and run again"
        }
    }
}
