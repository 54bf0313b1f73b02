internal import ModelDialects
public import StrictJSON

extension BrokerRequest {
    /// The packet's bytes.
    public var bytes: [UInt8] { value.canonicalBytes }

    private var value: JSONValue {
        switch self {
        case .configure(let configuration):
            [
                "type": "configure",
                "upstreams": .array(configuration.upstreams.map(\.value)),
                "prices": .array(configuration.prices.map(\.value)),
                "cassette": configuration.cassette.map { .string($0.rawValue) } ?? .null,
            ]
        case .account(let terms):
            [
                "type": "account", "name": .string(terms.name),
                "requests": JSONValue(terms.requests), "tokens": JSONValue(terms.tokens),
                "microdollars": JSONValue(terms.microdollars),
            ]
        case .open(let terms): terms.value
        case .hold(let listener): ["type": "hold", "listener": JSONValue(listener)]
        case .release(let listener): ["type": "release", "listener": JSONValue(listener)]
        case .close(let listener): ["type": "close", "listener": JSONValue(listener)]
        }
    }

    /// Decodes a packet.
    ///
    /// - Throws: `JSONError` when it is malformed or says something unknown.
    public init(bytes: [UInt8]) throws(JSONError) {
        var reader = try ObjectReader(
            JSONValue(parsing: bytes, limits: .packet),
            location: "request"
        )
        switch try reader.requiredString("type") {
        case "configure":
            self = .configure(
                BrokerConfiguration(
                    upstreams: try reader.objects("upstreams", UpstreamTerms.init(from:)),
                    prices: try reader.objects("prices", PriceTerms.init(from:)),
                    cassette: try reader.optionalWord("cassette")
                )
            )
        case "account":
            self = .account(
                AccountTerms(
                    name: try reader.requiredString("name"),
                    requests: try reader.count("requests"),
                    tokens: try reader.count("tokens"),
                    microdollars: try reader.count("microdollars")
                )
            )
        case "open": self = .open(try ListenerTerms(from: &reader))
        case "hold": self = .hold(listener: try reader.requiredInteger("listener"))
        case "release": self = .release(listener: try reader.requiredInteger("listener"))
        case "close": self = .close(listener: try reader.requiredInteger("listener"))
        case let other: throw reader.unknown("type", other)
        }
        try reader.finish()
    }
}

extension UpstreamTerms {
    fileprivate var value: JSONValue {
        [
            "name": .string(name), "url": .string(url),
            "dialects": .array(dialects.map { .string($0.rawValue) }),
            "key": .string(key.exposed), "trust": trust.map { .string($0) } ?? .null,
            "any_address": .bool(allowsAnyAddress), "plain_http": .bool(allowsPlainHTTP),
        ]
    }

    fileprivate init(from reader: inout ObjectReader) throws(JSONError) {
        self.init(
            name: try reader.requiredString("name"),
            url: try reader.requiredString("url"),
            dialects: try reader.words("dialects"),
            key: SecretText(try reader.requiredString("key")),
            trust: try reader.optionalText("trust"),
            allowsAnyAddress: try reader.requiredBool("any_address"),
            allowsPlainHTTP: try reader.requiredBool("plain_http")
        )
    }
}

extension PriceTerms {
    fileprivate var value: JSONValue {
        [
            "model": .string(model), "input": JSONValue(input), "output": JSONValue(output),
            "cached_input": JSONValue(cachedInput),
        ]
    }

    fileprivate init(from reader: inout ObjectReader) throws(JSONError) {
        self.init(
            model: try reader.requiredString("model"),
            input: try reader.requiredInteger("input"),
            output: try reader.requiredInteger("output"),
            cachedInput: try reader.count("cached_input")
        )
    }
}

extension ModelPin {
    fileprivate var value: JSONValue {
        [
            "alias": alias.map { .string($0) } ?? .null, "upstream": .string(upstream),
            "dialects": .array(dialects.map { .string($0.rawValue) }), "model": .string(model),
            "effort": effort.map { .string($0) } ?? .null,
            "temperature": temperature.map { .number($0) } ?? .null,
            "output_tokens": JSONValue(maxOutputTokens), "choices": JSONValue(maximumChoices),
            "tools": .string(toolRule.rawValue), "form": form.value,
        ]
    }

    fileprivate init(from reader: inout ObjectReader) throws(JSONError) {
        var form = try reader.requiredObject("form")
        self.init(
            alias: try reader.optionalText("alias"),
            upstream: try reader.requiredString("upstream"),
            dialects: try reader.words("dialects"),
            model: try reader.requiredString("model"),
            effort: try reader.optionalText("effort"),
            temperature: try reader.optionalNumberOrNull("temperature"),
            maxOutputTokens: try reader.requiredInteger("output_tokens"),
            maximumChoices: try reader.requiredInteger("choices"),
            toolRule: try reader.word("tools"),
            form: try ModelForm(from: &form)
        )
        try form.finish()
    }
}

extension ModelForm {
    /// What it says, for a message and for the digest in a record.
    package var value: JSONValue {
        [
            "provider": provider.map { .string($0.rawValue) } ?? .null,
            "efforts": efforts.map { .array($0.map { .string($0) }) } ?? .null,
            "adaptive": .bool(thinksAdaptively), "budget": .bool(thinksByBudget),
            "sampling": .string(sampling.rawValue), "output": JSONValue(mostOutput),
            "length": .string(length.rawValue),
        ]
    }

    fileprivate init(from reader: inout ObjectReader) throws(JSONError) {
        let efforts = try reader.requiredValue("efforts")
        self.init(
            provider: try reader.optionalWord("provider"),
            efforts: efforts.isNull ? nil : try Self.words(efforts),
            thinksAdaptively: try reader.requiredBool("adaptive"),
            thinksByBudget: try reader.requiredBool("budget"),
            sampling: try reader.word("sampling"),
            mostOutput: try reader.count("output"),
            length: try reader.word("length")
        )
    }

    private static func words(_ value: JSONValue) throws(JSONError) -> [String] {
        var reader = try ObjectReader(["efforts": value], location: "form")
        return try reader.texts("efforts")
    }
}

extension ListenerTerms {
    fileprivate var value: JSONValue {
        [
            "type": "open", "listener": JSONValue(listener),
            "roles": .array(roles.map(\.value)), "sealed": .bool(isSealed),
            "unknown_fields": .string(unknownFields.rawValue), "client": .string(client),
            "requests": JSONValue(maximumRequests), "concurrency": JSONValue(maximumConcurrency),
        ]
    }

    fileprivate init(from reader: inout ObjectReader) throws(JSONError) {
        self.init(
            listener: try reader.requiredInteger("listener"),
            roles: try reader.objects("roles", PinnedRole.init(from:)),
            isSealed: try reader.requiredBool("sealed"),
            unknownFields: try reader.word("unknown_fields"),
            client: try reader.requiredString("client"),
            maximumRequests: try reader.requiredInteger("requests"),
            maximumConcurrency: try reader.requiredInteger("concurrency")
        )
    }
}

extension PinnedRole {
    fileprivate var value: JSONValue {
        [
            "role": .string(role.rawValue), "pin": pin.value,
            "accounts": .array(accounts.map { .string($0) }),
        ]
    }

    fileprivate init(from reader: inout ObjectReader) throws(JSONError) {
        let role: ModelRole = try reader.word("role")
        var pin = try reader.requiredObject("pin")
        self.init(
            role: role,
            pin: try ModelPin(from: &pin),
            accounts: try reader.texts("accounts")
        )
        try pin.finish()
    }
}
