internal import FoundationEssentials

/// Numbers and times in the one form that the report uses.
enum Figures {
    /// `value` with a fixed number of decimals, rounded half away from zero.
    static func decimal(_ value: Double, places: Int) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "?" }
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let scaled = Int64((abs(value) * scale).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard places > 0 else { return sign + "\(scaled)" }
        let digits = "\(scaled)"
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        return sign + padded.dropLast(places) + "." + padded.suffix(places)
    }

    /// A sealed score as the ledger has it.
    static func exact(_ score: Double?) -> String {
        score.map { decimal($0, places: 4) } ?? "none"
    }

    /// A score as the coding agent's side was told.
    static func released(_ score: Double?) -> String {
        score.map { decimal($0, places: 2) } ?? "none"
    }

    /// A time in UTC, to the second.
    static func time(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds / 1_000)).formatted(.iso8601)
    }

    /// A length of time.
    static func duration(milliseconds: Int64) -> String {
        let seconds = Double(milliseconds) / 1_000
        if seconds < 120 { return decimal(seconds, places: 1) + " s" }
        let minutes = milliseconds / 60_000
        if minutes < 120 { return "\(minutes) min" }
        return "\(minutes / 60) h \(minutes % 60) min"
    }

    /// The first digits of a digest.
    static func short(_ digest: String) -> String { String(digest.prefix(12)) }

    /// "1 row", "2 rows".
    static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        number == 1 ? "1 \(one)" : "\(number) \(many ?? one + "s")"
    }
}
