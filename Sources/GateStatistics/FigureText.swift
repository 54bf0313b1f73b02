internal import ExamResults

extension Proportion {
    /// 1 less the number, with all its decimals: what a margin leaves of a rate.
    var rest: String { (Double(Self.unit - millionths) / Double(Self.unit)).description }
}

/// Numbers as people read them.
enum FigureText {
    /// A number with a fixed count of decimals, rounded half away from 0.
    static func fixed(_ value: Double, _ decimals: Int = 2) -> String {
        let scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((value * Double(scale)).rounded())
        let digits = String(scaled.magnitude % UInt(scale))
        let padding = String(repeating: "0", count: max(0, decimals - digits.utf8.count))
        let sign = scaled < 0 ? "-" : ""
        let fraction = decimals > 0 ? ".\(padding)\(digits)" : ""
        return "\(sign)\(scaled.magnitude / UInt(scale))\(fraction)"
    }

    /// A number from 0 to 1 with two significant digits at most, as `0.00052` and `0.05`.
    static func significant(_ value: Double) -> String {
        guard value > 0, value < 1 else { return fixed(value) }
        var decimals = 2
        var scaled = value * 10
        while scaled < 1, decimals < 12 {
            scaled *= 10
            decimals += 1
        }
        let text = fixed(value, decimals)
        return text.hasSuffix("0") && decimals > 1 ? String(text.dropLast()) : text
    }

    /// An estimate with twice its standard error: `0.162 ± 0.004`.
    static func text(_ estimate: Estimate, _ decimals: Int = 3) -> String {
        "\(fixed(estimate.mean, decimals)) ± \(fixed(2 * estimate.standardError, decimals))"
    }

    /// Columns that line up, right-aligned but for the first.
    static func columns(_ rows: [[String]]) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + padding : padding + cell
            }.joined(separator: "  ")
        }
    }

    /// A text behind a word, in lines of at most 96 characters.
    static func wrapped(_ text: String, behind word: String) -> [String] {
        let indent = 9
        var lines = ["  \(word)" + String(repeating: " ", count: max(1, indent - 2 - word.count))]
        var isFresh = true
        for part in text.split(separator: " ") {
            let last = lines.count - 1
            if !isFresh, lines[last].count + 1 + part.count > 96 {
                lines.append(String(repeating: " ", count: indent) + part)
            } else {
                lines[last] += (isFresh ? "" : " ") + part
            }
            isFresh = false
        }
        return lines
    }
}
