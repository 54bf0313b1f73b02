internal import ExamResults
internal import LauncherClient
internal import LinuxKernel

/// Something on the supervisor's side that broke while an exam ran.
enum ExamBreak: Error {
    /// The exam is void and the next one may go well.
    case void(InfrastructureFault, reason: String)
    /// The launcher is gone.
    case lost(LauncherError)

    init(_ error: LauncherError) {
        switch error {
        case .refused: self = .void(.launcherRefused, reason: "\(error)")
        case .host: self = .void(.hostExhausted, reason: "\(error)")
        case .lost, .notStarted, .protocolBroken, .wrongBuild: self = .lost(error)
        }
    }

    init(_ fault: ExamModelFault) {
        self = .void(.brokerLost, reason: fault.description)
    }

    init(_ error: SystemError, during operation: String) {
        self = .void(
            .hostExhausted,
            reason: "\(operation): supervisor: \(error); free memory or descriptors and run again"
        )
    }
}
