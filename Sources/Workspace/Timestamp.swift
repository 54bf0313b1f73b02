/// Wall-clock times as auto-harness writes them: `2026-11-22T09:54:27+00:00`.
public enum Timestamp {
    /// The text of a time, in UTC, to the second.
    ///
    /// - Parameter milliseconds: milliseconds since 1970-01-01T00:00:00Z; not before that.
    /// - Returns: the text.
    public static func text(milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1000
        let (year, month, day) = civil(days: seconds / 86_400)
        let clock = seconds % 86_400
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
            + "T\(padded(clock / 3600, 2)):\(padded(clock / 60 % 60, 2)):\(padded(clock % 60, 2))"
            + "+00:00"
    }

    /// Days since 1970 as a date of the Gregorian calendar.
    ///
    /// Years are counted from March, so that the leap day is a year's last: then a month's first
    /// day is a linear function of the month.
    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, day)
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}
