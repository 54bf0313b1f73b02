/// HTML that is known to be safe.
///
/// Only literals of this program's source become markup as they are; a `String` that is
/// interpolated becomes visible text, whoever wrote it. There is no other way in, so text of the
/// coding agent cannot become an element or an attribute.
struct Markup: Equatable, ExpressibleByStringInterpolation {
    private(set) var text: String

    init(stringLiteral value: String) { text = value }

    init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    /// The style sheet, which is this program's own literal as well.
    init(trusting source: StaticString) { text = source.description }

    struct Interpolation: StringInterpolationProtocol {
        var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ value: Int) { text += "\(value)" }
        mutating func appendInterpolation(_ value: Markup) { text += value.text }
        mutating func appendInterpolation(_ value: String) {
            text += VisibleText.escaped(value)
        }
        /// One line of a program: tabs stay tabs.
        mutating func appendInterpolation(code value: String) {
            text += VisibleText.escaped(value, keeping: "\t")
        }
        /// Text of several lines, cut at a length that a person reads.
        mutating func appendInterpolation(prose value: String) {
            let limit = 4_000
            text += VisibleText.escaped(String(value.prefix(limit)), keeping: "\n")
            let rest = value.count - limit
            if rest > 0 { text += " … (\(rest) more characters)" }
        }
    }

    static func += (left: inout Markup, right: Markup) { left.text += right.text }

    static func + (left: Markup, right: Markup) -> Markup {
        var sum = left
        sum += right
        return sum
    }
}

extension Sequence where Element == Markup {
    /// The pieces one after another.
    func joined() -> Markup { reduce(into: "") { $0 += $1 } }
}

/// Turns untrusted text into HTML in which nothing hides.
enum VisibleText {
    static func escaped(_ text: String, keeping kept: Unicode.Scalar? = nil) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case _ where scalar != kept && hides(scalar): result += "⟦U+\(hexadecimal(scalar))⟧"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whether a reader would not see the character, or would see others in another order.
    private static func hides(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
            .surrogate:
            return true
        case .spaceSeparator:
            return scalar != " "
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .letterNumber,
            .otherNumber, .connectorPunctuation, .dashPunctuation, .openPunctuation,
            .closePunctuation, .initialPunctuation, .finalPunctuation, .otherPunctuation,
            .mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol:
            return scalar.properties.isDefaultIgnorableCodePoint
                || scalar.properties.isVariationSelector
        @unknown default:
            return true
        }
    }

    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
