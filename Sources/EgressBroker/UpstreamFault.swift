internal import AsyncHTTPClient
internal import ModelDialects
internal import NIOCore
internal import NIOSSL

/// Why a provider gave no answer that can be passed on: what the supervisor is told, and what the
/// sandbox is told, which is less.
struct UpstreamFault: Sendable, Equatable {
    /// The kind of event.
    let kind: ModelEvent.Kind
    /// For the supervisor.
    let detail: String
    /// For the sandbox.
    let message: String
    /// What programs should take it for.
    let condition: ProviderError.Condition
    /// The status that the sandbox gets, where it is not the condition's own.
    let ownStatus: Int?
    /// Whether the provider can have done no work.
    let isBeforeSending: Bool

    private init(
        _ detail: String,
        kind: ModelEvent.Kind = .upstreamFailed,
        message: String = "the model provider did not answer",
        condition: ProviderError.Condition = .upstreamFailed,
        status: Int? = nil,
        isBeforeSending: Bool = false
    ) {
        self.kind = kind
        self.detail = detail
        self.message = message
        self.condition = condition
        ownStatus = status
        self.isBeforeSending = isBeforeSending
    }

    /// The status that the sandbox gets.
    func status(in dialect: Dialect) -> Int { ownStatus ?? condition.status(in: dialect) }

    static let encoded = UpstreamFault("the answer is compressed, though that was not offered")
    static func notJSON(_ type: String?) -> UpstreamFault {
        let said = type.map { $0.isEmpty ? " (no content type)" : " (content type \($0))" } ?? ""
        return UpstreamFault("the answer is no JSON within the limits" + said)
    }
    static let noUpstream = UpstreamFault(
        "no upstream of that name serves this route",
        message: "this route is not offered here",
        condition: .notFound,
        isBeforeSending: true
    )

    static func notOnCassette(_ name: String) -> UpstreamFault {
        UpstreamFault(
            "key \(name)",
            kind: .cassetteMissing,
            message: "the cassette has no answer to this request (key \(name)); record it first",
            condition: .invalidRequest,
            isBeforeSending: true
        )
    }

    /// What follows from a status that is no success.
    static func status(_ code: Int) -> UpstreamFault {
        let detail = "status \(code)"
        switch code {
        case 401, 403:
            return UpstreamFault(
                detail + ": the key is refused",
                message: "the model provider refused the operator's key; trying again is of no use",
                condition: .invalidRequest
            )
        case 402:
            return UpstreamFault(
                detail + ": the provider's account is empty",
                message: "the operator's account at the model provider is empty",
                condition: .budgetSpent
            )
        case 429:
            return UpstreamFault(
                detail,
                kind: .rateLimited,
                message: "the model provider limits the rate of requests",
                condition: .rateLimited
            )
        case 404:
            return UpstreamFault(
                detail,
                message: "the model provider does not know this",
                condition: .notFound
            )
        case 413:
            return UpstreamFault(
                detail,
                message: "the request is too large for the model",
                condition: .tooLarge
            )
        case 400...499:
            return UpstreamFault(
                detail,
                message: "the model provider cannot take this request",
                condition: .invalidRequest,
                status: code
            )
        case 500...599:
            return UpstreamFault(detail, message: "the model provider has a fault", status: code)
        default:
            return UpstreamFault(detail + ": redirects are not followed")
        }
    }

    /// What follows from an error on the way.
    static func of(_ error: any Error) -> UpstreamFault {
        switch error {
        case UpstreamError.unresolved(let name):
            return UpstreamFault("\(name) has no address", isBeforeSending: true)
        case UpstreamError.privateAddress(let name):
            return UpstreamFault(
                "\(name) leads to an address that is not public",
                isBeforeSending: true
            )
        case UpstreamError.unreachable(let reason):
            return UpstreamFault("no connection: \(reason)", isBeforeSending: true)
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            return UpstreamFault("TLS: \(error)", isBeforeSending: true)
        case let error as HTTPClientError where [.deadlineExceeded, .readTimeout].contains(error):
            return UpstreamFault("no answer began in the time that a call may take")
        case let error as HTTPClientError:
            let early: [HTTPClientError] = [
                .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout,
            ]
            return UpstreamFault("\(error)", isBeforeSending: early.contains(error))
        case UpstreamError.overtime: return UpstreamFault("the answer took longer than a call may")
        case UpstreamError.tooLong: return UpstreamFault("the answer is too long")
        case is StreamRelay.Fault: return UpstreamFault("it ended before its last event")
        default: return UpstreamFault("\(error)")
        }
    }
}
