/// Walks over the bytes of a Python text once, from front to back.
///
/// Sources: the language reference of Python 3.13, section 2 (lexical analysis); formatted strings since
/// 3.12 may repeat their own quotes inside an expression.
struct PythonScanner {
    private let bytes: [UInt8]
    private var index = 0
    private var line = 1
    private var depth = 0
    private(set) var tokens: [PythonToken] = []
    private(set) var unreadableLine: Int?

    /// Formatted strings inside of formatted strings; a person writes one.
    private static let deepestNesting = 24

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Cuts the whole text.
    mutating func scan() {
        while index < bytes.count, unreadableLine == nil { step(nesting: 0) }
        if unreadableLine == nil, depth != 0 { unreadableLine = line }
    }

    private func peek(_ offset: Int = 0) -> UInt8? {
        index + offset < bytes.count ? bytes[index + offset] : nil
    }

    private mutating func add(_ kind: PythonToken.Kind, _ text: String, line: Int? = nil) {
        tokens.append(PythonToken(kind: kind, line: line ?? self.line, text: text))
    }

    private mutating func fail() { unreadableLine = line }

    // MARK: - one piece

    private mutating func step(nesting: Int) {
        let byte = bytes[index]
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            if byte == UInt8(ascii: "\r"), peek(1) == UInt8(ascii: "\n") { index += 1 }
            index += 1
            if depth == 0, nesting == 0 { add(.newline, "") }
            line += 1
        case UInt8(ascii: " "), UInt8(ascii: "\t"), 0x0C: index += 1
        case UInt8(ascii: "\\"): joinLines()
        case UInt8(ascii: "#"): comment()
        case UInt8(ascii: "'"), UInt8(ascii: "\""): string(prefix: [], nesting: nesting)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): number()
        case UInt8(ascii: ".") where peek(1).map(Self.isDigit) == true: number()
        case _ where Self.isNameByte(byte): name(nesting: nesting)
        default: mark(byte)
        }
    }

    private mutating func joinLines() {
        index += 1
        if peek() == UInt8(ascii: "\r") { index += 1 }
        guard peek() == UInt8(ascii: "\n") || bytes[index - 1] == UInt8(ascii: "\r") else {
            return fail()
        }
        if peek() == UInt8(ascii: "\n") { index += 1 }
        line += 1
    }

    private mutating func comment() {
        let start = index
        while let byte = peek(), byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") {
            index += 1
        }
        add(.comment, String(decoding: bytes[start..<index], as: UTF8.self))
    }

    // Digits, letters of a base or an exponent, and a sign after an exponent.
    private mutating func number() {
        let start = index
        let isPlain = !(peek() == UInt8(ascii: "0") && Self.isLetter(peek(1) ?? 0))
        while let byte = peek() {
            let follows = index > start && isPlain && Self.isSign(byte) && isExponent(at: index - 1)
            guard Self.isNameByte(byte) || byte == UInt8(ascii: ".") || follows else { break }
            index += 1
        }
        add(.number, String(decoding: bytes[start..<index], as: UTF8.self))
    }

    private func isExponent(at place: Int) -> Bool { bytes[place] | 0x20 == UInt8(ascii: "e") }

    private mutating func name(nesting: Int) {
        let start = index
        while let byte = peek(), Self.isNameByte(byte) { index += 1 }
        let word = bytes[start..<index]
        if peek() == UInt8(ascii: "'") || peek() == UInt8(ascii: "\""), Self.isPrefix(word) {
            string(prefix: word.map { $0 | 0x20 }, nesting: nesting)
        } else {
            add(.name, String(decoding: word, as: UTF8.self))
        }
    }

    private mutating func mark(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
        default: break
        }
        guard depth >= 0, byte >= 0x20, byte != 0x7F else { return fail() }
        index += 1
        add(.mark, String(UnicodeScalar(byte)))
    }

    // MARK: - strings

    private struct Quoting {
        let quote: UInt8
        let length: Int
        let isRaw: Bool
        let isFormatted: Bool
        let isBytes: Bool
    }

    private mutating func string(prefix: [UInt8], nesting: Int) {
        guard nesting < Self.deepestNesting, let quote = peek() else { return fail() }
        let isTriple = peek(1) == quote && peek(2) == quote
        let quoting = Quoting(
            quote: quote,
            length: isTriple ? 3 : 1,
            isRaw: prefix.contains(UInt8(ascii: "r")),
            isFormatted: prefix.contains(UInt8(ascii: "f")) || prefix.contains(UInt8(ascii: "t")),
            isBytes: prefix.contains(UInt8(ascii: "b"))
        )
        let start = line
        // The string comes before the expressions inside of it.
        let place = tokens.count
        index += quoting.length
        var value: [UInt8] = []
        while unreadableLine == nil {
            guard let byte = peek() else { return fail() }
            if byte == quote, closes(quoting) {
                index += quoting.length
                let text = String(decoding: value, as: UTF8.self)
                tokens.insert(PythonToken(kind: .string, line: start, text: text), at: place)
                return
            }
            switch byte {
            case UInt8(ascii: "\n") where quoting.length == 1: return fail()
            case UInt8(ascii: "\\"): escape(quoting, into: &value)
            case UInt8(ascii: "{") where quoting.isFormatted:
                replacement(nesting: nesting, into: &value)
            default:
                if byte == UInt8(ascii: "\n") { line += 1 }
                value.append(byte)
                index += 1
            }
        }
    }

    private func closes(_ quoting: Quoting) -> Bool {
        quoting.length == 1 || (peek(1) == quoting.quote && peek(2) == quoting.quote)
    }

    // What stands between braces is code, and so are the braces of its format.
    private mutating func replacement(nesting: Int, into value: inout [UInt8]) {
        if peek(1) == UInt8(ascii: "{") {
            value.append(UInt8(ascii: "{"))
            index += 2
            return
        }
        // A format may hold a replacement, whose format may hold one: they call each other.
        guard nesting < Self.deepestNesting else { return fail() }
        let outer = depth
        mark(UInt8(ascii: "{"))
        while unreadableLine == nil, depth > outer {
            guard let byte = peek() else { return fail() }
            if byte == UInt8(ascii: ":"), depth == outer + 1 {
                format(nesting: nesting, into: &value)
            } else {
                step(nesting: nesting + 1)
            }
        }
    }

    // After the colon every character stands for itself, a number sign and quotes of the other kind too.
    private mutating func format(nesting: Int, into value: inout [UInt8]) {
        index += 1
        while unreadableLine == nil, let byte = peek(), byte != UInt8(ascii: "}") {
            guard byte != UInt8(ascii: "{") else {
                replacement(nesting: nesting + 1, into: &value)
                continue
            }
            if byte == UInt8(ascii: "\n") { line += 1 }
            index += 1
        }
    }

    private mutating func escape(_ quoting: Quoting, into value: inout [UInt8]) {
        guard let next = peek(1) else { return fail() }
        if quoting.isFormatted, next == UInt8(ascii: "{") || next == UInt8(ascii: "}") {
            value.append(UInt8(ascii: "\\"))
            index += 1
            return
        }
        if next == UInt8(ascii: "\n") { line += 1 }
        if quoting.isRaw {
            value += [UInt8(ascii: "\\"), next]
            index += 2
            return
        }
        index += 2
        switch next {
        case UInt8(ascii: "\n"): break
        case UInt8(ascii: "n"): value.append(0x0A)
        case UInt8(ascii: "t"): value.append(0x09)
        case UInt8(ascii: "r"): value.append(0x0D)
        case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""): value.append(next)
        case UInt8(ascii: "x"): appendScalar(digits: 2, base: 16, into: &value)
        case UInt8(ascii: "u") where !quoting.isBytes:
            appendScalar(digits: 4, base: 16, into: &value)
        case UInt8(ascii: "U") where !quoting.isBytes:
            appendScalar(digits: 8, base: 16, into: &value)
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            index -= 1
            appendScalar(digits: 3, base: 8, into: &value)
        default: value += [UInt8(ascii: "\\"), next]
        }
    }

    private mutating func appendScalar(digits: Int, base: UInt32, into value: inout [UInt8]) {
        var code: UInt32 = 0
        var count = 0
        while count < digits, let digit = peek().flatMap(Self.digit), digit < base {
            code = code &* base &+ digit
            index += 1
            count += 1
        }
        value += Array(String(UnicodeScalar(code) ?? "\u{FFFD}").utf8)
    }

    // MARK: - bytes

    private static func isPrefix(_ word: ArraySlice<UInt8>) -> Bool {
        word.count <= 2
            && word.allSatisfy { "rbuft".utf8.contains($0 | 0x20) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func isSign(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
    }

    /// Letters beyond ASCII are taken for letters, whatever they are.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || isLetter(byte) || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte - 0x30)
        case 0x61...0x66: UInt32(byte - 0x61 + 10)
        case 0x41...0x46: UInt32(byte - 0x41 + 10)
        default: nil
        }
    }
}
