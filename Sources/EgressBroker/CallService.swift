internal import BrokerProtocol
internal import HTTPFront
internal import ModelDialects
internal import NIOCore
internal import NIOPosix
internal import StrictJSON

/// Answers the requests of sandboxes, with what the configuration gave.
struct CallService: Sendable {
    let settings: BrokerSettings
    let accounts: Accounts
    let upstreams: [String: Upstream]
    let cassette: Cassette?
    /// What the bodies of all listeners of a role may take, so that no role takes another's.
    let bodies: [ModelRole: BodyMemory]
    let report: @Sendable (BrokerReport) -> Void
    private let pool: NIOThreadPool

    init(
        _ configuration: BrokerConfiguration,
        cassette file: HandedDescriptor?,
        settings: BrokerSettings,
        resolver: NameResolver,
        group: any EventLoopGroup,
        pool: NIOThreadPool,
        report: @escaping @Sendable (BrokerReport) -> Void
    ) throws(BrokerFailure) {
        self.settings = settings
        self.pool = pool
        self.report = report
        bodies = Dictionary(
            uniqueKeysWithValues: ModelRole.allCases.map {
                ($0, BodyMemory(limit: settings.roleBodies))
            }
        )
        var upstreams: [String: Upstream] = [:]
        for terms in configuration.upstreams {
            upstreams[terms.name] = try Upstream(
                terms,
                settings: settings,
                resolver: resolver,
                group: group
            )
        }
        self.upstreams = upstreams
        var prices = PriceTable()
        for price in configuration.prices {
            for upstream in upstreams.keys {
                prices.set(
                    ModelPrice(
                        input: price.input,
                        output: price.output,
                        cachedInput: price.cachedInput
                    ),
                    model: price.model,
                    upstream: upstream
                )
            }
        }
        accounts = Accounts(prices)
        cassette = try configuration.cassette.map { mode throws(BrokerFailure) in
            try Cassette(mode, file, pool: pool)
        }
    }

    /// A listener's own ways to the providers that its roles may ask; none to one whose answers are played.
    func pools(for terms: ListenerTerms) -> [String: UpstreamPool] {
        var pools: [String: UpstreamPool] = [:]
        for role in terms.roles where !isPlayed(to: role.role) {
            let name = role.pin.upstream
            guard pools[name] == nil, let upstream = upstreams[name] else { continue }
            pools[name] = UpstreamPool(to: upstream)
        }
        return pools
    }

    private func isPlayed(to role: ModelRole) -> Bool {
        role == Cassette.role && cassette?.mode == .replay
    }

    /// Tells the supervisor of something at a listener.
    func note(_ event: ModelEvent, _ desk: ListenerDesk, role: ModelRole? = nil) {
        report(.event(listener: desk.terms.listener, role: role, event))
    }

    /// Answers one request, whose body comes beside it.
    ///
    /// - Throws: where the sandbox is gone.
    func answer(
        _ request: HTTPRequest,
        _ body: consuming [UInt8],
        _ desk: ListenerDesk,
        _ writer: ReplyWriter
    ) async throws {
        let route = Route.of(method: request.method, path: request.target)
        let dialect = route?.dialect
        let admission = desk.admit()
        defer { if admission == .granted { desk.leave() } }
        switch admission {
        case .granted: break
        case .tooMany:
            let text = "more than \(desk.terms.maximumConcurrency) requests at a time"
            return try await refuse(.rateLimited, .rateLimited, text, dialect, desk, writer)
        case .spent:
            let text = "more than \(desk.terms.maximumRequests) requests"
            return try await refuse(.budgetSpent, .budgetSpent, text, dialect, desk, writer)
        }
        switch route {
        case nil:
            let text = "this method and path are not offered here"
            try await refuse(.unknownRoute, .notFound, text, nil, desk, writer)
        case .reachability: try await writer.write(HTTPReply(200, .whole([])))
        case .listModels:
            let body = ModelList.body(
                desk.terms.roles.map(\.pin),
                isAnthropic: request.value(of: "anthropic-version") != nil
            )
            try await writer.write(.json(200, body))
        case let route?:
            try await generate(request, body, route, desk, writer)
        }
    }

    private func generate(
        _ request: HTTPRequest,
        _ body: consuming [UInt8],
        _ route: Route,
        _ desk: ListenerDesk,
        _ writer: ReplyWriter
    ) async throws {
        let started = ContinuousClock.now
        guard
            let (parsed, role) = try await admitted(request, body, route, desk, writer)
        else { return }
        for event in parsed.events { note(event, desk, role: role.role) }
        await desk.waitWhileHeld { report(.arrived(listener: desk.terms.listener)) }
        try Task.checkCancellation()
        do throws(AccountSpent) {
            let reservation = try accounts.reserve(parsed, from: role.accounts)
            let limited =
                parsed.outputLimit > 0
                ? parsed.limitingOutput(to: reservation.outputTokens) : parsed
            var call = ModelCall(
                service: self,
                desk: desk,
                role: role,
                request: limited,
                original: request,
                reservation: reservation,
                started: started
            )
            await call.run(writer)
        } catch {
            note(ModelEvent(.budgetSpent, "account \(error.account)"), desk, role: role.role)
            desk.count { $0.refusals += 1 }
            let answer = ProviderError.budgetSpent(parsed.dialect, account: error.account)
            try await writer.write(.json(answer.status, answer.body))
        }
    }

    // The request as it may go out, and whose it is; nothing where the sandbox was refused already.
    private func admitted(
        _ request: HTTPRequest,
        _ body: consuming [UInt8],
        _ route: Route,
        _ desk: ListenerDesk,
        _ writer: ReplyWriter
    ) async throws -> (ModelRequest, PinnedRole)? {
        let type = request.value(of: "content-type")?.lowercased().prefix { $0 != ";" }
        guard type == "application/json" else {
            let text = "content-type: not application/json"
            try await refuse(
                .badRequest,
                .invalidRequest,
                text,
                route.dialect,
                desk,
                writer,
                status: 415
            )
            return nil
        }
        switch try await parse(body, route, desk.terms) {
        case .success(let parsed):
            guard let role = desk.terms.roles.first(where: { $0.pin == parsed.pin }) else {
                fatalError("a request runs under a pin of its listener")
            }
            return (parsed, role)
        case .failure(let refusal):
            note(refusal.event, desk)
            desk.count { $0.refusals += 1 }
            let answer = ProviderError.answer(to: refusal, in: route.dialect)
            try await writer.write(.json(answer.status, answer.body))
            return nil
        }
    }

    // A long body is read beside the event loop: one sandbox must not hold the streams of others up.
    private func parse(
        _ body: [UInt8],
        _ route: Route,
        _ terms: ListenerTerms
    ) async throws -> Result<ModelRequest, RequestRefusal> {
        let pins = terms.roles.map(\.pin)
        let policy = RequestPolicy(
            isSealed: terms.isSealed,
            unknownFields: terms.unknownFields,
            client: terms.client
        )
        let read: @Sendable () -> Result<ModelRequest, RequestRefusal> = {
            do throws(RequestRefusal) {
                let request = try ModelRequest.parse(
                    body,
                    route: route,
                    pins: pins,
                    policy: policy
                )
                return .success(request)
            } catch {
                return .failure(error)
            }
        }
        guard body.count > settings.inlineBytes else { return read() }
        return try await pool.runIfActive(read)
    }

    private func refuse(
        _ kind: ModelEvent.Kind,
        _ condition: ProviderError.Condition,
        _ text: String,
        _ dialect: Dialect?,
        _ desk: ListenerDesk,
        _ writer: ReplyWriter,
        status: Int? = nil
    ) async throws {
        note(ModelEvent(kind, text), desk)
        desk.count { $0.refusals += 1 }
        let body = ProviderError.body(dialect, condition, message: text)
        try await writer.write(.json(status ?? condition.status(in: dialect), body))
    }
}
