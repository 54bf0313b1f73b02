internal import ModelDialects

/// A refusal in one sentence: who did what, and what became of it.
///
/// The one place that makes it, for everything that people read. It is made from the members of a row
/// alone, so that rows of older versions read the same.
public struct RefusalSentence: Sendable, Hashable {
    /// What it says of whoever met it.
    public let kind: RefusalKind
    /// What refused, by the name that it has on the record.
    public let layer: String
    /// What was tried, as the record has it.
    public let attempt: String
    /// Who tried, as the record has it.
    public let author: String

    /// Takes a row's members.
    ///
    /// - Parameters:
    ///   - kind: what it says of whoever met it.
    ///   - layer: what refused.
    ///   - attempt: what was tried.
    ///   - author: who tried.
    public init(_ kind: RefusalKind, layer: String, attempt: String, author: String) {
        self.kind = kind
        self.layer = layer
        self.attempt = attempt
        self.author = author
    }

    /// The sentence without its details: no text of others but what was tried.
    public var text: String { "\(deed): \(answer(isByPolicy: false))" }

    /// The whole sentence.
    ///
    /// - Parameter detail: the row's detail: where, why, or the line that would allow it.
    /// - Returns: the sentence, on one line where the row's members are.
    public func text(_ detail: String) -> String {
        guard !detail.isEmpty, layer != "vault" else { return text }
        if isModels, kind == .adjusted {
            return "\(deed) (\(detail)): \(answer(isByPolicy: false))"
        }
        return "\(deed): \(answer(isByPolicy: isByPolicy(detail))); \(detail)"
    }

    // MARK: - who did what

    private var deed: String { "the \(author.replacing("-", with: " ")) \(act)" }

    private var isModels: Bool { layer == "model" }

    private var act: String {
        switch layer {
        case "model": ModelEvent.Kind(rawValue: attempt)?.act ?? "asked for \(attempt)"
        case "filter" where !attempt.hasPrefix("make ") && !attempt.hasPrefix("further "):
            "called \(attempt)"
        case "vault": askedOfVault
        case "request-table", "snapshot", "ledger-only-supervisor-writes", "host":
            "asked to \(attempt)"
        default: past
        }
    }

    private var askedOfVault: String {
        if attempt == "test" { return "asked for an exam of the sealed split" }
        guard let colon = attempt.firstRange(of: ": ") else { return "asked to \(attempt)" }
        return "asked for task \(attempt[colon.upperBound...]), which is not of the train split "
            + "(\(attempt[..<colon.lowerBound]))"
    }

    // The record has what was tried as an infinitive; what is not listed was tried and no more.
    private static let pasts = [
        "send": "sent", "use": "used", "end": "ended", "die": "died", "make": "made",
        "start": "started", "run": "ran", "say": "said", "write": "wrote", "go": "went",
        "further": "made further",
    ]

    private var past: String {
        let words = attempt.split(separator: " ", maxSplits: 1).map(String.init)
        guard let first = words.first else { return "tried something unnamed" }
        if let past = Self.pasts[first] {
            return ([past] + words.dropFirst()).joined(separator: " ")
        }
        // A right or a scope of Landlock.
        return first.contains(".") ? "needed \(attempt)" : "tried to \(attempt)"
    }

    // MARK: - what became of it

    private func isByPolicy(_ detail: String) -> Bool {
        detail.contains("the line that would allow it") || detail.contains("a policy allows it")
    }

    private func answer(isByPolicy: Bool) -> String {
        let wall = isModels ? "broker" : layer
        return switch kind {
        case .adjusted: "brought to the pinned values (\(wall))"
        case .attempt: "refused (\(wall))"
        case .denied where layer == "limits" && author != "supervisor": "ended by a limit"
        case .denied where isByPolicy: "denied by the policy (\(wall))"
        case .denied:
            (isModels ? ModelEvent.Kind(rawValue: attempt)?.failure : nil).map { "\($0) (\(wall))" }
                ?? "denied (\(wall))"
        }
    }
}

extension ModelEvent.Kind {
    /// What somebody did who caused this.
    fileprivate var act: String {
        switch self {
        case .modelChanged: "asked for another model"
        case .effortChanged: "asked for another reasoning effort"
        case .temperatureChanged: "asked for another temperature"
        case .fanOutChanged: "asked for more answers than one request may have"
        case .maxTokensChanged: "asked for a longer answer than one may be"
        case .providerTool: "offered a tool that the provider would run"
        case .urlContent: "referred to content that the provider would fetch"
        case .fileContent: "referred to a file that the provider keeps"
        case .storedState: "asked the provider to keep or to continue something"
        case .cacheControl: "sent a cache control"
        case .identity: "sent something that identifies it"
        case .serviceTier: "asked for another class of service"
        case .unknownField: "sent a member that no list knows"
        case .badRequest: "sent what is no request of its dialect"
        case .tooLarge: "sent a request beyond the limits"
        case .unknownRoute: "asked for a method or path that is not offered"
        case .budgetSpent, .rateLimited, .upstreamFailed: "asked its model"
        case .cassetteMissing: "asked what the cassette has no answer to"
        }
    }

    /// What became of it where nobody denied anything.
    fileprivate var failure: String? {
        switch self {
        case .budgetSpent: "the budget is spent"
        case .rateLimited: "too many requests"
        case .upstreamFailed: "no answer of the provider that can be used"
        default: nil
        }
    }
}

/// How kinds of refusals stand apart on a terminal.
public struct RefusalColours: Sendable {
    /// No colour at all.
    public static let none = RefusalColours(isOn: false)

    private let isOn: Bool

    /// Colours, or none of them.
    ///
    /// - Parameter isOn: whether a person looks at a terminal and wants colours.
    public init(isOn: Bool) { self.isOn = isOn }

    /// The text in its kind's colour: attempts bold red, what was denied yellow, what was adjusted faint.
    public func painted(_ text: String, as kind: RefusalKind) -> String {
        guard isOn else { return text }
        let code =
            switch kind {
            case .attempt: "1;31"
            case .denied: "33"
            case .adjusted: "2"
            }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
