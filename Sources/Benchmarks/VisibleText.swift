public import StrictJSON

/// Text of untrusted programs, made safe to show and bounded.
///
/// Traces, logs and reports are read by people, terminals and models. Control characters could
/// drive a terminal, bidirectional marks could reorder what a person reads, and invisible
/// characters could hide text from one reader and not from another.
public enum VisibleText {
    /// The text without what cannot be seen, cut to a length.
    ///
    /// Line feeds and tabs stay; a carriage return and every other control, format, private-use,
    /// surrogate or line-separating character becomes U+FFFD. A text that is cut ends in the mark
    /// ` [cut]`.
    ///
    /// - Parameters:
    ///   - text: what the program wrote.
    ///   - maximumBytes: the most bytes of UTF-8 before the mark.
    /// - Returns: the safe text.
    public static func cleaned(_ text: String, maximumBytes: Int) -> String {
        var safe = String.UnicodeScalarView()
        var bytes = 0
        for scalar in text.unicodeScalars {
            let visible = isVisible(scalar) ? scalar : "\u{FFFD}"
            bytes += UTF8.width(visible)
            guard bytes <= maximumBytes else { return String(safe) + " [cut]" }
            safe.append(visible)
        }
        return String(safe)
    }

    /// A value in which every text, member names included, is cleaned.
    ///
    /// Where two member names become the same, one member stays.
    ///
    /// - Parameters:
    ///   - value: what the program wrote.
    ///   - maximumBytes: the most bytes of each single text.
    /// - Returns: the safe value.
    public static func cleaned(_ value: JSONValue, maximumBytes: Int) -> JSONValue {
        switch value {
        case .string(let text): .string(cleaned(text, maximumBytes: maximumBytes))
        case .array(let elements):
            .array(elements.map { cleaned($0, maximumBytes: maximumBytes) })
        case .object(let members): .object(cleaned(members, maximumBytes: maximumBytes))
        case .null, .bool, .integer, .number: value
        }
    }

    private static func cleaned(
        _ members: [String: JSONValue],
        maximumBytes: Int
    ) -> [String: JSONValue] {
        let pairs = members.sorted { $0.key < $1.key }.map { name, value in
            (
                cleaned(name, maximumBytes: maximumBytes),
                cleaned(value, maximumBytes: maximumBytes)
            )
        }
        return Dictionary(pairs) { first, _ in first }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "\n" || scalar == "\t" { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
            .paragraphSeparator:
            return false
        default:
            // Letters, marks, numbers, punctuation, symbols and spaces; the category is the
            // standard library's enum, which may grow.
            return !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
