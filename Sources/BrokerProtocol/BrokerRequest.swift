// BrokerProtocol: what supervisor and broker tell each other (M5), as values.
//
// One packet of a socket that keeps message boundaries holds one canonical JSON object with `type`;
// descriptors come with the packet that speaks of them. The supervisor writes and the broker reads
// `BrokerRequest`; `BrokerReport` goes the other way.

public import ModelDialects

/// What the supervisor asks of the broker.
public enum BrokerRequest: Sendable, Equatable {
    /// Which providers there are, once and first. The cassette's file comes along where there is one.
    case configure(BrokerConfiguration)
    /// Sets what is left of a budget that listeners may share.
    case account(AccountTerms)
    /// Serves a listener. Descriptors: the listener, then the file for bodies where they are kept.
    case open(ListenerTerms)
    /// Keeps the next request of a listener unanswered, and says that it came.
    case hold(listener: Int)
    /// Answers what was held, and everything after it.
    case release(listener: Int)
    /// Cuts every connection of a listener and closes its descriptors.
    case close(listener: Int)
}

/// Which providers there are, and how calls are paid for.
public struct BrokerConfiguration: Sendable, Equatable {
    /// Providers by name, each once.
    public let upstreams: [UpstreamTerms]
    /// What a million tokens cost, by model.
    public let prices: [PriceTerms]
    /// Whether calls are written down or answered from what was written down.
    public let cassette: CassetteMode?

    /// Creates a configuration.
    public init(upstreams: [UpstreamTerms], prices: [PriceTerms], cassette: CassetteMode?) {
        self.upstreams = upstreams
        self.prices = prices
        self.cassette = cassette
    }
}

/// What a million tokens of one model cost, in millionths of a dollar.
public struct PriceTerms: Sendable, Equatable {
    /// The model's name at its provider.
    public let model: String
    /// Tokens of the question.
    public let input: Int
    /// Tokens of the answer.
    public let output: Int
    /// Tokens of the question that the provider had kept; nothing for the price of the others.
    public let cachedInput: Int?

    /// Creates terms.
    public init(model: String, input: Int, output: Int, cachedInput: Int?) {
        self.model = model
        self.input = input
        self.output = output
        self.cachedInput = cachedInput
    }
}

/// What is done with a cassette.
public enum CassetteMode: String, Sendable, Equatable, CaseIterable {
    /// Calls go to the provider, and both sides of each are appended.
    case record
    /// Calls are answered from the file; there is no provider.
    case replay
}

/// One provider and the key with which it is asked.
public struct UpstreamTerms: Sendable, Equatable {
    /// The name by which pins refer to it.
    public let name: String
    /// Where it is: `https://HOST[:PORT][/PATH]`.
    public let url: String
    /// The dialects that it speaks.
    public let dialects: [Dialect]
    /// The key; empty where the provider wants none.
    public let key: SecretText
    /// Certificates that are trusted in place of the host's, as PEM.
    public let trust: String?
    /// Whether it may lie at a private or loopback address.
    public let allowsAnyAddress: Bool
    /// Whether it may be asked without TLS.
    public let allowsPlainHTTP: Bool

    /// Creates terms.
    public init(
        name: String,
        url: String,
        dialects: [Dialect],
        key: SecretText,
        trust: String?,
        allowsAnyAddress: Bool,
        allowsPlainHTTP: Bool
    ) {
        self.name = name
        self.url = url
        self.dialects = dialects
        self.key = key
        self.trust = trust
        self.allowsAnyAddress = allowsAnyAddress
        self.allowsPlainHTTP = allowsPlainHTTP
    }
}

/// A text that no description shows.
public struct SecretText: Sendable, Equatable, CustomStringConvertible,
    CustomDebugStringConvertible,
    CustomReflectable
{
    /// The text itself: for the header of a call, and for nothing else.
    public let exposed: String

    /// Holds a text.
    public init(_ text: String) { exposed = text }

    /// Says only whether there is one.
    public var description: String { exposed.isEmpty ? "no key" : "a key" }
    /// The same.
    public var debugDescription: String { description }
    /// Shows nothing inside.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What is left of a budget that several listeners may share.
public struct AccountTerms: Sendable, Equatable {
    /// Its name, such as `campaign` or `role:candidate`.
    public let name: String
    /// Requests; nothing where they are not limited.
    public let requests: Int?
    /// Tokens, input and output together; nothing where they are not limited.
    public let tokens: Int?
    /// Cost in millionths of a dollar; nothing where it is not limited.
    public let microdollars: Int?

    /// Creates terms.
    public init(name: String, requests: Int?, tokens: Int?, microdollars: Int?) {
        self.name = name
        self.requests = requests
        self.tokens = tokens
        self.microdollars = microdollars
    }
}

/// One role at a listener, and the model that it gets whatever it asks for.
public struct PinnedRole: Sendable, Equatable {
    /// The role.
    public let role: ModelRole
    /// The model with its parameters.
    public let pin: ModelPin
    /// The accounts that each call is charged to.
    public let accounts: [String]

    /// Creates a pinned role.
    public init(role: ModelRole, pin: ModelPin, accounts: [String]) {
        self.role = role
        self.pin = pin
        self.accounts = accounts
    }
}

/// On which terms one sandbox is served.
public struct ListenerTerms: Sendable, Equatable {
    /// The supervisor's number for it, never used twice.
    public let listener: Int
    /// Who may speak there; the first is whoever names no alias of another.
    public let roles: [PinnedRole]
    /// Whether what is said there must never be kept; no file for bodies comes along then.
    public let isSealed: Bool
    /// What becomes of fields that the allow-list does not know.
    public let unknownFields: RequestPolicy.UnknownFields
    /// What stands in place of the names that callers give themselves.
    public let client: String
    /// The most requests of all of its life.
    public let maximumRequests: Int
    /// The most requests at the same time.
    public let maximumConcurrency: Int

    /// Creates terms.
    public init(
        listener: Int,
        roles: [PinnedRole],
        isSealed: Bool,
        unknownFields: RequestPolicy.UnknownFields = .drop,
        client: String = "invigilator",
        maximumRequests: Int = 1_000_000,
        maximumConcurrency: Int = 64
    ) {
        self.listener = listener
        self.roles = roles
        self.isSealed = isSealed
        self.unknownFields = unknownFields
        self.client = client
        self.maximumRequests = maximumRequests
        self.maximumConcurrency = maximumConcurrency
    }
}
