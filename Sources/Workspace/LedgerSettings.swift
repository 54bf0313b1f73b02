internal import StrictJSON

/// What is done with the record beside keeping it.
public struct LedgerSettings: Sendable, Equatable {
    /// Where a checkpoint goes at each release; nothing where none is kept elsewhere.
    public let publish: PublishSettings?

    /// Nothing is done.
    public static let none = LedgerSettings(publish: nil)

    /// Makes settings.
    ///
    /// - Parameter publish: where a checkpoint goes at each release.
    public init(publish: PublishSettings?) {
        self.publish = publish
    }
}

/// Where checkpoints are kept during a night.
public struct PublishSettings: Sendable, Equatable {
    /// The place.
    public let place: Place
    /// Whether a run ends where a checkpoint cannot be kept.
    public let isRequired: Bool
    /// The longest that keeping one may take.
    public let timeout: Duration

    /// A place for checkpoints.
    public enum Place: Sendable, Equatable {
        /// A file, replaced in one step.
        case file(String)
        /// A ref of a git repository, with a commit for each checkpoint.
        case ref(String, repository: String)
        /// A command that gets it on standard input; its first word is an absolute path.
        case command([String])

        /// The place in one word, as rows and the configuration have it.
        public var word: String {
            switch self {
            case .file: "file"
            case .ref: "ref"
            case .command: "command"
            }
        }
    }

    /// Makes settings.
    ///
    /// - Parameters:
    ///   - place: the place.
    ///   - isRequired: whether a run ends where a checkpoint cannot be kept.
    ///   - timeout: the longest that keeping one may take.
    public init(place: Place, isRequired: Bool, timeout: Duration) {
        self.place = place
        self.isRequired = isRequired
        self.timeout = timeout
    }
}

extension LedgerSettings {
    /// What a configuration's digest covers.
    var resolved: JSONValue {
        guard let publish else { return .null }
        var members: [String: JSONValue] = [
            "required": .bool(publish.isRequired),
            "timeout_ms": .integer(publish.timeout.wholeMilliseconds),
        ]
        switch publish.place {
        case .file(let path): members["file"] = .string(path)
        case .ref(let ref, let repository):
            members["ref"] = .string(ref)
            members["repository"] = .string(repository)
        case .command(let words): members["command"] = JSONValue(words)
        }
        return ["publish": .object(members)]
    }
}
