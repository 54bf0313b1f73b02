/// What a text may cost before it is refused.
///
/// The limits are checked while reading, so a hostile text costs at most what they allow. Raising
/// one raises the memory that an untrusted writer can make the reader hold: a text of `n` nodes
/// costs up to about 100 bytes a node beside its own bytes.
public struct JSONLimits: Sendable, Equatable {
    /// The largest text, in bytes.
    public let maximumBytes: Int
    /// The deepest nesting of lists and objects; the outermost is 1, the most is
    /// ``deepestNesting``.
    public let maximumDepth: Int
    /// The most values, counting each member name as one.
    public let maximumNodes: Int
    /// The longest single string, in bytes of UTF-8 after escapes are resolved.
    public let maximumStringBytes: Int

    /// The nesting that no limit may exceed, because the reader recurses once a level.
    public static let deepestNesting = 256

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - maximumBytes: the largest text, in bytes.
    ///   - maximumDepth: the deepest nesting; values above ``deepestNesting`` count as that.
    ///   - maximumNodes: the most values and member names together.
    ///   - maximumStringBytes: the longest string, in bytes.
    public init(
        maximumBytes: Int,
        maximumDepth: Int,
        maximumNodes: Int,
        maximumStringBytes: Int
    ) {
        self.maximumBytes = maximumBytes
        self.maximumDepth = min(maximumDepth, Self.deepestNesting)
        self.maximumNodes = maximumNodes
        self.maximumStringBytes = maximumStringBytes
    }

    /// One frame of a conversation: 1 MiB, 16 levels.
    public static let frame = JSONLimits(
        maximumBytes: 1 << 20,
        maximumDepth: 16,
        maximumNodes: 20_000,
        maximumStringBytes: 1 << 20
    )

    /// One request or reply on the coding agent's socket: 64 KiB, 8 levels.
    public static let request = JSONLimits(
        maximumBytes: 1 << 16,
        maximumDepth: 8,
        maximumNodes: 4_000,
        maximumStringBytes: 1 << 15
    )

    /// The body of one ledger row: 8 MiB, 32 levels.
    public static let ledgerBody = JSONLimits(
        maximumBytes: 8 << 20,
        maximumDepth: 32,
        maximumNodes: 200_000,
        maximumStringBytes: 4 << 20
    )

    /// A document that the operator supplied, such as a task file: 64 MiB, 64 levels.
    public static let document = JSONLimits(
        maximumBytes: 64 << 20,
        maximumDepth: 64,
        maximumNodes: 2_000_000,
        maximumStringBytes: 8 << 20
    )
}
