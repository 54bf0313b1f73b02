// What a sandbox and a provider say to the broker.

internal import ModelDialects
internal import StrictJSON

extension FuzzSurface {
    private static let routes: [Route] = [
        .generate(.openAIChat), .generate(.openAIResponses), .generate(.anthropicMessages),
        .countTokens(.anthropicMessages), .geminiGenerate(model: "m", isStreaming: true),
        .geminiCountTokens(model: "m"),
    ]

    func feedModelRequest(_ bytes: [UInt8]) -> Bool {
        let pin = ModelPin(
            upstream: "u",
            dialects: Dialect.allCases,
            model: "m",
            effort: "2000",
            temperature: 0.5,
            maxOutputTokens: 4_000
        )
        var isTaken = false
        for route in Self.routes {
            do throws(RequestRefusal) {
                let request = try ModelRequest.parse(
                    bytes,
                    route: route,
                    pins: [pin],
                    policy: RequestPolicy(isSealed: true)
                )
                isTaken = true
                precondition(request.outputLimit <= 4_000, "no answer is longer than the pin's")
                check(request)
            } catch {
                precondition(!error.reason.isEmpty && error.event.detail.utf8.count <= 200)
            }
        }
        return isTaken
    }

    private func check(_ request: ModelRequest) {
        do throws(RequestRefusal) {
            let again = try ModelRequest.parse(
                request.bodyBytes,
                route: request.route,
                pins: [request.pin],
                policy: RequestPolicy(isSealed: true, unknownFields: .refuse)
            )
            precondition(again.body == request.body, "what was rebuilt is rebuilt into itself")
            precondition(again.events.isEmpty, "what was rebuilt asks for nothing more")
        } catch {
            // The canonical spelling may be longer than the limit that the first one met.
            precondition(error.kind == .tooLarge, "what was rebuilt passes: \(error)")
        }
    }

    func feedModelAnswer(_ bytes: [UInt8]) -> Bool {
        let whole = events(of: bytes, cut: bytes.count)
        precondition(
            events(of: bytes, cut: 1) == whole,
            "a stream means the same however it is cut"
        )
        for dialect in Dialect.allCases {
            var meter = UsageMeter(dialect)
            for event in whole {
                meter.event(event)
                let wire = ResponseScrub.event(event, dialect: dialect, isSealed: true)
                precondition(
                    wire.isEmpty || events(of: wire, cut: wire.count).count == 1,
                    "an event stays one event"
                )
            }
            precondition(meter.usage.total >= 0, "a count is a count")
        }
        return !whole.isEmpty
    }

    private func events(of bytes: [UInt8], cut: Int) -> [SSEEvent] {
        var splitter = SSESplitter(maximumEventBytes: 1 << 16)
        var events: [SSEEvent] = []
        do throws(SSEError) {
            var rest = bytes[...]
            while !rest.isEmpty {
                events += try splitter.feed(rest.prefix(cut))
                rest = rest.dropFirst(cut)
            }
            if let last = try splitter.finish() { events.append(last) }
            return events
        } catch {
            // How many events came before a fault hangs on the cuts; the fault itself does not.
            return []
        }
    }

    func feedUpstreamName(_ bytes: [UInt8]) -> Bool {
        do throws(UpstreamNameError) {
            let text = String(decoding: bytes, as: UTF8.self)
            let name = try UpstreamName(parsing: text)
            precondition(name.text == text, "an upstream has one spelling")
            precondition((1...65_535).contains(name.port), "a port is a port")
            return true
        } catch {
            return false
        }
    }
}
