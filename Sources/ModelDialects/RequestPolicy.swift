/// How strictly a listener reads what its sandbox sends.
public struct RequestPolicy: Sendable, Equatable {
    /// What becomes of members that no allow-list knows.
    public enum UnknownFields: String, Sendable, CaseIterable {
        /// They are left out of what goes upstream, and the attempt is an event.
        case drop
        /// The request is refused.
        case refuse
    }

    /// Whether the sandbox takes part in a sealed exam: no cache controls, no identities, no text
    /// of a request in an event.
    public let isSealed: Bool
    /// What becomes of members that no allow-list knows.
    public let unknownFields: UnknownFields
    /// What stands in place of the names that a caller gives itself, such as `user`.
    public let client: String

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - isSealed: whether the sandbox takes part in a sealed exam.
    ///   - unknownFields: what becomes of members that no allow-list knows.
    ///   - client: what stands in place of the names that a caller gives itself.
    public init(
        isSealed: Bool,
        unknownFields: UnknownFields = .drop,
        client: String = "invigilator"
    ) {
        self.isSealed = isSealed
        self.unknownFields = unknownFields
        self.client = client
    }
}
