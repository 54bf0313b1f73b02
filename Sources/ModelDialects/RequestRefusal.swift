/// Why a request does not go upstream.
public struct RequestRefusal: Error, Sendable, Equatable {
    /// The HTTP status of the answer.
    public let status: Int
    /// The event that the refusal is.
    public let kind: ModelEvent.Kind
    /// The member that was refused, as a path (`tools[2].type`), or nothing.
    public let field: String?
    /// Why.
    public let reason: String
    /// What to do about it.
    public let remedy: String

    /// Makes a refusal.
    ///
    /// - Parameters:
    ///   - status: the HTTP status of the answer.
    ///   - kind: the event that the refusal is.
    ///   - field: the member that was refused, or nothing.
    ///   - reason: why.
    ///   - remedy: what to do about it.
    public init(
        status: Int,
        kind: ModelEvent.Kind,
        field: String?,
        reason: String,
        remedy: String
    ) {
        self.status = status
        self.kind = kind
        self.field = field
        self.reason = reason
        self.remedy = remedy
    }

    /// The event for the supervisor.
    public var event: ModelEvent {
        ModelEvent(kind, field.map { "\($0): \(reason)" } ?? reason)
    }

    /// The sentence for the sandbox.
    public var message: String {
        (field.map { "\($0): " } ?? "") + "\(reason); remedy: \(remedy)"
    }
}

extension RequestRefusal: CustomStringConvertible {
    /// Operation, location, reason and remedy on one line.
    public var description: String { "read a model request: \(message)" }
}
