/// The variables of a coding agent's profile, and how they are replaced.
enum CodingAgentVariables {
    /// Every variable, by its name in `${…}`.
    enum Name: String, CaseIterable {
        /// The program's path.
        case executable
        /// The package's directory in the cache of agents.
        case package
        /// What the program is told to do.
        case task
        /// The program's home.
        case home
        /// Where the profile's files lie.
        case agentFiles = "agent-files"
        /// Scheme, host and port of the model.
        case modelEndpoint = "model-endpoint"
        /// The model's name, as requests may spell it.
        case model
        /// How hard the model thinks.
        case effort
        /// How long a client waits for one answer, in seconds.
        case clientTimeoutSeconds = "client-timeout-s"
        /// The same in milliseconds.
        case clientTimeoutMilliseconds = "client-timeout-ms"
    }

    /// One part of a text.
    private enum Part {
        case text(Substring)
        case variable(Name)
        case unknown(Substring)
    }

    /// The variables of a text, and its first that is none of them.
    static func used(in text: String) -> (known: Set<Name>, unknown: String?) {
        var known: Set<Name> = []
        var unknown: String?
        for part in parts(of: text) {
            switch part {
            case .text: break
            case .variable(let name): known.insert(name)
            case .unknown(let found): unknown = unknown ?? String(found)
            }
        }
        return (known, unknown)
    }

    /// The text with values in place of variables; `$${` becomes `${`.
    ///
    /// A value is put in as it is and not read again: what a model is called starts no variable.
    static func replaced(in text: String, _ value: (Name) -> String?) -> String {
        parts(of: text).map { part in
            switch part {
            case .text(let found): String(found)
            case .variable(let name): value(name) ?? ""
            case .unknown(let found): "${\(found)}"
            }
        }.joined()
    }

    private static func parts(of text: String) -> [Part] {
        var parts: [Part] = []
        var rest = text[...]
        while let start = rest.firstRange(of: "${") {
            let before = rest[..<start.lowerBound]
            if before.last == "$" {
                parts += [.text(before.dropLast()), .text("${")]
                rest = rest[start.upperBound...]
                continue
            }
            parts.append(.text(before))
            let inner = rest[start.upperBound...]
            guard let end = inner.firstIndex(of: "}") else {
                return parts + [.unknown(inner)]
            }
            let name = inner[..<end]
            parts.append(Name(rawValue: String(name)).map { .variable($0) } ?? .unknown(name))
            rest = inner[inner.index(after: end)...]
        }
        return parts + [.text(rest)]
    }
}
