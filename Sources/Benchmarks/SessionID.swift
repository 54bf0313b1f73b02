/// The opaque name of one rollout: 16 lower-case hexadecimal digits, drawn by the supervisor.
public struct SessionID: Hashable, Sendable, CustomStringConvertible {
    /// The 16 digits.
    public let hex: String

    /// Names a session after 64 random bits.
    ///
    /// - Parameter random: the bits, from a generator that nobody can predict.
    public init(random: UInt64) {
        let digits = String(random, radix: 16)
        hex = String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Checks a session's name as it came from outside.
    ///
    /// - Parameters:
    ///   - hex: 16 lower-case hexadecimal digits.
    ///   - location: where it stood, for the error.
    /// - Throws: ``FrameError/badMember(location:rule:)``.
    public init(hex: String, location: String) throws(FrameError) {
        let isHex = hex.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
        guard hex.utf8.count == 16, isHex else {
            throw .badMember(location: location, rule: "16 lower-case hexadecimal digits")
        }
        self.hex = hex
    }

    /// The 16 digits.
    public var description: String { hex }
}
