extension JSONValue: ExpressibleByNilLiteral {
    /// Makes the literal `null`.
    ///
    /// - Parameter nilLiteral: nothing.
    public init(nilLiteral: ()) { self = .null }
}

extension JSONValue: ExpressibleByBooleanLiteral {
    /// Makes a truth value.
    ///
    /// - Parameter value: the literal.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
    /// Makes a whole number.
    ///
    /// - Parameter value: the literal.
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSONValue: ExpressibleByFloatLiteral {
    /// Makes a number.
    ///
    /// - Parameter value: the literal.
    public init(floatLiteral value: Double) { self = .number(value) }
}

extension JSONValue: ExpressibleByStringInterpolation {
    /// Makes a text.
    ///
    /// - Parameter value: the literal.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral {
    /// Makes a list.
    ///
    /// - Parameter elements: the elements, in order.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    /// Makes an object; a name that is written twice in the source is a programming error.
    ///
    /// - Parameter elements: names and values.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(uniqueKeysWithValues: elements))
    }
}
