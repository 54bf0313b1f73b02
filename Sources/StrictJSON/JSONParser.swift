extension JSONValue {
    /// Reads one JSON text (RFC 8259), strictly.
    ///
    /// Beside the grammar it refuses what two readers could understand differently: member names
    /// that occur twice (also when they differ only by Unicode canonical equivalence), invalid
    /// UTF-8, a byte order mark, lone surrogates, bytes after the value, and numbers that lose
    /// their magnitude.
    ///
    /// - Parameters:
    ///   - bytes: the whole text.
    ///   - limits: what the text may cost.
    /// - Throws: ``JSONError/malformed(offset:fault:)`` or
    ///   ``JSONError/limitExceeded(offset:limit:value:)``.
    public init(parsing bytes: [UInt8], limits: JSONLimits) throws(JSONError) {
        guard bytes.count <= limits.maximumBytes else {
            throw .limitExceeded(
                offset: limits.maximumBytes,
                limit: .bytes,
                value: limits.maximumBytes
            )
        }
        var parser = JSONParser(bytes: bytes, limits: limits)
        self = try parser.wholeText()
    }
}

/// The reader behind ``JSONValue/init(parsing:limits:)``: one pass, no look-behind, recursion
/// bounded by the depth limit.
struct JSONParser {
    let bytes: [UInt8]
    let limits: JSONLimits
    var offset = 0
    var nodes = 0

    init(bytes: [UInt8], limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    mutating func wholeText() throws(JSONError) -> JSONValue {
        skipWhiteSpace()
        let value = try value(depth: 0)
        skipWhiteSpace()
        guard offset == bytes.count else { throw malformed(.trailingBytes) }
        return value
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        try countNode()
        switch try peek() {
        case UInt8(ascii: "{"): return .object(try members(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try elements(depth: depth + 1))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw malformed(.unexpectedByte)
        }
    }

    private mutating func elements(depth: Int) throws(JSONError) -> [JSONValue] {
        try checkDepth(depth)
        offset += 1
        skipWhiteSpace()
        var elements: [JSONValue] = []
        if try consumed(UInt8(ascii: "]")) { return elements }
        while true {
            skipWhiteSpace()
            elements.append(try value(depth: depth))
            skipWhiteSpace()
            if try consumed(UInt8(ascii: "]")) { return elements }
            try expect(UInt8(ascii: ","))
        }
    }

    private mutating func members(depth: Int) throws(JSONError) -> [String: JSONValue] {
        try checkDepth(depth)
        offset += 1
        skipWhiteSpace()
        var members: [String: JSONValue] = [:]
        if try consumed(UInt8(ascii: "}")) { return members }
        while true {
            skipWhiteSpace()
            let start = offset
            guard try peek() == UInt8(ascii: "\"") else { throw malformed(.unexpectedByte) }
            try countNode()
            let name = try string()
            skipWhiteSpace()
            try expect(UInt8(ascii: ":"))
            skipWhiteSpace()
            let value = try value(depth: depth)
            guard members.updateValue(value, forKey: name) == nil else {
                throw .malformed(offset: start, fault: .duplicateName)
            }
            skipWhiteSpace()
            if try consumed(UInt8(ascii: "}")) { return members }
            try expect(UInt8(ascii: ","))
        }
    }

    private mutating func literal(
        _ text: StaticString,
        _ value: JSONValue
    ) throws(JSONError) -> JSONValue {
        for expected in text.description.utf8 {
            try expect(expected)
        }
        return value
    }
}

// The steps that every part of the grammar uses.
extension JSONParser {
    func malformed(_ fault: JSONError.SyntaxFault) -> JSONError {
        .malformed(offset: offset, fault: fault)
    }

    func peek() throws(JSONError) -> UInt8 {
        guard offset < bytes.count else { throw .malformed(offset: offset, fault: .ended) }
        return bytes[offset]
    }

    mutating func consumed(_ byte: UInt8) throws(JSONError) -> Bool {
        guard try peek() == byte else { return false }
        offset += 1
        return true
    }

    mutating func expect(_ byte: UInt8) throws(JSONError) {
        guard try consumed(byte) else { throw malformed(.unexpectedByte) }
    }

    private mutating func skipWhiteSpace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0A, 0x0D: offset += 1
            default: return
            }
        }
    }

    private mutating func countNode() throws(JSONError) {
        nodes += 1
        guard nodes <= limits.maximumNodes else {
            throw .limitExceeded(offset: offset, limit: .nodes, value: limits.maximumNodes)
        }
    }

    private func checkDepth(_ depth: Int) throws(JSONError) {
        guard depth <= limits.maximumDepth else {
            throw .limitExceeded(offset: offset, limit: .depth, value: limits.maximumDepth)
        }
    }
}
