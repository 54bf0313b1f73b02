// JUnit has no schema of its own; test runners and forges agree on suites of cases with at most one of
// failure, error and skipped, and on the attributes below.

extension CheckReport {
    /// The report as JUnit XML.
    public var junit: String { JUnit.text(suites) }
}

/// Reports in the form that test runners read.
public enum JUnit {
    /// Suites as one document, without those that have no checks.
    public static func text(_ suites: [CheckReport.Suite]) -> String {
        var lines = [#"<?xml version="1.0" encoding="UTF-8"?>"#, "<testsuites>"]
        for suite in suites where !suite.checks.isEmpty {
            let words = suite.checks.map(\.outcome.word)
            let counts = [
                ("tests", suite.checks.count), ("failures", words.count { $0 == "failed" }),
                ("errors", words.count { $0 == "error" }),
                ("skipped", words.count { $0 == "skipped" }),
            ]
            lines.append(
                "<testsuite name=\"\(escaped(suite.name))\" "
                    + counts.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: " ") + ">"
            )
            lines += suite.checks.map(testCase) + ["</testsuite>"]
        }
        return (lines + ["</testsuites>", ""]).joined(separator: "\n")
    }

    private static func testCase(_ check: Check) -> String {
        let start =
            "<testcase classname=\"\(escaped(check.group))\" name=\"\(escaped(check.name))\""
        let element: String
        switch check.outcome {
        case .passed: return start + "/>"
        case .failed: element = "failure"
        case .broken: element = "error"
        case .skipped: element = "skipped"
        }
        let message = escaped(check.outcome.reason ?? "")
        return start + "><\(element) message=\"\(message)\"/></testcase>"
    }

    // Reasons come out of sandboxes: nothing in them may end an attribute, and XML 1.0 has no place for
    // most control characters.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in ForeignText.plain(text).unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            // The two that belong to no category of their own and are not allowed (XML 1.0, 2.2).
            case "\u{FFFE}", "\u{FFFF}": escaped += "?"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
