public import StrictJSON

/// What of a provider's answer may reach a sandbox.
public enum ResponseScrub {
    /// The headers that may pass, by lower-case name; every other stays away: request ids, states
    /// of rate limits, cookies, dates, names of servers.
    ///
    /// - Parameters:
    ///   - headers: names and values as they came.
    ///   - isSealed: whether the sandbox takes part in a sealed exam.
    /// - Returns: `content-type` in one of two spellings, and `retry-after` in steps.
    public static func headers(
        _ headers: [(name: String, value: String)],
        isSealed: Bool
    ) -> [(name: String, value: String)] {
        var kept: [(name: String, value: String)] = []
        for (name, value) in headers {
            switch name.lowercased() {
            case "content-type" where !kept.contains { $0.name == "content-type" }:
                kept.append(("content-type", contentType(value)))
            case "retry-after" where !kept.contains { $0.name == "retry-after" }:
                kept.append(("retry-after", isSealed ? "10" : retryAfter(value)))
            default: break
            }
        }
        return kept
    }

    private static func contentType(_ value: String) -> String {
        let type = value.prefix { $0 != ";" }.lowercased()
        return type.hasPrefix("text/event-stream") ? "text/event-stream" : "application/json"
    }

    /// The next step at or above: a number of seconds is a channel of as many bits as it has.
    private static func retryAfter(_ value: String) -> String {
        let seconds = Int(value) ?? 10
        return String([1, 5, 10, 30, 60].first { $0 >= seconds } ?? 120)
    }

    /// A whole answer as it may reach a sandbox.
    ///
    /// - Parameters:
    ///   - body: the provider's answer.
    ///   - dialect: its dialect.
    ///   - isSealed: whether the sandbox takes part in a sealed exam.
    /// - Returns: the answer; in a sealed exam rebuilt from an allow-list, without what identifies
    ///   the call, or nothing where it is no answer of the dialect.
    public static func body(_ body: JSONValue, dialect: Dialect, isSealed: Bool) -> JSONValue? {
        guard isSealed else { return body }
        return ResponseShapes.scrubbed(body, dialect)
    }

    /// One event of a stream as it may reach a sandbox: name and data alone, no comments and ids.
    ///
    /// - Parameters:
    ///   - event: the provider's event.
    ///   - dialect: its dialect.
    ///   - isSealed: whether the sandbox takes part in a sealed exam.
    /// - Returns: the bytes for the wire; none where an event of a sealed exam cannot be read.
    public static func event(_ event: SSEEvent, dialect: Dialect, isSealed: Bool) -> [UInt8] {
        guard isSealed, !event.data.elementsEqual("[DONE]".utf8) else { return event.wire }
        do throws(JSONError) {
            let value = try JSONValue(parsing: event.data, limits: ModelRequest.limits)
            guard let scrubbed = ResponseShapes.scrubbed(value, dialect) else { return [] }
            // The name is the data's own type where the dialect names its events at all.
            let name = event.name.flatMap { _ in scrubbed["type"]?.stringValue }
            return SSEEvent.wire(name: name, scrubbed)
        } catch {
            // What cannot be read cannot be scrubbed; the rest of the stream goes on without it.
            return []
        }
    }
}
