/// Reads an object whose member names are all known: each member is taken once, and
/// ``finish()`` refuses what nobody took.
public struct ObjectReader: Sendable {
    /// Where the object stands, for error texts (`frame.limits`, `manifest`).
    public let location: String
    private var members: [String: JSONValue]

    /// Begins to read an object.
    ///
    /// - Parameters:
    ///   - value: the value that must be an object.
    ///   - location: where it stands, for error texts.
    /// - Throws: ``JSONError/member(location:fault:)`` where the value is no object.
    public init(_ value: JSONValue, location: String) throws(JSONError) {
        guard case .object(let members) = value else {
            throw .member(
                location: location,
                fault: .kind(expected: "an object", found: value.kindName)
            )
        }
        self.location = location
        self.members = members
    }

    /// The names that nobody has taken yet, sorted.
    public var remainingNames: [String] { members.keys.sorted() }

    /// Whether a member is there and nobody has taken it yet.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: whether it is there.
    public func contains(_ name: String) -> Bool {
        guard let index = members.index(forKey: name) else { return false }
        return members[index].key.utf8.elementsEqual(name.utf8)
    }

    /// Ends the reading.
    ///
    /// - Throws: ``JSONError/member(location:fault:)`` for the first member, by name, that nobody
    ///   took. Its name is shown only as far as it is short, printable ASCII.
    public func finish() throws(JSONError) {
        guard let name = remainingNames.first else { return }
        throw .member(location: "\(location).\(Self.printable(name))", fault: .unknown)
    }

    /// Takes a member of any kind.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: its value, or nothing where it is absent.
    public mutating func optionalValue(_ name: String) -> JSONValue? {
        // The dictionary finds names up to canonical equivalence; a member name is its bytes.
        contains(name) ? members.removeValue(forKey: name) : nil
    }

    /// Takes a member of any kind that must be there.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: its value.
    /// - Throws: ``JSONError/member(location:fault:)`` where it is missing.
    public mutating func requiredValue(_ name: String) throws(JSONError) -> JSONValue {
        guard let value = optionalValue(name) else {
            throw .member(location: "\(location).\(name)", fault: .missing)
        }
        return value
    }

    private mutating func optional<Kind>(
        _ name: String,
        _ expected: String,
        _ kind: (JSONValue) -> Kind?
    ) throws(JSONError) -> Kind? {
        guard let value = optionalValue(name) else { return nil }
        guard let result = kind(value) else {
            throw .member(
                location: "\(location).\(name)",
                fault: .kind(expected: expected, found: value.kindName)
            )
        }
        return result
    }

    private mutating func required<Kind>(
        _ name: String,
        _ expected: String,
        _ kind: (JSONValue) -> Kind?
    ) throws(JSONError) -> Kind {
        guard let result = try optional(name, expected, kind) else {
            throw .member(location: "\(location).\(name)", fault: .missing)
        }
        return result
    }

    private static func printable(_ name: String) -> String {
        let shown = name.utf8.prefix(40).map { byte in
            (0x21..<0x7F).contains(byte) ? byte : UInt8(ascii: "?")
        }
        return String(decoding: shown, as: UTF8.self)
    }
}

extension ObjectReader {
    /// Takes a text that must be there.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: the text.
    /// - Throws: ``JSONError/member(location:fault:)`` where it is missing or of another kind.
    public mutating func requiredString(_ name: String) throws(JSONError) -> String {
        try required(name, "a string", \.stringValue)
    }

    /// Takes a text that may be absent; `null` is not absent.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: the text, or nothing.
    /// - Throws: ``JSONError/member(location:fault:)`` where it is of another kind.
    public mutating func optionalString(_ name: String) throws(JSONError) -> String? {
        try optional(name, "a string", \.stringValue)
    }

    /// Takes a whole number that must be there.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: the whole number.
    /// - Throws: ``JSONError/member(location:fault:)`` where it is missing or of another kind.
    public mutating func requiredInteger(_ name: String) throws(JSONError) -> Int {
        try required(name, "a whole number", \.intValue)
    }

    /// Takes a whole number that may be absent; `null` is not absent.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: the whole number, or nothing.
    /// - Throws: ``JSONError/member(location:fault:)`` where it is of another kind.
    public mutating func optionalInteger(_ name: String) throws(JSONError) -> Int? {
        try optional(name, "a whole number", \.intValue)
    }

    /// Takes a number that must be there.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: the number.
    /// - Throws: ``JSONError/member(location:fault:)`` where it is missing or of another kind.
    public mutating func requiredNumber(_ name: String) throws(JSONError) -> Double {
        try required(name, "a number", \.numberValue)
    }

    /// Takes a number that may be absent; `null` is not absent.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: the number, or nothing.
    /// - Throws: ``JSONError/member(location:fault:)`` where it is of another kind.
    public mutating func optionalNumber(_ name: String) throws(JSONError) -> Double? {
        try optional(name, "a number", \.numberValue)
    }

    /// Takes a truth value that must be there.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: the truth value.
    /// - Throws: ``JSONError/member(location:fault:)`` where it is missing or of another kind.
    public mutating func requiredBool(_ name: String) throws(JSONError) -> Bool {
        try required(name, "a truth value", \.boolValue)
    }

    /// Takes a truth value that may be absent; `null` is not absent.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: the truth value, or nothing.
    /// - Throws: ``JSONError/member(location:fault:)`` where it is of another kind.
    public mutating func optionalBool(_ name: String) throws(JSONError) -> Bool? {
        try optional(name, "a truth value", \.boolValue)
    }

    /// Takes a list that must be there.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: the list.
    /// - Throws: ``JSONError/member(location:fault:)`` where it is missing or of another kind.
    public mutating func requiredArray(_ name: String) throws(JSONError) -> [JSONValue] {
        try required(name, "a list", \.arrayValue)
    }

    /// Takes a list that may be absent; `null` is not absent.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: the list, or nothing.
    /// - Throws: ``JSONError/member(location:fault:)`` where it is of another kind.
    public mutating func optionalArray(_ name: String) throws(JSONError) -> [JSONValue]? {
        try optional(name, "a list", \.arrayValue)
    }

    /// Takes an object that must be there, to be read and finished by its own reader.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: a reader of the object.
    /// - Throws: ``JSONError/member(location:fault:)`` where it is missing or of another kind.
    public mutating func requiredObject(_ name: String) throws(JSONError) -> ObjectReader {
        try ObjectReader(requiredValue(name), location: "\(location).\(name)")
    }

    /// Takes an object that may be absent, to be read and finished by its own reader.
    ///
    /// - Parameter name: the member's name.
    /// - Returns: a reader of the object, or nothing.
    /// - Throws: ``JSONError/member(location:fault:)`` where it is of another kind.
    public mutating func optionalObject(_ name: String) throws(JSONError) -> ObjectReader? {
        guard let value = optionalValue(name) else { return nil }
        return try ObjectReader(value, location: "\(location).\(name)")
    }
}
