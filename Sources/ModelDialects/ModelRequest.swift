public import StrictJSON

/// One request of a sandbox, rebuilt from the allow-list of its dialect and pinned: what goes
/// upstream, and what the supervisor is told about it.
public struct ModelRequest: Sendable, Equatable {
    /// The dialect that the request speaks.
    public let dialect: Dialect
    /// The route that it came by.
    public let route: Route
    /// The pin that it runs under.
    public let pin: ModelPin
    /// What goes upstream.
    public let body: JSONValue
    /// The canonical bytes of ``body``.
    public let bodyBytes: [UInt8]
    /// Whether the answer is a stream of events.
    public let isStreaming: Bool
    /// What the request asked for and did not get, at most 32 events.
    public let events: [ModelEvent]
    /// The tokens of the input, from its bytes of text: a rough count that grows with the text.
    public let estimatedInputTokens: Int
    /// The most tokens that all answers together may have; 0 where nothing is generated.
    public let outputLimit: Int
    /// Whether the provider was asked for a last chunk with usage that the sandbox did not ask for.
    public let addsUsage: Bool

    /// The limits of a body: 16 MiB, 64 levels, 400,000 values.
    public static let limits = JSONLimits(
        maximumBytes: 16 << 20,
        maximumDepth: 64,
        maximumNodes: 400_000,
        maximumStringBytes: 16 << 20
    )

    /// What an image or a document counts for in ``estimatedInputTokens``.
    static let tokensOfAttachment = 1_600

    /// Reads a request.
    ///
    /// - Parameters:
    ///   - bytes: the body.
    ///   - route: the route that it came by.
    ///   - pins: what the listener offers; the first that speaks the dialect is meant where the
    ///     request names none.
    ///   - policy: how strictly to read.
    /// - Returns: the request as it may go upstream.
    /// - Throws: ``RequestRefusal`` where it may not.
    public static func parse(
        _ bytes: [UInt8],
        route: Route,
        pins: [ModelPin],
        policy: RequestPolicy
    ) throws(RequestRefusal) -> ModelRequest {
        guard let dialect = route.dialect else {
            throw RequestRefusal(
                status: 404,
                kind: .unknownRoute,
                field: nil,
                reason: "this route takes no request to a model",
                remedy: "ask a route of a dialect"
            )
        }
        let value = try json(bytes)
        let pin = try PinChoice(dialect: dialect, pins: pins).pin(of: value, route: route)
        var reader = ShapeReader(
            policy: policy,
            pin: pin,
            foldsNames: dialect == .geminiGenerate
        )
        try PinChoice.note(value, route: route, pin: pin, in: &reader)
        let shape = dialect.shape(of: route)
        guard let rebuilt = try reader.rebuilt(value, as: .object(shape)),
            case .object(let members) = rebuilt
        else { throw reader.refusal(.badRequest, "no object", "send one") }
        var draft = RequestDraft(members: members, reader: reader, pin: pin, route: route)
        draft.pinAll(dialect)
        return draft.request(dialect: dialect)
    }

    private static func json(_ bytes: [UInt8]) throws(RequestRefusal) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: bytes, limits: limits)
        } catch {
            var status = 400
            var kind = ModelEvent.Kind.badRequest
            if case .limitExceeded = error {
                status = 413
                kind = .tooLarge
            }
            throw RequestRefusal(
                status: status,
                kind: kind,
                field: nil,
                reason: "the body cannot be read (\(error))",
                remedy: "send strict JSON within the limits"
            )
        }
    }
}

extension ModelRequest {
    /// The bytes whose digest names the request on a cassette: dialect, route and model, then the
    /// body without what only identifies a sender.
    public var cassetteKey: [UInt8] {
        var key = Array("\(dialect.rawValue) \(routeName) \(pin.model)\n".utf8)
        let volatile = ["metadata", "prompt_cache_key", "safety_identifier", "user"]
        guard case .object(var members) = body, volatile.contains(where: { members[$0] != nil })
        else { return key + bodyBytes }
        for name in volatile { members[name] = nil }
        key += JSONValue.object(members).canonicalBytes
        return key
    }

    private var routeName: String {
        switch route {
        case .generate: "generate"
        case .countTokens, .geminiCountTokens: "count-tokens"
        case .geminiGenerate(_, let isStreaming): isStreaming ? "stream" : "generate"
        case .listModels: "models"
        case .reachability: "reachability"
        }
    }

    /// How many answers it asks for.
    public var choices: Int {
        guard case .object(let members) = body else { return 1 }
        return max(1, outputLimit / max(1, dialect.outputLimit(in: members) ?? 1))
    }

    /// This request with at most so many tokens of output, for what is left of a budget.
    ///
    /// - Parameter tokens: the most tokens of all answers together; less than 1 counts as 1.
    /// - Returns: the request, itself where it asks for no more.
    public func limitingOutput(to tokens: Int) -> ModelRequest {
        guard outputLimit > tokens, case .object(var members) = body else { return self }
        let choices = choices
        let limit = max(1, tokens / choices)
        dialect.setOutputLimit(limit, in: &members)
        let body = JSONValue.object(members)
        return ModelRequest(
            dialect: dialect,
            route: route,
            pin: pin,
            body: body,
            bodyBytes: body.canonicalBytes,
            isStreaming: isStreaming,
            events: events,
            estimatedInputTokens: estimatedInputTokens,
            outputLimit: limit * choices,
            addsUsage: addsUsage
        )
    }
}
