// Strings: one scan to the closing quote, escapes resolved into bytes, UTF-8 validated once.
extension JSONParser {
    mutating func string() throws(JSONError) -> String {
        offset += 1
        let start = offset
        while true {
            switch try peek() {
            case UInt8(ascii: "\""):
                let text = try validated(bytes[start..<offset], start: start)
                offset += 1
                return text
            case UInt8(ascii: "\\"):
                return try escapedString(start: start)
            case 0x00..<0x20:
                throw malformed(.controlCharacter)
            default:
                offset += 1
            }
        }
    }

    private mutating func escapedString(start: Int) throws(JSONError) -> String {
        var content = Array(bytes[start..<offset])
        while true {
            let byte = try peek()
            switch byte {
            case UInt8(ascii: "\""):
                let text = try validated(content[...], start: start)
                offset += 1
                return text
            case UInt8(ascii: "\\"):
                try resolveEscape(into: &content)
            case 0x00..<0x20:
                throw malformed(.controlCharacter)
            default:
                content.append(byte)
                offset += 1
            }
        }
    }

    private func validated(_ content: ArraySlice<UInt8>, start: Int) throws(JSONError) -> String {
        guard content.count <= limits.maximumStringBytes else {
            throw .limitExceeded(
                offset: start,
                limit: .stringBytes,
                value: limits.maximumStringBytes
            )
        }
        guard let text = String(validating: content, as: UTF8.self) else {
            throw .malformed(offset: start, fault: .encoding)
        }
        return text
    }

    private mutating func resolveEscape(into content: inout [UInt8]) throws(JSONError) {
        offset += 1
        let byte = try peek()
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"):
            offset += 1
            let scalar = try escapedScalar()
            content.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            return
        default: throw malformed(.escape)
        }
        offset += 1
    }

    private mutating func escapedScalar() throws(JSONError) -> Unicode.Scalar {
        let start = offset
        let high = try hexQuad()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard (0xD800..<0xDC00).contains(high), try consumed(UInt8(ascii: "\\")),
            try consumed(UInt8(ascii: "u"))
        else { throw .malformed(offset: start, fault: .loneSurrogate) }
        let low = try hexQuad()
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        else { throw .malformed(offset: start, fault: .loneSurrogate) }
        return scalar
    }

    private mutating func hexQuad() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = try peek()
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw malformed(.escape)
            }
            value = value << 4 | UInt32(digit)
            offset += 1
        }
        return value
    }
}

// Numbers: the grammar first, the value second; a literal is never shortened to make it fit.
extension JSONParser {
    /// No number that a correct writer emits is longer; reading a literal costs time by length.
    private static let longestNumber = 400

    mutating func number() throws(JSONError) -> JSONValue {
        let start = offset
        if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
        if currentDigit == UInt8(ascii: "0") { offset += 1 } else { try digits() }
        var isInteger = true
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            isInteger = false
            offset += 1
            try digits()
        }
        if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            offset += 1
            if offset < bytes.count, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[offset])
            {
                offset += 1
            }
            try digits()
        }
        if currentDigit != nil { throw malformed(.number) }
        guard offset - start <= Self.longestNumber else {
            throw .malformed(offset: start, fault: .numberRange)
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        return try value(ofNumber: text, isInteger: isInteger, start: start)
    }

    private var currentDigit: UInt8? {
        guard offset < bytes.count else { return nil }
        let byte = bytes[offset]
        return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? byte : nil
    }

    private mutating func digits() throws(JSONError) {
        guard currentDigit != nil else { throw malformed(.number) }
        while currentDigit != nil { offset += 1 }
    }

    private func value(
        ofNumber text: String,
        isInteger: Bool,
        start: Int
    ) throws(JSONError) -> JSONValue {
        if isInteger, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            throw .malformed(offset: start, fault: .numberRange)
        }
        if isInteger {
            // Beyond 64 bits only what the canonical writer itself writes is unambiguous.
            guard NumberText.canonical(number) == text else {
                throw .malformed(offset: start, fault: .numberRange)
            }
            return .number(number)
        }
        if number == 0, mantissaIsNonZero(text) {
            throw .malformed(offset: start, fault: .numberRange)
        }
        guard number == number.rounded() else { return .number(number) }
        // The canonical writer spells a whole number with digits alone, and what is spelled so is
        // read as an integer where 64 bits hold it: one value, one case.
        if let integer = Int64(NumberText.canonical(number)) { return .integer(integer) }
        return .number(number)
    }

    private func mantissaIsNonZero(_ text: String) -> Bool {
        for byte in text.utf8 {
            if byte | 0x20 == UInt8(ascii: "e") { return false }
            if (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(byte) { return true }
        }
        return false
    }
}
