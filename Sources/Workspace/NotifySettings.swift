internal import StrictYAML

/// Whom the operator wants told of what happens in a night: `notify` of the configuration.
///
/// No digest covers it: it decides nothing, may be changed between two runs, and an address may hold a
/// secret.
public struct NotifySettings: Sendable, Equatable {
    /// What somebody can be told of.
    public enum Occasion: String, Sendable, CaseIterable {
        /// A candidate was accepted, and the result was released.
        case accepted
        /// A run ended.
        case ended
        /// Work counts for nothing.
        case void
        /// A tripwire fired.
        case tripwire
        /// A run ended with an error, or a checkpoint could not be kept.
        case error
        /// A budget or bound is spent, or was extended.
        case budget
    }

    /// One who is told.
    public enum Hook: Sendable, Equatable {
        /// A command that gets the event on standard input; its first word is an absolute path.
        case command([String])
        /// An address that the event is posted to.
        case webhook(String)

        /// The kind in one word, as rows and the configuration have it.
        public var word: String {
            switch self {
            case .command: "command"
            case .webhook: "webhook"
            }
        }
    }

    /// Those who are told; never empty.
    public let hooks: [Hook]
    /// What they are told of.
    public let occasions: Set<Occasion>
    /// The longest that telling one of them may take.
    public let timeout: Duration

    private static let longest = Duration.seconds(60)

    /// Reads the section `notify`.
    static func read(_ top: inout MappingReader) -> NotifySettings? {
        guard var section = top.mapping("notify") else { return nil }
        let command = section.strings("command")
        let address = section.string("webhook")
        let occasions = section.strings("on").map { Self.occasions($0, &section) }
        let timeout = section.duration("timeout", in: .seconds(1)...longest)?.value
        let line = section.place.line
        section.finish()
        if command == nil, address == nil {
            section.refuse(
                "",
                line: line,
                "nobody is named who could be told",
                remedy: "write command: [PATH, …], webhook: URL, or both"
            )
        }
        let words = command?.value.map(\.value) ?? []
        if let command, words.first?.hasPrefix("/") != true {
            section.refuse(
                "command",
                line: command.line,
                "the command is empty or its first word is no absolute path",
                remedy: "write the program's path first"
            )
        }
        if let address, !isAddress(address.value) {
            section.refuse(
                "webhook",
                line: address.line,
                "it is no https address, and no http address of this host",
                remedy: "write https://HOST[:PORT]/PATH, or http://127.0.0.1:PORT/PATH"
            )
        }
        return NotifySettings(
            hooks: (command == nil ? [] : [.command(words)])
                + (address.map { [.webhook($0.value)] } ?? []),
            occasions: occasions ?? Set(Occasion.allCases),
            timeout: timeout ?? .seconds(10)
        )
    }

    private static func occasions(
        _ words: Placed<[Placed<String>]>,
        _ section: inout MappingReader
    ) -> Set<Occasion> {
        var found: Set<Occasion> = []
        for word in words.value {
            guard let occasion = Occasion(rawValue: word.value) else {
                section.refuse(
                    "on",
                    line: word.line,
                    "«\(word.value.printablePrefix(20))» is nothing that anybody can be told of",
                    remedy: "write some of "
                        + Occasion.allCases.map(\.rawValue).joined(separator: ", ")
                )
                continue
            }
            found.insert(occasion)
        }
        return found
    }

    // Without encryption only what does not leave this host; no name and password, which logs would show.
    private static func isAddress(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard isPlain, parts.count >= 3, parts[1].isEmpty, !parts[2].isEmpty,
            !parts[2].contains("@")
        else { return false }
        if parts[0] == "https:" { return true }
        let host = parts[2].split(separator: ":").first
        return parts[0] == "http:" && (host == "127.0.0.1" || host == "localhost")
    }
}

/// Which old files of a night are removed: `retention` of the configuration.
///
/// The record and the outcomes of sealed exams are never among them. No digest covers it.
public struct RetentionSettings: Sendable, Equatable {
    /// The most transcripts of coding agents that are kept; nothing for all.
    public var transcripts: Int?
    /// How old a transcript may become; nothing for any age.
    public var age: Duration?
    /// The size above which a log is begun anew at the beginning of a run; nothing for any size.
    public var logs: Int?

    /// Keeps everything.
    public init() {}

    /// Reads the section `retention`.
    static func read(_ top: inout MappingReader) -> RetentionSettings {
        var settings = RetentionSettings()
        guard var section = top.mapping("retention") else { return settings }
        settings.transcripts = section.integer("transcripts", in: 0...1_000_000)?.value
        settings.age =
            section.duration("age", in: .seconds(3600)...(.seconds(3650 * 86_400)))?
            .value
        settings.logs = section.bytes("logs", in: 65_536...(1 << 40))
        section.finish()
        return settings
    }
}
