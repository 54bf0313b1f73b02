internal import AsyncHTTPClient
internal import BrokerProtocol
internal import HTTPFront
internal import ModelDialects
internal import NIOCore
internal import NIOHTTP1
internal import StrictJSON

/// One call of a model, from the reservation of its budget to the line about it in the ledger.
struct ModelCall {
    let service: CallService
    let desk: ListenerDesk
    let role: PinnedRole
    let request: ModelRequest
    /// As the sandbox sent it, for the headers of which some pass.
    let original: HTTPRequest
    let reservation: Reservation
    let started: ContinuousClock.Instant

    // Held requests wait before this.
    private let deadline: NIODeadline
    private var meter: UsageMeter
    // Whether the provider may have done work that somebody pays.
    private var isSent = false
    private var isCut = false
    // Whether nobody waited for the end of the answer.
    private var isAbandoned = false
    // Whether the provider said what is wrong with the request, which it would say again.
    private var isRefusal = false
    // Whether the provider answered with an error or with nothing, which nobody pays.
    private var isWithoutWork = false
    // Whether it answered with success, and how much that was is not known.
    private var isUnread = false
    // 0 until the sandbox has an answer.
    private var status = 0
    // What came from the provider, for a cassette, and what went to the sandbox, for the trace.
    private var received: [UInt8] = []
    private var delivered: [UInt8] = []
    private var answerType = ""

    // The most of an answer that is kept for either.
    private static let kept = 32 << 20

    init(
        service: CallService,
        desk: ListenerDesk,
        role: PinnedRole,
        request: ModelRequest,
        original: HTTPRequest,
        reservation: Reservation,
        started: ContinuousClock.Instant
    ) {
        self.service = service
        self.desk = desk
        self.role = role
        self.request = request
        self.original = original
        self.reservation = reservation
        self.started = started
        deadline = .now() + service.settings.call
        meter = UsageMeter(request.dialect, estimatedInputTokens: request.estimatedInputTokens)
    }

    /// Makes the call and answers the sandbox; whatever happens, the budget is settled and the call
    /// is reported.
    mutating func run(_ writer: ReplyWriter) async {
        do {
            try await exchange(writer)
        } catch {
            // The sandbox is gone, or its listener is closed: there is nobody to answer.
            isCut = true
            isAbandoned = true
        }
        await settle()
    }

    private mutating func exchange(_ writer: ReplyWriter) async throws {
        let response: HTTPClientResponse
        do {
            guard let answer = try await ask(writer) else { return }
            response = answer
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return try await fail(UpstreamFault.of(error), writer)
        }
        answerType = response.headers.first(name: "content-type") ?? ""
        isUnread = (200...299).contains(response.status.code)
        let encoding = response.headers.first(name: "content-encoding")?.lowercased()
        guard encoding == nil || encoding == "identity" else {
            return try await fail(.encoded, writer)
        }
        switch response.status.code {
        case 200...299 where request.isStreaming && answerType.hasPrefix("text/event-stream"):
            try await stream(response, writer)
        case 200...299: try await whole(response, writer)
        default: try await refused(response, writer)
        }
    }

    // The provider's answer, or the cassette's; nothing where the sandbox was told already.
    private mutating func ask(_ writer: ReplyWriter) async throws -> HTTPClientResponse? {
        if let cassette, cassette.mode == .replay {
            if let answer = cassette.play(request) { return answer }
            try await fail(.notOnCassette(Cassette.name(of: request)), writer)
            return nil
        }
        guard let upstream = service.upstreams[request.pin.upstream],
            let pool = desk.pools[request.pin.upstream],
            let path = upstream.name.path(of: request.route, model: request.pin.model)
        else {
            try await fail(.noUpstream, writer)
            return nil
        }
        let scheme = upstream.name.isSecure ? "https" : "http"
        var outgoing = HTTPClientRequest(
            url: "\(scheme)://\(upstream.name.host):\(upstream.name.port)\(path)"
        )
        outgoing.method = .POST
        outgoing.headers = UpstreamHeaders.of(
            original,
            request.dialect,
            key: upstream.terms.key,
            isStreaming: request.isStreaming
        )
        outgoing.body = .bytes(request.bodyBytes)
        isSent = true
        reportSpending()
        do {
            return try await pool.execute(outgoing, until: deadline) { reason in
                service.note(ModelEvent(.upstreamFailed, reason), desk, role: role.role)
            }
        } catch {
            isSent = !UpstreamFault.of(error).isBeforeSending
            throw error
        }
    }
}

// The three kinds of answers.
extension ModelCall {
    private mutating func whole(
        _ response: HTTPClientResponse,
        _ writer: ReplyWriter
    ) async throws {
        let body: JSONValue
        do {
            var parts = AnswerParts(response.body, until: deadline)
            received = try await parts.collect(upTo: service.settings.answerBytes)
            body = try JSONValue(parsing: received, limits: ModelRequest.limits)
        } catch let error as JSONError {
            _ = error  // Its text may quote the answer.
            // A page of a gateway is no model's work. Any other answer may be, and who asks has a say in
            // how large it is: one that is too large to read is paid all the same.
            isWithoutWork = received.isEmpty || mediaType == "text/html"
            return try await fail(.notJSON(shownType), writer)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return try await fail(UpstreamFault.of(error), writer)
        }
        meter.response(body)
        isUnread = false
        let shown: JSONValue? = ResponseScrub.body(
            body,
            dialect: request.dialect,
            isSealed: desk.terms.isSealed
        )
        guard let shown else { return try await fail(.notJSON(shownType), writer) }
        try await deliver(Int(response.status.code), shown.canonicalBytes, [], writer)
    }

    private mutating func refused(
        _ response: HTTPClientResponse,
        _ writer: ReplyWriter
    ) async throws {
        let code = Int(response.status.code)
        let fault = UpstreamFault.status(code)
        let said = await errorBody(response)
        let words = said.flatMap(ProviderError.words(of:)).flatMap { holdsKey($0) ? nil : $0 }
        service.note(
            ModelEvent(
                code == 429 ? .rateLimited : .upstreamFailed,
                fault.detail + (words.map { ": " + $0 } ?? "")
            ),
            desk,
            role: role.role
        )
        isWithoutWork = true
        var fields: [HTTPField] = []
        if code == 429 || code == 503 || code == 529 {
            fields = ResponseScrub.headers(
                response.headers.map { ($0.name, $0.value) },
                isSealed: desk.terms.isSealed
            )
            .filter { $0.name == "retry-after" && !holdsKey($0.value) }
            .map { HTTPField($0.name, $0.value) }
        }
        var body = ProviderError.body(request.dialect, fault.condition, message: fault.message)
        // What the provider says about a request that it cannot take (too long, say) is what programs
        // act on. About its key, its state and its own faults, nothing is passed on.
        if [400, 404, 409, 413, 422].contains(code), let said, let shown = Self.json(said),
            !holdsKey(shown)
        {
            body = shown
            isRefusal = true
        }
        try await deliver(fault.status(in: request.dialect), body, fields, writer)
    }

    // What the provider said is wrong; nil in a sealed exam, of which it may repeat the words, and where it
    // repeats the key, in plain letters or in those of JSON.
    private mutating func errorBody(_ response: HTTPClientResponse) async -> [UInt8]? {
        guard !desk.terms.isSealed else { return nil }
        do {
            var parts = AnswerParts(response.body, until: deadline)
            received = try await parts.collect(upTo: 64 << 10)
            return holdsKey(received) || Self.json(received).map(holdsKey) == true ? nil : received
        } catch {
            // Then our own words do.
            return nil
        }
    }

    private func holdsKey(_ text: String) -> Bool { holdsKey(Array(text.utf8)) }

    // Whether the key stands in these bytes, as it is or as canonical JSON has it.
    private func holdsKey(_ bytes: [UInt8]) -> Bool {
        let key = service.upstreams[request.pin.upstream]?.terms.key.exposed ?? ""
        guard !key.isEmpty else { return false }
        let quoted = JSONValue.string(key).canonicalBytes.dropFirst().dropLast()
        return bytes.holds(Array(key.utf8)) || bytes.holds(Array(quoted))
    }

    // The type of the answer without its parameters.
    private var mediaType: String {
        answerType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
    }

    // What may be told of it: of a sealed exam nothing.
    private var shownType: String? {
        guard !desk.terms.isSealed, !holdsKey(answerType) else { return nil }
        return String(answerType.prefix { $0 != ";" }.prefix(80))
    }

    private static func json(_ bytes: [UInt8]) -> [UInt8]? {
        do throws(JSONError) {
            return try JSONValue(parsing: bytes, limits: .request).canonicalBytes
        } catch {
            return nil  // then our own words do
        }
    }

    private mutating func stream(
        _ response: HTTPClientResponse,
        _ writer: ReplyWriter
    ) async throws {
        try await writer.write(Self.streamHead)
        (status, isUnread) = (200, false)
        var relay = StreamRelay(
            dialect: request.dialect,
            isSealed: desk.terms.isSealed,
            addsUsage: request.addsUsage,
            choices: request.choices,
            limit: service.settings.eventBytes,
            meter: meter
        )
        var parts = AnswerParts(response.body, until: deadline)
        var pace = SpendingPace()
        while true {
            let out: [UInt8]
            var isOver = false
            do {
                if let part = try await parts.next() {
                    keep(received: part.readableBytesView)
                    out = try relay.feed(part.readableBytesView) + overlong(relay, isOver: &isOver)
                } else {
                    isOver = true
                    out = try relay.finish()
                }
            } catch is CancellationError {
                meter = relay.meter
                throw CancellationError()
            } catch {
                isOver = true
                out = cut(UpstreamFault.of(error))
            }
            meter = relay.meter
            if pace.isDue(meter.usage, at: .now) { reportSpending() }
            keep(delivered: out)
            try await writer.write(chunk: out)
            if isOver { return try await writer.end() }
        }
    }

    /// Says what was used so far: if this process or the run is killed now, somebody has to pay for it.
    private func reportSpending() {
        let usage = meter.usage
        service.report(
            .spending(
                CallSpending(
                    listener: desk.terms.listener,
                    number: reservation.number,
                    role: role.role,
                    inputTokens: usage.input,
                    outputTokens: usage.output,
                    microdollars: service.accounts.cost(of: usage, under: request.pin)
                )
            )
        )
    }

    /// What ends a stream that used more than its call may, or nothing.
    ///
    /// A provider ends its answer where it was asked to. Until it says how many tokens those were, the broker
    /// counts four bytes a token; text has up to twice as many.
    private mutating func overlong(_ relay: StreamRelay, isOver: inout Bool) -> [UInt8] {
        let usage = relay.meter.usage
        guard !relay.hasEnded, usage.output > reservation.outputTokens else { return [] }
        do throws(AccountSpent) {
            try service.accounts.hold(reservation, usage, under: request.pin)
        } catch {
            (isOver, isCut) = (true, true)
            service.note(
                ModelEvent(.budgetSpent, "account \(error.account), in the middle of a stream"),
                desk,
                role: role.role
            )
            return ProviderError.streamEnd(
                request.dialect,
                .budgetSpent,
                message: "the model budget '\(error.account)' is spent"
            )
        }
        guard usage.output > 2 * reservation.outputTokens + Self.countingMargin else { return [] }
        (isOver, isCut) = (true, true)
        let event = ModelEvent(
            .upstreamFailed,
            "the stream went on beyond the \(reservation.outputTokens) tokens that were asked for"
        )
        service.note(event, desk, role: role.role)
        return relay.endForLength()
    }

    /// Tokens by which a stream may be longer than twice what was asked for.
    private static let countingMargin = 256

    private static let streamHead = HTTPReply(
        200,
        fields: [
            HTTPField("content-type", "text/event-stream"), HTTPField("cache-control", "no-cache"),
        ],
        .chunked
    )

    // What the sandbox is told in place of the rest of a stream.
    private mutating func cut(_ fault: UpstreamFault) -> [UInt8] {
        isCut = true
        let event = ModelEvent(.upstreamFailed, "the stream was cut: \(fault.detail)")
        service.note(event, desk, role: role.role)
        return ProviderError.streamEnd(
            request.dialect,
            .upstreamFailed,
            message: "the provider's stream was cut"
        )
    }
}

// What follows from an answer.
extension ModelCall {
    private mutating func fail(_ fault: UpstreamFault, _ writer: ReplyWriter) async throws {
        service.note(ModelEvent(fault.kind, fault.detail), desk, role: role.role)
        let body = ProviderError.body(request.dialect, fault.condition, message: fault.message)
        try await deliver(fault.status(in: request.dialect), body, [], writer)
    }

    private mutating func deliver(
        _ status: Int,
        _ body: [UInt8],
        _ fields: [HTTPField],
        _ writer: ReplyWriter
    ) async throws {
        self.status = status
        keep(delivered: body)
        try await writer.write(.json(status, body, fields: fields))
    }

    /// The cassette, where there is one and it is for this caller.
    private var cassette: Cassette? { role.role == Cassette.role ? service.cassette : nil }

    /// The cassette that takes this call; what is said in a sealed exam goes onto none.
    private var recorder: Cassette? {
        guard let cassette, cassette.mode == .record, !desk.terms.isSealed else { return nil }
        return cassette
    }

    private mutating func keep(received bytes: some Collection<UInt8>) {
        guard recorder != nil, received.count < Self.kept else { return }
        received += bytes
    }

    private mutating func keep(delivered bytes: [UInt8]) {
        guard desk.trace != nil, delivered.count < Self.kept else { return }
        delivered += bytes
    }

    private mutating func settle() async {
        var usage = meter.usage
        if isWithoutWork || !isSent && cassette?.mode != .replay {
            usage = TokenUsage(input: 0, output: 0, source: .count)
        }
        if isAbandoned || isUnread, isSent, !isWithoutWork, usage.source == .count {
            // What the provider did is not known; who hangs up before it is told, or asks for an answer that
            // nobody can read, pays for all that it was allowed to do, or both would make calls cheap.
            usage.output = max(usage.output, reservation.outputTokens)
            if isUnread { usage.output = max(usage.output, received.count / 4) }
        }
        let cost = service.accounts.settle(reservation, usage, under: request.pin)
        desk.count { totals in
            totals.inputTokens += usage.input
            totals.outputTokens += usage.output
            totals.microdollars += cost
        }
        let elapsed = ContinuousClock.now - started
        let record = CallRecord(
            listener: desk.terms.listener,
            number: reservation.number,
            role: role.role,
            dialect: request.dialect,
            model: request.pin.model,
            status: status,
            inputTokens: usage.input,
            outputTokens: usage.output,
            isProvidersCount: usage.source == .provider,
            microdollars: cost,
            milliseconds: Int(elapsed / .milliseconds(1)),
            isStreamed: request.isStreaming,
            isCut: isCut
        )
        service.report(.call(record))
        await desk.trace?.append(traceLine(record))
        await recordOnCassette()
    }

    private func traceLine(_ record: CallRecord) -> JSONValue {
        [
            "role": .string(record.role.rawValue), "dialect": .string(record.dialect.rawValue),
            "model": .string(record.model), "status": JSONValue(record.status),
            "streamed": .bool(record.isStreamed), "cut": .bool(record.isCut),
            "milliseconds": JSONValue(record.milliseconds), "request": request.body,
            "response": .string(String(decoding: delivered, as: UTF8.self)),
        ]
    }

    // A cut answer is no answer, nor is a fault of the provider: played, it would end every run at the
    // same place, where the recorded one asked again.
    private func recordOnCassette() async {
        guard let cassette = recorder, !isCut, status == 200 || isRefusal,
            received.count < Self.kept
        else { return }
        do {
            try await cassette.record(
                request,
                Cassette.Entry(
                    status: status,
                    contentType: request.isStreaming && answerType.hasPrefix("text/event-stream")
                        ? "text/event-stream" : "application/json",
                    body: String(decoding: received, as: UTF8.self)
                )
            )
        } catch {
            service.report(
                .failed(
                    listener: desk.terms.listener,
                    BrokerFailure(
                        operation: "append to the cassette",
                        location: "listener \(desk.terms.listener)",
                        reason: "\(error)",
                        remedy: "make room for it"
                    )
                )
            )
        }
    }
}

extension [UInt8] {
    // Whether these bytes stand somewhere within.
    fileprivate func holds(_ part: [UInt8]) -> Bool {
        guard let first = part.first, part.count <= count else { return false }
        for start in 0...(count - part.count) where self[start] == first {
            if self[start..<start + part.count].elementsEqual(part) { return true }
        }
        return false
    }
}
