internal import AsyncHTTPClient
internal import BrokerProtocol
internal import Glibc
internal import ModelDialects
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// The connections of one listener to one provider, with what was looked up and agreed on for them.
///
/// A sandbox has a pool for itself: a warm connection, a TLS session and an answer of the resolver say
/// that somebody asked before, and who takes part in a sealed exam must tell nobody after it.
final class UpstreamPool: Sendable {
    // One client for each address. An address was checked before, and its client connects to it and
    // to no other, whatever the resolver says later.
    private struct Lanes: Sendable {
        var clients: [String: HTTPClient] = [:]
        var current: String?
        // What is asked of the resolver before the first call.
        var lookUp: Task<[[UInt8]], any Error>?
        var connections: [ObjectIdentifier: any Channel] = [:]
        var isEnded = false
    }

    private let upstream: Upstream
    private let lanes: Mutex<Lanes>

    /// Makes a pool without a connection, and has the provider's name looked up.
    ///
    /// It is looked up for each listener, whether its sandbox will ask or not: the host's resolver keeps
    /// answers for a while, so that the next look-up tells whether there was one.
    init(to upstream: Upstream) {
        self.upstream = upstream
        let host = upstream.name.host
        let isName = AddressText.literal(host) == nil
        let resolver = upstream.resolver
        lanes = Mutex(
            Lanes(lookUp: isName ? Task { try await resolver.addresses(host) } : nil)
        )
    }

    /// Asks the provider.
    ///
    /// A connection that cannot be made is tried at the provider's other addresses, because nothing
    /// was sent yet; anything later is never repeated, because the provider may have done the work.
    ///
    /// - Parameters:
    ///   - request: what to send.
    ///   - deadline: when the answer must have begun.
    ///   - retried: called with the reason of each retry.
    /// - Returns: the answer's head, and its body as it comes.
    /// - Throws: ``UpstreamError``, or what the client says.
    func execute(
        _ request: HTTPClientRequest,
        until deadline: NIODeadline,
        retried: (String) -> Void
    ) async throws -> HTTPClientResponse {
        var addresses = try await checkedAddresses()
        while true {
            let address = addresses[0]
            do {
                return try await client(at: address).execute(request, deadline: deadline)
            } catch let error where Self.isConnectFailure(error) {
                // The next request asks the resolver again.
                lanes.withLock { $0.current = nil }
                addresses.removeFirst()
                guard !addresses.isEmpty else { throw UpstreamError.unreachable("\(error)") }
                retried("\(upstream.terms.name): no connection to one address; the next is tried")
            }
        }
    }

    // The address in use, or what the resolver says now; every answer must pass the rule, because
    // a name with one public and one private address is how rebinding begins.
    private func checkedAddresses() async throws -> [String] {
        let (current, begun) = lanes.withLock { ($0.current, $0.lookUp) }
        if let current { return [current] }
        let host = upstream.name.host
        let found: [[UInt8]]
        if let literal = AddressText.literal(host) {
            found = [literal]
        } else if let begun {
            // What it says is used once: the call after a failure asks again.
            defer { lanes.withLock { $0.lookUp = nil } }
            found = try await begun.value
        } else {
            found = try await upstream.resolver.addresses(host)
        }
        guard !found.isEmpty else { throw UpstreamError.unresolved(host) }
        let isAnyAllowed = upstream.terms.allowsAnyAddress
        for address in found where !isAnyAllowed && !UpstreamName.isPublic(address) {
            throw UpstreamError.privateAddress(host)
        }
        return found.prefix(4).map(AddressText.of)
    }

    private func client(at address: String) -> HTTPClient {
        lanes.withLock { lanes in
            lanes.current = address
            if let client = lanes.clients[address] { return client }
            let made = makeClient(to: address)
            lanes.clients[address] = made
            return made
        }
    }

    private func makeClient(to address: String) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(
                connect: upstream.settings.connect,
                read: upstream.settings.silent
            ),
            connectionPool: HTTPClient.Configuration.ConnectionPool(
                idleTimeout: upstream.settings.spare,
                concurrentHTTP1ConnectionsPerHostSoftLimit: 1024
            ),
            proxy: nil,
            decompression: .disabled
        )
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.httpVersion = .http1Only
        configuration.http1_1ConnectionDebugInitializer = { [weak self] channel in
            channel.eventLoop.makeCompletedFuture { try self?.keep(channel) }
        }
        let host = upstream.name.host
        if AddressText.literal(host) == nil {
            configuration.dnsOverride = [host: address]
        }
        return HTTPClient(
            eventLoopGroupProvider: .shared(upstream.group),
            configuration: configuration
        )
    }

    private var tls: TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .fullVerification
        if !upstream.trust.isEmpty { tls.trustRoots = .certificates(upstream.trust) }
        return tls
    }

    private static func isConnectFailure(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .connectTimeout
        case is NIOConnectionError: true
        // Numbers that only connect(2) gives: others may come when the request was sent already.
        case let error as IOError:
            error.errnoCode == ECONNREFUSED || error.errnoCode == ENETUNREACH
        case let error as ChannelError:
            if case .connectTimeout = error { true } else { false }
        default: false
        }
    }

    // MARK: - the end

    // Called on the connection's loop, as soon as there is one.
    private func keep(_ channel: any Channel) throws {
        try channel.pipeline.syncOperations.addHandler(ConnectionCut(), position: .first)
        let isLate = lanes.withLock { lanes in
            guard !lanes.isEnded else { return true }
            lanes.connections[ObjectIdentifier(channel)] = channel
            return false
        }
        guard !isLate else { return ConnectionCut.cut(channel) }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.lanes.withLock {
                _ = $0.connections.removeValue(forKey: ObjectIdentifier(channel))
            }
        }
    }

    /// Cuts every connection; on return none is open.
    ///
    /// By a reset: a goodbye is one that the provider may leave unanswered, and of a connection that was
    /// reset the kernel keeps nothing.
    func cut() async {
        let (open, lookUp) = lanes.withLock { lanes in
            lanes.isEnded = true
            return (Array(lanes.connections.values), lanes.lookUp)
        }
        lookUp?.cancel()
        for channel in open {
            channel.eventLoop.execute { ConnectionCut.cut(channel) }
        }
        for channel in open {
            do { try await channel.closeFuture.get() } catch {
                // Closed all the same.
            }
        }
    }

    /// Ends the clients, after ``cut()``: one that still waits for an answer to its first packet ends when
    /// it has that, or no more time.
    func shutDown() async {
        let clients = lanes.withLock { lanes in
            defer { lanes.clients = [:] }
            return lanes.clients.values
        }
        for client in clients {
            do {
                try await client.shutdown()
            } catch {
                Complaint.print(
                    operation: "close the connections to a provider",
                    location: "upstream \(upstream.terms.name)",
                    reason: "\(error)",
                    remedy: "report this"
                )
            }
        }
    }
}

/// Closes a connection from below TLS, which would say goodbye and wait for the answer.
///
/// It is at the head of the pipeline and lets everything pass.
private final class ConnectionCut: ChannelOutboundHandler {
    typealias OutboundIn = Never

    /// Resets a connection that has such a handler; on the connection's loop.
    static func cut(_ channel: any Channel) {
        do {
            let head = try channel.pipeline.syncOperations.context(handlerType: Self.self)
            if let options = channel as? any SocketOptionProvider {
                // SO_LINGER of zero seconds, socket(7): the close resets.
                _ = options.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            }
            head.close(promise: nil)
        } catch {
            // It has ended, and has no handlers any more.
        }
    }
}
