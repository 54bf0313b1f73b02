/// Text from outside, made safe for a terminal.
package enum SafeText {
    /// The text with everything that steers a terminal or hides itself as `?`.
    package static func cleaned(_ text: String, atMost limit: Int = .max) -> String {
        var cleaned = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) {
            cleaned.append(isPlain(scalar) ? scalar : "?")
        }
        return String(cleaned)
    }

    /// A text of several lines, each cleaned; tabulators become spaces.
    package static func cleanedLines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { cleaned(String($0).replacing("\t", with: "    ")) }
            .joined(separator: "\n")
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
            .paragraphSeparator:
            false
        default: true
        }
    }
}

/// Columns that line up.
package struct TextTable {
    private var rows: [[String]] = []

    package init() {}

    /// Adds a row.
    package mutating func add(_ cells: [String]) { rows.append(cells) }

    /// The rows, each cell but the last as wide as the widest of its column.
    package func lines(indent: String = "  ") -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.enumerated().map { index, cell in
                index == row.count - 1
                    ? cell : cell + String(repeating: " ", count: widths[index] - cell.count)
            }
            return indent + cells.joined(separator: "  ")
        }
    }
}

/// Moments as people read them.
package enum ClockText {
    /// A moment in UTC, such as `2026-01-31 23:59:59Z`.
    package static func text(_ milliseconds: Int64) -> String {
        let seconds = milliseconds >= 0 ? milliseconds / 1000 : 0
        let (year, month, day) = date(seconds / 86_400)
        let time = seconds % 86_400
        let parts = [year, month, day, time / 3600, time / 60 % 60, time % 60].map { value in
            value < 10 ? "0\(value)" : "\(value)"
        }
        return "\(parts[0])-\(parts[1])-\(parts[2]) \(parts[3]):\(parts[4]):\(parts[5])Z"
    }

    // Days since 1970-01-01 in the proleptic Gregorian calendar, counted in eras of 400 years that
    // begin in March, so that a leap day is the last day of its year.
    private static func date(_ days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// A span in the two largest units, such as `1 h 5 min`.
    package static func span(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1000
        if seconds >= 3600 { return "\(seconds / 3600) h \(seconds / 60 % 60) min" }
        if seconds >= 60 { return "\(seconds / 60) min \(seconds % 60) s" }
        return "\(seconds) s"
    }
}

/// Numbers as people read them.
package enum Decimal {
    /// A number rounded to some decimals; one that rounds to zero has no sign, and one that is none or
    /// beyond all that is counted here is told as Swift does.
    package static func text(_ value: Double, decimals: Int = 4) -> String {
        let scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
        let rounded = (value * Double(scale)).rounded()
        guard rounded.magnitude < 1e18 else { return "\(value)" }
        guard rounded >= 0 else { return "-" + text(-value, decimals: decimals) }
        let scaled = Int(rounded)
        guard decimals > 0 else { return "\(scaled)" }
        let fraction = String(scaled % scale)
        let padding = String(repeating: "0", count: decimals - fraction.utf8.count)
        return "\(scaled / scale).\(padding)\(fraction)"
    }
}
