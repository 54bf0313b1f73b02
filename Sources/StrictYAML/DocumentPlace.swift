/// Where in a document something was said.
public struct DocumentPlace: Sendable, Equatable {
    /// The line, counted from 1.
    public let line: Int
    /// The dotted key; empty for the whole document.
    public let key: String

    /// Creates a place.
    public init(line: Int, key: String) {
        self.line = line
        self.key = key
    }

    /// The place of a member, on the same line; of a name from outside, what can be shown.
    public func child(_ name: String) -> DocumentPlace {
        guard !name.isEmpty else { return self }
        let shown = name.printablePrefix(120)
        return DocumentPlace(line: line, key: key.isEmpty ? shown : "\(key).\(shown)")
    }
}

/// A value together with where it was said.
public struct Placed<Value: Sendable & Equatable>: Sendable, Equatable {
    /// The value.
    public let value: Value
    /// Where it was said.
    public let place: DocumentPlace

    /// Creates a placed value.
    public init(_ value: Value, at place: DocumentPlace) {
        self.value = value
        self.place = place
    }

    /// The line on which it was said.
    public var line: Int { place.line }
}

extension String {
    /// The beginning of a text from outside, with everything but printable ASCII as `?`.
    ///
    /// - Parameter limit: the most bytes to show.
    /// - Returns: a text that is safe on a terminal and in a log.
    package func printablePrefix(_ limit: Int) -> String {
        let shown = utf8.prefix(limit).map { byte in
            (0x20..<0x7F).contains(byte) ? byte : UInt8(ascii: "?")
        }
        return String(decoding: shown, as: UTF8.self)
    }
}
