/// Why something on this host cannot be found, read or copied.
public struct HostProbeError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What was being done.
    public let operation: String
    /// Where: a path.
    public let location: String
    /// Why it failed.
    public let reason: String
    /// What to do about it.
    public let remedy: String

    /// Creates an error with its four answers.
    public init(operation: String, location: String, reason: String, remedy: String) {
        self.operation = operation
        self.location = location
        self.reason = reason
        self.remedy = remedy
    }

    /// The four answers on one line.
    public var description: String {
        "\(operation): \(location): \(reason); \(remedy)"
    }
}
