/// One thing about a sandbox's use of models that its supervisor is told.
public struct ModelEvent: Sendable, Equatable {
    /// What happened.
    public enum Kind: String, Sendable, CaseIterable {
        /// Another model was asked for than the listener has.
        case modelChanged = "model-changed"
        /// Another reasoning effort was asked for.
        case effortChanged = "effort-changed"
        /// Another temperature, or a parameter that would undo the pinned one, was asked for.
        case temperatureChanged = "temperature-changed"
        /// More answers were asked for than one request may have.
        case fanOutChanged = "fan-out-changed"
        /// A longer answer was asked for than one may be.
        case maxTokensChanged = "max-tokens-changed"
        /// A tool that the provider would run was offered.
        case providerTool = "provider-tool"
        /// Content that the provider would fetch was referred to.
        case urlContent = "url-content"
        /// Content that the provider keeps as a file was referred to.
        case fileContent = "file-content"
        /// The provider was asked to keep or to continue something.
        case storedState = "stored-state"
        /// A cache control was sent from a sealed sandbox.
        case cacheControl = "cache-control"
        /// Something that identifies the sender was sent.
        case identity
        /// A class of service with another price was asked for.
        case serviceTier = "service-tier"
        /// A member that no allow-list knows.
        case unknownField = "unknown-field"
        /// A request that is no request of its dialect.
        case badRequest = "bad-request"
        /// A request beyond a limit of size, nesting or number.
        case tooLarge = "too-large"
        /// A method, path or query that is not offered.
        case unknownRoute = "unknown-route"
        /// Nothing is left of a budget.
        case budgetSpent = "budget-spent"
        /// Too many requests, of the sandbox or by the provider's word.
        case rateLimited = "rate-limited"
        /// The provider did not answer, or not in its own format.
        case upstreamFailed = "upstream-failed"
        /// A cassette has no answer to the request.
        case cassetteMissing = "cassette-missing"

        /// Whether the request went on, brought to what is pinned.
        public var isAdjustment: Bool {
            switch self {
            case .modelChanged, .effortChanged, .temperatureChanged, .fanOutChanged,
                .maxTokensChanged, .cacheControl, .identity, .serviceTier, .unknownField:
                true
            case .providerTool, .urlContent, .fileContent, .storedState, .badRequest, .tooLarge,
                .unknownRoute, .budgetSpent, .rateLimited, .upstreamFailed, .cassetteMissing:
                false
            }
        }
    }

    /// What happened.
    public let kind: Kind
    /// Where or what, at most ``detailLimit`` printable bytes; empty where nothing may be said.
    public let detail: String

    /// The longest detail, in bytes.
    public static let detailLimit = 200

    /// Makes an event; what is not printable ASCII in the detail becomes `?`, what is too long is
    /// cut.
    ///
    /// - Parameters:
    ///   - kind: what happened.
    ///   - detail: where or what.
    public init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = Self.printable(detail, limit: Self.detailLimit)
    }

    static func printable(_ text: String, limit: Int) -> String {
        let shown = text.utf8.prefix(limit).map { byte in
            (0x20..<0x7F).contains(byte) ? byte : UInt8(ascii: "?")
        }
        return String(decoding: shown, as: UTF8.self)
    }
}
