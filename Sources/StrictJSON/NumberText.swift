/// The one decimal text of a number, as ECMAScript writes it (ECMA-262, Number::toString; the
/// number form that RFC 8785 section 3.2.2.3 demands).
enum NumberText {
    /// Writes a finite number with the fewest digits that read back as the same number.
    ///
    /// - Parameter value: the number; not NaN and not infinite.
    /// - Returns: for instance `0`, `0.002`, `1e+21`.
    static func canonical(_ value: Double) -> String {
        guard value.isFinite else {
            fatalError("invariant: a JSON number is finite; NaN and infinity have no JSON text")
        }
        if value == 0 { return "0" }
        let sign = value < 0 ? "-" : ""
        let (digits, point) = shortestDigits(value.magnitude)
        return sign + layout(digits: digits, point: point)
    }

    /// The shortest digits, and how many of them stand before the decimal point (which may be a
    /// negative number, or more than there are).
    ///
    /// The standard library prints the shortest digits that are nearest to the exact value, which
    /// is what ECMAScript demands; only its layout differs.
    private static func shortestDigits(_ magnitude: Double) -> (digits: [UInt8], point: Int) {
        var digits: [UInt8] = []
        var fraction = 0
        var exponent = 0
        var isFraction = false
        let text = Array(magnitude.description.utf8)
        for (index, byte) in text.enumerated() {
            if byte == UInt8(ascii: ".") {
                isFraction = true
            } else if byte == UInt8(ascii: "e") {
                exponent = Int(String(decoding: text[(index + 1)...], as: UTF8.self)) ?? 0
                break
            } else {
                digits.append(byte)
                if isFraction { fraction += 1 }
            }
        }
        var point = digits.count - fraction + exponent
        let zero = UInt8(ascii: "0")
        let leading = digits.prefix { $0 == zero }.count
        digits.removeFirst(leading)
        point -= leading
        while digits.last == zero { digits.removeLast() }
        return (digits, point)
    }

    private static func layout(digits: [UInt8], point: Int) -> String {
        let text = String(decoding: digits, as: UTF8.self)
        switch point {
        case digits.count...21 where digits.count <= 21:
            return text + String(repeating: "0", count: point - digits.count)
        case 1...21:
            let head = String(decoding: digits[..<point], as: UTF8.self)
            return head + "." + String(decoding: digits[point...], as: UTF8.self)
        case -5...0:
            return "0." + String(repeating: "0", count: -point) + text
        default:
            let exponent = point - 1
            let head = String(decoding: digits[..<1], as: UTF8.self)
            let tail = String(decoding: digits[1...], as: UTF8.self)
            let mantissa = tail.isEmpty ? head : head + "." + tail
            return mantissa + (exponent < 0 ? "e-" : "e+") + String(exponent.magnitude)
        }
    }
}
