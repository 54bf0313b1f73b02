/// Writes values in the fixed little-endian form that launcher and supervisor share.
public struct WireEncoder: Sendable {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []

    /// Creates an empty encoder.
    public init() {}

    /// Writes one integer, least significant byte first.
    public mutating func write<Value: FixedWidthInteger>(_ value: Value) {
        for index in 0..<(Value.bitWidth / 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> Value(8 * index)))
        }
    }

    /// Writes a truth value as one byte, 0 or 1.
    public mutating func write(_ value: Bool) {
        bytes.append(value ? 1 : 0)
    }

    /// Writes a count of four bytes and that many bytes.
    public mutating func write(_ value: [UInt8]) {
        write(UInt32(value.count))
        bytes.append(contentsOf: value)
    }

    /// Writes a text as counted UTF-8.
    public mutating func write(_ value: String) {
        write([UInt8](value.utf8))
    }

    /// Writes a count and each element in order.
    public mutating func write<Element>(
        _ values: [Element],
        _ each: (inout WireEncoder, Element) -> Void
    ) {
        write(UInt32(values.count))
        for value in values { each(&self, value) }
    }

    /// Writes whether a value is present, then the value.
    public mutating func write<Value>(
        optional value: Value?,
        _ body: (inout WireEncoder, Value) -> Void
    ) {
        write(value != nil)
        if let value { body(&self, value) }
    }
}

/// Reads what ``WireEncoder`` wrote, refusing anything else.
public struct WireDecoder: Sendable {
    private let bytes: [UInt8]
    private var position = 0

    /// Creates a decoder over a whole message.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Bytes not read yet.
    public var remaining: Int { bytes.count - position }

    /// Reads one integer.
    ///
    /// - Throws: ``PlanError`` when the message ends early.
    public mutating func integer<Value: FixedWidthInteger>(
        _ field: StaticString
    ) throws(PlanError) -> Value {
        let width = Value.bitWidth / 8
        guard remaining >= width else { throw malformed(field, "the message ends early") }
        var value: Value = 0
        for index in 0..<width {
            value |= Value(truncatingIfNeeded: bytes[position + index]) << Value(8 * index)
        }
        position += width
        return value
    }

    /// Reads a truth value, refusing every byte but 0 and 1.
    ///
    /// - Throws: ``PlanError`` when the message ends early or the byte is another.
    public mutating func bool(_ field: StaticString) throws(PlanError) -> Bool {
        let byte: UInt8 = try integer(field)
        guard byte < 2 else { throw malformed(field, "a truth value is neither 0 nor 1") }
        return byte == 1
    }

    /// Reads counted bytes.
    ///
    /// - Throws: ``PlanError`` when there are fewer bytes than counted or more than `limit`.
    public mutating func counted(
        _ field: StaticString,
        limit: Int = 1 << 20
    ) throws(PlanError) -> [UInt8] {
        let count = try elementCount(field, limit: limit)
        guard remaining >= count else { throw malformed(field, "the message ends early") }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    /// Reads a counted text.
    ///
    /// - Throws: ``PlanError`` when it is not UTF-8 or holds a NUL.
    public mutating func text(
        _ field: StaticString,
        limit: Int = 1 << 16
    ) throws(PlanError) -> String {
        let raw = try counted(field, limit: limit)
        guard let text = String(validating: raw, as: UTF8.self), !raw.contains(0) else {
            throw malformed(field, "the text is not UTF-8 or holds a NUL")
        }
        return text
    }

    /// Reads a count and that many elements.
    ///
    /// - Throws: ``PlanError`` when there are more than `limit` elements or an element is refused.
    public mutating func list<Element>(
        _ field: StaticString,
        limit: Int,
        _ each: (inout WireDecoder) throws(PlanError) -> Element
    ) throws(PlanError) -> [Element] {
        let count = try elementCount(field, limit: limit)
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try each(&self)) }
        return elements
    }

    /// Reads a value that may be absent.
    ///
    /// - Throws: ``PlanError`` when the value is refused.
    public mutating func optional<Value>(
        _ field: StaticString,
        _ body: (inout WireDecoder) throws(PlanError) -> Value
    ) throws(PlanError) -> Value? {
        guard try bool(field) else { return nil }
        return try body(&self)
    }

    /// Reads a value of an enumeration by its raw number.
    ///
    /// - Throws: ``PlanError`` when the number names no case.
    public mutating func choice<Choice: RawRepresentable>(
        _ field: StaticString
    ) throws(PlanError) -> Choice where Choice.RawValue == UInt8 {
        let raw: UInt8 = try integer(field)
        guard let choice = Choice(rawValue: raw) else {
            throw malformed(field, "\(raw) names nothing")
        }
        return choice
    }

    /// Reads a value of an enumeration by its word.
    ///
    /// - Throws: ``PlanError`` when the word names no case.
    public mutating func word<Choice: RawRepresentable>(
        _ field: StaticString
    ) throws(PlanError) -> Choice where Choice.RawValue == String {
        let raw = try text(field, limit: 16)
        guard let choice = Choice(rawValue: raw) else {
            throw malformed(field, "\(raw.debugDescription) names nothing")
        }
        return choice
    }

    /// Refuses bytes after the last field.
    ///
    /// - Throws: ``PlanError`` when any are left.
    public func finish() throws(PlanError) {
        guard remaining == 0 else {
            throw malformed("end", "\(remaining) bytes follow the last field")
        }
    }

    /// An error about one field of this message.
    public func malformed(_ field: StaticString, _ reason: String) -> PlanError {
        let remedy = "build supervisor and launcher from one version, and compile the plan again"
        return PlanError("decode a message", "\(field), byte \(position)", reason, remedy)
    }

    private mutating func elementCount(
        _ field: StaticString,
        limit: Int
    ) throws(PlanError) -> Int {
        let count: UInt32 = try integer(field)
        guard count <= limit else {
            throw malformed(field, "\(count) is above the limit of \(limit)")
        }
        return Int(count)
    }
}
