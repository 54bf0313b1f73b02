internal import ModelDialects
internal import StrictJSON

extension ModelSettings {
    /// The resolved settings as JSON; of a key appears whether there is one, of trust as well.
    ///
    /// Where a key is read from changes no score: a renewed key at another place continues the
    /// experiment.
    var resolved: JSONValue {
        .object([
            "upstreams": .object(upstreams.mapValues(\.resolved)),
            "roles": .object(
                Dictionary(uniqueKeysWithValues: roles.map { ($0.rawValue, $1.resolved) })
            ),
            "budget": budget.resolved,
            "prices": .object(prices.mapValues(\.resolved)),
            "cassette": cassette?.resolved ?? .null,
        ])
    }
}

extension ModelUpstream {
    fileprivate var resolved: JSONValue {
        [
            "url": .string(url.text), "dialects": JSONValue(dialects.map(\.rawValue)),
            "key": key == nil ? .null : "set", "plain-http": .bool(isPlainHTTP),
            "addresses": .string(addresses.rawValue), "trust": trustFile == nil ? .null : "set",
        ]
    }
}

extension ModelRoleSettings {
    fileprivate var resolved: JSONValue {
        var resolved: [String: JSONValue] = [
            "upstream": .string(upstream), "key": key == nil ? .null : "set",
            "model": .string(model), "alias": alias.map { .string($0) } ?? .null,
            "effort": effort.map { .string($0) } ?? .null,
            "temperature": temperature.map { .number($0) } ?? .null,
            "max-output-tokens": JSONValue(maximumOutputTokens),
            "choices": JSONValue(maximumChoices), "concurrent": JSONValue(maximumConcurrency),
            "unknown-fields": .string(unknownFields.rawValue),
            "provider-tools": .string(providerTools.rawValue), "budget": budget.resolved,
        ]
        // A record that was begun before the key goes on.
        if let takes { resolved["takes"] = JSONValue(takes.map(\.rawValue)) }
        return .object(resolved)
    }
}

extension ModelBudget {
    fileprivate var resolved: JSONValue {
        [
            "sandbox": sandbox.resolved, "iteration": iteration.resolved,
            "campaign": campaign.resolved,
        ]
    }
}

extension ModelLimits {
    fileprivate var resolved: JSONValue {
        func count(_ value: Int?) -> JSONValue { value.map { JSONValue($0) } ?? .null }
        return [
            "requests": count(requests), "tokens": count(tokens),
            "cost_microdollars": count(costMicrodollars),
        ]
    }
}

extension ModelPrice {
    fileprivate var resolved: JSONValue {
        [
            "input": JSONValue(input), "output": JSONValue(output),
            "cached-input": JSONValue(cachedInput),
        ]
    }
}

extension ModelCassette {
    fileprivate var resolved: JSONValue {
        switch self {
        case .record(let file): ["record": .string(file)]
        case .replay(let file): ["replay": .string(file)]
        }
    }
}
