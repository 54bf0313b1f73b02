internal import StrictJSON

extension JSONLimits {
    /// One packet of M5: as much as one message of a socket pair may hold.
    static let packet = JSONLimits(
        maximumBytes: 256 << 10,
        maximumDepth: 8,
        maximumNodes: 20_000,
        maximumStringBytes: 128 << 10
    )
}

extension JSONValue {
    /// A number, or `null` where there is none.
    init(_ number: Int?) {
        self = number.map { JSONValue($0) } ?? .null
    }
}

extension ObjectReader {
    /// A refusal of a member that is a text, but none of those known here.
    func unknown(_ name: String, _ found: String) -> JSONError {
        let shown = found.utf8.count <= 40 ? found.debugDescription : "another text"
        return .member(
            location: "\(location).\(name)",
            fault: .kind(expected: "a known word", found: shown)
        )
    }

    mutating func word<Word: RawRepresentable<String>>(_ name: String) throws(JSONError) -> Word {
        let text = try requiredString(name)
        guard let word = Word(rawValue: text) else { throw unknown(name, text) }
        return word
    }

    mutating func optionalWord<Word: RawRepresentable<String>>(
        _ name: String
    ) throws(JSONError) -> Word? {
        guard let text = try optionalText(name) else { return nil }
        guard let word = Word(rawValue: text) else { throw unknown(name, text) }
        return word
    }

    /// A text that must be there, or `null`.
    mutating func optionalText(_ name: String) throws(JSONError) -> String? {
        let value = try requiredValue(name)
        guard !value.isNull else { return nil }
        guard let text = value.stringValue else { throw wrongKind(name, "a string", value) }
        return text
    }

    /// A whole number that must be there and is not negative, or `null`.
    mutating func count(_ name: String) throws(JSONError) -> Int? {
        let value = try requiredValue(name)
        guard !value.isNull else { return nil }
        guard let number = value.intValue, number >= 0 else {
            throw wrongKind(name, "a count", value)
        }
        return number
    }

    /// A whole number that must be there and is not negative.
    mutating func requiredCount(_ name: String) throws(JSONError) -> Int {
        let number = try requiredInteger(name)
        guard number >= 0 else { throw wrongKind(name, "a count", .integer(Int64(number))) }
        return number
    }

    /// A text for people, as much of it as one reads on a line, and nothing that a terminal obeys.
    mutating func line(_ name: String) throws(JSONError) -> String {
        let shown = try requiredString(name).utf8.prefix(1000).map { byte in
            (0x20..<0x7F).contains(byte) ? byte : UInt8(ascii: "?")
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// A number that must be there, or `null`.
    mutating func optionalNumberOrNull(_ name: String) throws(JSONError) -> Double? {
        let value = try requiredValue(name)
        guard !value.isNull else { return nil }
        guard let number = value.numberValue else { throw wrongKind(name, "a number", value) }
        return number
    }

    mutating func texts(_ name: String) throws(JSONError) -> [String] {
        var texts: [String] = []
        for value in try requiredArray(name) {
            guard let text = value.stringValue else { throw wrongKind(name, "strings", value) }
            texts.append(text)
        }
        return texts
    }

    mutating func words<Word: RawRepresentable<String>>(_ name: String) throws(JSONError) -> [Word]
    {
        var words: [Word] = []
        for text in try texts(name) {
            guard let word = Word(rawValue: text) else { throw unknown(name, text) }
            words.append(word)
        }
        return words
    }

    mutating func objects<Element>(
        _ name: String,
        _ read: (inout ObjectReader) throws(JSONError) -> Element
    ) throws(JSONError) -> [Element] {
        var elements: [Element] = []
        for value in try requiredArray(name) {
            var reader = try ObjectReader(value, location: "\(location).\(name)")
            elements.append(try read(&reader))
            try reader.finish()
        }
        return elements
    }

    private func wrongKind(_ name: String, _ expected: String, _ found: JSONValue) -> JSONError {
        .member(
            location: "\(location).\(name)",
            fault: .kind(expected: expected, found: found.kindName)
        )
    }
}
