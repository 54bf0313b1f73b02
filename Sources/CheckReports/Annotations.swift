// Workflow commands: a line that begins with two colons, "::NAME PROPERTY=VALUE,…::MESSAGE"
// (docs.github.com, Workflow commands for GitHub Actions). In a message "%", carriage return and line
// feed are written as %25, %0D and %0A; in a property ":" and "," as %3A and %2C, too. An older form,
// "##[NAME]", is read wherever it stands in a line that is no command of the newer form.

extension CheckReport {
    /// A forge shows ten of a kind in one step; more would only fill the log.
    private static let lineLimit = 10

    /// The report as workflow commands, one a line, without line feeds.
    ///
    /// The first one is the verdict; an error follows for each check that somebody has to look at.
    public var annotations: [String] {
        let first = Annotation(isGood ? .notice : .error, title: title, message: verdict)
        let others = bad.prefix(Self.lineLimit - 1).map { check in
            Annotation(
                .error,
                title: "\(title): \(check.name)",
                message: check.outcome.reason ?? check.outcome.word
            )
        }
        return ([first] + others).map(\.line)
    }
}

/// One workflow command that shows a message.
public struct Annotation: Sendable, Equatable {
    /// How it is shown.
    public enum Level: String, Sendable {
        /// As news.
        case notice
        /// As a warning.
        case warning
        /// As an error.
        case error
    }

    /// How it is shown.
    public let level: Level
    /// Its heading.
    public let title: String
    /// What it says.
    public let message: String

    /// Creates an annotation.
    public init(_ level: Level, title: String, message: String) {
        self.level = level
        self.title = title
        self.message = message
    }

    /// The command, which nothing of title and message can end.
    public var line: String {
        "::\(level.rawValue) title=\(Self.escaped(title, inProperty: true))::"
            + Self.escaped(message, inProperty: false)
    }

    private static func escaped(_ text: String, inProperty: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars.prefix(1000) {
            switch scalar {
            case "%": escaped += "%25"
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            case ":" where inProperty: escaped += "%3A"
            case "," where inProperty: escaped += "%2C"
            default: escaped += ForeignText.plain(String(scalar))
            }
        }
        return escaped.replacing("##[", with: "## [")
    }
}
