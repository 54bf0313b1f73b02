internal import StrictJSON

/// Errors in the words and forms of the providers, so that unmodified programs understand them.
public enum ProviderError {
    /// What went wrong, as far as a program behaves differently.
    public enum Condition: String, Sendable, CaseIterable {
        /// The request is not one of the dialect, or asks for what is not offered.
        case invalidRequest
        /// There is no such route or model.
        case notFound
        /// The body is beyond the limits.
        case tooLarge
        /// A budget is spent; programs stop without trying again.
        case budgetSpent
        /// Too many requests at once; programs try again.
        case rateLimited
        /// The provider did not answer; programs try again.
        case upstreamFailed
        /// The broker itself has a fault.
        case internalFault

        /// The HTTP status of an answer.
        ///
        /// A spent budget is what makes the programs of a dialect end without trying again, which no
        /// status does for all: Claude Code ends after 402, Codex after 400 alone, and litellm,
        /// which mini-swe-agent and aider use, after 401 unless the type is a bad request's.
        ///
        /// - Parameter dialect: whose programs read it; nothing where the request has none.
        /// - Returns: the status.
        public func status(in dialect: Dialect?) -> Int {
            switch self {
            case .invalidRequest: 400
            case .notFound: 404
            case .tooLarge: 413
            case .budgetSpent:
                switch dialect {
                case .openAIResponses: 400
                case .openAIChat: 401
                case .anthropicMessages, .geminiGenerate, nil: 402
                }
            case .rateLimited: 429
            case .upstreamFailed: 502
            case .internalFault: 500
            }
        }
    }

    /// What a status of the provider means for the sandbox; the provider's own words may name an
    /// organisation, a project or a request, and stay away.
    ///
    /// - Parameter status: the provider's HTTP status, not one of success.
    /// - Returns: what went wrong. A matter of keys or of the provider's bill is the operator's, and
    ///   to the sandbox a fault of the upstream.
    public static func condition(ofUpstream status: Int) -> Condition {
        switch status {
        case 400, 422: .invalidRequest
        case 404: .notFound
        case 413: .tooLarge
        case 429: .rateLimited
        default: .upstreamFailed
        }
    }

    /// An answer: status and body.
    public struct Answer: Sendable, Equatable {
        /// The HTTP status.
        public let status: Int
        /// The body, `application/json`.
        public let body: [UInt8]
    }

    /// The answer to a request that was refused.
    ///
    /// - Parameters:
    ///   - refusal: the refusal.
    ///   - dialect: whose format; OpenAI's where the request has none.
    /// - Returns: status and body.
    public static func answer(to refusal: RequestRefusal, in dialect: Dialect?) -> Answer {
        let condition: Condition =
            switch refusal.status {
            case 404: .notFound
            case 413: .tooLarge
            case 402: .budgetSpent
            case 429: .rateLimited
            default: .invalidRequest
            }
        return Answer(
            status: refusal.status,
            body: body(dialect, condition, message: refusal.message)
        )
    }

    /// The body of an error.
    ///
    /// - Parameters:
    ///   - dialect: whose format; OpenAI's where there is none.
    ///   - condition: what went wrong.
    ///   - message: the sentence for people.
    /// - Returns: the JSON text.
    public static func body(
        _ dialect: Dialect?,
        _ condition: Condition,
        message: String
    ) -> [UInt8] {
        object(dialect ?? .openAIChat, condition, message: message).canonicalBytes
    }

    /// What ends a stream of events after something went wrong.
    ///
    /// - Parameters:
    ///   - dialect: whose format.
    ///   - condition: what went wrong.
    ///   - message: the sentence for people.
    /// - Returns: events, as they go over the wire.
    public static func streamEnd(
        _ dialect: Dialect,
        _ condition: Condition,
        message: String
    ) -> [UInt8] {
        switch dialect {
        case .openAIChat, .geminiGenerate:
            return SSEEvent.wire(name: nil, object(dialect, condition, message: message))
        case .anthropicMessages:
            return SSEEvent.wire(name: "error", object(dialect, condition, message: message))
        case .openAIResponses:
            let failed: JSONValue = [
                "type": "response.failed", "sequence_number": 0,
                "response": [
                    "id": "resp_0", "object": "response", "created_at": 0, "status": "failed",
                    "output": [], "usage": nil,
                    "error": [
                        "code": .string(openAICode(condition)),
                        "message": .string(shown(message, condition)),
                    ],
                ],
            ]
            return SSEEvent.wire(name: "response.failed", failed)
        }
    }

    /// The answer to a request for which no budget is left.
    ///
    /// - Parameters:
    ///   - dialect: whose format.
    ///   - account: the account of which nothing is left.
    /// - Returns: status and body.
    public static func budgetSpent(_ dialect: Dialect, account: String) -> Answer {
        let message = "the model budget '\(account)' is spent; finish without further model calls"
        return Answer(
            status: Condition.budgetSpent.status(in: dialect),
            body: body(dialect, .budgetSpent, message: message)
        )
    }
}

// MARK: - forms

extension ProviderError {
    private static func object(
        _ dialect: Dialect,
        _ condition: Condition,
        message: String
    ) -> JSONValue {
        let message = JSONValue.string(shown(message, condition))
        return switch dialect {
        case .openAIChat, .openAIResponses:
            [
                "error": [
                    "message": message, "type": .string(openAIType(condition)), "param": nil,
                    "code": .string(openAICode(condition)),
                ]
            ]
        case .anthropicMessages:
            [
                "type": "error",
                "error": ["type": .string(anthropicType(condition)), "message": message],
            ]
        case .geminiGenerate:
            [
                "error": [
                    "code": JSONValue(condition.status(in: dialect)), "message": message,
                    "status": .string(geminiStatus(condition)),
                ]
            ]
        }
    }

    /// The message, printable and bounded; aider 0.86 knows a spent budget by these words, too.
    private static func shown(_ message: String, _ condition: Condition) -> String {
        let text = ModelEvent.printable(message, limit: 1_000)
        return condition == .budgetSpent ? "insufficient credits (\"code\":402): " + text : text
    }

    private static func openAIType(_ condition: Condition) -> String {
        switch condition {
        case .invalidRequest, .notFound, .tooLarge: "invalid_request_error"
        case .budgetSpent: "insufficient_quota"
        case .rateLimited: "rate_limit_error"
        case .upstreamFailed, .internalFault: "server_error"
        }
    }

    private static func openAICode(_ condition: Condition) -> String {
        switch condition {
        case .invalidRequest: "invalid_request"
        case .notFound: "model_not_found"
        case .tooLarge: "request_too_large"
        case .budgetSpent: "insufficient_quota"
        case .rateLimited: "rate_limit_exceeded"
        case .upstreamFailed, .internalFault: "server_error"
        }
    }

    private static func anthropicType(_ condition: Condition) -> String {
        switch condition {
        case .invalidRequest: "invalid_request_error"
        case .notFound: "not_found_error"
        case .tooLarge: "request_too_large"
        case .budgetSpent: "billing_error"
        case .rateLimited: "rate_limit_error"
        case .upstreamFailed, .internalFault: "api_error"
        }
    }

    private static func geminiStatus(_ condition: Condition) -> String {
        switch condition {
        case .invalidRequest, .tooLarge: "INVALID_ARGUMENT"
        case .notFound: "NOT_FOUND"
        case .budgetSpent: "FAILED_PRECONDITION"
        case .rateLimited: "RESOURCE_EXHAUSTED"
        case .upstreamFailed: "UNAVAILABLE"
        case .internalFault: "INTERNAL"
        }
    }
}
