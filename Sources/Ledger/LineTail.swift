/// A line that is taken apart from its end.
struct LineTail {
    private(set) var remainder: ArraySlice<UInt8>

    init(_ line: ArraySlice<UInt8>) { remainder = line }

    /// Takes `literal` off the end, if it is there.
    mutating func takes(_ literal: [UInt8]) -> Bool {
        guard remainder.count >= literal.count,
            remainder.suffix(literal.count).elementsEqual(literal)
        else { return false }
        remainder.removeLast(literal.count)
        return true
    }

    /// Takes the digits of `bytes` bytes.
    mutating func hexadecimal(bytes: Int) -> [UInt8]? {
        guard remainder.count >= bytes * 2,
            let value = Hexadecimal.bytes(of: remainder.suffix(bytes * 2))
        else { return nil }
        remainder.removeLast(bytes * 2)
        return value
    }

    /// Takes a number of 1 to 16 digits in its only spelling: no sign, no leading zero.
    mutating func integer() -> Int64? {
        let digits = tail { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        guard !digits.isEmpty, digits.count <= 16,
            digits.count == 1 || digits.first != UInt8(ascii: "0")
        else { return nil }
        remainder.removeLast(digits.count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    /// Takes a word of 1 to 40 lower-case letters and hyphens.
    mutating func word() -> String? {
        let letters = tail {
            ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z")) || $0 == UInt8(ascii: "-")
        }
        guard !letters.isEmpty, letters.count <= 40 else { return nil }
        remainder.removeLast(letters.count)
        return String(decoding: letters, as: UTF8.self)
    }

    private func tail(_ belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        guard let last = remainder.lastIndex(where: { !belongs($0) }) else { return remainder }
        return remainder[(last + 1)...]
    }
}
