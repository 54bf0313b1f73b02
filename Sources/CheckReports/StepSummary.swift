extension CheckReport {
    /// More rows than these are counted and not shown: a forge takes a page of one megabyte at the most.
    private static let rowLimit = 200

    /// The report as a section of Markdown, which ends in a line feed.
    public var summary: String {
        var lines = ["## \(Markdown.escaped(title))", "", "**\(Markdown.escaped(verdict))**", ""]
        for suite in suites where !suite.checks.isEmpty {
            lines += ["### \(Markdown.escaped(suite.name))", "", "| check | outcome | reason |"]
            lines.append("| --- | --- | --- |")
            for check in suite.checks.prefix(Self.rowLimit) {
                lines.append(
                    "| \(Markdown.escaped(check.name)) | \(check.outcome.word) | "
                        + "\(Markdown.escaped(check.outcome.reason ?? "")) |"
                )
            }
            let more = suite.checks.count - Self.rowLimit
            if more > 0 { lines.append("| … | | \(more) more |") }
            lines.append("")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// Text as Markdown shows it unchanged.
enum Markdown {
    private static let special = Set("\\`*_{}[]()#+-.!|~>:@&".unicodeScalars)

    /// The text with everything escaped that begins a form of Markdown, a link, a mention or HTML.
    static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in ForeignText.plain(text, atMost: 500).unicodeScalars {
            if scalar == "<" {
                escaped.append(contentsOf: "&lt;".unicodeScalars)
                continue
            }
            if special.contains(scalar) { escaped.append("\\") }
            escaped.append(scalar)
        }
        return String(escaped)
    }
}
