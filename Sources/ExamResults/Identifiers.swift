/// The name of a task: 1 to 128 of `A-Z a-z 0-9 . _ -`, beginning with a letter, digit or `_`.
///
/// The alphabet makes a task's name a safe file name and a safe argument: it can neither be `..`,
/// nor hold a separator, nor begin like an option.
public struct TaskID: Hashable, Sendable {
    /// The name.
    public let text: String

    /// Checks a name.
    ///
    /// - Parameter text: the name.
    /// - Throws: ``ExamError/badTaskID(length:)`` where it breaks the rule above.
    public init(_ text: String) throws(ExamError) {
        let bytes = text.utf8
        guard (1...128).contains(bytes.count), bytes.allSatisfy(Self.isAllowed),
            bytes.first != UInt8(ascii: "."), bytes.first != UInt8(ascii: "-")
        else { throw .badTaskID(length: bytes.count) }
        self.text = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

extension TaskID: Comparable, CustomStringConvertible {
    /// Orders names byte by byte.
    ///
    /// - Parameters:
    ///   - left: one name.
    ///   - right: the other.
    /// - Returns: whether the first sorts before the second.
    public static func < (left: TaskID, right: TaskID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    /// The name.
    public var description: String { text }
}

/// The name of a candidate: the SHA-256 of its bytes, in 64 lower-case hexadecimal digits.
public struct CandidateDigest: Hashable, Sendable, CustomStringConvertible {
    /// The 64 digits.
    public let hex: String

    /// Checks a digest in text.
    ///
    /// - Parameter hex: 64 lower-case hexadecimal digits.
    /// - Throws: ``ExamError/badDigest(length:)`` for anything else.
    public init(hex: String) throws(ExamError) {
        let isHex = hex.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
        guard hex.utf8.count == 64, isHex else { throw .badDigest(length: hex.utf8.count) }
        self.hex = hex
    }

    /// Makes a digest of its bytes.
    ///
    /// - Parameter bytes: the 32 bytes of a SHA-256.
    /// - Throws: ``ExamError/badDigest(length:)`` for another number of bytes.
    public init(bytes: [UInt8]) throws(ExamError) {
        guard bytes.count == 32 else { throw .badDigest(length: bytes.count) }
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        hex = String(decoding: text, as: UTF8.self)
    }

    /// The first 12 digits, for people.
    public var short: String { String(hex.prefix(12)) }

    /// The 64 digits.
    public var description: String { hex }
}

/// The two halves of a benchmark.
public enum Split: String, Sendable, CaseIterable {
    /// Tasks whose traces the coding agent may read.
    case train
    /// Sealed tasks, of which nothing but an aggregate leaves the vault.
    case test
}
