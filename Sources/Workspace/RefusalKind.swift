/// How much a refusal says of whoever met it.
///
/// Programs at their defaults meet the first two; only the third makes sense as a cheat alone.
public enum RefusalKind: String, Sendable, CaseIterable {
    /// A request was brought to the pinned values, and went on.
    case adjusted
    /// Something that a policy does not allow, that a limit ended, or that failed.
    case denied
    /// A submission, a request or a frame that an honest program has no use for.
    case attempt

    /// The kind of a row.
    ///
    /// - Parameter word: its member `class`; rows of older versions have none and counted as attempts.
    public init(recorded word: String?) {
        self = word.flatMap(Self.init(rawValue:)) ?? .attempt
    }
}
