internal import BrokerProtocol
internal import ModelDialects
internal import NIOCore
internal import NIOSSL

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

/// One provider as the configuration names it: no address of it, and no connection to it.
struct Upstream: Sendable {
    let terms: UpstreamTerms
    let name: UpstreamName
    let settings: BrokerSettings
    let resolver: NameResolver
    let group: any EventLoopGroup
    let trust: [NIOSSLCertificate]

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
}
