public import ModelDialects

/// What the section `models` of `experiment_config.yaml` says, with every default resolved.
///
/// A role that is absent here has no model: its sandboxes get no listener. Keys themselves are
/// never part of this; see ``ModelKey``.
public struct ModelSettings: Sendable, Equatable {
    /// Where models are reached, by name.
    public let upstreams: [String: ModelUpstream]
    /// Who may call a model, and which.
    public let roles: [ModelRole: ModelRoleSettings]
    /// The limits of all roles together; its `sandbox` is empty.
    public let budget: ModelBudget
    /// What tokens cost, by the model's name at its provider.
    public let prices: [String: ModelPrice]
    /// Whether the coding agent's answers are recorded or replayed; absent for neither.
    public let cassette: ModelCassette?

    /// No upstream, so no model for anybody.
    public static let none = ModelSettings(
        upstreams: [:],
        roles: [:],
        budget: .unlimited,
        prices: [:],
        cassette: nil
    )

    /// What the broker is told of: each upstream once for every key that is used with it, by name.
    public var endpoints: [ModelEndpoint] {
        var found: [String: ModelEndpoint] = [:]
        for role in ModelRole.allCases {
            guard let endpoint = endpoint(of: role) else { continue }
            found[endpoint.name] = endpoint
        }
        return found.keys.sorted().compactMap { found[$0] }
    }

    /// Whether every call of every role has a price, so that a cost can be bounded.
    package var pricesEveryCall: Bool {
        !roles.isEmpty && roles.values.allSatisfy { prices[$0.model] != nil }
    }

    /// What requests of a role are pinned to; absent for a role without a model.
    ///
    /// - Parameter role: the role.
    /// - Returns: the pin, its upstream named as the role's ``endpoint(of:)``.
    public func pin(of role: ModelRole) -> ModelPin? {
        guard let settings = roles[role], let endpoint = endpoint(of: role) else { return nil }
        return ModelPin(
            alias: settings.alias,
            upstream: endpoint.name,
            dialects: endpoint.upstream.dialects,
            model: settings.model,
            effort: settings.effort,
            temperature: settings.temperature,
            maxOutputTokens: settings.maximumOutputTokens,
            maximumChoices: settings.maximumChoices,
            toolRule: settings.providerTools
        )
    }

    /// The price of each role's model, under the name of the role's ``endpoint(of:)``.
    public var priceTable: PriceTable {
        var table = PriceTable()
        for role in ModelRole.allCases {
            guard let pin = pin(of: role), let price = prices[pin.model] else { continue }
            table.set(price, model: pin.model, upstream: pin.upstream)
        }
        return table
    }

    /// Where a role's requests go; absent for a role without a model.
    ///
    /// - Parameter role: the role.
    /// - Returns: the upstream with the role's own key, if it has one, and a name that says so.
    public func endpoint(of role: ModelRole) -> ModelEndpoint? {
        guard let settings = roles[role], let upstream = upstreams[settings.upstream] else {
            return nil
        }
        guard let key = settings.key, key != upstream.key else {
            return ModelEndpoint(name: settings.upstream, upstream: upstream, key: upstream.key)
        }
        return ModelEndpoint(
            name: "\(settings.upstream).\(role.rawValue)",
            upstream: upstream,
            key: key
        )
    }
}

/// A provider's address, and how it is spoken to.
public struct ModelUpstream: Sendable, Equatable {
    /// Scheme, host, port and base path.
    public let url: UpstreamName
    /// The request forms that it understands; never empty, each once.
    public let dialects: [Dialect]
    /// Where its key is read; absent for a server that wants none.
    public let key: ModelKeySource?
    /// Whether requests may travel without encryption.
    public let isPlainHTTP: Bool
    /// Which addresses its name may stand for.
    public let addresses: Addresses
    /// A PEM file of the certificates to trust in place of the host's, an absolute path.
    public let trustFile: String?

    /// Which addresses a name may stand for.
    public enum Addresses: String, Sendable, CaseIterable {
        /// Those of the public internet only.
        case `public`
        /// Private, local and link-local ones as well.
        case any
    }
}

/// An upstream with the key that goes with its requests.
public struct ModelEndpoint: Sendable, Equatable {
    /// A name that no other endpoint of the experiment has.
    public let name: String
    /// The upstream.
    public let upstream: ModelUpstream
    /// Where the key is read; absent for a server that wants none.
    public let key: ModelKeySource?
}

/// Where a key is read, before root is given up.
public enum ModelKeySource: Sendable, Equatable {
    /// A file with nothing but the key, an absolute path.
    case file(String)
    /// A variable of the supervisor's environment.
    case environment(String)
    /// A credential that systemd hands over, by its name in `$CREDENTIALS_DIRECTORY`.
    case credential(String)
}

/// The model of one role, and what its callers may do with it.
public struct ModelRoleSettings: Sendable, Equatable {
    /// The name of the upstream.
    public let upstream: String
    /// Where a key of its own is read, in place of the upstream's.
    public let key: ModelKeySource?
    /// The model's name at its provider; requests leave with no other.
    public let model: String
    /// A further name under which callers may ask for the model.
    public let alias: String?
    /// How hard the model thinks, whatever the request says: a word of ``ExperimentConfig``, or for
    /// Anthropic and Gemini a number of tokens; absent for the provider's default.
    public let effort: String?
    /// The sampling temperature, 0 to 2, whatever the request says; absent for the provider's
    /// default.
    public let temperature: Double?
    /// The most tokens of one answer.
    public let maximumOutputTokens: Int
    /// The most answers to one request.
    public let maximumChoices: Int
    /// The most requests of one sandbox that are under way together.
    public let maximumConcurrency: Int
    /// What becomes of a field that the allow-list does not know.
    public let unknownFields: RequestPolicy.UnknownFields
    /// What becomes of a tool that the provider would run itself.
    public let providerTools: ToolRule
    /// The limits of this role.
    public let budget: ModelBudget
    /// What the model takes, in place of what is known of it; nil for that.
    public let takes: [ModelTrait]?
}

/// Limits by what they are counted over.
public struct ModelBudget: Sendable, Equatable {
    /// One sandbox: one rollout, or the coding agent in one run, its restarts included.
    public let sandbox: ModelLimits
    /// One iteration: from one submission's verdict to the next.
    public let iteration: ModelLimits
    /// The whole experiment, every run of it.
    public let campaign: ModelLimits

    /// No limit anywhere.
    public static let unlimited = ModelBudget(
        sandbox: .unlimited,
        iteration: .unlimited,
        campaign: .unlimited
    )
}

/// How much may be used; what is absent has no limit.
public struct ModelLimits: Sendable, Equatable {
    /// The most requests.
    public let requests: Int?
    /// The most tokens, of questions and answers together.
    public let tokens: Int?
    /// The highest cost, in millionths of a dollar.
    public let costMicrodollars: Int?

    /// These limits with more of what they limit.
    ///
    /// - Parameters:
    ///   - more: tokens beyond those that are allowed.
    ///   - microdollars: cost beyond that.
    /// - Returns: the limits; what had none has none.
    package func extended(tokens more: Int, microdollars: Int) -> ModelLimits {
        ModelLimits(
            requests: requests,
            tokens: tokens.map { $0 + more },
            costMicrodollars: costMicrodollars.map { $0 + microdollars }
        )
    }

    /// No limit.
    public static let unlimited = ModelLimits(requests: nil, tokens: nil, costMicrodollars: nil)
}

/// A file of the coding agent's requests and their answers; its path is absolute or seen from the
/// experiment.
///
/// Other roles speak in exams, and ask their upstreams always.
public enum ModelCassette: Sendable, Equatable {
    /// The upstream is asked, and its answers are added to the file.
    case record(String)
    /// The upstream is not asked; what the file does not hold ends the run.
    case replay(String)

    /// Whether answers are replayed.
    var isReplay: Bool { if case .replay = self { true } else { false } }
}
