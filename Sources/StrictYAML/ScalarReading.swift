extension YAMLNode {
    /// A text of 1 to 4,096 bytes on one line, without control characters.
    package func text() -> String? {
        let remedy = "write a text on one line, in quotes if it looks like a number"
        guard let text = quotedOrPlain(remedy) else { return nil }
        let isFit =
            (1...4096).contains(text.utf8.count)
            && !text.unicodeScalars.contains(where: \.isControl)
        guard isFit else {
            refuse("the text is empty, long or not one line", remedy: remedy)
            return nil
        }
        return text
    }

    /// A text of any number of lines, without other control characters than tabs.
    package func text(atLeast least: Int, limit: Int) -> String? {
        let remedy = "write a text, of several lines below «key: |», in quotes if empty or a number"
        guard let text = quotedOrPlain(remedy) else { return nil }
        let isFit =
            (least...limit).contains(text.utf8.count)
            && !text.unicodeScalars.contains { $0.isControl && $0 != "\n" && $0 != "\t" }
        guard isFit else {
            let faults = (least > 0 ? ["is empty"] : []) + ["is longer than \(limit) bytes"]
            refuse(
                "the text \(faults.joined(separator: ", ")) or holds control characters",
                remedy: remedy
            )
            return nil
        }
        return text
    }

    /// What YAML reads as a text: in quotes, or plain and like nothing else.
    private func quotedOrPlain(_ remedy: String) -> String? {
        guard case .scalar(let text, let isPlain) = content,
            !isPlain || !(text.isYAMLNull || text.isYAMLNumberOrTruth)
        else {
            refuse(expected: "a text", remedy: remedy)
            return nil
        }
        return text
    }

    /// A truth value, spelled `true` or `false` without quotes.
    package func boolean() -> Bool? {
        guard case .scalar(let text, isPlain: true) = content, let value = Bool(text) else {
            refuse(expected: "true or false", remedy: "write true or false, without quotes")
            return nil
        }
        return value
    }

    /// One of a closed set of words, known by its spelling alone.
    package func choice<Value>(_ choices: [String: Value]) -> Value? {
        let known = "write one of: \(choices.keys.sorted().joined(separator: ", "))"
        guard case .scalar(let text, _) = content else {
            refuse(expected: "a word", remedy: known)
            return nil
        }
        guard let value = choices[text] else {
            refuse("«\(text.printablePrefix(40))» is unknown", remedy: known)
            return nil
        }
        return value
    }

    /// One of the words of an enum.
    package func word<Word: RawRepresentable<String> & CaseIterable>(of type: Word.Type) -> Word? {
        choice(Dictionary(uniqueKeysWithValues: Word.allCases.map { ($0.rawValue, $0) }))
    }
}

extension YAMLNode {
    /// A whole number of a range, in decimal digits or with the prefix 0x, without quotes.
    package func integer<Value: FixedWidthInteger>(in range: ClosedRange<Value>) -> Value? {
        let remedy = "write a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard case .scalar(let text, isPlain: true) = content,
            let value = Value(yamlDigits: text)
        else {
            refuse(expected: "a whole number", remedy: "\(remedy), without quotes")
            return nil
        }
        return inRange(value, range, remedy)
    }

    /// A finite number of a range, without quotes.
    package func number(in range: ClosedRange<Double>) -> Double? {
        let remedy = "write a number from \(range.lowerBound) to \(range.upperBound)"
        guard case .scalar(let text, isPlain: true) = content, let value = Double(text),
            value.isFinite
        else {
            refuse(expected: "a number", remedy: "\(remedy), without quotes")
            return nil
        }
        return inRange(value, range, remedy)
    }

    private func inRange<Value: Comparable>(
        _ value: Value,
        _ range: ClosedRange<Value>,
        _ remedy: String
    ) -> Value? {
        guard range.contains(value) else {
            refuse("\(value) is out of range", remedy: remedy)
            return nil
        }
        return value
    }
}

extension YAMLNode {
    /// A length of time with a unit (ms, s, m, h), in milliseconds.
    package func milliseconds(
        in range: ClosedRange<UInt64> = 1...Units.most
    ) -> UInt64? {
        quantity("a length of time", of: .time, in: range)
    }

    /// A number of bytes with a unit (B, KiB, MiB, GiB).
    package func bytes(in range: ClosedRange<UInt64> = 1...Units.most) -> UInt64? {
        quantity("a number of bytes", of: .size, in: range)
    }

    private func quantity(
        _ name: String,
        of units: Units,
        in range: ClosedRange<UInt64>
    ) -> UInt64? {
        let remedy =
            "write a whole number and one of \(units.names), such as \(units.example)"
        guard case .scalar(let text, _) = content else {
            refuse(expected: name, remedy: remedy)
            return nil
        }
        guard let value = units.count(of: text) else {
            let shown = text.printablePrefix(40)
            refuse("«\(shown)» is not \(name) with a unit", remedy: remedy)
            return nil
        }
        let (least, most) = (units.text(of: range.lowerBound), units.text(of: range.upperBound))
        guard range.contains(value) else {
            refuse(
                "«\(text.printablePrefix(40))» is out of range",
                remedy: "write from \(least) to \(most)"
            )
            return nil
        }
        return value
    }
}

/// The units of one kind of quantity, the smallest first.
package struct Units {
    /// The largest count that every reader of numbers holds exactly (2^53 - 1).
    package static let most: UInt64 = (1 << 53) - 1

    static let time = Units(
        factors: [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)],
        example: "90s"
    )
    static let size = Units(
        factors: [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)],
        example: "512MiB"
    )

    private let factors: [(name: String, factor: UInt64)]
    let example: String

    private init(factors: [(name: String, factor: UInt64)], example: String) {
        self.factors = factors
        self.example = example
    }

    var names: String { factors.map(\.name).joined(separator: ", ") }

    /// The count in the smallest unit; nil for anything but digits and a unit, and above 2^53 - 1.
    func count(of text: String) -> UInt64? {
        let digits = text.utf8.prefix { (0x30...0x39).contains($0) }
        let unit = String(text.utf8.dropFirst(digits.count))
        guard let number = UInt64(String(digits) ?? ""),
            let factor = factors.first(where: { $0.name == unit })?.factor
        else { return nil }
        let (count, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow || count > Self.most ? nil : count
    }

    /// A count in the largest unit in which it is a whole number.
    func text(of count: UInt64) -> String {
        let fit = factors.last { count > 0 && count.isMultiple(of: $0.factor) } ?? factors[0]
        return "\(count / fit.factor)\(fit.name)"
    }
}

extension FixedWidthInteger {
    /// Reads decimal digits, or hexadecimal ones after 0x; no sign, no other form of YAML.
    fileprivate init?(yamlDigits text: String) {
        let isHexadecimal = text.hasPrefix("0x")
        let digits = text.utf8.dropFirst(isHexadecimal ? 2 : 0)
        guard let first = digits.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-")
        else { return nil }
        self.init(text.dropFirst(isHexadecimal ? 2 : 0), radix: isHexadecimal ? 16 : 10)
    }
}

extension String {
    /// Whether YAML reads this, without quotes, as nothing.
    var isYAMLNull: Bool { ["", "~", "null", "Null", "NULL"].contains(self) }

    /// Whether YAML reads this, without quotes, as a number or a truth value.
    var isYAMLNumberOrTruth: Bool {
        Double(self) != nil
            || ["true", "false", "yes", "no", "on", "off", "y", "n"].contains(lowercased())
    }
}

extension Unicode.Scalar {
    /// Whether this is one of the C0 or C1 control characters.
    fileprivate var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}
