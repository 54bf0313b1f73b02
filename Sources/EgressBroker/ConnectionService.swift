internal import BrokerProtocol
internal import HTTPFront
internal import ModelDialects
internal import NIOCore

/// Reads the requests of one connection, one after another, and has them answered.
///
/// What comes while a request is answered waits: nothing is served out of order, and nothing twice
/// at a time.
struct ConnectionService: Sendable {
    let desk: ListenerDesk
    let calls: CallService
    let channel: any Channel
    let hosts: Set<String>

    /// Talks until either side ends the connection.
    @concurrent func run(_ connection: Connection) async {
        do {
            try await connection.executeThenClose { inbound, outbound in
                var wire = Wire(
                    inbound: inbound.makeAsyncIterator(),
                    outbound: outbound,
                    reader: HTTPRequestReader(limits: calls.settings.http, hosts: hosts),
                    watchdog: Watchdog(channel)
                )
                while try await answerNext(&wire) {}
            }
        } catch {
            // The other end is gone, or the listener is closed: there is nobody to tell.
        }
    }

    /// The two directions of the connection.
    struct Wire {
        var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
        let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
        var reader: HTTPRequestReader
        var watchdog: Watchdog
        // What its body takes of the listener's memory.
        var taken = 0
    }

    // Whether another request may follow.
    @concurrent private func answerNext(_ wire: inout Wire) async throws -> Bool {
        var request: HTTPRequest
        defer {
            desk.bodies.give(wire.taken)
            wire.taken = 0
        }
        do throws(HTTPFault) {
            switch await next(&wire) {
            case .success(let found?): request = found
            case .success(nil): return false
            case .failure(let fault): throw fault
            }
        } catch {
            try await refuse(error, &wire)
            return false
        }
        wire.watchdog.stop()
        let writer = ReplyWriter(
            outbound: wire.outbound,
            channel: channel,
            stalled: calls.settings.stalled,
            isLast: request.isLast,
            isHeadOnly: request.method == "HEAD"
        )
        // Taken out, so that a large body is not kept for as long as its answer takes.
        let body = request.body
        request.body = []
        try await calls.answer(request, body, desk, writer)
        return !request.isLast && !Task.isCancelled
    }

    // The next request; nothing where the other end is done.
    @concurrent private func next(_ wire: inout Wire) async -> Result<HTTPRequest?, HTTPFault> {
        var phase: HTTPRequestReader.Phase?
        do {
            while true {
                let request = try wire.reader.next()
                try take(request?.body.count ?? wire.reader.bodyCount, &wire)
                if let request { return .success(request) }
                if wire.reader.takeContinue() { try await wire.outbound.write(HTTPReply.goOn) }
                if wire.reader.phase != phase {
                    phase = wire.reader.phase
                    setDeadline(wire.reader.phase, &wire.watchdog)
                }
                guard let part = try await wire.inbound.next() else { return .success(nil) }
                wire.reader.feed(part.readableBytesView)
            }
        } catch let fault as HTTPFault {
            return .failure(fault)
        } catch {
            return .success(nil)
        }
    }

    // Small bodies are not counted: there are only so many connections, and whoever fills the memory
    // with large ones is still served small ones.
    private func take(_ bytes: Int, _ wire: inout Wire) throws(HTTPFault) {
        let count = bytes - calls.settings.inlineBytes
        guard count > wire.taken else { return }
        guard desk.bodies.take(count - wire.taken) else {
            throw HTTPFault(503, "body", "too much is sent at a time; send it again later")
        }
        wire.taken = count
    }

    private func setDeadline(_ phase: HTTPRequestReader.Phase, _ watchdog: inout Watchdog) {
        switch phase {
        case .idle: watchdog.set(calls.settings.idle)
        case .head: watchdog.set(calls.settings.head, saying: Self.tooSlow)
        case .body: watchdog.set(calls.settings.body, saying: Self.tooSlow)
        }
    }

    private static let tooSlow = HTTPReply(408, .whole([])).bytes(isLast: true)

    @concurrent private func refuse(_ fault: HTTPFault, _ wire: inout Wire) async throws {
        desk.count { $0.requests += 1 }
        let kind: ModelEvent.Kind =
            switch fault.status {
            case 413, 414, 431: .tooLarge
            case 503: .rateLimited
            default: .badRequest
            }
        calls.note(ModelEvent(kind, fault.description), desk)
        let body = ProviderError.body(nil, .invalidRequest, message: fault.description)
        try await wire.outbound.write(HTTPReply.json(fault.status, body).bytes(isLast: true))
        // What is still under way is read and forgotten: a socket that is closed with bytes unread
        // takes its last answer back.
        wire.watchdog.set(.milliseconds(500))
        var rest = 4 << 20
        while rest > 0, let part = try await wire.inbound.next() { rest -= part.readableBytes }
    }
}
