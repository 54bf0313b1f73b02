public import BrokerProtocol
public import LauncherClient
public import LinuxKernel

/// Why the broker does not serve.
public enum BrokerError: Error, CustomStringConvertible {
    /// Its sandbox could not be started.
    case notStarted(LauncherError)
    /// It refused, and says why.
    case refused(BrokerFailure)
    /// It has ended.
    case lost(during: String)
    /// It does not answer.
    case silent(during: String)
    /// It sent what no broker sends.
    case protocolBroken(during: String, detail: String)
    /// The host refused us something.
    case host(during: String, SystemError)

    /// Operation, location, reason and remedy on one line.
    public var description: String {
        let log = "remedy: read the broker's log beside the ledger"
        switch self {
        case .notStarted(let error): return "start the broker: \(error)"
        case .refused(let failure): return "\(failure)"
        case .lost(let operation): return "\(operation): broker: it has ended; \(log)"
        case .silent(let operation): return "\(operation): broker: no answer in time; \(log)"
        case .protocolBroken(let operation, let detail):
            return "\(operation): broker: \(detail); remedy: install one version of all programs"
        case .host(let operation, let error):
            return "\(operation): broker's socket: \(error); remedy: look at the host's limits"
        }
    }
}
