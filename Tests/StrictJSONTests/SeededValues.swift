import StrictJSON
import TestSupport

extension SeededGenerator {
    mutating func text() -> String {
        let alphabet: [Unicode.Scalar] = [
            "a", "K", "z", "0", "\"", "\\", "/", "\n", "\u{0}", "\u{1F}", "\u{7F}", "é", "\u{301}",
            "\u{20AC}", "\u{2028}", "\u{FFFF}", "\u{FB33}", "\u{1F600}", "\u{10FFFF}",
        ]
        var text = ""
        for _ in 0..<below(8) {
            text.unicodeScalars.append(alphabet[below(alphabet.count)])
        }
        return text
    }

    mutating func double() -> Double {
        while true {
            let value = Double(bitPattern: next())
            if value.isFinite { return value }
        }
    }

    /// A value that the parser could have produced: numbers in their one form.
    mutating func value(depth: Int) -> JSONValue {
        switch below(depth > 0 ? 8 : 6) {
        case 0: return .null
        case 1: return .bool(below(2) == 0)
        case 2: return .integer(Int64(bitPattern: next()) >> Int64(below(64)))
        case 3:
            let number = double()
            return number.rounded() == number ? .number(0.5) : .number(number)
        case 4, 5: return .string(text())
        case 6: return .array((0..<below(5)).map { _ in value(depth: depth - 1) })
        default:
            var members: [String: JSONValue] = [:]
            for _ in 0..<below(5) { members[text()] = value(depth: depth - 1) }
            return .object(members)
        }
    }
}

func parse(_ text: String, _ limits: JSONLimits = .frame) throws(JSONError) -> JSONValue {
    try JSONValue(parsing: Array(text.utf8), limits: limits)
}

func canonicalText(_ value: JSONValue) -> String {
    String(decoding: value.canonicalBytes, as: UTF8.self)
}
