extension JSONValue {
    /// The canonical bytes of this value (RFC 8785): no white space, member names sorted by UTF-16
    /// code units, shortest numbers, only the escapes that JSON demands.
    ///
    /// Two equal values have equal bytes, so hashes and signatures are taken over these. Whole
    /// numbers are written with all their digits; beyond 53 bits that is more than RFC 8785's own
    /// number model holds, and exact for every reader of this module.
    ///
    /// A NaN or an infinity has no bytes; building one is a broken invariant and stops the program.
    public var canonicalBytes: [UInt8] {
        var writer = JSONWriter(indentation: nil)
        writer.write(self, level: 0)
        return writer.bytes
    }

    /// The text of this value for people: two spaces a level, sorted member names, no final new
    /// line.
    ///
    /// - Returns: the text.
    public func prettyText() -> String {
        var writer = JSONWriter(indentation: 2)
        writer.write(self, level: 0)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// The writer behind ``JSONValue/canonicalBytes`` and ``JSONValue/prettyText()``.
struct JSONWriter {
    /// Spaces a level, or nothing for the canonical form.
    let indentation: Int?
    private(set) var bytes: [UInt8] = []

    init(indentation: Int?) {
        self.indentation = indentation
    }

    mutating func write(_ value: JSONValue, level: Int) {
        switch value {
        case .null: bytes += "null".utf8
        case .bool(let truth): bytes += (truth ? "true" : "false").utf8
        case .integer(let integer): bytes += String(integer).utf8
        case .number(let number): bytes += NumberText.canonical(number).utf8
        case .string(let text): write(text)
        case .array(let elements): write(elements, level: level)
        case .object(let members): write(members, level: level)
        }
    }

    private mutating func write(_ elements: [JSONValue], level: Int) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            breakLine(level: level + 1)
            write(element, level: level + 1)
        }
        if !elements.isEmpty { breakLine(level: level) }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func write(_ members: [String: JSONValue], level: Int) {
        bytes.append(UInt8(ascii: "{"))
        let sorted = members.sorted { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }
        for (index, member) in sorted.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            breakLine(level: level + 1)
            write(member.key)
            bytes.append(UInt8(ascii: ":"))
            if indentation != nil { bytes.append(UInt8(ascii: " ")) }
            write(member.value, level: level + 1)
        }
        if !sorted.isEmpty { breakLine(level: level) }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func breakLine(level: Int) {
        guard let indentation else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes += repeatElement(UInt8(ascii: " "), count: indentation * level)
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        // Runs of bytes that stay as they are go out together: a prompt is nearly all of those.
        let content = Array(text.utf8)
        var written = 0
        for (index, byte) in content.enumerated() where Self.isEscaped(byte) {
            bytes += content[written..<index]
            written = index + 1
            escape(byte)
        }
        bytes += content[written...]
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): bytes += #"\""#.utf8
        case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
        case 0x08: bytes += #"\b"#.utf8
        case 0x09: bytes += #"\t"#.utf8
        case 0x0A: bytes += #"\n"#.utf8
        case 0x0C: bytes += #"\f"#.utf8
        case 0x0D: bytes += #"\r"#.utf8
        default:
            let hex = String(byte, radix: 16)
            bytes += (byte < 0x10 ? "\\u000" + hex : "\\u00" + hex).utf8
        }
    }
}
