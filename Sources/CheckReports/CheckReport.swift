// What a command found, in the forms that continuous integration reads: JUnit XML, a page of Markdown,
// and annotations. Pure: whoever made the finding decides, and whoever calls this writes.

/// One thing that was checked.
public struct Check: Sendable, Equatable {
    /// What it came to.
    public enum Outcome: Sendable, Equatable {
        /// It holds.
        case passed
        /// It does not hold; why.
        case failed(String)
        /// Whether it holds could not be found out; why.
        case broken(String)
        /// It was not looked at; why.
        case skipped(String)

        /// The reason of anything but a pass.
        public var reason: String? {
            switch self {
            case .passed: nil
            case .failed(let reason), .broken(let reason), .skipped(let reason): reason
            }
        }

        /// The outcome in one word.
        public var word: String {
            switch self {
            case .passed: "passed"
            case .failed: "failed"
            case .broken: "error"
            case .skipped: "skipped"
            }
        }

        /// Whether somebody has to look.
        public var isBad: Bool {
            switch self {
            case .failed, .broken: true
            case .passed, .skipped: false
            }
        }
    }

    /// What was checked.
    public let name: String
    /// Where it was checked, or as part of what.
    public let group: String
    /// What it came to.
    public let outcome: Outcome

    /// Creates a check.
    public init(_ name: String, in group: String, _ outcome: Outcome) {
        self.name = name
        self.group = group
        self.outcome = outcome
    }
}

/// What one command checked.
public struct CheckReport: Sendable, Equatable {
    /// Checks that belong together.
    public struct Suite: Sendable, Equatable {
        /// What they are about.
        public let name: String
        /// The checks, in the order in which they are shown.
        public let checks: [Check]

        /// Creates a suite.
        public init(_ name: String, _ checks: [Check]) {
            self.name = name
            self.checks = checks
        }
    }

    /// The command.
    public let title: String
    /// What all of it comes to, in a sentence.
    public let verdict: String
    /// Whether that is what somebody hoped for.
    public let isGood: Bool
    /// The checks.
    public let suites: [Suite]

    /// Creates a report.
    public init(_ title: String, verdict: String, isGood: Bool, _ suites: [Suite]) {
        self.title = title
        self.verdict = verdict
        self.isGood = isGood
        self.suites = suites
    }

    /// The checks that somebody has to look at.
    public var bad: [Check] { suites.flatMap(\.checks).filter(\.outcome.isBad) }
}

/// Text from outside, on its way into another language.
enum ForeignText {
    /// The text on one line, without anything that steers a reader or hides itself, and no longer than
    /// `limit`.
    static func plain(_ text: String, atMost limit: Int = 2000) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) {
            plain.append(isShown(scalar) ? scalar : "?")
        }
        return String(plain)
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
            .paragraphSeparator:
            false
        default: true
        }
    }
}
