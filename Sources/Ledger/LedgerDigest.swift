/// A SHA-256 digest: 32 bytes, written as 64 lower-case hexadecimal digits.
public struct LedgerDigest: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Adopts 32 bytes, or nothing when the count differs.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 lower-case hexadecimal digits.
    public init?(hex: String) {
        guard let bytes = Hexadecimal.bytes(of: Array(hex.utf8)[...]) else { return nil }
        self.init(bytes: bytes)
    }

    /// The digest as 64 lower-case hexadecimal digits.
    public var hex: String { Hexadecimal.text(of: bytes) }

    /// The same as ``hex``.
    public var description: String { hex }
}

/// Lower-case hexadecimal digits, in one spelling only, so that a flipped letter case is an error.
enum Hexadecimal {
    static func text(of bytes: [UInt8]) -> String {
        String(decoding: digits(of: bytes), as: UTF8.self)
    }

    static func digits(of bytes: [UInt8]) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return digits
    }

    static func bytes(of digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var index = digits.startIndex
        while index < digits.endIndex {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
            index += 2
        }
        return bytes
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
