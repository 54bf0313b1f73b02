package import ModelDialects
internal import StrictJSON

/// Passes a stream of events on: cut into events, metered, scrubbed.
///
/// Pure: bytes in, bytes out.
package struct StreamRelay: Sendable {
    /// Why a stream is no whole answer.
    package enum Fault: Error, Sendable, Equatable {
        /// It ended before the event that its dialect ends with.
        case unfinished
    }

    private let dialect: Dialect
    private let isSealed: Bool
    private let addsUsage: Bool
    private var splitter: SSESplitter
    private var lengthEnd: LengthEnd
    /// Whether the event that its dialect ends with has come.
    package private(set) var hasEnded = false
    /// What was used so far.
    package private(set) var meter: UsageMeter

    /// Makes a relay.
    ///
    /// - Parameters:
    ///   - dialect: the dialect of the stream.
    ///   - isSealed: whether the sandbox takes part in a sealed exam.
    ///   - addsUsage: whether the last event is ours and not the sandbox's.
    ///   - choices: how many answers were asked for.
    ///   - limit: the largest event, in bytes.
    ///   - meter: what counts.
    package init(
        dialect: Dialect,
        isSealed: Bool,
        addsUsage: Bool,
        choices: Int = 1,
        limit: Int,
        meter: UsageMeter
    ) {
        self.dialect = dialect
        self.isSealed = isSealed
        self.addsUsage = addsUsage
        splitter = SSESplitter(maximumEventBytes: limit)
        self.meter = meter
        lengthEnd = LengthEnd(dialect, choices: choices)
    }

    /// Takes the next bytes of the provider; returns what goes to the sandbox.
    ///
    /// - Throws: `SSEError`.
    package mutating func feed(_ bytes: some Collection<UInt8>) throws -> [UInt8] {
        var out: [UInt8] = []
        for event in try splitter.feed(bytes) { out += passed(event) }
        return out
    }

    /// Ends the stream; returns what goes to the sandbox.
    ///
    /// - Throws: ``Fault``, or `SSEError`.
    package mutating func finish() throws -> [UInt8] {
        let out = try splitter.finish().map { passed($0) } ?? []
        guard hasEnded else { throw Fault.unfinished }
        return out
    }

    /// What goes to the sandbox in place of the rest of a stream that is too long.
    package func endForLength() -> [UInt8] {
        lengthEnd.events(meter.usage).flatMap { shown($0) }
    }

    private mutating func passed(_ event: SSEEvent) -> [UInt8] {
        meter.event(event)
        lengthEnd.follow(event)
        if isEnd(event) { hasEnded = true }
        return shown(event)
    }

    private func shown(_ event: SSEEvent) -> [UInt8] {
        if addsUsage, isUsageAlone(event) { return [] }
        return ResponseScrub.event(event, dialect: dialect, isSealed: isSealed)
    }

    private func isEnd(_ event: SSEEvent) -> Bool {
        switch dialect {
        case .openAIChat: return event.data.elementsEqual("[DONE]".utf8)
        case .openAIResponses:
            let ends = ["response.completed", "response.failed", "response.incomplete", "error"]
            return ends.contains(event.name ?? member("type", of: event)?.stringValue ?? "")
        case .anthropicMessages:
            return ["message_stop", "error"].contains(event.name ?? "")
        case .geminiGenerate:
            return member("candidates", of: event)?.arrayValue?
                .contains { $0["finishReason"] != nil } ?? false
                || member("promptFeedback", of: event) != nil
        }
    }

    private func isUsageAlone(_ event: SSEEvent) -> Bool {
        guard dialect == .openAIChat else { return false }
        return member("choices", of: event)?.arrayValue?.isEmpty ?? false
    }

    private func member(_ name: String, of event: SSEEvent) -> JSONValue? {
        do throws(JSONError) {
            return try JSONValue(parsing: event.data, limits: ModelRequest.limits)[name]
        } catch {
            // An event that cannot be read ends nothing.
            return nil
        }
    }
}
