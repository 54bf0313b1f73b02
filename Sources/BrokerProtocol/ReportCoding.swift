internal import ModelDialects
public import StrictJSON

extension BrokerReport {
    /// The packet's bytes.
    public var bytes: [UInt8] { value.canonicalBytes }

    private var value: JSONValue {
        switch self {
        case .ready: ["type": "ready"]
        case .configured: ["type": "configured"]
        case .opened(let listener): ["type": "opened", "listener": JSONValue(listener)]
        case .closed(let listener, let totals):
            ["type": "closed", "listener": JSONValue(listener), "totals": totals.value]
        case .arrived(let listener): ["type": "arrived", "listener": JSONValue(listener)]
        case .spending(let spending): spending.value
        case .call(let record): record.value
        case .event(let listener, let role, let event):
            [
                "type": "event", "listener": JSONValue(listener),
                "role": role.map { .string($0.rawValue) } ?? .null,
                "kind": .string(event.kind.rawValue), "detail": .string(event.detail),
            ]
        case .failed(let listener, let failure):
            [
                "type": "failed", "listener": JSONValue(listener),
                "operation": .string(failure.operation), "location": .string(failure.location),
                "reason": .string(failure.reason), "remedy": .string(failure.remedy),
            ]
        }
    }

    /// Decodes a packet.
    ///
    /// - Throws: `JSONError` when it is malformed or says something unknown.
    public init(bytes: [UInt8]) throws(JSONError) {
        var reader = try ObjectReader(
            JSONValue(parsing: bytes, limits: .packet),
            location: "report"
        )
        switch try reader.requiredString("type") {
        case "ready": self = .ready
        case "configured": self = .configured
        case "opened": self = .opened(listener: try reader.requiredInteger("listener"))
        case "closed":
            let listener = try reader.requiredInteger("listener")
            var totals = try reader.requiredObject("totals")
            self = .closed(listener: listener, try ListenerTotals(from: &totals))
            try totals.finish()
        case "arrived": self = .arrived(listener: try reader.requiredInteger("listener"))
        case "spending": self = .spending(try CallSpending(from: &reader))
        case "call": self = .call(try CallRecord(from: &reader))
        case "event":
            self = .event(
                listener: try reader.requiredInteger("listener"),
                role: try reader.optionalWord("role"),
                ModelEvent(try reader.word("kind"), try reader.requiredString("detail"))
            )
        case "failed":
            self = .failed(
                listener: try reader.count("listener"),
                BrokerFailure(
                    operation: try reader.line("operation"),
                    location: try reader.line("location"),
                    reason: try reader.line("reason"),
                    remedy: try reader.line("remedy")
                )
            )
        case let other: throw reader.unknown("type", other)
        }
        try reader.finish()
    }
}

extension ListenerTotals {
    fileprivate var value: JSONValue {
        [
            "requests": JSONValue(requests), "refusals": JSONValue(refusals),
            "input_tokens": JSONValue(inputTokens), "output_tokens": JSONValue(outputTokens),
            "microdollars": JSONValue(microdollars), "dropped_bytes": JSONValue(droppedBytes),
        ]
    }

    fileprivate init(from reader: inout ObjectReader) throws(JSONError) {
        self.init()
        requests = try reader.requiredCount("requests")
        refusals = try reader.requiredCount("refusals")
        inputTokens = try reader.requiredCount("input_tokens")
        outputTokens = try reader.requiredCount("output_tokens")
        microdollars = try reader.requiredCount("microdollars")
        droppedBytes = try reader.requiredCount("dropped_bytes")
    }
}

extension CallSpending {
    fileprivate var value: JSONValue {
        [
            "type": "spending", "listener": JSONValue(listener), "number": JSONValue(number),
            "role": .string(role.rawValue), "input_tokens": JSONValue(inputTokens),
            "output_tokens": JSONValue(outputTokens), "microdollars": JSONValue(microdollars),
        ]
    }

    fileprivate init(from reader: inout ObjectReader) throws(JSONError) {
        self.init(
            listener: try reader.requiredInteger("listener"),
            number: try reader.requiredCount("number"),
            role: try reader.word("role"),
            inputTokens: try reader.requiredCount("input_tokens"),
            outputTokens: try reader.requiredCount("output_tokens"),
            microdollars: try reader.requiredCount("microdollars")
        )
    }
}

extension CallRecord {
    fileprivate var value: JSONValue {
        [
            "type": "call", "listener": JSONValue(listener), "number": JSONValue(number),
            "role": .string(role.rawValue),
            "dialect": .string(dialect.rawValue), "model": .string(model),
            "status": JSONValue(status), "input_tokens": JSONValue(inputTokens),
            "output_tokens": JSONValue(outputTokens), "providers_count": .bool(isProvidersCount),
            "microdollars": JSONValue(microdollars), "milliseconds": JSONValue(milliseconds),
            "streamed": .bool(isStreamed), "cut": .bool(isCut),
        ]
    }

    fileprivate init(from reader: inout ObjectReader) throws(JSONError) {
        self.init(
            listener: try reader.requiredInteger("listener"),
            number: try reader.requiredCount("number"),
            role: try reader.word("role"),
            dialect: try reader.word("dialect"),
            model: try reader.requiredString("model"),
            status: try reader.requiredCount("status"),
            inputTokens: try reader.requiredCount("input_tokens"),
            outputTokens: try reader.requiredCount("output_tokens"),
            isProvidersCount: try reader.requiredBool("providers_count"),
            microdollars: try reader.requiredCount("microdollars"),
            milliseconds: try reader.requiredCount("milliseconds"),
            isStreamed: try reader.requiredBool("streamed"),
            isCut: try reader.requiredBool("cut")
        )
    }
}
