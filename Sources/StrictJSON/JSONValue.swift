// StrictJSON: one strict reader and one canonical writer for every JSON text that crosses a boundary.

/// One JSON value, as values and not as text.
///
/// Numbers have one form each: the parser turns a literal whose value is an integer of at most 64
/// bits into ``integer(_:)`` however it was spelled (`2`, `2.0`, `2e17`), because JSON has one
/// number type and two spellings of a value must not compare as two values. A literal with a
/// fraction or an exponent is read as a double first, and rounded as every double is.
public enum JSONValue: Sendable {
    /// The literal `null`.
    case null
    /// The literals `true` and `false`.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A number that is no 64-bit integer; finite whenever it came from the parser.
    case number(Double)
    /// A text of Unicode scalars, never normalised.
    case string(String)
    /// An ordered list.
    case array([JSONValue])
    /// An object; member order carries no meaning.
    case object([String: JSONValue])
}

extension JSONValue: Equatable {
    /// Compares two values scalar by scalar.
    ///
    /// Swift's own string comparison treats canonically equivalent texts as equal (the Kelvin sign
    /// and the letter K, for one). What is signed and hashed is bytes, so equality follows bytes.
    ///
    /// - Parameters:
    ///   - left: one value.
    ///   - right: the other value.
    /// - Returns: whether both hold the same kind and the same bytes.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)): hasSameMembers(one, other)
        case (.null, _), (.bool, _), (.integer, _), (.number, _), (.string, _), (.array, _),
            (.object, _):
            false
        }
    }

    private static func hasSameMembers(
        _ left: [String: JSONValue],
        _ right: [String: JSONValue]
    ) -> Bool {
        guard left.count == right.count else { return false }
        return left.allSatisfy { name, value in
            guard let index = right.index(forKey: name) else { return false }
            return right[index].key.utf8.elementsEqual(name.utf8) && right[index].value == value
        }
    }
}

extension JSONValue {
    /// Makes a whole number of a Swift integer.
    ///
    /// - Parameter value: the number.
    public init(_ value: Int) {
        self = .integer(Int64(value))
    }

    /// Makes a list of texts.
    ///
    /// - Parameter texts: the texts, in order.
    public init(_ texts: [String]) {
        self = .array(texts.map { .string($0) })
    }

    /// The member of this name, or nothing where this is no object or has no such member.
    ///
    /// - Parameter name: the member's name.
    public subscript(name: String) -> JSONValue? {
        objectValue?[name]
    }

    /// Whether this is the literal `null`.
    public var isNull: Bool { self == .null }

    /// The truth value, where this is one.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The whole number, where this is one.
    public var integerValue: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The whole number as a Swift integer, where this is one.
    public var intValue: Int? {
        integerValue.flatMap { Int(exactly: $0) }
    }

    /// The number, whole or not, where this is one.
    public var numberValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// The text, where this is one.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The list, where this is one.
    public var arrayValue: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members, where this is an object.
    public var objectValue: [String: JSONValue]? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The kind of this value in a word, for error texts.
    public var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a truth value"
        case .integer: "a whole number"
        case .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }
}
