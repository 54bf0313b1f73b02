internal import AsyncHTTPClient
internal import BrokerProtocol
internal import Glibc
internal import ModelDialects
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// Why a provider could not be asked.
enum UpstreamError: Error {
    /// The resolver knows no address.
    case unresolved(String)
    /// An address that no provider on the internet has.
    case privateAddress(String)
    /// No connection could be made; nothing was sent.
    case unreachable(String)
    /// It took longer than a call may, though it was never silent for long.
    case overtime
    /// What it says is longer than an answer may be.
    case tooLong
}

/// One provider: its name, its addresses that passed the rule, and the connections to them.
final class UpstreamPool: Sendable {
    // One client for each address. An address was checked before, and its client connects to it and
    // to no other, whatever the resolver says later.
    private struct Lanes: Sendable {
        var clients: [String: HTTPClient] = [:]
        var current: String?
    }

    let terms: UpstreamTerms
    let name: UpstreamName
    private let settings: BrokerSettings
    private let resolver: NameResolver
    private let group: any EventLoopGroup
    private let trust: [NIOSSLCertificate]
    private let lanes = Mutex(Lanes())

    init(
        _ terms: UpstreamTerms,
        settings: BrokerSettings,
        resolver: NameResolver,
        group: any EventLoopGroup
    ) throws(BrokerFailure) {
        self.terms = terms
        self.settings = settings
        self.resolver = resolver
        self.group = group
        let location = "upstream \(terms.name)"
        do throws(UpstreamNameError) {
            name = try UpstreamName(parsing: terms.url)
        } catch {
            throw BrokerFailure(
                operation: "read the address of a provider",
                location: location,
                reason: "\(error)",
                remedy: "write https://HOST[:PORT][/PATH]"
            )
        }
        guard name.isSecure || terms.allowsPlainHTTP else {
            throw BrokerFailure(
                operation: "read the address of a provider",
                location: location,
                reason: "http without TLS",
                remedy: "use https, or allow plain http for this provider"
            )
        }
        do {
            trust = try terms.trust.map { try NIOSSLCertificate.fromPEMBytes(Array($0.utf8)) } ?? []
        } catch {
            throw BrokerFailure(
                operation: "read the certificates of a provider",
                location: location,
                reason: "not PEM",
                remedy: "give the certificates of its authority as PEM"
            )
        }
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
                retried("\(terms.name): no connection to one address; the next is tried")
            }
        }
    }

    // The address in use, or what the resolver says now; every answer must pass the rule, because
    // a name with one public and one private address is how rebinding begins.
    private func checkedAddresses() async throws -> [String] {
        if let address = lanes.withLock({ $0.current }) { return [address] }
        let found: [[UInt8]]
        if let literal = AddressText.literal(name.host) {
            found = [literal]
        } else {
            found = try await resolver.addresses(name.host)
        }
        guard !found.isEmpty else { throw UpstreamError.unresolved(name.host) }
        for address in found where !terms.allowsAnyAddress && !UpstreamName.isPublic(address) {
            throw UpstreamError.privateAddress(name.host)
        }
        return found.prefix(4).map(AddressText.of)
    }

    private func client(at address: String) -> HTTPClient {
        lanes.withLock { lanes in
            lanes.current = address
            if let client = lanes.clients[address] { return client }
            let made = client(to: address)
            lanes.clients[address] = made
            return made
        }
    }

    private func client(to address: String) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(
                connect: settings.connect,
                read: settings.silent
            ),
            connectionPool: HTTPClient.Configuration.ConnectionPool(
                // Shorter than any provider's, so that no request meets a connection that just ended.
                idleTimeout: .seconds(20),
                concurrentHTTP1ConnectionsPerHostSoftLimit: 1024
            ),
            proxy: nil,
            decompression: .disabled
        )
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.httpVersion = .http1Only
        if AddressText.literal(name.host) == nil {
            configuration.dnsOverride = [name.host: address]
        }
        return HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
    }

    private var tls: TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .fullVerification
        if !trust.isEmpty { tls.trustRoots = .certificates(trust) }
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

    /// Ends every connection.
    func shutDown() async {
        let clients = lanes.withLock { lanes in
            defer { lanes = Lanes() }
            return lanes.clients.values
        }
        for client in clients {
            do {
                try await client.shutdown()
            } catch {
                Complaint.print(
                    operation: "close the connections to a provider",
                    location: "upstream \(terms.name)",
                    reason: "\(error)",
                    remedy: "report this"
                )
            }
        }
    }
}
